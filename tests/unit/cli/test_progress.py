import io
import logging

import numpy as np

from spinney import PrivateKMeans
from spinney.cli import progress as module
from spinney.cli.progress import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_sees_every_question(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(module.sys, "stderr", terminal)
    model = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), noise_seed=0)
    logger = logging.getLogger("spinney")
    before = logger.level, list(logger.handlers)
    with progress(1 + len(model.plan(2).charges)) as step:
        step("reading rows.csv")
        model.fit(np.zeros((10, 2)))
    shown = terminal.getvalue()
    assert "reading rows.csv" in shown
    for charge in model.release_.charges:
        assert f"asking {charge.question}: {charge.name}" in shown
    assert (logger.level, logger.handlers) == before
