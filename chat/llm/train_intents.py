"""Train intents.npz anew: python -m chat.llm.train_intents. Needs scikit-learn (dev.in)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from memory.llm.embeddings import embed_one

from .intents import features

HERE = Path(__file__).parent


def main() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    lines = (HERE / "intents.tsv").read_text(encoding="utf-8").splitlines()
    pairs = [line.split("\t") for line in lines if line]
    held = np.stack([features(text, embed=embed_one) for _, text in pairs])
    wanted = np.array([label for label, _ in pairs])
    model = LogisticRegression(C=4, max_iter=3000, class_weight="balanced")
    guessed = cross_val_predict(model, held, wanted, cv=10)
    for label in sorted(set(wanted)):
        share = (guessed[wanted == label] == label).mean()
        print(f"{label:12} {share:.2f} of {(wanted == label).sum()}")  # noqa: T201
    print(f"all          {(guessed == wanted).mean():.3f}")  # noqa: T201
    model.fit(held, wanted)
    np.savez_compressed(
        HERE / "intents.npz",
        weights=model.coef_.T.astype(np.float32),
        bias=model.intercept_.astype(np.float32),
        classes=model.classes_.astype("U16"),
    )


if __name__ == "__main__":
    main()
