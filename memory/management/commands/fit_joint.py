"""Fit the encoder that reads two texts together to our own examples, with PyTorch.

It stands on the one that `fit_encoder` makes, which comes first. `--check` writes nothing: it
judges one made without a sixth of all trades on these, among the five likeliest topics; the
encoder below it has read them all the same.
Two hours on two cores; 45 minutes where they multiply bfloat16 (AMX).
"""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
from django.core.management.base import BaseCommand, CommandError, CommandParser

from memory.llm.embeddings import model_file
from memory.llm.fitted import CORRECTIONS
from memory.llm.joint import WEIGHTS, fingerprint
from memory.management.fitting_examples import examples_of
from memory.management.placement_examples import specs_of
from memory.management.training_files import MESSAGES, TOPICS, lines_of

LEFT_OUT = 6


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--check", action="store_true", help="judge on trades left out, write nothing"
        )

    def handle(self, *args: object, **options: object) -> None:
        if find_spec("torch") is None:
            raise CommandError("Fitting needs PyTorch (pip install torch); nothing else here does.")
        from memory.management import joint_fitting

        specs = specs_of(lines_of(TOPICS))
        examples = examples_of(lines_of(MESSAGES), specs)
        trades = sorted(specs)
        out = set(trades[::LEFT_OUT]) if options["check"] else set()

        read = [e for e in examples if e.trade not in out]
        self._say(f"{len(read)} messages of {len(trades) - len(out)} trades")
        model = joint_fitting.fit(model_file(), read, specs, self._say)
        if not options["check"]:
            stands_on = np.array(fingerprint(CORRECTIONS))
            np.savez_compressed(WEIGHTS, stands_on=stands_on, **model.learnt())
            return
        asked = [e for e in examples if e.trade in out]
        right, f1 = joint_fitting.judge(model, asked, specs)
        self._say(
            f"made without {len(out)} of {len(trades)} trades: right topic there {right:.3f}, best "
            f"F1 of storing the right thing {f1:.3f}"
        )

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()
