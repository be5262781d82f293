"""Path codes of rows that have come in, and which of some cells they lie in.

Codes are kept word by word: a row of an array per word, a column per code. What is looked up is kept cell by cell.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney.compilation import compiled
from spinney.curators.entrance import Entered
from spinney.spaces import BLOCK, GRID_BITS, IntArray
from spinney.trees.quadtree import WORD, CodeArray, Route

_WHOLE = 2**GRID_BITS
_ONES = np.uint64(2**WORD - 1)
#: Bits of a column that are read at once: tables of more would leave the first-level cache.
_DIGIT = 7


@compiled
def _find_digits(axes, shifts, digits, numbers, table):  # type: ignore[no-untyped-def]
    """Write how a route that halves is read.

    A level reads one bit of a column. Levels that read neighboring bits of the same column, a digit, read them at once: for
    each word, ``table`` tells which bits of the code the values of a digit set, and ``digits`` has its column, its lowest bit,
    how many levels read it, and which bit the last of these reads and writes. ``numbers`` are those of the digits.
    """
    for word in range(numbers.size):
        first, last = 64 * word, min(64 * word + 64, axes.size)
        count = 0
        for level in range(first, last):
            axis, shift, g = axes[level], np.int64(shifts[level]), 0
            while g < count and (
                digits[word, g, 0] != axis or shift < digits[word, g, 1] or shift >= digits[word, g, 1] + _DIGIT
            ):
                g += 1
            if g == count:
                count += 1
                digits[word, g, 0], digits[word, g, 1], digits[word, g, 2] = axis, max(shift - _DIGIT + 1, 0), 0
                for value in range(2**_DIGIT):
                    table[word, g, value] = 0
            low, place = shift - digits[word, g, 1], 63 - (level - first)
            digits[word, g, 2], digits[word, g, 3], digits[word, g, 4] = digits[word, g, 2] + 1, shift, place
            for value in range(2**_DIGIT):
                table[word, g, value] |= np.uint64((value >> low) & 1) << np.uint64(place)
        numbers[word] = count


@compiled
def _read(slab, count, digits, numbers, table, codes):  # type: ignore[no-untyped-def]
    """Write the path codes of places on the grid along a route that halves."""
    for word in range(numbers.size):
        for b in range(-(-count // BLOCK)):
            start, size = b * BLOCK, min(BLOCK, count - b * BLOCK)
            for i in range(size):
                codes[word, start + i] = 0
            for g in range(numbers[word]):
                axis, low, shift, place = digits[word, g, 0], digits[word, g, 1], digits[word, g, 3], digits[word, g, 4]
                if digits[word, g, 2] > 1:
                    for i in range(size):
                        codes[word, start + i] |= table[word, g, (np.int64(slab[b, axis, i]) >> low) & (2**_DIGIT - 1)]
                else:  # a single bit is sooner read than looked up
                    for i in range(size):
                        codes[word, start + i] |= np.uint64(((np.int64(slab[b, axis, i]) >> shift) & 1) << place)


@compiled
def _cut(slab, count, axes, fractions, steps, sides, codes):  # type: ignore[no-untyped-def]
    """Write the path codes of places on the grid along a route that cuts where its fractions say.

    ``steps`` and ``sides``, for a block, are scratch: the rows' places above the lower ends of their cells, and the widths of
    these.
    """
    for b in range(-(-count // BLOCK)):
        start, size = b * BLOCK, min(BLOCK, count - b * BLOCK)
        for t in range(slab.shape[1]):
            for i in range(size):
                steps[t, i], sides[t, i] = np.int64(slab[b, t, i]), _WHOLE
        for word in range(codes.shape[0]):
            first, last = 64 * word, min(64 * word + 64, axes.size)
            for i in range(size):
                codes[word, start + i] = 0
            for level in range(first, last):
                axis, fraction, place = axes[level], fractions[level], np.uint64(63 - (level - first))
                for i in range(size):
                    side = sides[axis, i]
                    part = (side * fraction) >> GRID_BITS
                    above = np.int64(steps[axis, i] >= part)
                    steps[axis, i] -= above * part
                    sides[axis, i] = part + above * (side - 2 * part)
                    codes[word, start + i] |= np.uint64(above) << place


@compiled
def read_codes(slab, count, axes, fractions, digits, numbers, table, steps, sides, codes):  # type: ignore[no-untyped-def]
    """Write the first words of the path codes of the first places of a slab, by a `CodeReader`."""
    if digits.shape[0]:
        _read(slab, count, digits, numbers, table, codes)
    else:
        _cut(slab, count, axes, fractions, steps, sides, codes)


class CodeReader(NamedTuple):
    """How the first words of a route's path codes are read, and scratch for it."""

    axes: IntArray
    fractions: IntArray
    digits: IntArray
    numbers: IntArray
    table: CodeArray
    steps: IntArray
    sides: IntArray

    @classmethod
    def of(cls, route: Route, words: int, n_features: int) -> CodeReader:
        """Return the reader of a route."""
        steps = np.empty((2, n_features, BLOCK), np.int64)
        if not route.shifts.size:
            none = np.empty((0, 0, 0), np.int64), np.empty(0, np.int64), np.empty((0, 0, 0), np.uint64)
            return cls(route.axes, route.fractions, *none, steps[0], steps[1])
        digits, numbers = np.empty((words, WORD, 5), np.int64), np.empty(words, np.int64)
        table = np.empty((words, WORD, 2**_DIGIT), np.uint64)
        _find_digits(route.axes, route.shifts, digits, numbers, table)
        return cls(route.axes, route.fractions, digits, numbers, table, steps[0], steps[1])

    def __repr__(self) -> str:
        return object.__repr__(self)  # nor are places of rows, which are in its scratch


def encode(entered: Entered, route: Route, words: int) -> CodeArray:
    """Return the first words of the path codes of rows given as places on the grid."""
    codes = np.empty((words, entered.size), dtype=np.uint64)
    read_codes(entered.slab, entered.size, *CodeReader.of(route, words, entered.slab.shape[1]), codes)
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
    """Return the index of the cell of one level that each code lies in, or -1; `table` is the table of the cells."""
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
    return np.asarray((bits >> np.uint64(WORD - levels)).astype(np.int64))
