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


def test_a_file_sees_nothing(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(module.sys, "stderr", stream)
    with progress(3) as step:
        step("reading")
        logging.getLogger("spinney").info("asking")
    assert stream.getvalue() == ""


def test_the_bar_goes_when_something_fails(monkeypatch):
    monkeypatch.setattr(module.sys, "stderr", Terminal())
    handlers = list(logging.getLogger("spinney").handlers)
    try:
        with progress(3):
            raise KeyError
    except KeyError:
        pass
    assert logging.getLogger("spinney").handlers == handlers


def test_the_bar_ends_full_if_steps_were_unnecessary(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(module.sys, "stderr", terminal)
    model = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), noise_seed=0)
    with progress(len(model.plan(2).charges) + 1):
        model.fit(np.repeat([[0.1, 0.1], [0.9, 0.9]], 1000, axis=0))
    assert "100%" in terminal.getvalue()


def test_the_bar_of_what_failed_is_not_full(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(module.sys, "stderr", terminal)
    try:
        with progress(3) as step:
            step("reading")
            raise KeyError
    except KeyError:
        pass
    assert "100%" not in terminal.getvalue()
