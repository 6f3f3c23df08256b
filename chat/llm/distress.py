"""Does somebody say that she is in strong pain or distress now? Pure.

Whatever the trade, that is for a person: a stored answer or an offer reads as if nobody listened.
What asks about pain to come, tells of pain that is over, or means none, is left to the answers.
"""

from __future__ import annotations

import re

from . import patterns as p

_CLAUSE = re.compile(r",\s+|\s+[-–—]+\s+|\s+but\s+", re.I)


def in_distress(text: str) -> bool:
    """Clause by clause: "will it hurt?" beside it does not take back "it hurts a lot"."""
    return any(
        _says_so(clause)
        for sentence in p.sentences(text)
        for clause in _CLAUSE.split(sentence)
        if not _asks_in_general(sentence)
    )


def _says_so(clause: str) -> bool:
    said, otherwise = p.hits(clause, (p.DISTRESS, p.DISTRESS_NOT))
    return said and not otherwise


def _asks_in_general(sentence: str) -> bool:
    """ "What helps against severe pain?" is nobody's pain yet."""
    asks, own = p.hits(sentence, (p.ASKS, p.OF_ONES_OWN))
    return asks and not own
