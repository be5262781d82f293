"""Badly cut centers leave the tree's instance and come back as centers (Cohen-Addad et al. 2022, section 5 and Appendix A).

Letters: k clusters, L the present centers, T a tree of H levels, R repairs, a the slack.

Squared distances are not kept by one random tree: a row may lie beside a cut that parts it from its center high up in the tree.
So the tree starts from what is known already.

1. ``mean``     L: the noisy mean of all rows.
2. ``tree i``   a new public tree T. A center of L is badly cut if T cuts very near to it, for the size of the cell that is cut:
   its rows leave. Noisy counts of the other rows in T, and the dynamic program: k centers. L: these and those badly cut.
3. ``merge``    noisy sizes of the last L, at most (1 + a) k. Reverse greedy leaves k.

Which centers are badly cut follows from the public tree and released centers, so it costs nothing. A row leaves for what is its
nearest center, by a rule of its own values and released centers: `Curator.near`.

Proof: ``proofs/hst.md``, "Repairs".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from spinney.algorithms.problem import PointProblem
from spinney.algorithms.step import take_step
from spinney.algorithms.tree_program import Placed
from spinney.curators.purse import Purse
from spinney.privacy import Part
from spinney.questions import Counting, Counts, LevelCounting, Rings, Summing
from spinney.solvers.reverse_greedy import thin_out
from spinney.spaces import GRID_BITS, FloatArray
from spinney.trees.quadtree import Splits

#: Hundredths of epsilon for the first mean and for the sizes that centers are merged by.
MEAN_SHARE, MERGE_SHARE = 3, 3


def repair_parts(share: Fraction, repairs: int, levels: int, n_features: int) -> tuple[Part, ...]:
    """Return the parts, each tree with this share; mean and merge have their own."""
    return (
        Summing("mean", n_features).part("mean", Fraction(MEAN_SHARE, 100)),
        *(LevelCounting(levels).part(f"tree {i}", share) for i in range(1, repairs + 1)),
        Counting().part("merge", Fraction(MERGE_SHARE, 100)),
    )


def cut_margins(splits: Splits, points: FloatArray) -> FloatArray:
    """Return how near each point of the domain comes to a cut of a cell that holds it: the least, in sides of the cell."""
    domain, route = splits.domain, splits.route
    places = (points - domain.lower) / (domain.upper - domain.lower)
    lower, width = np.zeros_like(places), np.ones_like(places)
    margins = np.full(len(places), np.inf)
    for axis, fraction in zip(route.axes.tolist(), (route.fractions / 2.0**GRID_BITS).tolist(), strict=True):
        side = width[:, axis]
        cut = lower[:, axis] + fraction * side
        beyond = places[:, axis] > cut
        margins = np.minimum(margins, np.abs(places[:, axis] - cut) / np.maximum(side, 0.5**GRID_BITS))  # no step is cut
        lower[:, axis] = np.where(beyond, cut, lower[:, axis])
        width[:, axis] = np.where(beyond, 1 - fraction, fraction) * side
    return margins


def badly_cut(splits: Splits, centers: FloatArray, slack: float, most: int) -> NDArray[np.int64]:
    """Return the places of the centers that are badly cut, up to this many, those nearest to a cut.

    A cut is uniform in the middle third of a side, so it comes within a share t of the side to a given point with a probability
    of at most 6 t. With t = slack / (12 H) a center is badly cut with a probability of at most slack / 2.
    """
    margins = cut_margins(splits, centers)
    nearest = np.argsort(margins, kind="stable")[:most]
    return np.sort(nearest[margins[nearest] < slack / (12 * splits.depth)])


def ask_repaired(
    purse: Purse,
    problem: PointProblem,
    repairs: int,
    slack: float,
    grow: Callable[[], Splits],
    ask: Callable[[Purse, Splits, str], Placed],
) -> Placed:
    """Ask for a mean and for several trees, each without the rows of centers that it cuts badly, and return k centers.

    `grow` draws a public tree; `ask` is what its dynamic program makes of the rows of a purse, paid by the charge of a name.
    """
    middle, reach = problem.domain.center[None, :], np.full(1, problem.domain.half_diagonal)
    centers = take_step(purse, replace(problem, power=2), middle, reach, "mean").centers
    for i in range(1, repairs + 1):
        splits = grow()
        bad = badly_cut(splits, centers, slack, math.ceil(slack * problem.k))
        kept = np.setdiff1d(np.arange(len(centers)), bad)
        found = ask(purse.near(centers, kept) if bad.size else purse, splits, f"tree {i}")
        centers = np.concatenate([found.centers, centers[bad]])
    sizes = np.maximum(purse.ask("merge", Counts(Rings(centers))).private_counts, 0).astype(np.float64)
    own = np.arange(problem.k, len(centers))  # their rows are not in the tree
    points, weights = np.concatenate([found.points, centers[own]]), np.concatenate([found.weights, sizes[own]])
    return Placed(centers[thin_out(centers, sizes, problem.k, problem.power)], points[weights > 0], weights[weights > 0])
