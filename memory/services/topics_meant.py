"""How near a message is to what each topic is about; its texts are embedded once a process."""

from __future__ import annotations

import hashlib
import threading

import numpy as np
import numpy.typing as npt

from memory.lifecycle import known
from memory.llm.base import Unavailable
from memory.llm.embeddings import embed, embed_one, embedder
from memory.models import Topic
from memory.types import Vector

Floats = npt.NDArray[np.float32]

_lock = threading.Lock()
_kept: dict[tuple[str, bytes], Floats] = {}  # by model and hash of the texts
MOST = 2000  # topics; then the oldest go


def likeness(vector: Vector) -> dict[str, float]:
    """Return for each topic's key the cosine of its nearest example or description."""
    model = embedder().model
    about = {
        topic.key: matrix
        for topic in known.topics()
        if (matrix := _about(model, topic)) is not None
    }
    if not about:
        return {}
    starts = np.cumsum([0, *(len(m) for m in about.values())][:-1])
    near = np.maximum.reduceat(np.concatenate(list(about.values())) @ vector, starts)
    return dict(zip(about, near.tolist(), strict=True))


def topics_near(text: str) -> dict[str, float]:
    """Return for each topic's key how near the text is to what it is about; nothing if unknown."""
    try:
        return likeness(embed_one(text))
    except Unavailable:
        return {}


def _about(model: str, topic: Topic) -> Floats | None:
    texts = [f"{topic.label}. {topic.description}".strip(), *map(str, topic.examples)]
    # Not the words themselves: an example may be a customer's, and be forgotten.
    at = model, hashlib.sha256("\n".join(texts).encode()).digest()
    with _lock:
        if at not in _kept:
            try:
                _kept[at] = np.stack(embed(texts))
            except Unavailable:
                return None
            while len(_kept) > MOST:
                del _kept[next(iter(_kept))]
        return _kept[at]
