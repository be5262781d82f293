"""Path codes of rows that have come in, and which of some cells they lie in.

Codes are kept word by word: a row of an array per word, a column per code. What is looked up is kept cell by cell.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.compilation import compiled
from spinney.curators.entrance import Entered
from spinney.mechanisms.source import IntArray
from spinney.solvers.nearest import BLOCK
from spinney.spaces.grid import GRID_BITS
from spinney.trees.quadtree import WORD, CodeArray, Route

__all__ = ["code_bounds", "encode", "find_cells", "hash_table", "masks", "offsets"]

_WHOLE = 2**GRID_BITS
_ONES = np.uint64(2**WORD - 1)


@compiled
def _encode(slab, route, steps, sides, code, codes):  # type: ignore[no-untyped-def]
    """Write the path codes of grid coordinates.

    ``steps``, ``sides`` and ``code``, for a block, are scratch; a route without shifts needs the widths of the rows' cells in
    ``sides``, and takes their lower ends off the steps as it goes down.
    """
    d, count = slab.shape[1], codes.shape[1]
    for b in range(-(-count // BLOCK)):
        size = min(BLOCK, count - b * BLOCK)
        for t in range(d):
            for i in range(size):
                steps[t, i] = np.int64(slab[b, t, i])
        for t in range(sides.shape[0]):
            for i in range(size):
                sides[t, i] = _WHOLE
        for word in range(codes.shape[0]):
            first, last = 64 * word, min(64 * word + 64, route.axes.size)
            for i in range(size):
                code[i] = 0
            for level in range(first, last):
                axis = route.axes[level]
                if route.shifts.size:
                    shift = np.int64(route.shifts[level])
                    for i in range(size):
                        code[i] = (code[i] << 1) | ((steps[axis, i] >> shift) & 1)
                else:
                    fraction = route.fractions[level]
                    for i in range(size):
                        side = sides[axis, i]
                        part = (side * fraction) >> GRID_BITS
                        above = np.int64(steps[axis, i] >= part)
                        steps[axis, i] -= above * part
                        sides[axis, i] = part + above * (side - 2 * part)
                        code[i] = (code[i] << 1) | above
            for i in range(size):
                codes[word, b * BLOCK + i] = np.uint64(code[i]) << np.uint64(63 - (last - first - 1))


def encode(entered: Entered, route: Route, words: int) -> CodeArray:
    """Return the first words of the path codes of rows given as grid steps."""
    codes, d = np.empty((words, entered.size), dtype=np.uint64), entered.slab.shape[1]
    steps, sides = np.empty((d, BLOCK), np.int64), np.empty((0 if route.shifts.size else d, BLOCK), np.int64)
    _encode(entered.slab, route, steps, sides, np.empty(BLOCK, np.int64), codes)
    return codes


@compiled
def _bounds(codes, targets, or_equal, places):  # type: ignore[no-untyped-def]
    for i in range(places.size):
        low, high = 0, codes.shape[0]
        while low < high:
            middle = (low + high) // 2
            below = or_equal
            for word in range(targets.shape[1]):
                if codes[middle, word] != targets[i, word]:
                    below = codes[middle, word] < targets[i, word]
                    break
            if below:
                low = middle + 1
            else:
                high = middle
        places[i] = low


def _closed(codes: CodeArray) -> CodeArray:
    """Return the same codes closed for writing, as those of questions are: kernels are compiled for one type."""
    closed = np.ascontiguousarray(codes).view()
    closed.setflags(write=False)
    return closed


def code_bounds(codes: CodeArray, targets: CodeArray, or_equal: bool) -> IntArray:
    """Return how many sorted codes are below each target, or equal to it, comparing word by word; both cell by cell."""
    places = np.empty(len(targets), dtype=np.int64)
    _bounds(_closed(codes), _closed(targets), or_equal, places)
    return places


def masks(depths: NDArray[np.int64], words: int) -> CodeArray:
    """Return, for each depth, words whose first bits are set, as many as the depth says."""
    free = np.clip(WORD * np.arange(1, words + 1) - np.atleast_1d(depths)[:, None], 0, WORD)
    shifts = np.minimum(free, WORD - 1).astype(np.uint64)
    return np.where(free == WORD, np.uint64(0), (_ONES >> shifts) << shifts)


@compiled
def _look_up(codes, cells, mask, shift, table, inserts, places):  # type: ignore[no-untyped-def]
    """Write the indices of the cells that codes lie in, or -1; or put the codes, which are those of the cells, in the table."""
    last = table.size - 1
    for i in range(places.size):
        mixed = np.uint64(0)
        for word in range(mask.size):
            mixed = (mixed ^ (codes[word, i] & mask[word])) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
        slot = np.int64((mixed * np.uint64(0xBF58476D1CE4E5B9)) >> shift)
        place = table[slot]
        while place >= 0:
            differs = np.uint64(0)
            for word in range(mask.size):
                differs |= (codes[word, i] ^ cells[place, word]) & mask[word]
            if differs == np.uint64(0):
                break
            slot = (slot + 1) & last
            place = table[slot]
        if inserts:
            table[slot] = i
        places[i] = place


def find_cells(codes: CodeArray, cells: CodeArray, depth: int, table: IntArray, inserts: bool = False) -> IntArray:
    """Return the index of the cell of one level that each code lies in, or -1; `table` is that of the cells."""
    places = np.full(codes.shape[1], -1, dtype=np.int64)
    if len(cells):
        shift = np.uint64(WORD + 1 - table.size.bit_length())
        _look_up(_closed(codes), _closed(cells), masks(np.array(depth), cells.shape[1])[0], shift, table, inserts, places)
    return places


def hash_table(cells: CodeArray, depth: int) -> IntArray:
    """Return a hash table of different cells of one level: at least eight slots a cell, each with a cell's index or -1."""
    size = 8
    while size < 8 * len(cells):
        size *= 2
    table = np.full(size, -1, dtype=np.int64)
    find_cells(np.ascontiguousarray(cells.T), cells, depth, table, inserts=True)
    return table


def offsets(codes: CodeArray, depth: int, levels: int) -> IntArray:
    """Return bits depth .. depth + levels of codes as numbers; there are less than 64 of them."""
    if levels == 0:
        return np.zeros(codes.shape[1], dtype=np.int64)
    word, bit = divmod(depth, WORD)
    bits = codes[word] << np.uint64(bit)
    if bit + levels > WORD:
        bits |= codes[word + 1] >> np.uint64(WORD - bit)
    numbers: IntArray = (bits >> np.uint64(WORD - levels)).astype(np.int64)
    return numbers
