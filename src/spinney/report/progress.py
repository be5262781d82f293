"""Bars that move with each question of a fit; questions are public, and how long each takes is outside the promise."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from html import escape
from importlib import import_module
from typing import Any

__all__ = ["listening", "notebook_bar"]

_lock = threading.Lock()
#: The handlers that listen, and what the log was set to before the first of them.
_listeners: list[logging.Handler] = []
_before: list[tuple[int, bool]] = []


class _Listener(logging.Handler):
    """Calls a function with every message of the library's log that comes from one thread."""

    def __init__(self, step: Callable[[str], None]) -> None:
        super().__init__(logging.INFO)
        self._step, self._thread = step, threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        """Pass a message on; whatever fails in showing it must not end a fit."""
        if record.thread == self._thread:
            with suppress(Exception):
                self._step(record.getMessage())


@contextmanager
def listening(step: Callable[[str], None]) -> Iterator[None]:
    """Call a function with what this thread's fits ask, question by question; the log is left as it was.

    Messages that nobody would see otherwise stay unseen elsewhere: handlers of other logs do not get them.
    """
    logger, listener = logging.getLogger("spinney"), _Listener(step)
    with _lock:
        if not _listeners:
            _before.append((logger.level, logger.propagate))
            if not logger.isEnabledFor(logging.INFO):
                logger.propagate = False
                logger.setLevel(logging.INFO)
        _listeners.append(listener)
        logger.addHandler(listener)
    try:
        yield
    finally:
        with _lock:
            logger.removeHandler(listener)
            _listeners.remove(listener)
            if not _listeners:
                level, logger.propagate = _before.pop()
                logger.setLevel(level)


def _bar(done: int, steps: int, label: str) -> str:
    """Return a bar as HTML."""
    told = f"{done} of {steps} questions"
    return f'<progress max="{steps}" value="{done}" aria-label="{told}"></progress> {told}; {escape(label)}'


@contextmanager
def notebook_bar(steps: int) -> Iterator[None]:
    """Show a bar of so many questions below the cell of a notebook; when the fit is over, it goes.

    Parameters
    ----------
    steps : int
        The questions of the plan.
    """
    shown: Any = import_module("IPython.display")
    handle = shown.display(shown.HTML(_bar(0, steps, "reading")), display_id=True)
    done = 0

    def step(label: str) -> None:
        nonlocal done
        done = min(done + 1, steps)
        handle.update(shown.HTML(_bar(done, steps, label)))

    try:
        with listening(step):
            yield
    finally:
        with suppress(Exception):
            handle.update(shown.HTML(""))
