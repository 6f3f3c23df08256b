from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """Only so that commands which span all apps, and the system checks, have a home."""

    name = "config"

    def ready(self) -> None:
        from config import checks  # noqa: F401
