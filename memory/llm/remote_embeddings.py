"""Vectors from any OpenAI-compatible endpoint, asked for as many numbers as our columns hold."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import openai

from memory.types import Vector

from .base import Embedder, Unavailable
from .breaker import Breaker

WIDTH = 512
BATCH = 128  # texts a request
SECONDS = 10.0
# A customer waits for the vector of one message: then it is looked for by its letters.
SECONDS_FOR_ONE = 2.5


@dataclass
class RemoteEmbedder:
    model: str
    base_url: str
    api_key: str
    breaker: Breaker = field(default_factory=lambda: Breaker(failures=2))

    def __post_init__(self) -> None:
        self._client = openai.OpenAI(base_url=self.base_url, api_key=self.api_key, max_retries=0)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one unit vector a text, in order. Raises Unavailable."""
        vectors: list[Vector] = []
        for start in range(0, len(texts), BATCH):
            vectors += self._ask(list(texts[start : start + BATCH]))
        return vectors

    def _ask(self, texts: list[str]) -> list[Vector]:
        if not self.breaker.allows():
            raise Unavailable("resting after failures in a row", kind="circuit", retry=False)
        try:
            vectors = self._asked(texts, SECONDS if len(texts) > 1 else SECONDS_FOR_ONE)
        except Unavailable:
            self.breaker.failed()
            raise
        self.breaker.succeeded()
        return vectors

    def _asked(self, texts: list[str], seconds: float) -> list[Vector]:
        try:
            got = self._client.with_options(timeout=seconds).embeddings.create(
                model=self.model, input=texts, dimensions=WIDTH
            )
            vectors = [_unit(i.embedding) for i in sorted(got.data, key=lambda i: i.index)]
        # What is no JSON, or not of the shape promised, the SDK raises as what it stumbles over.
        except (openai.APIError, ValueError, TypeError, AttributeError) as exc:
            raise Unavailable(f"no embeddings: {type(exc).__name__}") from exc
        if len(vectors) != len(texts):
            raise Unavailable(f"{len(vectors)} vectors for {len(texts)} texts", kind="broken")
        return vectors


def _unit(numbers: Sequence[float]) -> Vector:
    """Narrower models are padded with zeros, which leaves every cosine as it was."""
    if len(numbers) > WIDTH:
        raise Unavailable(f"the endpoint sent {len(numbers)} numbers, at most {WIDTH} fit")
    vector = np.zeros(WIDTH, dtype=np.float32)
    vector[: len(numbers)] = numbers
    length = float(np.linalg.norm(vector))
    if not math.isfinite(length) or not length:
        raise Unavailable("the endpoint sent no direction", kind="broken")
    vector /= length
    vector.setflags(write=False)
    return vector


@lru_cache(maxsize=4)
def remote_embedder(model: str, base_url: str, api_key: str) -> Embedder:
    return RemoteEmbedder(model, base_url, api_key)
