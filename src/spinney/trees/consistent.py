"""Noisy counts of a tree made consistent: every parent is the sum of its children.

Of all consistent counts these are the nearest to the noisy ones in squares. The best estimate of a subtree weighs its root's own
count against the estimates of its children by their variances (up), and what a parent's final count leaves over is shared among
its children in proportion to theirs (down). Post-processing.
"""

from __future__ import annotations

import numpy as np

from spinney.spaces.box import FloatArray
from spinney.trees.quadtree import Quadtree


def consistent_counts(tree: Quadtree, private_counts: FloatArray) -> FloatArray:
    """Return the consistent counts of all nodes, by least squares up and down the tree, in linear time.

    Each node has a noisy count with independent noise of one variance, the unit here. Leaves may lie at different depths.
    """
    counts = private_counts.astype(np.float64)
    variances = np.ones(len(counts))
    inner = np.flatnonzero(tree.first_child >= 0)  # in the order of depths
    levels = np.split(inner, np.flatnonzero(np.diff(tree.cells.depths[inner])) + 1)
    for node in reversed(levels):
        left = tree.first_child[node]
        right = left + 1
        below = variances[left] + variances[right]
        counts[node] = (below * counts[node] + (counts[left] + counts[right])) / (below + 1.0)
        variances[node] = below / (below + 1.0)
    for node in levels:
        left = tree.first_child[node]
        right = left + 1
        surplus = counts[node] - counts[left] - counts[right]
        share = variances[left] / (variances[left] + variances[right])
        counts[left] += share * surplus
        counts[right] += (1 - share) * surplus
    return counts
