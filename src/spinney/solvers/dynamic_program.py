"""The best k cells of a binary tree, by dynamic programming over its flat arrays.

Letters: c a cell, w(c) its weight, v the least cost of serving a cell with k' centers inside it. A cell without a center
costs w(c) diam(c)^p (p = 1 k-median, 2 k-means); a leaf with one costs nothing; any other cell divides its centers between its
children at the least cost. No leaf gets a second center while another leaf below the same cell has none, so the tables are
no longer than the number of leaves below a cell, and the whole program takes O(N k) steps for N cells.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from spinney.compilation import compiled
from spinney.spaces.box import FloatArray


@compiled
def _leaves_below(first_child, k):  # type: ignore[no-untyped-def]
    """Return how many leaves lie below each cell, or k if that is less."""
    leaves = np.ones(first_child.size, dtype=np.int64)
    for c in range(first_child.size - 1, -1, -1):
        if first_child[c] >= 0:
            leaves[c] = min(k, leaves[first_child[c]] + leaves[first_child[c] + 1])
    return leaves


@compiled
def _divide(left, right, k):  # type: ignore[no-untyped-def]
    """Return the least cost of k centers in two cells with these tables, and how many go left; ties go to the fewest."""
    best, share = np.inf, 0
    for k1 in range(max(0, k - right.size + 1), min(k, left.size - 1) + 1):
        cost = left[k1] + right[k - k1]
        if cost < best:
            best, share = cost, k1
    return best, share


@compiled
def _place(first_child, costs, k):  # type: ignore[no-untyped-def]
    """Return the number of centers of each cell, 0 if it is not a leaf, and the least cost."""
    n = first_child.size
    leaves = _leaves_below(first_child, k)
    starts = np.zeros(n + 1, dtype=np.int64)
    starts[1:] = np.cumsum(leaves + 1)
    tables = np.zeros(starts[-1])
    for c in range(n - 1, -1, -1):  # children come after their parents
        tables[starts[c]] = costs[c]
        a = first_child[c]
        if a >= 0:
            left, right = tables[starts[a] : starts[a + 1]], tables[starts[a + 1] : starts[a + 2]]
            for k1 in range(1, leaves[c] + 1):
                tables[starts[c] + k1] = _divide(left, right, k1)[0]
    placed = np.zeros(n, dtype=np.int64)
    placed[0] = leaves[0]
    for c in range(n):
        a = first_child[c]
        if a >= 0 and placed[c] > 0:
            left, right = tables[starts[a] : starts[a + 1]], tables[starts[a + 1] : starts[a + 2]]
            placed[a] = _divide(left, right, placed[c])[1]
            placed[a + 1] = placed[c] - placed[a]
            placed[c] = 0
    return placed, tables[starts[1] - 1]


def place_centers(first_child: NDArray[np.int64], costs: FloatArray, k: int) -> tuple[NDArray[np.int64], float]:
    """Return the min(k, leaves) different leaves that get a center, in their order, and the cost of this choice.

    Of N cells, ``first_child`` is -1 for leaves; the second child follows the first, children come after their parents, and cell
    0 is the root. ``costs`` is what each cell costs without a center, w(c) diam(c)^p: not negative.
    """
    placed, cost = _place(first_child, np.asarray(costs, dtype=np.float64), k)
    return np.flatnonzero(placed), float(cost)
