"""The curator over rows that stay on disk: record batches stream by, once for each pass, and nothing is kept per row.

Path codes and labels are computed anew in every pass, so memory does not grow with the number of rows. One thread reads while
others count. Where rows have groups, one byte per row says which rows count; to find out which takes a pass of its own.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.curators.groups import kept_rows
from spinney.curators.kernels import find_nearest
from spinney.curators.lookahead import LookAhead
from spinney.exceptions import DataError, ParameterError
from spinney.mechanisms.source import IntArray, NoiseSource
from spinney.privacy.ledger import FitLedger
from spinney.privacy.pricing import Unit
from spinney.solvers.nearest import lens
from spinney.spaces.box import Domain, FloatArray
from spinney.spaces.grid import as_floats

__all__ = ["Batches", "ParquetCurator", "batch_rows", "chosen_batches"]

#: A batch has at most so many rows, which bounds partial sums, and so many cells, which bounds memory.
MOST_ROWS, MOST_VALUES = 2**16, 2**20
#: So many batches add up in 64 bits before they go into integers of any size: a cost is at most 2**46 a batch.
EXACT = 2**10
#: Threads that count; one that reads keeps few of them busy, and each has its own counters when cells are counted ahead.
MOST_WORKERS = 4


def batch_rows(n_features: int) -> int:
    """Return how many rows a batch may have."""
    return max(min(MOST_ROWS, MOST_VALUES // n_features), 1)


class Batches(ABC):
    """Rows that can be read again and again, always in the same order.

    Attributes
    ----------
    n_features : int
    columns : tuple of str or None
        Their names; public.
    has_groups : bool
        Whether rows have groups.
    """

    n_features: int
    columns: tuple[str, ...] | None
    has_groups: bool

    @abstractmethod
    def read(self) -> Iterator[NDArray[Any]]:
        """Yield all rows as arrays of real numbers, at most ``batch_rows(n_features)`` rows each; F-ordered ones are fastest."""

    @abstractmethod
    def read_groups(self) -> Any:
        """Return the names of the groups of all rows."""


def chosen_batches(batches: Batches, columns: tuple[str, ...]) -> Batches:
    """Return the columns of these names, which are public, in this order."""
    if batches.columns == columns:
        return batches
    if batches.columns is None:
        raise ParameterError("Bounds name columns, and X has no names of columns.\nHint: give bounds=(lower, upper) instead.")
    missing = [name for name in columns if name not in batches.columns]
    if missing:
        raise ParameterError(f"Bounds name a column that X does not have: {missing[0]!r}.\nHint: leave it out, or open it too.")
    return _Chosen(batches, columns)


class _Chosen(Batches):
    """Some columns of other batches."""

    def __init__(self, batches: Batches, columns: tuple[str, ...]) -> None:
        self._batches = batches
        self._places = [(batches.columns or ()).index(name) for name in columns]
        self.columns, self.n_features, self.has_groups = columns, len(columns), batches.has_groups

    def read(self) -> Iterator[NDArray[Any]]:
        """Yield all rows, F-ordered."""
        for batch in self._batches.read():
            yield batch.T[self._places].T

    def read_groups(self) -> Any:
        """Return the names of the groups of all rows."""
        return self._batches.read_groups()


class ParquetCurator(LookAhead):
    """Answers questions about rows that stream from disk.

    Parameters
    ----------
    nonprivate_batches : Batches
    domain, unit, ledger, source
        As for `Curator`.
    """

    def __init__(self, nonprivate_batches: Batches, domain: Domain, unit: Unit, ledger: FitLedger, source: NoiseSource) -> None:
        super().__init__(domain, unit, ledger, source)
        self._batches = nonprivate_batches
        self._mask = np.empty(0, np.uint8)
        if nonprivate_batches.has_groups:
            self._mask = kept_rows(nonprivate_batches.read_groups(), nonprivate_batches.read, unit, source.key())
        self._workers = min(os.cpu_count() or 1, MOST_WORKERS)

    def _map(self, kernel: Callable[..., Any], *arguments: Any) -> list[NDArray[Any]]:
        return self._reduce(lambda rows, mask: kernel(rows, mask, self._door, *arguments))

    def _map_nearest(self, centers: FloatArray, kernel: Callable[..., Any], *arguments: Any) -> list[NDArray[Any]]:
        glass = lens(centers)

        def once(rows: NDArray[Any], mask: NDArray[np.uint8]) -> Any:
            return kernel(rows, mask, self._door, find_nearest(rows, mask, self._door, glass), *arguments)

        return self._reduce(once)

    def _tally(self, size: int, kernel: Callable[..., Any], *arguments: Any) -> IntArray:
        idle: list[IntArray] = []
        totals: list[IntArray] = []

        def once(rows: NDArray[Any], mask: NDArray[np.uint8]) -> None:
            try:
                mine = idle.pop()
            except IndexError:
                mine = np.zeros(size, dtype=np.int64)
                totals.append(mine)
            kernel(rows, mask, self._door, mine, *arguments)
            idle.append(mine)

        for _ in self._each_batch(once):
            pass
        if not totals:
            return np.zeros(size, dtype=np.int64)
        for more in totals[1:]:
            totals[0] += more
        return totals[0]

    def _reduce(self, once: Callable[..., Any]) -> list[NDArray[Any]]:
        """Add up what each batch gives, in integers of any size."""

        def parts(rows: NDArray[Any], mask: NDArray[np.uint8]) -> tuple[NDArray[Any], ...]:
            part = once(rows, mask)
            return part if isinstance(part, tuple) else (part,)

        # A batch without rows gives the shapes.
        sums = list(parts(as_floats(np.empty((0, self.domain.n_features))), self._mask[:0]))
        totals = [part.astype(object) for part in sums]
        for i, more in enumerate(self._each_batch(parts), start=1):
            sums = [total + part for total, part in zip(sums, more, strict=True)]
            if i % EXACT == 0:
                totals = [total + part for total, part in zip(totals, sums, strict=True)]
                sums = [np.zeros_like(part) for part in sums]
        return [total + part for total, part in zip(totals, sums, strict=True)]

    def _each_batch(self, task: Callable[..., Any]) -> Iterator[Any]:
        """Read batches and work on a few of them at a time; yield the results in the order of the batches."""
        start = 0
        waiting: deque[Future[Any]] = deque()
        with ThreadPoolExecutor(self._workers) as pool:
            for batch in self._batches.read():
                rows = as_floats(batch)
                if self._batches.has_groups and start + len(rows) > self._mask.size:  # an empty mask would mean that all count
                    hint = "Hint: fit again when nothing writes to it any more."
                    raise DataError(f"The table has changed while it was in use.\n{hint}")
                waiting.append(pool.submit(task, rows, self._mask[start : start + len(rows)]))
                start += len(rows)
                if len(waiting) > self._workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
