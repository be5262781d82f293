"""Which question is asked is public: it is logged, and shown to whoever waits for a fit in this thread."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

logger = logging.getLogger("spinney")
#: Who waits. It belongs to a thread, so that fits side by side move no bar but their own, and nothing is set for all of them.
_waiting: ContextVar[tuple[Callable[[str], None], ...]] = ContextVar("waiting", default=())


def tell(words: str) -> None:
    """Log what is asked, and tell those who wait; whatever fails in showing it must not end a fit."""
    logger.info(words)
    for step in _waiting.get():
        with suppress(Exception):
            step(words)


@contextmanager
def listening(step: Callable[[str], None]) -> Iterator[None]:
    """Call a function with what this thread's fits ask, question by question; the log is left alone."""
    token = _waiting.set((*_waiting.get(), step))
    try:
        yield
    finally:
        _waiting.reset(token)
