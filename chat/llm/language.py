"""A message in other languages, word for word in English: enough to see what it is for."""

from __future__ import annotations

from memory.speech import language


def english(text: str) -> str:
    """Return `text` itself where it is English, or in a language that is not half understood."""
    code = language.detect(text)
    return language.gloss(text, code) if code in language.GLOSSED else text
