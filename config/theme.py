"""The business's one colour: is it legible, what stands on it, what does the dark make of it."""

import colorsys
import re

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe

LIGHT_GROUND = (
    "#eaeeec"  # --surface-sunken, the darkest light ground that text in the accent stands on
)
DARK_GROUND = "#2d3735"  # lighter than any dark ground
LEGIBLE = 4.5  # WCAG 2.2, 1.4.3
COMFORTABLE = 6.0


def contrast(one: str, other: str) -> float:
    """Return WCAG's contrast ratio of two colours written #rrggbb: 1.0 (the same) to 21.0."""
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def is_colour(value: str) -> bool:
    return re.fullmatch(r"#[0-9a-fA-F]{6}", value) is not None


def in_the_dark(accent: str) -> str:
    """Return the same hue, calmer, and only as light as the dark grounds need."""
    red, green, blue = (channel / 255 for channel in _channels(accent))
    hue, lightness, saturation = colorsys.rgb_to_hls(red, green, blue)
    for step in range(round(lightness * 50), 50):
        mixed = _written(colorsys.hls_to_rgb(hue, step / 50, saturation * 0.55))
        if contrast(mixed, DARK_GROUND) >= COMFORTABLE:
            return mixed
    return "#ffffff"


def ink_on(ground: str) -> str:
    return max(("#ffffff", "#10211f"), key=lambda ink: contrast(ink, ground))


@require_safe
@cache_control(public=True, max_age=300)
def theme_css(request: HttpRequest) -> HttpResponse:
    light = settings.RAPPORT_ACCENT
    dark = in_the_dark(light)
    css = (
        f"@layer tokens {{ :root {{ --brand: {light}; --brand-dark: {dark};"
        f" --brand-ink: {ink_on(light)}; --brand-ink-dark: {ink_on(dark)}; }} }}\n"
    )
    return HttpResponse(css, content_type="text/css; charset=utf-8")


def _luminance(colour: str) -> float:
    red, green, blue = (_linear(channel / 255) for channel in _channels(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(value: float) -> float:
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def _written(rgb: tuple[float, float, float]) -> str:
    return "#" + "".join(f"{round(channel * 255):02x}" for channel in rgb)


def _channels(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
