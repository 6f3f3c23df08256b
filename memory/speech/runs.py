"""What is read of a message that repeats itself: a key that lies under a sleeve, a drawn line."""

from __future__ import annotations

import re

# The same signs, forty times over: nobody's number, and no word of any language.
_RUN = re.compile(r"(.{1,20}?)\1{39,}", re.DOTALL)
_KEPT = 3


def legible(text: str) -> str:
    """Return `text` as it is read, with three of each long run. What is stored stays as it came.

    Patterns look ahead and back from every sign: ten thousand of one took them half a minute, in
    which nobody else was served.
    """
    return _RUN.sub(lambda run: run[1] * _KEPT, text)
