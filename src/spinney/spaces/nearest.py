"""Nearest centers, slab by slab.

Points are kept column by column, so that the inner loop runs over points and vectorizes. The nearest center minimizes
|c|^2 / 2 - <x, c>; per point the order of additions is fixed and ties go to the first center, so results do not depend on
slabs or threads. Scores are 32-bit, in units of the centers' own spread around their mean: a center is chosen over another
that is nearer by less than about one ten-millionth of that. Distances are then computed in 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney.compilation import compiled
from spinney.spaces.box import FloatArray
from spinney.threads import each, n_threads

#: Points per block: a block of ten columns fits the first-level cache.
BLOCK = 256
#: Numbers left free between the columns of a block: columns a power of two apart would compete for the same lines of the cache.
GAP = 8
#: Most points of a slab, and most numbers if that leaves it a block: it fits the second-level cache.
SLAB_POINTS, SLAB_NUMBERS = 2**13, 2**16
#: Columns are added up four at a time, and the rest two at a time; blocks are padded with a zero column if need be.
UNROLL = 2
#: Points times columns times centers that are worth a thread: about a millisecond.
WORK = 2**22
#: Farther than this, in units of the centers' spread, all points look alike; scores stay finite.
FARTHEST = 1e15


class ScaledCenters(NamedTuple):
    """Centers as the nearest-center search sees them: shifted, scaled, padded and 32-bit."""

    shift: FloatArray
    zoom: float
    centers: NDArray[np.float32]
    halves: NDArray[np.float32]


def scale_centers(centers: FloatArray) -> ScaledCenters:
    """Prepare public centers for the search."""
    k, d = centers.shape
    shift = np.add.reduce(centers) / k  # what their mean is, without its detours: solvers do this thousands of times
    gaps = centers - shift
    spread = float(np.maximum.reduce(np.abs(gaps), axis=None))
    zoom = 1.0 / spread if spread > 1e-300 else 1.0
    padded = np.zeros((k, -(-d // UNROLL) * UNROLL), dtype=np.float32)
    padded[:, :d] = gaps * zoom
    wide = padded.astype(np.float64)
    halves = (np.add.reduce(wide * wide, axis=1) / 2).astype(np.float32)
    return ScaledCenters(shift, zoom, padded, halves)


def stretches(n: int, d: int) -> tuple[list[slice], FloatArray]:
    """Cut n points into stretches, and return an empty slab with room for each of them in turn.

    A slab has the axes block, column, point: a point's index within its block is one that the compiler knows to be in range.
    """
    blocks = min(max(min(SLAB_POINTS, SLAB_NUMBERS // max(d, 1)) // BLOCK, 1), -(-n // BLOCK))
    size = max(blocks, 1) * BLOCK
    return [slice(start, min(start + size, n)) for start in range(0, n, size)], np.empty((blocks, d, BLOCK + GAP))


def load(points: NDArray[Any], slab: FloatArray) -> None:
    """Copy points of any real type and layout to the start of a slab: one kind of array, for which kernels are compiled once."""
    whole, rest = divmod(len(points), BLOCK)
    with np.errstate(all="ignore"):  # a warning must not reveal a value
        if whole:
            slab[:whole, :, :BLOCK] = points[: whole * BLOCK].reshape(whole, BLOCK, -1).transpose(0, 2, 1)
        if rest:
            slab[whole, :, :rest] = points[whole * BLOCK :].T


def as_slab(points: NDArray[Any]) -> FloatArray:
    """Return all points as one slab."""
    slab = np.empty((-(-len(points) // BLOCK), points.shape[1], BLOCK + GAP))
    load(points, slab)
    return slab


@compiled
def label_slab(slab, count, ends, shift, zoom, centers, halves, scratch, scores, labels):  # type: ignore[no-untyped-def]
    """Write the indices of the nearest centers of the first `count` points of a slab, block by block.

    Shifted and scaled points are clipped to ``ends``, a row of lower and one of upper ones. They are looked at once for two
    centers. ``scratch`` (padded columns x BLOCK, 32-bit) is zero in the padding. ``scores`` (3 x BLOCK, flat, so that the
    compiler knows them apart) are scratch too: the best ones, and those of two centers.
    """
    k, columns = centers.shape
    for b in range(labels.shape[0]):
        size = min(BLOCK, count - b * BLOCK)
        for t in range(slab.shape[1]):
            lower, upper, middle = ends[0, t], ends[1, t], shift[t]
            for i in range(size):
                scratch[t, i] = np.float32(min(max((slab[b, t, i] - middle) * zoom, lower), upper))
        for i in range(size):
            scores[i] = np.float32(np.inf)
            labels[b, i] = 0
        for one in range(0, k, 2):
            two = min(one + 1, k - 1)  # an odd last one is scored twice
            half, other = halves[one], halves[two]
            if columns % 4:
                c0, c1 = centers[one, columns - 2], centers[one, columns - 1]
                e0, e1 = centers[two, columns - 2], centers[two, columns - 1]
                for i in range(size):
                    x0, x1 = scratch[columns - 2, i], scratch[columns - 1, i]
                    scores[BLOCK + i] = half - (x0 * c0 + x1 * c1)
                    scores[2 * BLOCK + i] = other - (x0 * e0 + x1 * e1)
            else:
                for i in range(size):
                    scores[BLOCK + i], scores[2 * BLOCK + i] = half, other
            for t in range(0, columns - 3, 4):
                c0, c1, c2, c3 = centers[one, t], centers[one, t + 1], centers[one, t + 2], centers[one, t + 3]
                e0, e1, e2, e3 = centers[two, t], centers[two, t + 1], centers[two, t + 2], centers[two, t + 3]
                for i in range(size):
                    x0, x1, x2, x3 = scratch[t, i], scratch[t + 1, i], scratch[t + 2, i], scratch[t + 3, i]
                    scores[BLOCK + i] -= (x0 * c0 + x1 * c1) + (x2 * c2 + x3 * c3)
                    scores[2 * BLOCK + i] -= (x0 * e0 + x1 * e1) + (x2 * e2 + x3 * e3)
            first, second = np.int32(one), np.int32(two)
            for i in range(size):  # written so that the compiler vectorizes it
                score, least, held = scores[BLOCK + i], scores[i], labels[b, i]
                held, least = first if score < least else held, min(score, least)
                score = scores[2 * BLOCK + i]
                labels[b, i] = second if score < least else held
                scores[i] = min(score, least)


@lru_cache(maxsize=64)
def far_ends(d: int) -> FloatArray:
    """Return ends for d columns that hold no point back."""
    return np.repeat([[-FARTHEST], [FARTHEST]], d, axis=1)


def scaled_ends(scaled: ScaledCenters, bounds: FloatArray) -> FloatArray:
    """Return what points are clipped to, after they are shifted and scaled, so that they lie within bounds.

    Rounding keeps the order of numbers, so points may as well be clipped then.
    """
    with np.errstate(over="ignore"):
        ends: FloatArray = np.clip((bounds - scaled.shift) * scaled.zoom, -FARTHEST, FARTHEST)
    return ends


def search_scratch(scaled: ScaledCenters) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the scratch of a search."""
    return np.zeros((scaled.centers.shape[1], BLOCK), dtype=np.float32), np.empty(3 * BLOCK, dtype=np.float32)


def find_labels(slab: FloatArray, count: int, scaled: ScaledCenters) -> NDArray[np.int32]:
    """Return the indices of the nearest centers of the first `count` points of a slab."""
    labels = np.empty((-(-count // BLOCK), BLOCK), dtype=np.int32)
    label_slab(slab, count, far_ends(slab.shape[1]), *scaled, *search_scratch(scaled), labels)
    return labels.reshape(-1)[:count]


@compiled
def _measure(slab, centers, labels, squares):  # type: ignore[no-untyped-def]
    for b in range(slab.shape[0]):
        size = min(BLOCK, squares.size - b * BLOCK)
        for t in range(slab.shape[1]):
            for i in range(size):
                at = b * BLOCK + i
                gap = slab[b, t, i] - centers[max(labels[at], 0), t]
                squares[at] += gap * gap


def squared_distances(slab: FloatArray, centers: FloatArray, labels: NDArray[np.int32]) -> FloatArray:
    """Return the squared distances of the first points of a slab to their centers, in 64 bits and fixed order.

    A point without a center, with label -1, gets its distance to the first one.
    """
    squares = np.zeros(labels.size)
    _measure(slab, centers, labels, squares)
    return squares


def by_blocks(task: Callable[[slice], None], n: int, work: int) -> None:
    """Let threads share n points, each of so much work, in stretches of whole blocks."""
    size = max(WORK // max(work, 1), n // (2 * n_threads())) // BLOCK * BLOCK + BLOCK
    list(each(task, [slice(start, min(start + size, n)) for start in range(0, n, size)]))


def nearest(points: NDArray[Any], centers: FloatArray) -> tuple[FloatArray, NDArray[np.int32]]:
    """Return squared distances to, and indices of, the nearest centers of points given as rows."""
    centers = np.ascontiguousarray(centers, dtype=np.float64)
    scaled = scale_centers(centers)
    squares, labels = np.empty(len(points)), np.empty(len(points), dtype=np.int32)

    def look(part: slice) -> None:
        own, own_squares, own_labels = points[part], squares[part], labels[part]
        parts, slab = stretches(*own.shape)
        for here in parts:
            load(own[here], slab)
            own_labels[here] = find_labels(slab, here.stop - here.start, scaled)
            own_squares[here] = squared_distances(slab, centers, own_labels[here])

    by_blocks(look, len(points), centers.size)
    return squares, labels
