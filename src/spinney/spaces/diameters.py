"""A public upper bound on all distances of a space, from few searches."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spinney.spaces.box import FloatArray

#: Diameters are rounded up by this share, far more than the error of a sum.
MARGIN = 1e-9
#: Searches for a diameter visit about SEARCHED_POINTS points together; their number is between these limits.
LEAST_SEARCHES, MOST_SEARCHES, SEARCHED_POINTS = 8, 128, 2**20


def diameter_bound(n: int, ways: Callable[[int], tuple[FloatArray, FloatArray]]) -> float:
    """Return an upper bound on every distance of n points; `ways` says how far it is from all of them to one, and back.

    The farthest distance from a point u is at most d(u, s) plus the farthest distance from s: the largest of the least such
    bounds holds for all pairs, in one-way streets too. The points s are taken in turn from the edge, where bounds are largest,
    and from the middle, where the distances known so far say that points are near to all (Takes and Kosters 2011).
    """
    upper, lower, largest = np.full(n, np.inf), np.zeros(n), 0.0
    for turn in range(max(LEAST_SEARCHES, min(MOST_SEARCHES, SEARCHED_POINTS // n))):
        place = int(np.where(upper > lower, lower, np.inf).argmin() if turn % 2 else upper.argmax())
        row, away = ways(place)
        reach = float(away.max())
        upper, lower = np.minimum(upper, row + reach), np.maximum(lower, np.maximum(row, reach - away))
        upper[place], largest = reach, max(largest, reach)
        if upper.max() <= largest:
            break
    return float(upper.max()) * (1 + MARGIN)
