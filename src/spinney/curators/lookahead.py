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
from numba import njit

from spinney.curators.kernels import _encode, _enter, _walk
from spinney.curators.numbers import NumberBackend
from spinney.mechanisms.source import IntArray
from spinney.questions.partitions import ColumnBins, Rings, Whole
from spinney.solvers.nearest import BLOCK
from spinney.trees.quadtree import WORD, CodeArray, Route, Splits, TreeCells

__all__ = ["MOST_CELLS", "LookAhead", "count_below"]

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
        self._columns: IntArray | None = None
        self._rings: tuple[Rings, IntArray] | None = None
        self._known: KnownCounts | None = None

    def exact(self, aggregate: Any, levels_below: int = 0) -> Any:
        """Return an aggregate. Each row lies in one bin of every column, so the columns tell the number of rows, too."""
        if not isinstance(aggregate, Whole | ColumnBins):
            return super().exact(aggregate, levels_below)
        if self._columns is None:
            self._columns = super().exact(ColumnBins())
        return self._columns if isinstance(aggregate, ColumnBins) else self._columns[:1].sum(axis=1)

    def _ring_counts(self, rings: Rings) -> IntArray:
        """Return exact counts of Voronoi cells or their rings; rings that were foreseen are counted together with their cells."""
        edges = rings.edges if rings.edges.size else rings.foreseen
        if not edges.size:
            return super()._ring_counts(rings)
        if self._rings is None or not _are_alike(self._rings[0], Rings(rings.centers, edges)):
            wanted = Rings(rings.centers, edges)
            self._rings = wanted, super()._ring_counts(wanted)
        counts = self._rings[1]
        return counts if rings.edges.size else counts.sum(axis=1)

    def _cell_counts(self, cells: TreeCells, levels_below: int = 0) -> IntArray:
        """Return exact counts of tree cells: those that are known, and the others by one pass."""
        if self._known is None or self._known.splits is not cells.splits:
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
        """Count all descendants of cells of one level, so many levels down as fit; return how many, and the counts."""
        depth, levels = int(cells.depths[0]), min((MOST_CELLS // len(cells)).bit_length() - 1, levels_below)
        levels = max(levels, 0)
        route = cells.splits.route
        last = max(depth + levels, 1)
        route = Route(route.axes[:last], route.shifts[:last], route.fractions[:last])
        codes = np.ascontiguousarray(cells.codes[:, : -(-last // WORD)])
        table = _hash_table(codes, depth)
        return levels, self._tally(len(cells) << levels, count_below, route, codes, table, depth, levels)


def _are_alike(one: Rings, other: Rings) -> bool:
    return np.array_equal(one.centers, other.centers) and np.array_equal(one.edges, other.edges)


class KnownCounts:
    """Exact counts of the cells of a tree, as far as they are known: a few levels of all cells, and what was asked before."""

    def __init__(self, splits: Splits) -> None:
        self.splits = splits
        self._asked: dict[int, tuple[CodeArray, IntArray]] = {}
        self._floors: list[IntArray] = []
        self._base, self._depth, self._table = np.empty((0, splits.words), np.uint64), 0, np.empty(0, np.int64)

    def build(self, cells: TreeCells, levels: int, totals: IntArray) -> None:
        """Put the counts of all cells so many levels below those of one level in the place of the present floors."""
        self._base, self._depth = cells.codes, int(cells.depths[0])
        self._table = _hash_table(self._base, self._depth)
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
                places, _ = _find(codes, known, _hash_table(known, depth), depth, 0)
                counts[here] = np.where(places >= 0, values[places], -1)
            level = depth - self._depth
            if 0 <= level < len(self._floors):
                unknown = counts[here] < 0
                places, offsets = _find(codes, self._base, self._table, self._depth, level)
                found = self._floors[level][(np.maximum(places, 0) << level) + offsets]
                counts[here] = np.where(unknown & (places >= 0), found, counts[here])
        return counts


@njit(cache=True, nogil=True)
def _masks(depth, words):  # type: ignore[no-untyped-def]
    """Return words whose first `depth` bits are set."""
    masks = np.zeros(words, dtype=np.uint64)
    for word in range(words):
        free = min(max(64 * (word + 1) - depth, 0), 64)
        masks[word] = np.uint64(0) if free == 64 else (~np.uint64(0) >> np.uint64(free)) << np.uint64(free)
    return masks


@njit(cache=True, nogil=True)
def _guess(codes, count, masks, bits, slots):  # type: ignore[no-untyped-def]
    """Write the slots at which to look for codes first; codes are given word by word, and there are 2**bits slots."""
    shift = np.uint64(64 - bits)
    for i in range(count):
        mixed = np.uint64(0)
        for word in range(masks.size):
            mixed = (mixed ^ (codes[word, i] & masks[word])) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
        slots[i] = np.int64((mixed * np.uint64(0xBF58476D1CE4E5B9)) >> shift)


@njit(cache=True, nogil=True)
def _look_up(codes, count, cells, masks, table, places):  # type: ignore[no-untyped-def]
    """Replace the slots at which to look first by the indices of the cells that the codes lie in, or -1."""
    last = table.size - 1
    for i in range(count):
        slot = places[i]
        place = table[slot]
        while place >= 0:
            differs = np.uint64(0)
            for word in range(masks.size):
                differs |= (codes[word, i] ^ cells[place, word]) & masks[word]
            if differs == np.uint64(0):
                break
            slot = (slot + 1) & last
            place = table[slot]
        places[i] = place


@njit(cache=True, nogil=True)
def _offsets(codes, count, depth, levels, offsets):  # type: ignore[no-untyped-def]
    """Write bits depth .. depth + levels of codes as numbers; there are less than 64 of them."""
    if levels == 0:
        offsets[:count] = 0
        return
    word, bit = depth // 64, depth % 64
    left, right, rest = np.uint64(bit), np.uint64(64 - levels), np.uint64(64 - bit)
    if bit + levels > 64:
        for i in range(count):
            offsets[i] = np.int64(((codes[word, i] << left) | (codes[word + 1, i] >> rest)) >> right)
    else:
        for i in range(count):
            offsets[i] = np.int64((codes[word, i] << left) >> right)


@njit(cache=True, nogil=True)
def _bits(table):  # type: ignore[no-untyped-def]
    """Return the logarithm of the size of a hash table."""
    bits = 0
    while (1 << bits) < table.size:
        bits += 1
    return bits


@njit(cache=True)
def _hash_table(cells, depth):  # type: ignore[no-untyped-def]
    """Return a hash table of cells of one level: at least eight slots a cell, each with a cell's index or -1."""
    size = 8
    while size < 8 * len(cells):
        size *= 2
    table, slots = np.full(size, -1, dtype=np.int64), np.empty(len(cells), dtype=np.int64)
    _guess(np.ascontiguousarray(cells.T), len(cells), _masks(depth, cells.shape[1]), _bits(table), slots)
    for j in range(len(cells)):
        slot = slots[j]
        while table[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        table[slot] = j
    return table


@njit(cache=True)
def _find(targets, cells, table, depth, levels):  # type: ignore[no-untyped-def]
    """Return the index of the cell of one level that each target code lies in, or -1, and its bits on the levels below."""
    codes, masks = np.ascontiguousarray(targets.T), _masks(depth, cells.shape[1])
    places, offsets = np.full(len(targets), -1, dtype=np.int64), np.empty(len(targets), dtype=np.int64)
    if len(cells):
        _guess(codes, len(targets), masks, _bits(table), places)
        _look_up(codes, len(targets), cells, masks, table, places)
    _offsets(codes, len(targets), depth, levels, offsets)
    return places, offsets


@njit(cache=True, nogil=True)
def count_below(rows, mask, door, totals, route, cells, table, depth, levels):  # type: ignore[no-untyped-def]
    """Count rows in all cells so many levels below disjoint cells of one level; a row may lie in none.

    ``route`` ends at the last of these levels, and ``table`` is the hash table of the cells. The counts of the descendants of
    cell j, in the order of their codes, stand in ``totals`` from place ``j << levels`` on.
    """
    words = cells.shape[1]
    n, d = rows.shape
    block, alive = np.empty((d, BLOCK)), np.empty(BLOCK, dtype=np.bool_)
    codes = np.empty((words, BLOCK), dtype=np.uint64)
    places, offsets = np.empty(BLOCK, dtype=np.int64), np.empty(BLOCK, dtype=np.int64)
    ends, widths = _walk(route, d)
    masks, bits = _masks(depth, words), _bits(table)
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        _enter(rows, start, count, mask, door, block, alive, False)
        for word in range(words):
            _encode(block, count, route, word, ends, widths, codes[word])
        _guess(codes, count, masks, bits, places)
        _look_up(codes, count, cells, masks, table, places)
        _offsets(codes, count, depth, levels, offsets)
        for i in range(count):
            if alive[i] and places[i] >= 0:
                totals[(places[i] << levels) + offsets[i]] += 1
