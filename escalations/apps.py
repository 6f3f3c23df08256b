from django.apps import AppConfig


class EscalationsConfig(AppConfig):
    name = "escalations"
    default_auto_field = "django.db.models.BigAutoField"
