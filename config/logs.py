"""What is left out of the log. Read with the settings: nothing of Django's may be asked here."""

from __future__ import annotations

import logging

HEALTH = "/healthz"


class NotOfHealth(logging.Filter):
    """That something is not well, or not yet, is that page's answer and no error of the page."""

    def filter(self, record: logging.LogRecord) -> bool:
        return getattr(getattr(record, "request", None), "path", "") != HEALTH
