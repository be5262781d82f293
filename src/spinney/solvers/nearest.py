"""Nearest centers, block by block.

Points are kept column by column, so that the inner loop runs over points and vectorizes. The nearest center minimizes
|c|^2 / 2 - <x, c>; per point the order of additions is fixed and ties go to the first center, so results do not depend on
blocks or threads. Scores are 32-bit, in units of the centers' own spread around their mean: a center is chosen over another
that is nearer by less than about one ten-millionth of that. Distances are then computed in 64 bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from spinney.spaces.box import FloatArray

__all__ = ["BLOCK", "Lens", "lens", "nearest", "nearest_block"]

#: Points per block: a block of ten columns fits the first-level cache.
BLOCK = 256
#: Columns are added up four at a time, and the rest two at a time; blocks are padded with a zero column if need be.
UNROLL = 2


#: Farther than this, in units of the centers' spread, all points look alike; scores stay finite.
FARTHEST = 1e15


class Lens(NamedTuple):
    """Centers as the nearest-center search sees them: shifted, scaled, padded and 32-bit."""

    shift: FloatArray
    zoom: float
    centers: NDArray[np.float32]
    halves: NDArray[np.float32]


def lens(centers: FloatArray) -> Lens:
    """Prepare public centers for the search."""
    k, d = centers.shape
    shift = centers.mean(axis=0)
    spread = float(np.abs(centers - shift).max())
    zoom = 1.0 / spread if spread > 1e-300 else 1.0
    padded = np.zeros((k, -(-d // UNROLL) * UNROLL), dtype=np.float32)
    padded[:, :d] = (centers - shift) * zoom
    halves = ((padded.astype(np.float64) ** 2).sum(axis=1) / 2).astype(np.float32)
    return Lens(shift, zoom, padded, halves)


@njit(cache=True, nogil=True)
def nearest_block(block, count, glass, view, labels, best, work):  # type: ignore[no-untyped-def]
    """Write the indices of the nearest centers of the first `count` points of a block.

    ``view`` (padded columns x BLOCK, 32-bit, zero in the padding), ``best`` and ``work`` (BLOCK, 32-bit) are scratch.
    """
    d = block.shape[0]
    k, columns = glass.centers.shape
    for t in range(d):
        shift = glass.shift[t]
        for i in range(count):
            view[t, i] = np.float32(min(max((block[t, i] - shift) * glass.zoom, -FARTHEST), FARTHEST))
    for i in range(count):
        best[i] = np.float32(np.inf)
        labels[i] = 0
    for j in range(k):
        half = glass.halves[j]
        for i in range(count):
            work[i] = half
        fours = columns - columns % 4
        if fours < columns:
            c0, c1 = glass.centers[j, fours], glass.centers[j, fours + 1]
            for i in range(count):
                work[i] -= view[fours, i] * c0 + view[fours + 1, i] * c1
        for t in range(0, fours, 4):
            c0, c1, c2, c3 = glass.centers[j, t], glass.centers[j, t + 1], glass.centers[j, t + 2], glass.centers[j, t + 3]
            for i in range(count):
                first = view[t, i] * c0 + view[t + 1, i] * c1
                second = view[t + 2, i] * c2 + view[t + 3, i] * c3
                work[i] -= first + second
        label = np.int32(j)
        for i in range(count):  # written so that the compiler vectorizes it
            score, least, held = work[i], best[i], labels[i]
            closer = score < least
            best[i] = min(score, least)
            labels[i] = label if closer else held


@njit(cache=True, nogil=True)
def scratch(glass):  # type: ignore[no-untyped-def]
    """Return the scratch arrays of `nearest_block`: view, labels, best, work."""
    view = np.zeros((glass.centers.shape[1], BLOCK), dtype=np.float32)
    return view, np.empty(BLOCK, dtype=np.int32), np.empty(BLOCK, dtype=np.float32), np.empty(BLOCK, dtype=np.float32)


@njit(cache=True, nogil=True)
def squared_distance(block, i, centers, j):  # type: ignore[no-untyped-def]
    """Return the squared distance from point i of a block to center j, in 64 bits and fixed order."""
    square = 0.0
    for t in range(block.shape[0]):
        gap = block[t, i] - centers[j, t]
        square += gap * gap
    return square


@njit(cache=True, nogil=True)
def load_block(points, start, count, block):  # type: ignore[no-untyped-def]
    """Copy points given as rows into the columns of a block; points may be kept column by column, too."""
    if points.strides[0] < points.strides[1]:
        for t in range(points.shape[1]):
            for i in range(count):
                block[t, i] = points[start + i, t]
        return
    for i in range(count):
        for t in range(points.shape[1]):
            block[t, i] = points[start + i, t]


@njit(cache=True, nogil=True)
def _nearest(points, centers, glass):  # type: ignore[no-untyped-def]
    n, d = points.shape
    squares, found = np.empty(n), np.empty(n, dtype=np.int32)
    block = np.empty((d, BLOCK))
    view, labels, best, work = scratch(glass)
    for start in range(0, n, BLOCK):
        count = min(BLOCK, n - start)
        load_block(points, start, count, block)
        nearest_block(block, count, glass, view, labels, best, work)
        for i in range(count):
            found[start + i] = labels[i]
            squares[start + i] = squared_distance(block, i, centers, labels[i])
    return squares, found


def nearest(points: FloatArray, centers: FloatArray) -> tuple[FloatArray, NDArray[np.int32]]:
    """Return squared distances to, and indices of, the nearest centers of points given as rows."""
    centers = np.ascontiguousarray(centers, dtype=np.float64)
    squares, labels = _nearest(np.ascontiguousarray(points), centers, lens(centers))
    return squares, labels
