"""Rows that stay on disk: record batches stream by, once for each pass.

As many of the first rows as fit a public bound are kept until the fit ends (`kept.py`), and with them the labels of the last
centers asked about: radii and steps ask about the same. Nothing else is kept per row, so memory is bounded whatever the number
of rows. One thread reads while others count. Where rows have groups, one byte per row says which rows count; to find out which
takes a pass of its own.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.curators.backend import Backend
from spinney.curators.entrance import FINITE
from spinney.curators.groups import kept_rows
from spinney.curators.kept import KeptBatches, most_bytes
from spinney.curators.lookahead import LookAhead
from spinney.curators.memory import over_centers
from spinney.curators.numbers import Batched
from spinney.curators.row_blocks import Batch, block_centers, only_disjoint
from spinney.curators.rows import Rows
from spinney.exceptions import DataError
from spinney.privacy import Unit
from spinney.questions.blocks import Tuples
from spinney.questions.ground import Ground
from spinney.spaces import IntArray, as_floats
from spinney.spaces.described import Encoding
from spinney.tables.streams import Batches, EncodedBatches
from spinney.threads import n_threads

#: Batches that add up in 64 bits: a row adds less than 2**40, and a batch has at most 2**16 rows.
EXACT = 2**7
#: Threads that count; one that reads keeps few of them busy, and each has its own counters when cells are counted ahead.
MOST_WORKERS = 4


@dataclass(frozen=True, eq=False, repr=False)
class FileRows(Rows):
    """Rows that stay on disk."""

    nonprivate_batches: Batches

    place = "parquet"

    def __post_init__(self) -> None:
        for name in ("n_features", "columns", "has_groups"):
            object.__setattr__(self, name, getattr(self.nonprivate_batches, name))

    def encoded(self, schema: Encoding) -> FileRows:
        return FileRows(EncodedBatches(self.nonprivate_batches, schema))

    @contextmanager
    def opened(self, ground: Ground, unit: Unit, key: Callable[[], bytes]) -> Iterator[FileBackend]:
        rows = self.nonprivate_batches
        rows = rows if rows.n_steady else KeptBatches(rows, most_bytes(self.n_features))
        try:
            yield FileBackend(rows, ground, unit, key)
        finally:
            rows.drop()


class FileBackend(Batched, LookAhead):
    """Rows that stream from disk; ground, unit and key are as for rows in memory."""

    def __init__(self, nonprivate_batches: Batches, ground: Ground, unit: Unit, key: Callable[[], bytes]) -> None:
        super().__init__(ground, unit.replaces)
        self._batches, self._key = nonprivate_batches, key
        self._mask = np.empty(0, np.uint8)
        if nonprivate_batches.has_groups:
            self._secret = key()
            self._mask = kept_rows(nonprivate_batches.read_groups(), nonprivate_batches.read, unit, self._secret)
        self._workers = min(n_threads(), MOST_WORKERS)

    @property
    def _n_steady(self) -> int:
        return self._batches.n_steady

    @property
    def _n_exact(self) -> int:
        return EXACT

    def _tally(self, size: int, kernel: Callable[..., Any], *arguments: Any) -> IntArray:
        idle: list[IntArray] = []
        totals: list[IntArray] = []

        def once(rows: NDArray[Any], mask: NDArray[np.uint8], start: int) -> None:
            try:
                mine = idle.pop()
            except IndexError:
                mine = np.zeros(size, dtype=np.int64)
                totals.append(mine)
            kernel(rows, mask, self._door, mine, *arguments)
            idle.append(mine)

        for _ in self._each_batch(once):
            pass
        found = totals[0] if totals else np.zeros(size, dtype=np.int64)
        for more in totals[1:]:
            found += more
        return found

    def _each_batch(self, task: Callable[..., Any]) -> Iterator[Any]:
        """Read batches and work on a few of them at a time; yield the results in the order of the batches."""
        waiting: deque[Future[Any]] = deque()
        with ThreadPoolExecutor(self._workers) as pool:
            for batch in self._read():
                waiting.append(pool.submit(task, *batch))
                if len(waiting) > self._workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def _read(self) -> Iterator[Batch]:
        start = 0
        for batch in self._batches.read():
            rows = as_floats(batch)
            yield rows, self._mask_of(start, len(rows)), start
            start += len(rows)

    def _mask_of(self, start: int, count: int) -> NDArray[np.uint8]:
        """Return which rows of a batch count."""
        if self._batches.has_groups and start + count > self._mask.size:  # an empty mask would mean that all count
            raise DataError("The table has changed while it was in use.", "fit again when nothing writes to it any more.")
        if not self._batches.has_groups and self._batches.is_finite(start, count):
            return FINITE
        return self._mask[start : start + count]

    def _one_each(self) -> FileBackend:
        if not self._batches.has_groups:
            return self
        return FileBackend(self._batches, self.ground, self._one_row, self._drawn_secret)

    def _blocks_over(self, tuples: Tuples) -> Backend:
        only_disjoint(tuples)
        secret, groups = self._drawn_secret(), self._batches.read_groups() if self._batches.has_groups else None
        return over_centers(block_centers(tuples, self.domain, self._door, self._read(), secret, groups), self.ground)
