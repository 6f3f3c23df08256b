"""Fit the encoder that places statements to our own examples (memory/training), with PyTorch.

`--check` writes nothing: it judges an encoder made without a sixth of all trades on these.
An hour on two cores. `fit_joint` comes after: it stands on this one.
"""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
from django.core.management.base import BaseCommand, CommandError, CommandParser

from memory.lifecycle.extract.fitted import COEFFICIENTS
from memory.llm.embeddings import embed_here, model_file
from memory.llm.fitted import CORRECTIONS
from memory.management.fitting_examples import examples_of
from memory.management.placement_examples import specs_of
from memory.management.placement_training import beside
from memory.management.training_files import MESSAGES, TOPICS, lines_of

LEFT_OUT = 6
SEED = 7


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--check", action="store_true", help="judge on trades left out, write nothing"
        )

    def handle(self, *args: object, **options: object) -> None:
        if find_spec("torch") is None:
            raise CommandError("Fitting needs PyTorch (pip install torch); nothing else here does.")
        from memory.management import fitting, fitting_model

        specs = specs_of(lines_of(TOPICS))
        examples = examples_of(lines_of(MESSAGES), specs)
        among = beside(specs, embed_here, np.random.default_rng(SEED))
        trades = sorted(specs)
        out = set(trades[::LEFT_OUT]) if options["check"] else set()
        read = [e for e in examples if e.trade not in out]
        self.stdout.write(f"{len(read)} messages of {len(trades) - len(out)} trades")
        model = fitting.fit(model_file(), read, among, self._say)
        if options["check"]:
            asked = [e for e in examples if e.trade in out]
            right, f1 = fitting.judge(model, asked, among)
            self._say(
                f"made without {len(out)} of {len(trades)} trades: right topic there {right:.3f}, "
                f"best F1 of storing the right thing {f1:.3f}"
            )
            return
        np.savez_compressed(CORRECTIONS, **model.bert.learnt())
        np.savez_compressed(COEFFICIENTS, **fitting_model.coefficients_of(model))

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()
