"""Rows on disk that are kept in memory between passes, as many as fit a bound that is public.

To decode a row of a Parquet file costs about as much as to count it. A fit makes some ten passes, so the first rows of a table
are kept as they were read, in the file's own type of number, until the fit ends. Rows that find no room are read anew in every
pass. What a pass yields, and in which order, is the same: only time and memory depend on how many rows are kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.spaces import as_floats
from spinney.tables.memory import memory_bytes
from spinney.tables.streams import Batches

#: Bytes that are kept of each column, and of all together. Passes over few columns are cheap: there less memory is worth it.
COLUMN_BYTES, MOST_BYTES = 44 * 2**20, 5 * 2**28
#: They are at most this share of the memory.
SHARE = 1 / 8


def most_bytes(n_features: int) -> int:
    """Return how many bytes of rows are kept at most: a function of the number of columns and of the machine."""
    return min(COLUMN_BYTES * n_features, MOST_BYTES, int(SHARE * memory_bytes()))


class KeptBatches(Batches):
    """Other batches, the first of which are kept when they are read, up to a public number of bytes."""

    def __init__(self, nonprivate_batches: Batches, most: int) -> None:
        self._batches, self._room = nonprivate_batches, most
        self.n_features, self.columns = nonprivate_batches.n_features, nonprivate_batches.columns
        self.has_groups = nonprivate_batches.has_groups
        self._kept: list[NDArray[Any]] = []
        self._finite: dict[int, int] = {}
        self.n_steady = 0

    def read(self) -> Iterator[NDArray[Any]]:
        """Yield all rows: those that are kept, then the others, of which as many are kept as find room."""
        place = 0
        for batch in self._kept:
            yield batch
            place += len(batch)
        for batch in self._batches.read_from(place):
            if place == self.n_steady:  # nobody else has kept it meanwhile
                self._keep(batch)
            yield batch
            place += len(batch)

    def _keep(self, batch: NDArray[Any]) -> None:
        """Keep a batch if there is room; the first that finds none is the end, because what is kept has no gaps."""
        self._room -= batch.nbytes
        if self._room >= 0:
            with np.errstate(all="ignore"):
                if np.isfinite(as_floats(batch).sum()):  # then all values are, and no pass has to look
                    self._finite[self.n_steady] = len(batch)
            self._kept.append(batch)
            self.n_steady += len(batch)
        else:
            self._room = -1

    def is_finite(self, start: int, count: int) -> bool:
        return count <= self._finite.get(start, -1)

    def read_groups(self) -> Any:
        return self._batches.read_groups()

    def drop(self) -> None:
        """Drop what is kept, and keep nothing any more."""
        self._room = -1
        self.n_steady = 0
        self._kept.clear()
        self._finite.clear()
        self._batches.drop()
