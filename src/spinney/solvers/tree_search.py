"""First centers for k-medoids from a 2-HST: subtree search and leaf search (Fan, Li and Li, Algorithms 4 and 5).

Letters: N(v) the count of node v, h its height, C1 the roots of the chosen subtrees. Counts may be noisy, and then negative or
not consistent: the search looks at nothing else.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.solvers.seeding import check_room
from spinney.spaces.box import FloatArray
from spinney.spaces.metric import FiniteMetric, IntArray
from spinney.trees.metric_hst import MetricHST


def search_subtrees(tree: MetricHST, counts: FloatArray, k: int, power: int = 1) -> IntArray:
    """Return the roots of up to k disjoint subtrees with the highest scores N(v) 2^(power h).

    For squared distances that is N(v) 2^(2h): Appendix C of Fan, Li and Li prints 2^h for them too, but a cell of height h then
    costs its squared diameter, in proportion to 2^(2h).

    Nodes are taken by falling score. A node takes the place of the chosen node above it, and no node above a chosen one is
    taken: what the published rounds of adding and pruning come to, in one pass. Fewer than k nodes come back if the tree has
    fewer leaves; ties go to the node that comes first.
    """
    scores = np.asarray(counts, dtype=np.float64) * 2.0 ** (power * tree.heights)
    chosen, above = np.zeros(len(tree), dtype=bool), np.zeros(len(tree), dtype=bool)
    size = 0
    for v in np.argsort(-scores, kind="stable"):
        if above[v]:
            continue
        chosen[v] = True
        size += 1
        up = tree.parent[v]
        while up >= 0 and not above[up]:
            above[up] = True
            size -= int(chosen[up])
            chosen[up] = False
            up = tree.parent[up]
        if size == k:
            break
    found: IntArray = np.flatnonzero(chosen)
    return found


def find_leaves(tree: MetricHST, counts: FloatArray, nodes: IntArray) -> IntArray:
    """Return the leaf reached from each node by always going to the child with the largest count; ties go to the first."""
    leaves = []
    for start in nodes:
        v = int(start)
        while tree.n_children[v]:
            first = int(tree.first_child[v])
            v = first + int(np.argmax(counts[first : first + int(tree.n_children[v])]))
        leaves.append(v)
    return np.array(leaves, dtype=np.int64)


def search_medoids(
    space: FiniteMetric,
    tree: MetricHST,
    counts: FloatArray,
    k: int,
    power: int = 1,
    existing: ArrayLike = (),
) -> IntArray:
    """Return k different candidates: the free candidates nearest to the representatives of the leaves that were found.

    The tree is one of this space; counts are the weights of its nodes, exact or noisy. Existing points are not taken again.
    """
    counts = np.asarray(counts, dtype=np.float64)
    free = np.zeros(space.n_points, dtype=bool)
    free[space.candidates] = True
    free[np.asarray(existing, dtype=np.int64)] = False
    check_room(int(free.sum()), k)
    leaves = find_leaves(tree, counts, search_subtrees(tree, counts, k, power))
    wanted = tree.representative[leaves]
    if len(wanted) < k:
        wanted = np.concatenate([wanted, _further_points(tree, counts, wanted)])
    return _free_candidates(space, wanted, free, k)


def _further_points(tree: MetricHST, counts: FloatArray, taken: IntArray) -> IntArray:
    """Return the other points, so that each leaf gets centers in proportion to its count."""
    points = tree.order[~np.isin(tree.order, taken)]
    leaf = tree.leaf_of()[points]
    first = np.ones(len(points), dtype=bool)
    first[1:] = leaf[1:] != leaf[:-1]
    turn = np.arange(len(points)) - np.flatnonzero(first)[np.cumsum(first) - 1]  # how many points of its leaf come before
    further: IntArray = points[np.argsort(-counts[leaf] / (turn + 2.0), kind="stable")]
    return further


def _free_candidates(space: FiniteMetric, wanted: IntArray, free: NDArray[np.bool_], k: int) -> IntArray:
    """Return, for each of the first k wanted points, the nearest candidate that is still free."""
    chosen: list[int] = []
    for point in wanted:
        if len(chosen) == k:
            break
        place = int(point)
        if not free[place]:
            open_places = np.flatnonzero(free)
            place = int(open_places[space.distances_between([place], open_places)[0].argmin()])
        chosen.append(place)
        free[place] = False
    return np.array(chosen, dtype=np.int64)
