"""What a journey's worker process runs with: the test's own database, over a real broker."""

import os

from tests.settings import *  # noqa: F403
from tests.settings import DATABASES

DATABASES["default"]["NAME"] = os.environ["JOURNEY_DATABASE"]
CELERY_BROKER_URL = os.environ["JOURNEY_BROKER"]
