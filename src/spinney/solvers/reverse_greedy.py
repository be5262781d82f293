"""From many weighted centers to k of them: reverse greedy (Chrobak, Kenyon and Young 2006).

Whoever costs least without its own center gives it up, one after another. Letters: m centers, k of which stay.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.spaces.box import FloatArray


def thin_out(centers: FloatArray, weights: FloatArray, k: int, power: int) -> NDArray[np.int64]:
    """Return the places of the k centers that stay, in their order; weights are what each serves, not negative."""
    gaps = np.stack([((centers - one) ** 2).sum(axis=1) for one in centers])
    costs = np.sqrt(gaps) if power == 1 else gaps
    left = np.arange(len(centers))
    while left.size > k:
        open_costs = costs[:, left]
        nearest = open_costs.argmin(axis=1)
        first = open_costs.min(axis=1)
        open_costs[np.arange(len(centers)), nearest] = np.inf
        more = np.bincount(nearest, weights * (open_costs.min(axis=1) - first), left.size)
        left = np.delete(left, int(more.argmin()))
    return left
