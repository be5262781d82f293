"""A random 2-HST of a finite metric as flat arrays, by ball carving (Fakcharoenphol, Rao and Talwar 2004).

Depth 0 is one cell, all points, of radius r_0 = diameter / 2. At depth l >= 1 a point belongs to the first point of one random
order that lies within r_l = beta diameter / 2^(l + 1) of it, with one random beta in [1, 2) for all depths (log-uniform), and a
cell is what belongs to one point within one cell of the depth above. So a cell of depth l has diameter at most 2 r_l. The
distance of two points in the tree is 2 r_l of the deepest cell that holds both, at least their distance in the metric, and in
expectation O(log n) times it. The tree depends on the public points and on public randomness alone.

`MetricHST.printed` is Algorithm 3 of Fan, Li and Li as it is printed: a new random order for each cell, centers inside the cell,
r_l = diameter / 2^l. Its cells are twice as wide, and no bound on its distances is proved. The library's algorithms use
`build` unless they are asked for the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from spinney.spaces.box import FloatArray
from spinney.spaces.metric import FiniteMetric, IntArray
from spinney.trees.least_elements import LeastElements, least_elements

#: How a tree may be carved: `build` and `printed`.
KINDS = ("frt", "printed")

#: The deepest level of a tree that is grown until its cells are single points.
MAX_LEVELS = 64


@dataclass(frozen=True, eq=False)
class MetricHST:
    """The tree: nodes level by level, node 0 the root, the children of a node one after another.

    Attributes
    ----------
    parent : array of shape (nodes,)
        -1 for the root.
    first_child, n_children : arrays of shape (nodes,)
        -1 and 0 for leaves: cells of one point, and cells of the last level.
    depth : array of shape (nodes,)
    start, stop : arrays of shape (nodes,)
        The points of a node are ``order[start:stop]``.
    representative : array of shape (nodes,)
        The point of a node that is nearest to the center of its ball, often the center itself.
    order : array of shape (n_points,)
    radii : array of shape (levels + 1,)
        The radius of the balls of each depth.
    """

    parent: IntArray
    first_child: IntArray
    n_children: IntArray
    depth: IntArray
    start: IntArray
    stop: IntArray
    representative: IntArray
    order: IntArray
    radii: FloatArray

    @classmethod
    def build(cls, space: FiniteMetric, rng: np.random.Generator, levels: int | None = None) -> MetricHST:
        """Carve a random tree from one public random order of the points and one factor.

        `levels` is the depth of the deepest cells. By default cells are carved until points of one cell are at distance 0, or
        `MAX_LEVELS` deep.
        """
        ranked, beta = rng.permutation(space.n_points), 2.0 ** rng.random()
        radii = space.diameter * beta / 2.0 ** np.arange(1, (MAX_LEVELS if levels is None else levels) + 2)
        radii[0] = space.diameter / 2
        lists = least_elements(space, ranked, 0.0 if levels is None else float(radii[-1]))
        if levels is None:
            closest = lists.distances[lists.distances > 0].min(initial=np.inf)
            radii = radii[: 1 + int(np.count_nonzero(radii >= closest))]
        return _carve(lists, ranked, radii)

    @classmethod
    def printed(cls, space: FiniteMetric, rng: np.random.Generator, levels: int | None = None) -> MetricHST:
        """Carve a tree as Algorithm 3 of Fan, Li and Li is printed; parameters as for `build`."""
        count = (MAX_LEVELS if levels is None else levels) + 1
        radii: FloatArray = np.asarray(space.diameter * 0.5 ** np.arange(count), dtype=np.float64)
        radii[0] = space.diameter / 2
        parent, named, sizes = [-1], [int(rng.integers(space.n_points))], [space.n_points]
        order, starts, depths, cells = np.arange(space.n_points), [0], [0], [(0, 0, space.n_points)]
        for depth in range(1, len(radii)):
            below = []
            for node, start, stop in cells:
                parts = _balls(space, rng.permutation(order[start:stop]), float(radii[depth]), levels is None)
                order[start:stop] = np.concatenate([np.empty(0, np.int64), *parts]) if parts else order[start:stop]
                for part in parts:
                    below.append((len(parent), start, start + len(part)))
                    parent.append(node)
                    named.append(int(part[0]))
                    sizes.append(len(part))
                    starts.append(start)
                    depths.append(depth)
                    start += len(part)
            cells = [cell for cell in below if cell[2] - cell[1] > 1]
            if not cells:
                radii = radii[: depth + 1] if levels is None else radii
                break
        return _linked(parent, depths, starts, sizes, named, order, radii)

    @classmethod
    def carved(cls, kind: str, space: FiniteMetric, rng: np.random.Generator, levels: int | None = None) -> MetricHST:
        """Carve a tree of a kind of `KINDS`; parameters as for `build`."""
        return (cls.printed if kind == "printed" else cls.build)(space, rng, levels)

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def levels(self) -> int:
        """The depth of the last level, L."""
        return len(self.radii) - 1

    @property
    def heights(self) -> IntArray:
        """The papers' level of each node, h = L - depth: L for the root, 0 for the last level."""
        return self.levels - self.depth

    def points(self, node: int) -> IntArray:
        """Return the points of a node."""
        return self.order[self.start[node] : self.stop[node]]

    def cells(self, depth: int) -> IntArray:
        """Return the nodes that partition the points at a depth: nodes of this depth, and leaves above it."""
        return np.flatnonzero((self.depth == depth) | ((self.depth < depth) & (self.n_children == 0)))

    def counts(self, weights: ArrayLike) -> FloatArray:
        """Return the weight of all nodes, given the weight of each point."""
        sums = np.concatenate([[0.0], np.cumsum(np.asarray(weights, dtype=np.float64)[self.order])])
        totals: FloatArray = sums[self.stop] - sums[self.start]
        return totals

    def leaf_of(self) -> IntArray:
        """Return the leaf of each point."""
        leaves = np.flatnonzero(self.n_children == 0)
        found = np.empty(len(self.order), dtype=np.int64)
        leaves = leaves[np.argsort(self.start[leaves])]
        found[self.order] = np.repeat(leaves, self.stop[leaves] - self.start[leaves])
        return found


def _carve(lists: LeastElements, ranked: IntArray, radii: FloatArray) -> MetricHST:
    """Cut the cells of each depth by the first center within its radius, read off the points' lists."""
    n = len(ranked)
    order, center, gap = np.arange(n), np.zeros(n, dtype=np.int64), np.zeros(n)
    parent, depths, starts, sizes, named = [np.array([-1])], [np.array([0])], [np.array([0])], [np.array([n])], [ranked[:1]]
    live, owner = np.arange(n if n > 1 else 0), np.zeros(n if n > 1 else 0, dtype=np.int64)  # places yet to be cut, their node
    total = 1
    for depth in range(1, len(radii)):
        if not live.size:
            break
        within = np.flatnonzero(lists.distances <= radii[depth])[::-1]  # of several writes the last stays: the first center
        center[lists.points[within]], gap[lists.points[within]] = lists.ranks[within], lists.distances[within]
        inside = order[live]
        sort = np.lexsort((gap[inside], center[inside], owner))  # moves points within their node only
        inside = order[live] = inside[sort]
        new = np.ones(len(live), dtype=bool)
        new[1:] = (owner[1:] != owner[:-1]) | (center[inside][1:] != center[inside][:-1])
        heads = np.flatnonzero(new)
        size = np.diff(np.append(heads, len(live)))
        parent.append(owner[heads])
        depths.append(np.full(len(heads), depth))
        starts.append(live[heads])
        sizes.append(size)
        named.append(inside[heads])
        owner = total + np.cumsum(new) - 1
        total += len(heads)
        more = np.repeat(size > 1, size)
        live, owner = live[more], owner[more]
    nodes = [np.concatenate(part) for part in (parent, depths, starts, sizes, named)]
    return _linked(nodes[0], nodes[1], nodes[2], nodes[3], nodes[4], order, radii)


def _balls(space: FiniteMetric, points: IntArray, radius: float, till_alike: bool) -> list[IntArray]:
    """Cut points, in this order, into balls around the first that is left, each with its center first.

    If they are to be cut until they are alike, points that are all at distance 0 stay together, and are not cut again: no ball.
    """
    balls: list[IntArray] = []
    while points.size:
        gaps = space.distances_between(points[:1], points)[0]
        if till_alike and not balls and gaps.max() == 0:
            return []
        inside = gaps <= radius
        balls.append(points[inside])
        points = points[~inside]
    return balls


def _linked(parent: Any, depth: Any, start: Any, sizes: Any, named: Any, order: IntArray, radii: FloatArray) -> MetricHST:
    """Return the tree of nodes that stand level by level, the children of a node one after another."""
    parents, starts = np.asarray(parent), np.asarray(start)
    n_children = np.bincount(parents[1:], minlength=parents.size)
    first_child = np.full(parents.size, -1)
    first_child[parents[:0:-1]] = np.arange(parents.size - 1, 0, -1)
    return MetricHST(
        parents, first_child, n_children, np.asarray(depth), starts, starts + np.asarray(sizes), np.asarray(named), order, radii
    )
