"""A small ball that holds a given weight of points: plain, by moving the best of several starts.

From a start the nearest points of that weight are enclosed, and the center moves toward the farthest of them, in steps that
become smaller (Badoiu and Clarkson 2003). The smallest such ball of all is hard to find; within a factor of two of it is a ball
around one of the points.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spinney.spaces.box import FloatArray

#: Moves of a center, and how many of the starts are moved.
MOVES, MOVED = 60, 4


class PlainBall(NamedTuple):
    """A center and a radius."""

    center: FloatArray
    radius: float


def enclose(points: FloatArray, weights: FloatArray, center: FloatArray, wanted: float) -> tuple[float, int]:
    """Return the least radius around a center that holds the wanted weight, all of it if there is less, and the point on it."""
    squares = ((points - center) ** 2).sum(axis=1)
    order = np.argsort(squares, kind="stable")
    last = min(int(np.searchsorted(np.cumsum(weights[order]), wanted)), len(order) - 1)
    return float(np.sqrt(squares[order[last]])), int(order[last])


def smallest_ball(points: FloatArray, weights: FloatArray, wanted: float, starts: FloatArray) -> PlainBall:
    """Return the smallest ball found that holds the wanted weight; there are points and starts, and weights are not negative."""
    begun = sorted((enclose(points, weights, start, wanted)[0], i) for i, start in enumerate(starts))
    best = PlainBall(starts[begun[0][1]], begun[0][0])
    for _, i in begun[:MOVED]:
        center = starts[i].copy()
        for move in range(MOVES):
            radius, farthest = enclose(points, weights, center, wanted)
            if radius < best.radius:
                best = PlainBall(center.copy(), radius)
            center += (points[farthest] - center) / (move + 2)
    return best
