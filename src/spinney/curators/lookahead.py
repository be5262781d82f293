"""Backends that read their rows anew for every pass: few passes, whatever is asked.

`grow` and `levels` ask about one level of a tree after another. Here one pass counts the cells of all levels as far down as a
public number of counters allows; the levels below are then answered without a pass. How far down is decided from the number of
cells asked about, their level and the last level of the tree: public facts and released decisions. What was counted ahead are
exact counts, and they stay inside.

Proof: ``proofs/questions.md``, "Looking ahead".
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from spinney.curators.kernels import count_below
from spinney.curators.numbers import NumberBackend
from spinney.curators.paths import find_cells, hash_table, offsets
from spinney.questions import ColumnBins, Whole
from spinney.spaces import IntArray
from spinney.trees.quadtree import WORD, CodeArray, Splits, TreeCells

#: One pass counts at most this many cells of a tree, or the cells asked about if they are more.
MOST_CELLS = 2**22


class LookAhead(NumberBackend):
    """Rows that are read anew for every pass.

    A backend supplies `_map` and `_map_nearest`, as for all rows of numbers, and `_tally`.
    """

    @abstractmethod
    def _tally(self, size: int, kernel: Callable[..., Any], *arguments: Any) -> IntArray:
        """Apply ``kernel(rows, mask, door, totals, *arguments)`` to all batches and return the sum of the totals.

        A kernel adds to ``totals``, an int64 array of this size: a worker starts with zeros and keeps them from batch to batch.
        """

    def _forget(self) -> None:
        super()._forget()
        self._columns: IntArray | None = None
        self._known: KnownCounts | None = None

    def exact(self, aggregate: Any, levels_below: int = 0) -> Any:
        """Return an aggregate. Each row lies in one bin of every column, so the columns give the number of rows, too."""
        if not isinstance(aggregate, Whole | ColumnBins):
            return super().exact(aggregate, levels_below)
        if self._columns is None:
            self._columns = super().exact(ColumnBins())
        return aggregate.merged(self._columns) if isinstance(aggregate, ColumnBins) else self._columns[:1].sum(axis=1)

    def _cell_counts(self, cells: TreeCells, levels_below: int = 0) -> IntArray:
        """Return exact counts of tree cells: those that are known, and the others by one pass."""
        if self._known is None or not cells.splits.route.equals(self._known.route):
            self._known = KnownCounts(cells.splits)
        counts = self._known.find(cells)
        missing = np.flatnonzero(counts < 0)
        if missing.size and levels_below:
            unknown = cells.take(missing)
            self._known.build(unknown, *self._count_ahead(unknown, levels_below))
            counts[missing] = self._known.find(unknown)
        elif missing.size:
            counts[missing] = super()._cell_counts(cells.take(missing))
        if levels_below:
            self._known.remember(cells, counts)
        return counts

    def _count_ahead(self, cells: TreeCells, levels_below: int) -> tuple[int, IntArray]:
        """Count all descendants of cells of one level, as many levels down as fit; return their number and the counts."""
        depth, levels = int(cells.depths[0]), min((MOST_CELLS // len(cells)).bit_length() - 1, levels_below)
        levels = max(levels, 0)
        last = max(depth + levels, 1)
        route = cells.splits.route.until(last)
        codes = np.ascontiguousarray(cells.codes[:, : -(-last // WORD)])
        table = hash_table(codes, depth)
        return levels, self._tally(len(cells) << levels, count_below, route, codes, table, depth, levels)


class KnownCounts:
    """Exact counts of the cells of a tree, as far as they are known: a few levels of all cells, and what was asked before."""

    def __init__(self, splits: Splits) -> None:
        self.route = splits.route.copied()
        self._asked: dict[int, tuple[CodeArray, IntArray]] = {}
        self._floors: list[IntArray] = []
        self._base, self._depth, self._table = np.empty((0, splits.words), np.uint64), 0, np.empty(0, np.int64)

    def build(self, cells: TreeCells, levels: int, totals: IntArray) -> None:
        """Replace the present floors by the counts of all cells some levels below those of one level."""
        self._base, self._depth = cells.codes, int(cells.depths[0])
        self._table = hash_table(self._base, self._depth)
        floors = [totals]
        for _ in range(levels):
            floors.append(floors[-1][0::2] + floors[-1][1::2])
        self._floors = floors[::-1]

    def remember(self, cells: TreeCells, counts: IntArray) -> None:
        """Keep the counts of cells of one level."""
        self._asked[int(cells.depths[0])] = cells.codes, counts.copy()

    def find(self, cells: TreeCells) -> IntArray:
        """Return the counts of cells of any levels, -1 where they are not known."""
        counts = np.full(len(cells), -1, dtype=np.int64)
        for depth in np.unique(cells.depths).tolist():
            here = np.flatnonzero(cells.depths == depth)
            codes = cells.codes[here]
            if depth in self._asked:
                known, values = self._asked[depth]
                places = _find(codes, known, hash_table(known, depth), depth)
                counts[here] = np.where(places >= 0, values[places], -1)
            level = depth - self._depth
            if 0 <= level < len(self._floors):
                unknown = counts[here] < 0
                places = _find(codes, self._base, self._table, self._depth)
                below = offsets(codes.T, self._depth, level)
                found = self._floors[level][(np.maximum(places, 0) << level) + below]
                counts[here] = np.where(unknown & (places >= 0), found, counts[here])
        return counts


def _find(codes: CodeArray, cells: CodeArray, table: IntArray, depth: int) -> IntArray:
    """Return the index of the cell of one level that each code, given cell by cell, lies in, or -1."""
    return find_cells(np.ascontiguousarray(codes.T), cells, depth, table)
