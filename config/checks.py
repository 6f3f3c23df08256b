"""Settings that are possible one by one and wrong together."""

from collections.abc import Sequence

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register

from config import theme


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


@register()
def accent_is_legible(
    app_configs: Sequence[AppConfig] | None, **kwargs: object
) -> list[CheckMessage]:
    accent = settings.RAPPORT_ACCENT
    if not theme.is_colour(accent):
        return [
            Error(f"RAPPORT_ACCENT is {accent!r}: write a colour as #rrggbb.", id="config.E002")
        ]
    ratio = theme.contrast(accent, theme.LIGHT_GROUND)
    if ratio >= theme.LEGIBLE:
        return []
    return [
        Error(
            f"RAPPORT_ACCENT {accent} is too light to read: {ratio:.1f} : 1, not {theme.LEGIBLE}.",
            hint="Take a darker shade of the same colour.",
            id="config.E003",
        )
    ]
