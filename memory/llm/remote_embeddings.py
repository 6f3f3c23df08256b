"""Vectors from any OpenAI-compatible endpoint, asked for as many numbers as our columns hold."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import openai

from memory.types import Vector

from .base import Embedder, Unavailable

WIDTH = 512
BATCH = 128  # texts a request
SECONDS = 10.0


class RemoteEmbedder:
    def __init__(self, model: str, base_url: str, api_key: str) -> None:
        self.model = model
        self._client = openai.OpenAI(
            base_url=base_url, api_key=api_key, timeout=SECONDS, max_retries=1
        )

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one unit vector a text, in order. Raises Unavailable."""
        vectors: list[Vector] = []
        for start in range(0, len(texts), BATCH):
            vectors += self._ask(list(texts[start : start + BATCH]))
        return vectors

    def _ask(self, texts: list[str]) -> list[Vector]:
        try:
            got = self._client.embeddings.create(model=self.model, input=texts, dimensions=WIDTH)
        except openai.APIError as exc:
            raise Unavailable(f"no embeddings: {type(exc).__name__}") from exc
        return [_unit(item.embedding) for item in sorted(got.data, key=lambda item: item.index)]


def _unit(numbers: Sequence[float]) -> Vector:
    """Narrower models are padded with zeros, which leaves every cosine as it was."""
    if len(numbers) > WIDTH:
        raise Unavailable(f"the endpoint sent {len(numbers)} numbers, at most {WIDTH} fit")
    vector = np.zeros(WIDTH, dtype=np.float32)
    vector[: len(numbers)] = numbers
    vector /= max(float(np.linalg.norm(vector)), 1e-12)
    vector.setflags(write=False)
    return vector


@lru_cache(maxsize=4)
def remote_embedder(model: str, base_url: str, api_key: str) -> Embedder:
    return RemoteEmbedder(model, base_url, api_key)
