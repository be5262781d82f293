"""The curator over an array in memory: threads over chunks, and sorted path codes kept between questions."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.curators.base import Curator
from spinney.curators.groups import kept_rows
from spinney.curators.kernels import count_between, path_codes
from spinney.mechanisms.source import IntArray, NoiseSource
from spinney.privacy.ledger import FitLedger
from spinney.privacy.pricing import Unit
from spinney.spaces.box import Domain
from spinney.trees.quadtree import WORD, Cells, CodeArray, Splits

__all__ = ["MemoryCurator"]

#: Rows per chunk.
CHUNK = 2**16


class MemoryCurator(Curator):
    """Answers questions about rows held in memory.

    Parameters
    ----------
    nonprivate_rows : array of shape (n, d)
        Of any real type and memory layout; not copied.
    domain, unit, ledger, source
        As for `Curator`.
    groups : array-like of shape (n,), optional
        The person each row belongs to.
    """

    def __init__(
        self,
        nonprivate_rows: NDArray[Any],
        domain: Domain,
        unit: Unit,
        ledger: FitLedger,
        source: NoiseSource,
        groups: ArrayLike | None = None,
    ) -> None:
        super().__init__(domain, unit, ledger, source)
        self._rows = nonprivate_rows
        self._mask = np.empty(0, np.uint8) if groups is None else kept_rows(groups, unit.max_rows, source.key())
        self._sorted: tuple[Splits, CodeArray] | None = None
        self._deep: tuple[Splits, CodeArray, CodeArray] | None = None

    def _chunks(self) -> Iterator[tuple[NDArray[Any], NDArray[np.uint8], int]]:
        """Yield row chunks as C-ordered floats, their masks and their starts."""
        for start in range(0, len(self._rows), CHUNK):
            rows = self._rows[start : start + CHUNK]
            if rows.dtype not in (np.float32, np.float64) or not rows.flags.c_contiguous:
                rows = np.ascontiguousarray(rows, dtype=np.float64)
            yield rows, self._mask[start : start + CHUNK], start

    def _each_chunk(self, task: Callable[..., Any]) -> Iterator[Any]:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            yield from pool.map(lambda chunk: task(*chunk), self._chunks())

    def _map(self, kernel: Callable[..., Any], *arguments: Any) -> list[NDArray[Any]]:
        def once(rows: NDArray[Any], mask: NDArray[np.uint8], start: int = 0) -> tuple[NDArray[Any], ...]:
            part = kernel(rows, mask, self._door, *arguments)
            return part if isinstance(part, tuple) else (part,)

        # An empty chunk gives the shapes when there are no rows; sums are arbitrary-precision integers between chunks.
        totals = [part.astype(object) for part in once(np.empty((0, self.domain.n_features)), np.empty(0, np.uint8))]
        for parts in self._each_chunk(once):
            totals = [total + part for total, part in zip(totals, parts, strict=True)]
        return totals

    def _exact_cell_counts(self, cells: Cells) -> IntArray:
        """Count by binary search in sorted path codes, first word first."""
        deep = cells.depths > WORD
        counts = np.empty(len(cells), dtype=np.int64)
        codes = self._sorted_codes(cells.splits)
        starts = cells.codes[~deep, 0]
        spans = np.uint64(2**WORD - 1) >> np.minimum(cells.depths[~deep], WORD - 1).astype(np.uint64)
        spans[cells.depths[~deep] == WORD] = 0
        counts[~deep] = np.searchsorted(codes, starts + spans, "right") - np.searchsorted(codes, starts, "left")
        if deep.any():
            counts[deep] = self._exact_deep_counts(Cells(cells.splits, cells.codes[deep], cells.depths[deep]))
        return counts

    def _sorted_codes(self, splits: Splits) -> CodeArray:
        if self._sorted is None or self._sorted[0] is not splits:
            codes = self._path_codes(splits, 1)[:, 0]
            codes.sort()
            self._sorted = splits, codes
        return self._sorted[1]

    def _path_codes(self, splits: Splits, words: int, inside: CodeArray | None = None) -> CodeArray:
        """Return the codes of all rows that count, or of those whose first word is among `inside`."""

        def once(rows: NDArray[Any], mask: NDArray[np.uint8], start: int) -> CodeArray:
            codes = np.empty((len(rows), words), dtype=np.uint64)
            kept = path_codes(rows, mask, self._door, splits.axes, splits.shifts, words, codes)
            codes = codes[:kept]
            return codes if inside is None else codes[np.isin(codes[:, 0], inside)]

        return np.concatenate([np.empty((0, words), dtype=np.uint64), *self._each_chunk(once)])

    def _exact_deep_counts(self, cells: Cells) -> IntArray:
        """Count cells below the first word, among the rows whose first word belongs to one of them."""
        needed = np.unique(cells.codes[:, 0])
        if self._deep is None or self._deep[0] is not cells.splits or not np.isin(needed, self._deep[1]).all():
            codes = self._path_codes(cells.splits, cells.splits.words, needed)
            self._deep = cells.splits, needed, codes[np.lexsort(codes.T[::-1])]
        codes = self._deep[2]
        after = cells.codes.copy()  # the largest code of each cell
        for word in range(after.shape[1]):
            free = np.clip(cells.depths - WORD * word, 0, WORD)
            after[:, word] |= np.where(free < WORD, np.uint64(2**WORD - 1) >> np.minimum(free, WORD - 1).astype(np.uint64), 0)
        counts: IntArray = count_between(codes, cells.codes, after)
        return counts
