"""The product's settings with a cluster of its own, nothing shared, and cheap passwords."""

import os

os.environ.setdefault("RAPPORT_DEMO", "1")

from config.embedded import postgres_for_tests
from config.settings import *  # noqa: F403
from config.settings import DATABASES, EMBEDDED_DATABASE
from tests.slot import test_database_name

if EMBEDDED_DATABASE:
    DATABASES["default"] = postgres_for_tests().django_database()
# A pool's idle connections would keep the test database from being dropped.
DATABASES["default"]["OPTIONS"].pop("pool", None)
DATABASES["default"]["TEST"] = {"NAME": test_database_name()}

CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
CACHES = {"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}}
CELERY_BROKER_URL = "memory://"
CELERY_BROKER_TRANSPORT_OPTIONS = {}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
ALLOWED_HOSTS = ["*"]
