"""Settings that are possible one by one and wrong together."""

from collections.abc import Sequence

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register


@register(Tags.security, deploy=True)
def demo_mode_is_off(
    app_configs: Sequence[AppConfig] | None, **kwargs: object
) -> list[CheckMessage]:
    if not settings.RAPPORT_DEMO:
        return []
    return [
        Warning(
            "RAPPORT_DEMO lets anybody chat as a demo customer: switch it off.", id="config.W001"
        )
    ]


@register()
def production_names_its_hosts(
    app_configs: Sequence[AppConfig] | None, **kwargs: object
) -> list[CheckMessage]:
    if settings.ALLOWED_HOSTS or settings.DEBUG:
        return []
    return [
        Error(
            "RAPPORT_HOSTS is empty: name the hosts that this server answers for.", id="config.E001"
        )
    ]
