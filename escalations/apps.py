from django.apps import AppConfig


class EscalationsConfig(AppConfig):
    name = "escalations"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from . import belongings, receivers  # noqa: F401

        belongings.register()
