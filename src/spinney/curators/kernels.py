"""The compiled loops over rows. Each maps one batch of raw rows to exact integers.

Every kernel starts at the same door: a row with a value that is not finite is dropped or sent to the middle of the domain,
values are clipped, and coordinates are floored to the public grid. The search for nearest centers leaves the flooring out: 32
bits would not see it. Nothing else ever reads a row.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from spinney.questions.sums import RADIUS_STEPS
from spinney.solvers.nearest import BLOCK, load_block, nearest_block, scratch, squared_distance
from spinney.spaces.grid import GRID_BITS
from spinney.trees.quadtree import BIN_BITS

__all__ = [
    "count_between",
    "count_cells",
    "count_columns",
    "count_rings",
    "count_rows",
    "find_nearest",
    "path_codes",
    "sum_costs",
    "sum_offsets",
]

_LAST = 2.0**GRID_BITS - 1.0
#: Squares of coordinates are cut off here, so that their own squares stay finite.
_FAR = 1e100
_BIN_SHIFT = GRID_BITS - BIN_BITS


@njit(cache=True, nogil=True)
def _admit(rows, start, count, mask, door, block, alive):  # type: ignore[no-untyped-def]
    """Load rows start .. start+count into the columns of a block, and decide which of them count."""
    d = rows.shape[1]
    load_block(rows, start, count, block)
    checks = np.zeros(count)
    for t in range(d):
        for i in range(count):
            checks[i] += block[t, i] * 0.0  # NaN if the value is NaN or infinite
    for i in range(count):
        alive[i] = checks[i] == 0.0
        if not alive[i]:
            alive[i] = door.nan_to_center
            for t in range(d):
                block[t, i] = door.center[t]
        if mask.size and mask[start + i] == 0:
            alive[i] = False


@njit(cache=True, nogil=True)
def _clip(block, count, door):  # type: ignore[no-untyped-def]
    """Move points into the domain."""
    d = block.shape[0]
    for t in range(d):
        lower, upper = door.lower[t], door.upper[t]
        for i in range(count):
            block[t, i] = min(max(block[t, i], lower), upper)
    if door.radius < np.inf:
        for i in range(count):
            square = 0.0
            for t in range(d):
                gap = block[t, i] - door.center[t]
                square += gap * gap
            shrink = min(1.0, door.radius / np.sqrt(max(square, 1e-300)))
            for t in range(d):
                block[t, i] = door.center[t] + (block[t, i] - door.center[t]) * shrink


@njit(cache=True, nogil=True)
def _enter(rows, start, count, mask, door, block, alive, as_places):  # type: ignore[no-untyped-def]
    """Write grid coordinates of rows start .. start+count, or the middles of their grid steps, into the columns of a block."""
    _admit(rows, start, count, mask, door, block, alive)
    if door.radius < np.inf:
        _clip(block, count, door)
    for t in range(rows.shape[1]):
        lower, upper, inverse, step = door.lower[t], door.upper[t], door.inverse[t], door.step[t]
        if as_places:
            for i in range(count):
                value = min(max(block[t, i], lower), upper)
                block[t, i] = lower + (min(np.floor((value - lower) * inverse), _LAST) + 0.5) * step
        else:
            for i in range(count):
                value = min(max(block[t, i], lower), upper)
                block[t, i] = min(np.floor((value - lower) * inverse), _LAST)


@njit(cache=True, nogil=True)
def count_rows(rows, mask, door):  # type: ignore[no-untyped-def]
    """Count the rows that enter."""
    total = np.zeros(1, dtype=np.int64)
    n, d = rows.shape
    block, alive = np.empty((d, BLOCK)), np.empty(BLOCK, dtype=np.bool_)
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        _admit(rows, start, count, mask, door, block, alive)
        for i in range(count):
            total[0] += alive[i]
    return total


@njit(cache=True, nogil=True)
def count_columns(rows, mask, door):  # type: ignore[no-untyped-def]
    """Count rows in 2**BIN_BITS equal bins of each column: a row counts once in every column."""
    n, d = rows.shape
    counts = np.zeros((d, 2**BIN_BITS), dtype=np.int64)
    block, alive = np.empty((d, BLOCK)), np.empty(BLOCK, dtype=np.bool_)
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        _enter(rows, start, count, mask, door, block, alive, False)
        for t in range(d):
            for i in range(count):
                if alive[i]:
                    counts[t, np.int64(block[t, i]) >> _BIN_SHIFT] += 1
    return counts


@njit(cache=True, nogil=True)
def _walk(route, d):  # type: ignore[no-untyped-def]
    """Return scratch for `_encode`: the lower ends and widths of the sides of a block's cells, in grid steps."""
    shape = (0 if route.shifts.size else d, BLOCK)
    return np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64)


@njit(cache=True, nogil=True)
def _encode(block, count, route, word, ends, widths, codes):  # type: ignore[no-untyped-def]
    """Write one word of the path codes of a block of grid coordinates; words are asked for in their order."""
    first = 64 * word
    last = min(first + 64, route.axes.size)
    if first == 0:
        ends[:], widths[:] = 0, np.int64(1) << GRID_BITS
    for i in range(count):
        codes[i] = np.uint64(0)
    for level in range(first, last):
        axis = route.axes[level]
        if route.shifts.size:
            shift = route.shifts[level]
            for i in range(count):
                bit = (np.uint64(block[axis, i]) >> shift) & np.uint64(1)
                codes[i] = (codes[i] << np.uint64(1)) | bit
        else:
            fraction = route.fractions[level]
            for i in range(count):
                side = widths[axis, i]
                part = (side * fraction) >> GRID_BITS
                above = np.int64(np.int64(block[axis, i]) - ends[axis, i] >= part)
                ends[axis, i] += above * part
                widths[axis, i] = part + above * (side - 2 * part)
                codes[i] = (codes[i] << np.uint64(1)) | np.uint64(above)
    for i in range(count):
        codes[i] = codes[i] << np.uint64(63 - (last - first - 1))


@njit(cache=True, nogil=True)
def path_codes(rows, mask, door, route, words, codes):  # type: ignore[no-untyped-def]
    """Write the first words of the codes of the rows that count; return how many there are."""
    n, d = rows.shape
    block, alive, column = np.empty((d, BLOCK)), np.empty(BLOCK, dtype=np.bool_), np.empty(BLOCK, dtype=np.uint64)
    ends, widths = _walk(route, d)
    kept = 0
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        _enter(rows, start, count, mask, door, block, alive, False)
        for word in range(words):
            _encode(block, count, route, word, ends, widths, column)
            place = kept
            for i in range(count):
                if alive[i]:
                    codes[place, word] = column[i]
                    place += 1
        kept = place
    return kept


@njit(cache=True, nogil=True)
def _bound(codes, target, or_equal):  # type: ignore[no-untyped-def]
    """Return how many of the sorted codes are below the target, or equal to it, comparing word by word."""
    low, high = 0, codes.shape[0]
    while low < high:
        middle = (low + high) // 2
        below = or_equal
        for word in range(target.size):
            if codes[middle, word] != target[word]:
                below = codes[middle, word] < target[word]
                break
        if below:
            low = middle + 1
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def count_between(codes, first, last):  # type: ignore[no-untyped-def]
    """Count the sorted codes from each first to each last code, both included."""
    counts = np.empty(len(first), dtype=np.int64)
    for i in range(len(first)):
        counts[i] = _bound(codes, last[i], True) - _bound(codes, first[i], False)
    return counts


@njit(cache=True, nogil=True)
def _is_inside(code, cell, depth):  # type: ignore[no-untyped-def]
    """Whether a full code lies in a cell of this depth."""
    word = 0
    while depth >= 64:
        if code[word] != cell[word]:
            return False
        word += 1
        depth -= 64
    return depth == 0 or ((code[word] ^ cell[word]) >> np.uint64(64 - depth)) == np.uint64(0)


@njit(cache=True, nogil=True)
def count_cells(rows, mask, door, route, cells, depths):  # type: ignore[no-untyped-def]
    """Count rows in disjoint cells sorted by code; a row may lie in none."""
    counts = np.zeros(depths.size, dtype=np.int64)
    words = cells.shape[1]
    n, d = rows.shape
    block, alive = np.empty((d, BLOCK)), np.empty(BLOCK, dtype=np.bool_)
    columns, code = np.empty((words, BLOCK), dtype=np.uint64), np.empty(words, dtype=np.uint64)
    ends, widths = _walk(route, d)
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        _enter(rows, start, count, mask, door, block, alive, False)
        for word in range(words):
            _encode(block, count, route, word, ends, widths, columns[word])
        for i in range(count):
            if not alive[i]:
                continue
            code[:] = columns[:, i]
            # A cell's code is the smallest code inside it, so only the last cell that does not start later can hold the row.
            place = _bound(cells, code, True) - 1
            if place >= 0 and _is_inside(code, cells[place], depths[place]):
                counts[place] += 1
    return counts


@njit(cache=True, nogil=True)
def find_nearest(rows, mask, door, glass):  # type: ignore[no-untyped-def]
    """Return the index of each row's nearest center, or -1 for a row that does not count."""
    n, d = rows.shape
    found = np.empty(n, dtype=np.int32)
    block, alive = np.empty((d, BLOCK)), np.empty(BLOCK, dtype=np.bool_)
    view, labels, best, work = scratch(glass)
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        _admit(rows, start, count, mask, door, block, alive)
        _clip(block, count, door)
        nearest_block(block, count, glass, view, labels, best, work)
        for i in range(count):
            found[start + i] = labels[i] if alive[i] else -1
    return found


@njit(cache=True, nogil=True)
def count_rings(rows, mask, door, labels, centers, squared_edges):  # type: ignore[no-untyped-def]
    """Count rows by nearest center and by ring: ring r lies between edges r-1 and r; no edges make one ring."""
    counts = np.zeros((centers.shape[0], squared_edges.size + 1), dtype=np.int64)
    n, d = rows.shape
    if not squared_edges.size:
        for i in range(n):
            if labels[i] >= 0:
                counts[labels[i], 0] += 1
        return counts
    block, alive = np.empty((d, BLOCK)), np.empty(BLOCK, dtype=np.bool_)
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        _enter(rows, start, count, mask, door, block, alive, True)
        for i in range(count):
            j = labels[start + i]
            if j >= 0:
                counts[j, np.searchsorted(squared_edges, squared_distance(block, i, centers, j))] += 1
    return counts


@njit(cache=True, nogil=True)
def _shorten(block, i):  # type: ignore[no-untyped-def]
    """Make sure, in integers, that the squared length of whole-number vector i is at most RADIUS_STEPS^2."""
    limit = np.int64(RADIUS_STEPS) * np.int64(RADIUS_STEPS)
    while True:
        square = np.int64(0)
        for t in range(block.shape[0]):
            square += np.int64(block[t, i]) * np.int64(block[t, i])
        if square <= limit:
            return
        for t in range(block.shape[0]):  # one step nearer to zero
            block[t, i] -= np.sign(block[t, i])


@njit(cache=True, nogil=True)
def sum_offsets(rows, mask, door, labels, anchors, radii, is_median, is_square):  # type: ignore[no-untyped-def]
    """Sum clipped offsets from the anchor of each row's nearest center, in steps of radius / RADIUS_STEPS, and weights.

    The mean kernel clips the offset to the radius and weighs each row 1. The second-moment kernel squares the coordinates of
    the offset over the radius and clips this vector to length 1, with the same weight. The median kernel divides the offset by
    max(length, radius) and weighs the row radius / max(length, radius), in the same steps. All truncate toward zero.
    Floats that hold whole numbers add up exactly here: a chunk's sums stay far below 2**53.
    """
    k, d = anchors.shape
    vectors, weights = np.zeros((k, d)), np.zeros(k)
    n = rows.shape[0]
    block, alive = np.empty((d, BLOCK)), np.empty(BLOCK, dtype=np.bool_)
    squares, factors, shares, limits = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        _enter(rows, start, count, mask, door, block, alive, True)
        for i in range(count):
            j = max(labels[start + i], 0)
            square = 0.0
            for t in range(d):
                gap = block[t, i] - anchors[j, t]
                if is_square:
                    ratio = gap / radii[j]
                    gap = min(ratio * ratio, _FAR)
                block[t, i] = gap
                square += gap * gap
            squares[i] = square
            shares[i] = 1.0 if is_square else radii[j]
        for i in range(count):
            radius, length = shares[i], np.sqrt(squares[i])
            limits[i] = 0.999 * radius * radius
            longest = length if length > radius else radius
            factors[i] = RADIUS_STEPS / longest
            shares[i] = radius / longest
        for t in range(d):
            for i in range(count):
                block[t, i] = np.trunc(block[t, i] * factors[i])
        for i in range(count):
            j = labels[start + i]
            if j < 0:
                continue
            if squares[i] >= limits[i]:
                _shorten(block, i)
            for t in range(d):
                vectors[j, t] += block[t, i]
            weights[j] += np.trunc(shares[i] * RADIUS_STEPS) if is_median else 1.0
    return vectors.astype(np.int64), weights.astype(np.int64)


@njit(cache=True, nogil=True)
def sum_costs(rows, mask, door, labels, first, second, glass, is_median, inverse_step, bound):  # type: ignore[no-untyped-def]
    """Sum cost differences d(x, first)^p - d(x, second)^p in integer steps, each clipped to the bound.

    ``labels`` are the nearest of the first set and ``glass`` looks at the second; no second set means the cost of the first.
    """
    total = np.zeros(1, dtype=np.int64)
    n, d = rows.shape
    block, alive = np.empty((d, BLOCK)), np.empty(BLOCK, dtype=np.bool_)
    view, others, best, work = scratch(glass)
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        _enter(rows, start, count, mask, door, block, alive, True)
        if second.shape[0]:
            nearest_block(block, count, glass, view, others, best, work)
        for i in range(count):
            j = labels[start + i]
            if j >= 0:
                ours = squared_distance(block, i, first, j)
                theirs = squared_distance(block, i, second, others[i]) if second.shape[0] else 0.0
                gap = np.sqrt(ours) - np.sqrt(theirs) if is_median else ours - theirs
                total[0] += np.int64(min(max(gap * inverse_step, -np.float64(bound)), np.float64(bound)))
    return total
