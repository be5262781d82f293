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


@compiled
def _two_nearest(columns, centers, power, labels, first, second, gaps):  # type: ignore[no-untyped-def]
    """Write each point's nearest center, and the distances, or squared distances, to it and to the next; infinite at first.

    ``gaps``, one number a point, are scratch.
    """
    d, n = columns.shape
    for j in range(centers.shape[0]):
        for i in range(n):
            gaps[i] = 0.0
        for t in range(d):
            there = centers[j, t]
            for i in range(n):
                gap = columns[t, i] - there
                gaps[i] += gap * gap
        for i in range(n):
            if gaps[i] < first[i]:
                second[i], first[i], labels[i] = first[i], gaps[i], j
            elif gaps[i] < second[i]:
                second[i] = gaps[i]
    for i in range(n):
        if power == 1:
            first[i], second[i] = np.sqrt(first[i]), np.sqrt(second[i])


@compiled
def _weigh(columns, weights, place, power, labels, first, second, gaps, missed):  # type: ignore[no-untyped-def]
    """Return what a center at a point would save, and add to `missed`, zeros at first, what then is lost without each of them.

    ``gaps``, one number a point, are scratch.
    """
    d, n = columns.shape
    for i in range(n):
        gaps[i] = 0.0
    for t in range(d):
        there = columns[t, place]
        for i in range(n):
            gap = columns[t, i] - there
            gaps[i] += gap * gap
    saved = 0.0
    for i in range(n):
        gap = np.sqrt(gaps[i]) if power == 1 else gaps[i]
        nearest = min(gap, first[i])
        saved += weights[i] * (first[i] - nearest)
        missed[labels[i]] += weights[i] * (min(gap, second[i]) - nearest)
    return saved


class Exchanges:
    """What exchanges of these centers need to know about the points: the nearest center of each, and how far it and the next are.

    Distances count with a power, 1 or 2.
    """

    def __init__(self, points: FloatArray, weights: FloatArray, centers: FloatArray, power: int) -> None:
        self.points, self.weights, self.power = points, weights, power
        self._columns, self._gaps = np.ascontiguousarray(points.T), np.empty(len(points))
        self.settle(centers)

    def settle(self, centers: FloatArray) -> None:
        """Take these centers from now on."""
        self.centers = centers
        self._first, self._second = np.full(len(self.points), np.inf), np.full(len(self.points), np.inf)
        self._labels: IntArray = np.zeros(len(self.points), dtype=np.int64)
        _two_nearest(self._columns, centers, self.power, self._labels, self._first, self._second, self._gaps)
        self._shares = np.cumsum(self.weights * self._first)

    def exchanged(self, uniforms: FloatArray) -> FloatArray:
        """Return the centers with the one that is missed least replaced by a point far from them.

        A point is drawn by its cost for each of the uniforms, and the one is taken that leaves the least cost.
        """
        drawn = np.searchsorted(self._shares, uniforms * self._shares[-1], side="right")
        found, least = self.centers.copy(), np.inf
        for place in np.minimum(drawn, len(self.points) - 1).tolist():
            missed = np.zeros(len(self.centers))
            known = self._labels, self._first, self._second, self._gaps
            saved = _weigh(self._columns, self.weights, place, self.power, *known, missed)
            if missed.min() - saved < least:
                least, found = missed.min() - saved, self.centers.copy()
                found[int(np.argmin(missed))] = self.points[place]
        return found
