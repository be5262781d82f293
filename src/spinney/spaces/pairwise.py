"""Distances between public points given as rows, tile by tile.

The sum over columns is vectorized, in an order that depends on nothing but the number of columns, so a distance is the same
in both directions and in every tile.
"""

from __future__ import annotations

import numpy as np

from spinney.compilation import compiled
from spinney.spaces.box import FloatArray

#: Targets per tile: a tile of a thousand columns fits the second-level cache.
TILE = 32
#: Columns added up before a distance is compared with its limit.
STRIDE = 16


@compiled(fastmath={"reassoc", "nsz"})
def _squared(a, b):  # type: ignore[no-untyped-def]
    total = 0.0
    for t in range(a.size):
        gap = a[t] - b[t]
        total += gap * gap
    return total


@compiled(fastmath={"reassoc", "nsz"})
def _manhattan(a, b):  # type: ignore[no-untyped-def]
    total = 0.0
    for t in range(a.size):
        total += abs(a[t] - b[t])
    return total


def in_strides(points: FloatArray) -> FloatArray:
    """Return points as rows of strides for `distance_below`: the columns that separate points best first, padded with zeros."""
    n, columns = points.shape
    width = min(columns, STRIDE)
    padded = np.zeros((n, -(-columns // width) * width))
    padded[:, :columns] = points[:, np.argsort(-points.var(axis=0), kind="stable")]
    return padded.reshape(n, -1, width)


@compiled(fastmath={"reassoc", "nsz"})
def distance_below(strides, i, j, manhattan, limit):  # type: ignore[no-untyped-def]
    """Return the distance between two points, or infinity as soon as it is seen to be `limit` or more."""
    bound = limit if manhattan else limit * limit
    total = 0.0
    for s in range(strides.shape[1]):
        part = 0.0
        if manhattan:
            for t in range(strides.shape[2]):
                part += abs(strides[i, s, t] - strides[j, s, t])
        else:
            for t in range(strides.shape[2]):
                gap = strides[i, s, t] - strides[j, s, t]
                part += gap * gap
        total += part
        if not total < bound:
            return np.inf
    return total if manhattan else np.sqrt(total)


@compiled
def pairwise(points, sources, targets, manhattan, out):  # type: ignore[no-untyped-def]
    """Write the distances from `sources` to `targets`, indices of points, into the rows of `out`."""
    for start in range(0, targets.size, TILE):
        stop = min(start + TILE, targets.size)
        for i in range(sources.size):
            a = points[sources[i]]
            if manhattan:
                for j in range(start, stop):
                    out[i, j] = _manhattan(a, points[targets[j]])
            else:
                for j in range(start, stop):
                    out[i, j] = np.sqrt(_squared(a, points[targets[j]]))
