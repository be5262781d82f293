"""The summary of the default: a private tree whose leaves are weighted points.

1. ``columns``  noisy histograms say where along each column rows are (`columns.py`): so which column a cell is halved along next.
2. ``splits``   PrivTree decides which cells need to be smaller; the first levels are split without looking.
3. ``leaves``   noisy counts of the leaves, read by their posterior (`reading.py`): a leaf weighs the rows expected in it.

All but the questions is post-processing of noisy answers. Proof: ``proofs/tree.md``.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spinney.algorithms.columns import Densities
from spinney.algorithms.indicators import consistent, two_ended
from spinney.algorithms.problem import PointProblem
from spinney.algorithms.reading import Occupancy, Summary
from spinney.curators.purse import Purse
from spinney.mechanisms.additive import Noise
from spinney.questions.counts import Counting, Counts
from spinney.questions.grow import Grow
from spinney.questions.partitions import MOST_START, ColumnBins
from spinney.solvers.valleys import NoisyCells
from spinney.solvers.weighted import solve
from spinney.spaces.box import FloatArray
from spinney.trees.quadtree import BIN_BITS, Splits

#: Rows that a bin of a column, and a cell that the tree starts with, should hold, in standard deviations of its noise.
BIN_STDS, START_STDS = 2, 4
#: There are fewer starting cells than this for each cluster.
START_CELLS = 4
#: A leaf is split down to the rows of one of this number of leaves per cluster.
LEAVES = 100
#: The tree's box reaches this number of standard deviations from the mean: halving a column then parts its rows ...
SPAN = 1.6
#: ... and farther the oftener the tree can halve a column: small cells show where rows are in a wide box too.
WIDEST = 1e9
#: Noise is taken to have at least this standard deviation: there may be none.
LEAST_STD = 1e-9


def summarize(purse: Purse, problem: PointProblem, n: float) -> Summary:
    """Grow a private tree for n rows and return its leaves as weighted points."""
    std = max(purse.preview(Counting(), "leaves").std, LEAST_STD)
    cells = max(n / std, 1)  # as many as could stand out of their noise
    densities = ask_densities(purse, problem, n)
    inner = densities.box(min(SPAN * cells ** (2 / problem.n_features), WIDEST))
    splits = Splits.of(inner.domain, inner.shares)
    start = int(math.log2(max(min(cells / START_STDS, START_CELLS * problem.k - 0.5), 1)))
    asked = Grow(splits, min(start, MOST_START, splits.depth), int(n / (LEAVES * problem.k)))
    rows = purse.within(inner.domain)
    leaves = rows.ask("splits", asked).leaves
    answer = rows.ask("leaves", Counts(leaves))
    full, weights = likely_leaves(answer.private_counts, answer.noise, leaves.depths > asked.start)
    if not problem.is_counted:  # nobody looks at the others
        leaves, weights = leaves.take(np.flatnonzero(full)), weights[full]
    points, spreads = leaves.placed()
    points = points if problem.schema is None else consistent(points, *leaves.boxes(), problem.schema)
    if problem.is_counted:
        known = NoisyCells(points, answer.private_counts.astype(np.float64), *leaves.boxes(), full, std)
        found = Summary(points[full], spreads[full], weights[full], densities.spreads, known)
    else:
        found = Summary(points, spreads, weights, densities.spreads)
    return found if full.any() else replace(Summary.unseen(problem, n), cells=found.cells)


def ask_densities(purse: Purse, problem: PointProblem, n: float) -> Densities:
    """Ask for histograms of all columns of about n rows."""
    std = max(purse.preview(Counting(problem.n_features), "columns").std, LEAST_STD)
    bits = int(np.clip(math.log2(max(n / (BIN_STDS * std), 1)), 2, BIN_BITS))
    answer = purse.ask("columns", Counts(ColumnBins(bits)))
    bins = answer.private_counts.astype(np.float64)
    smooth = Densities.likely(problem.domain, bins, n, answer.noise)
    return Densities(problem.domain, two_ended(smooth.shares, bins, answer.noise.std, problem.schema))


def likely_leaves(
    private_counts: NDArray[np.int64], noise: Noise, is_split: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], FloatArray]:
    """Return which leaves are more likely to have rows than not, and how many rows are expected in each.

    Leaves that the tree split off are read apart from those that it began with: it saw rows near them.
    """
    full, counts = private_counts > 0, private_counts.astype(np.float64)
    for alike in (is_split, ~is_split) if noise.distribution != "none" else ():
        if alike.any():
            found = Occupancy.of(private_counts[alike], noise)
            full[alike], counts[alike] = found.has_rows > 0.5, found.counts
    return full, counts


def solved(summary: Summary, problem: PointProblem, rng: np.random.Generator) -> FloatArray:
    """Cluster the points of a summary; where there are fewer of them than centers, the rest lie anywhere."""
    fillers = problem.domain.sample(problem.k, rng)
    return solve(summary.points, summary.weights, problem.k, problem.power, rng, fillers).centers
