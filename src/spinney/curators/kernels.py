"""The compiled loops over rows. Each maps one batch of raw rows to exact integers.

Every kernel starts at the same door: a row with a value that is not finite is dropped or sent to the middle of the domain,
values are clipped, coordinates are floored to the public grid. Nothing else ever reads a row.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from spinney.solvers.nearest import BLOCK, load_block, nearest_block, scratch, squared_distance
from spinney.spaces.grid import GRID_BITS

__all__ = ["RADIUS_STEPS", "count_between", "count_cells", "count_rings", "path_codes", "sum_costs", "sum_offsets"]

#: A clipping radius is this many integer steps of a clipped vector.
RADIUS_STEPS = 2**20
_LAST = 2.0**GRID_BITS - 1.0


@njit(cache=True, nogil=True)
def _enter(rows, start, count, mask, door, block, alive):  # type: ignore[no-untyped-def]
    """Write grid coordinates of rows start .. start+count into the columns of a block."""
    d = rows.shape[1]
    load_block(rows, start, count, block)
    for i in range(count):
        alive[i] = True
    for t in range(d):
        for i in range(count):
            alive[i] &= np.abs(block[t, i]) < np.inf  # false for NaN too
    for i in range(count):
        if not alive[i]:
            alive[i] = door.nan_to_center
            for t in range(d):
                block[t, i] = door.center[t]
        if mask.size and mask[start + i] == 0:
            alive[i] = False
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
    for t in range(d):
        lower, inverse = door.lower[t], door.inverse[t]
        for i in range(count):
            block[t, i] = min(np.floor((block[t, i] - lower) * inverse), _LAST)


@njit(cache=True, nogil=True)
def _place(block, count, door):  # type: ignore[no-untyped-def]
    """Turn grid coordinates into the middles of their grid steps."""
    for t in range(block.shape[0]):
        lower, step = door.lower[t], door.step[t]
        for i in range(count):
            block[t, i] = lower + (block[t, i] + 0.5) * step


@njit(cache=True, nogil=True)
def _encode(block, count, axes, shifts, word, codes):  # type: ignore[no-untyped-def]
    """Write one word of the path codes of a block of grid coordinates."""
    first = 64 * word
    last = min(first + 64, axes.size)
    for i in range(count):
        codes[i] = np.uint64(0)
    for level in range(first, last):
        axis, shift = axes[level], shifts[level]
        for i in range(count):
            bit = (np.uint64(block[axis, i]) >> shift) & np.uint64(1)
            codes[i] = (codes[i] << np.uint64(1)) | bit
    for i in range(count):
        codes[i] = codes[i] << np.uint64(63 - (last - first - 1))


@njit(cache=True, nogil=True)
def path_codes(rows, mask, door, axes, shifts, words, codes):  # type: ignore[no-untyped-def]
    """Write the first words of the codes of the rows that count; return how many there are."""
    n, d = rows.shape
    block, alive, column = np.empty((d, BLOCK)), np.empty(BLOCK, dtype=np.bool_), np.empty(BLOCK, dtype=np.uint64)
    kept = 0
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        _enter(rows, start, count, mask, door, block, alive)
        for word in range(words):
            _encode(block, count, axes, shifts, word, column)
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
def count_cells(rows, mask, door, axes, shifts, cells, depths):  # type: ignore[no-untyped-def]
    """Count rows in disjoint cells sorted by code; a row may lie in none."""
    counts = np.zeros(depths.size, dtype=np.int64)
    words = cells.shape[1]
    n, d = rows.shape
    block, alive = np.empty((d, BLOCK)), np.empty(BLOCK, dtype=np.bool_)
    columns, code = np.empty((words, BLOCK), dtype=np.uint64), np.empty(words, dtype=np.uint64)
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        _enter(rows, start, count, mask, door, block, alive)
        for word in range(words):
            _encode(block, count, axes, shifts, word, columns[word])
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
def count_rings(rows, mask, door, centers, glass, squared_edges):  # type: ignore[no-untyped-def]
    """Count rows by nearest center and by ring: ring r lies between edges r-1 and r; no edges make one ring."""
    counts = np.zeros((centers.shape[0], squared_edges.size + 1), dtype=np.int64)
    n, d = rows.shape
    block, alive = np.empty((d, BLOCK)), np.empty(BLOCK, dtype=np.bool_)
    view, labels, best, work = scratch(glass)
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        _enter(rows, start, count, mask, door, block, alive)
        _place(block, count, door)
        nearest_block(block, count, glass, view, labels, best, work)
        for i in range(count):
            if alive[i]:
                ring = 0
                if squared_edges.size:
                    ring = np.searchsorted(squared_edges, squared_distance(block, i, centers, labels[i]))
                counts[labels[i], ring] += 1
    return counts


@njit(cache=True, nogil=True)
def _truncate(vector):  # type: ignore[no-untyped-def]
    """Truncate toward zero and make sure, in integers, that the squared norm is at most RADIUS_STEPS^2."""
    limit = np.int64(RADIUS_STEPS) * np.int64(RADIUS_STEPS)
    while True:
        square = np.int64(0)
        for t in range(vector.size):
            step = np.int64(vector[t])
            square += step * step
        if square <= limit:
            return
        for t in range(vector.size):
            vector[t] *= 1.0 - 1e-9


@njit(cache=True, nogil=True)
def sum_offsets(rows, mask, door, glass, anchors, radii, is_median):  # type: ignore[no-untyped-def]
    """Sum clipped offsets from the anchor of each row's nearest center, in steps of radius / RADIUS_STEPS, and weights.

    The mean kernel clips the offset to the radius and weighs each row 1. The median kernel divides the offset by
    max(length, radius) and weighs the row radius / max(length, radius), in the same steps.
    """
    k, d = anchors.shape
    vectors, weights = np.zeros((k, d), dtype=np.int64), np.zeros(k, dtype=np.int64)
    n = rows.shape[0]
    block, alive = np.empty((d, BLOCK)), np.empty(BLOCK, dtype=np.bool_)
    view, labels, best, work = scratch(glass)
    vector = np.empty(d)
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        _enter(rows, start, count, mask, door, block, alive)
        _place(block, count, door)
        nearest_block(block, count, glass, view, labels, best, work)
        for i in range(count):
            if not alive[i]:
                continue
            j = labels[i]
            radius = radii[j]
            square = 0.0
            for t in range(d):
                vector[t] = block[t, i] - anchors[j, t]
                square += vector[t] * vector[t]
            longest = max(np.sqrt(square), radius)
            factor = RADIUS_STEPS / longest
            for t in range(d):
                vector[t] *= factor
            if square >= 0.999 * radius * radius:
                _truncate(vector)
            for t in range(d):
                vectors[j, t] += np.int64(vector[t])
            weights[j] += np.int64(min(radius * factor, np.float64(RADIUS_STEPS))) if is_median else 1
    return vectors, weights


@njit(cache=True, nogil=True)
def sum_costs(rows, mask, door, first, first_glass, second, second_glass, is_median, inverse_step, bound):  # type: ignore[no-untyped-def]
    """Sum cost differences d(x, first)^p - d(x, second)^p in integer steps, each clipped to the bound.

    No second set means the cost of the first.
    """
    total = np.zeros(1, dtype=np.int64)
    n, d = rows.shape
    block, alive, theirs = np.empty((d, BLOCK)), np.empty(BLOCK, dtype=np.bool_), np.zeros(BLOCK)
    view, labels, best, work = scratch(first_glass)
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        _enter(rows, start, count, mask, door, block, alive)
        _place(block, count, door)
        if second.shape[0]:
            nearest_block(block, count, second_glass, view, labels, best, work)
            for i in range(count):
                theirs[i] = squared_distance(block, i, second, labels[i])
        nearest_block(block, count, first_glass, view, labels, best, work)
        for i in range(count):
            if alive[i]:
                ours = squared_distance(block, i, first, labels[i])
                gap = np.sqrt(ours) - np.sqrt(theirs[i]) if is_median else ours - theirs[i]
                steps = min(max(gap * inverse_step, -np.float64(bound)), np.float64(bound))
                total[0] += np.int64(steps)
    return total
