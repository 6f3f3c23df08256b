"""Offline extraction: typed candidates from the customer's own words, by the business's topics.

A run of her messages with nobody between is read as one. Each clause is placed in a topic
(`topics`), tested for being hers, meant and lasting (`standing`), and cut down to its value
(`values`); short replies borrow from what was asked (`replies`). Pure: `embed`, `read` and
`beside`, the encoders, are arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from memory.types import Candidate, TopicSpec, Transcript

from .reading import Reader
from .rerank import Beside
from .topics import Embed, Read, index
from .understanding import Understanding


def extract(
    transcript: Transcript,
    topics: Sequence[TopicSpec],
    *,
    embed: Embed,
    read: Read,
    beside: Beside,
    since: int = 0,
    known: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> list[Candidate]:
    """Return what the customer says, takes back or wants forgotten, in the order it was said.

    `since`: the seq from which it is wanted; what was said before is read where it is put right.
    `known`: by topic, the values that stand: words that change one of them are about its topic.
    """
    if not topics:
        return []
    known_here = index(tuple(topics), embed, read)
    understanding = Understanding(known_here, embed, read, beside, transcript.timezone)
    return Reader(transcript, understanding, known).candidates(since=since)


def get_ready(topics: Sequence[TopicSpec], *, embed: Embed, read: Read) -> None:
    """Work out the vectors of topics before the first message waits for them."""
    if topics:
        index(tuple(topics), embed, read)
