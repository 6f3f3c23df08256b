"""Nobody is called "she" or "he" in what people read: a customer may be anybody."""

import re
from pathlib import Path

import pytest

from escalations.models import Escalation

ROOT = Path(__file__).parents[2]
PRONOUN = re.compile(r"\b(?:she|her|hers|herself|he|his|him|himself)\b", re.I)
SAID = re.compile(r"\b_\(\s*((?:[rf]?\"(?:[^\"\\]|\\.)*\"\s*)+)")
UNSEEN = re.compile(r"\{%(?!\s*translate).*?%\}|\{\{.*?\}\}|\{#.*?#\}", re.S)


@pytest.mark.parametrize("package", ["chat", "config", "escalations", "memory"])
def test_no_sentence_of_the_program_does(package):
    found = [
        f"{path.relative_to(ROOT)}: {said}"
        for path in (ROOT / package).rglob("*.py")
        for said in SAID.findall(path.read_text())
        if PRONOUN.search(said)
    ]
    assert not found


def test_no_page_does():
    templates = (ROOT / "templates").rglob("*.html")
    assert not [
        f"{path.relative_to(ROOT)}: {word}"
        for path in templates
        for word in PRONOUN.findall(UNSEEN.sub(" ", path.read_text()))
    ]


def test_no_reason_does():
    assert not [label for label in Escalation.Reason.labels if PRONOUN.search(label)]
