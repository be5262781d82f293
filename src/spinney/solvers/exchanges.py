"""Exchanges of centers of weighted points: one goes, another comes, and a few steps show whether that was good.

Restarts find the right number of centers in each part of the plane only by luck, the less likely the more centers there are. An
exchange takes the center that is missed least and puts it where points are far from all centers. Of a few such places the best
one is tried: the best of many would be the same again and again, and steps after it gain where others do.
"""

from __future__ import annotations

import numpy as np

from spinney.compilation import compiled
from spinney.spaces.box import FloatArray
from spinney.spaces.metric import IntArray
from spinney.spaces.nearest import BLOCK, as_slab, by_blocks
from spinney.threads import each

#: Numbers of points from which on threads share the places that are tried for one exchange: half a millisecond each.
WORTH_THREADS = 2**18


@compiled
def _two_nearest(slab, centers, power, labels, first, second, gaps):  # type: ignore[no-untyped-def]
    """Write each point's nearest center, and the distances, or squared distances, to it and to the next; infinite at first.

    ``gaps``, for a block of points, are scratch.
    """
    n = labels.size
    for b in range(slab.shape[0]):
        start, size = b * BLOCK, min(BLOCK, n - b * BLOCK)
        for j in range(centers.shape[0]):
            _measure(slab, b, size, centers, j, gaps)
            for i in range(size):
                at = start + i
                if gaps[i] < first[at]:
                    second[at], first[at], labels[at] = first[at], gaps[i], j
                elif gaps[i] < second[at]:
                    second[at] = gaps[i]
    for i in range(n):
        if power == 1:
            first[i], second[i] = np.sqrt(first[i]), np.sqrt(second[i])


@compiled
def _measure(slab, b, size, places, j, gaps):  # type: ignore[no-untyped-def]
    """Write the squared distances of a block of points to a place; two columns on one walk, added up one after the other."""
    d = slab.shape[1]
    for i in range(size):
        gap = slab[b, 0, i] - places[j, 0] if d % 2 else 0.0
        gaps[i] = gap * gap
    for t in range(d % 2, d, 2):
        here, there = places[j, t], places[j, t + 1]
        for i in range(size):
            gap, other = slab[b, t, i] - here, slab[b, t + 1, i] - there
            gaps[i] = (gaps[i] + gap * gap) + other * other


@compiled
def _weigh(slab, points, weights, place, power, labels, first, second, gaps, missed):  # type: ignore[no-untyped-def]
    """Return what a center at a point would save, and add to `missed`, zeros at first, what then is lost without each of them.

    ``gaps``, for a block of points, are scratch.
    """
    saved, n = 0.0, labels.size
    for b in range(slab.shape[0]):
        start, size = b * BLOCK, min(BLOCK, n - b * BLOCK)
        _measure(slab, b, size, points, place, gaps)
        for i in range(size):
            at = start + i
            gap = np.sqrt(gaps[i]) if power == 1 else gaps[i]
            nearest = min(gap, first[at])
            saved += weights[at] * (first[at] - nearest)
            missed[labels[at]] += weights[at] * (min(gap, second[at]) - nearest)
    return saved


class Exchanges:
    """What exchanges of these centers need to know about the points: the nearest center of each, and how far it and the next are.

    Distances count with a power, 1 or 2.
    """

    def __init__(self, points: FloatArray, weights: FloatArray, centers: FloatArray, power: int) -> None:
        self.points, self.weights, self.power = np.ascontiguousarray(points, dtype=np.float64), weights, power
        self._slab = as_slab(self.points)
        self.settle(centers)

    def settle(self, centers: FloatArray) -> None:
        """Take these centers from now on."""
        self.centers, n = np.ascontiguousarray(centers), len(self.points)
        self._first, self._second = np.full(n, np.inf), np.full(n, np.inf)
        self._labels: IntArray = np.zeros(n, dtype=np.int64)
        found = self._labels, self._first, self._second

        def look(here: slice) -> None:
            part = self._slab[here.start // BLOCK : -(-here.stop // BLOCK)]
            _two_nearest(part, self.centers, self.power, *(array[here] for array in found), np.empty(BLOCK))

        by_blocks(look, n, centers.size)
        self._shares = np.cumsum(self.weights * self._first)

    def exchanged(self, uniforms: FloatArray) -> FloatArray:
        """Return the centers with the one that is missed least replaced by a point far from them.

        A point is drawn by its cost for each of the uniforms, and the one is taken that leaves the least cost.
        """
        drawn = np.searchsorted(self._shares, uniforms * self._shares[-1], side="right")
        known = self._labels, self._first, self._second

        def weigh(place: int) -> tuple[float, int, int]:
            missed = np.zeros(len(self.centers))
            saved = _weigh(self._slab, self.points, self.weights, place, self.power, *known, np.empty(BLOCK), missed)
            return missed.min() - saved, int(np.argmin(missed)), place

        places, found = np.minimum(drawn, len(self.points) - 1).tolist(), self.centers.copy()
        _, gone, place = min((each if self.points.size > WORTH_THREADS else map)(weigh, places), key=lambda one: one[0])
        found[gone] = self.points[place]
        return found
