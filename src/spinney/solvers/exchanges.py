"""Exchanges of centers of weighted points: one goes, another comes, and a few steps tell whether that was good.

Restarts find the right number of centers in each part of the plane only by luck, the less likely the more centers there are. An
exchange takes the center that is missed least and puts it where points are far from all centers.
"""

from __future__ import annotations

import numpy as np

from spinney.compilation import compiled
from spinney.spaces.box import FloatArray
from spinney.spaces.metric import IntArray

__all__ = ["Exchanges"]


@compiled
def _two_nearest(points, centers, power, labels, first, second):  # type: ignore[no-untyped-def]
    """Write each point's nearest center, and the distances, or squared distances, to it and to the next; infinite at first."""
    for i in range(points.shape[0]):
        for j in range(centers.shape[0]):
            gap = 0.0
            for t in range(points.shape[1]):
                gap += (points[i, t] - centers[j, t]) ** 2
            if gap < first[i]:
                second[i], first[i], labels[i] = first[i], gap, j
            elif gap < second[i]:
                second[i] = gap
        if power == 1:
            first[i], second[i] = np.sqrt(first[i]), np.sqrt(second[i])


class Exchanges:
    """What exchanges of these centers need to know about the points: the nearest center of each, and how far it and the next are.

    Parameters
    ----------
    points, weights : arrays of shape (n, d) and (n,)
    centers : array of shape (k, d)
    power : {1, 2}
        Of distances.
    """

    def __init__(self, points: FloatArray, weights: FloatArray, centers: FloatArray, power: int) -> None:
        self.points, self.weights, self.centers, self.power = points, weights, centers, power
        self.first, self.second = np.full(len(points), np.inf), np.full(len(points), np.inf)
        self.labels: IntArray = np.zeros(len(points), dtype=np.int64)
        _two_nearest(points, centers, power, self.labels, self.first, self.second)
        self.shares = np.cumsum(weights * self.first)

    def _from(self, place: FloatArray) -> FloatArray:
        """Return the points' distances from a place, or their squares."""
        offsets = self.points - place
        squares = np.einsum("it,it->i", offsets, offsets)
        found: FloatArray = squares if self.power == 2 else np.sqrt(squares)
        return found

    def exchanged(self, uniform: float) -> FloatArray:
        """Return the centers with a point far from them, drawn by its cost, in the place of the center that is missed least."""
        place = min(int(np.searchsorted(self.shares, uniform * self.shares[-1], side="right")), len(self.points) - 1)
        gaps = self._from(self.points[place])
        missed = self.weights * (np.minimum(gaps, self.second) - np.minimum(gaps, self.first))
        found = self.centers.copy()
        found[int(np.argmin(np.bincount(self.labels, missed, len(found))))] = self.points[place]
        return found
