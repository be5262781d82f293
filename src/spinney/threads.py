"""Threads for loops that do not need Python: as many as this process may use cores, and they live as long as it does."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, partial
from pathlib import Path
from typing import TypeVar

__all__ = ["asked_threads", "each", "limited", "n_threads"]

Item = TypeVar("Item")
Found = TypeVar("Found")
#: Where a container's limit is written: microseconds of processor time for each period.
_LIMIT = Path("/sys/fs/cgroup/cpu.max")
#: Whether this thread is one of them.
_HERE = threading.local()
_ASKED: ContextVar[int | None] = ContextVar("threads", default=None)


@contextmanager
def limited(threads: int | None) -> Iterator[None]:
    """Use this number of threads while it lasts; None are as many as there are cores."""
    before = _ASKED.set(threads)
    try:
        yield
    finally:
        _ASKED.reset(before)


def n_threads() -> int:
    """Return how many threads share the work."""
    return _ASKED.get() or _n_cores()


def asked_threads(n_jobs: int | None) -> int | None:
    """Return how many threads are asked for as scikit-learn counts: -1 are all, -2 one less; never more than there are cores."""
    if n_jobs is None:
        return None
    return max(min(n_jobs if n_jobs > 0 else _n_cores() + 1 + n_jobs, _n_cores()), 1)


@lru_cache(maxsize=1)
def _n_cores() -> int:
    """Return how many cores this process may use: those that it is bound to, within the limit of its container."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        time, period = _LIMIT.read_text().split()
        return max(min(bound, -(-int(time) // int(period))), 1)
    except (OSError, ValueError):  # there is no such file, or no limit in it
        return bound


@lru_cache(maxsize=4)
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, "spinney", initializer=partial(setattr, _HERE, "works", True))


if hasattr(os, "register_at_fork"):  # threads do not survive a fork
    os.register_at_fork(after_in_child=partial(_pool.cache_clear))


def each(task: Callable[[Item], Found], items: Iterable[Item]) -> Iterator[Found]:
    """Yield what a task makes of each item, in their order. What a task asks for in its turn is done in its own thread."""
    items, threads = list(items), n_threads()
    if len(items) < 2 or threads < 2 or getattr(_HERE, "works", False):  # threads that wait for each other would wait for ever
        return map(task, items)
    return _pool(threads).map(task, items)
