"""A bar on a terminal that moves with each question; questions are public."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

__all__ = ["progress"]


class _Listener(logging.Handler):
    """Calls a function with every message of the library's log."""

    def __init__(self, step: Callable[[str], None]) -> None:
        super().__init__(logging.INFO)
        self._step = step

    def emit(self, record: logging.LogRecord) -> None:
        """Pass a message on."""
        self._step(record.getMessage())


@contextmanager
def progress(steps: int) -> Iterator[Callable[[str], None]]:
    """Show a bar of so many steps if standard error is a terminal.

    Every question is a step. What is yielded takes further steps, each with what is being done.
    """
    if not sys.stderr.isatty():
        yield lambda label: None
        return
    with click.progressbar(length=steps, file=sys.stderr, show_eta=False) as bar:

        def step(label: str) -> None:
            bar.label = f"{label:30}"
            bar.update(1)

        logger, listener = logging.getLogger("spinney"), _Listener(step)
        level = logger.level
        logger.addHandler(listener)
        logger.setLevel(logging.INFO)
        try:
            yield step
            bar.update(max(steps - bar.pos, 0))  # a released answer may have made steps unnecessary
        finally:
            logger.removeHandler(listener)
            logger.setLevel(level)
