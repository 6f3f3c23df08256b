"""The business's colour: refused when it cannot be read, and legible in the dark whatever it is."""

import re
from pathlib import Path

import pytest

from config import checks, theme

ROOT = Path(__file__).parents[2]


def test_contrast_is_the_one_of_the_guidelines():
    assert theme.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert theme.contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("accent", ["#0b665c", "#1d4ed8", "#b3261e", "#5b2a86", "#000000"])
def test_an_accent_is_legible_in_the_dark_too(accent):
    dark = theme.in_the_dark(accent)

    assert theme.contrast(dark, theme.DARK_GROUND) >= theme.LEGIBLE
    assert theme.contrast(theme.ink_on(dark), dark) >= theme.LEGIBLE


@pytest.mark.parametrize(
    ("accent", "problem"),
    [
        ("#0b665c", None),
        ("#ffd400", "config.E003"),
        ("teal", "config.E002"),
        ("#0b665c; } body { display: none", "config.E002"),
    ],
)
def test_a_colour_that_cannot_be_read_stops_the_start(settings, accent, problem):
    settings.RAPPORT_ACCENT = accent

    assert [error.id for error in checks.accent_is_legible(None)] == ([problem] if problem else [])


def test_the_stylesheet_carries_the_businesss_colour(settings, client):
    settings.RAPPORT_ACCENT = "#5b2a86"

    css = client.get("/theme.css")

    assert css["Content-Type"].startswith("text/css")
    assert "--brand: #5b2a86" in css.content.decode()


def test_the_default_in_the_tokens_is_the_default_of_the_setting(settings):
    tokens = (ROOT / "chat/static/chat/tokens.css").read_text()

    assert f"--brand: {settings.RAPPORT_ACCENT};" in tokens


def test_colours_are_written_down_in_one_file_alone():
    css = (ROOT / "chat/static/chat/app.css").read_text()

    assert not re.findall(
        r"#[0-9a-fA-F]{3,8}\b(?![^/]*\*/)", re.sub(r"/\*.*?\*/", "", css, flags=re.S)
    )


def test_every_icon_that_a_template_includes_is_there():
    texts = [file.read_text() for file in (ROOT / "templates").rglob("*.html")]
    used = set(re.findall(r'include "(icons/[\w-]+\.svg)"', "".join(texts)))

    assert used
    assert not [name for name in used if not (ROOT / "templates" / name).exists()]


def test_no_template_holds_a_script_or_a_style_of_its_own():
    """The content security policy forbids both, so that a leak of markup stays markup.

    The simulation's report is a file to keep, not a page that is served: it carries its own style.
    """
    pages = (ROOT / "templates").rglob("*.html")
    for file in (page for page in pages if page.parent.name != "simulation"):
        text = re.sub(r"{% comment %}.*?{% endcomment %}", "", file.read_text(), flags=re.S)
        assert not re.search(r"<style|\sstyle=|\son\w+=\"|<script(?![^>]*\ssrc=)", text), file


def test_no_template_library_takes_the_name_of_one_of_djangos_own():
    """The admin's index loads `log`: a library of ours by that name breaks it."""
    ours = {file.stem for file in ROOT.glob("*/templatetags/*.py")} - {"__init__"}

    assert not ours & {"log", "static", "i18n", "l10n", "tz", "cache", "admin_list", "admin_urls"}
