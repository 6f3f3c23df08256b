from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """Only so that commands which span all apps, and the system checks, have a home."""

    name = "config"

    def ready(self) -> None:
        # The Celery app has to exist before the first task is sent.
        from config import celery, checks  # noqa: F401
