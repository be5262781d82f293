"""A private tree as a summary of the rows: the leaves that have some, a point of each, and about how many.

Proof: ``proofs/tree.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from spinney.algorithms.columns import ask_densities, bins_of, spreads
from spinney.algorithms.indicators import consistent
from spinney.algorithms.leaves import are_full, chances, remoteness
from spinney.algorithms.polish import WeightedLeaves, step_widths
from spinney.algorithms.problem import Charges, PointProblem
from spinney.curators.gate import Curator
from spinney.questions.counts import Counting, Counts
from spinney.questions.grow import Grow
from spinney.questions.partitions import Whole
from spinney.solvers.valleys import NoisyCells
from spinney.spaces.box import FloatArray
from spinney.spaces.schema import Schema
from spinney.trees.quadtree import Splits, TreeCells

__all__ = ["FEW_COLUMNS", "Summary", "summarize"]

#: Below so many columns leaves are small, and their points are near their rows.
FEW_COLUMNS = 5
#: Starting cells are expected to hold so many standard deviations of a leaf count; there are fewer than so many per cluster ...
START_STDS, START_CELLS = 4, 4
#: ... and at most 2**MAX_START.
MAX_START = 8
#: A leaf is split down to this part of the rows; in large tables, where that no longer helps, to a 500th less 500 rows.
FINE_LEAF, COARSE_LEAF, COARSE_ROWS = 1 / 8000, 1 / 500, 500
#: No table has more rows; a noisy number beyond would overflow the scores of the splits.
MOST_ROWS = 1e12
#: Above so many clusters leaves get smaller in proportion.
MANY_CLUSTERS = 20


@dataclass(frozen=True)
class Summary(WeightedLeaves):
    """The full leaves, the noisy number of rows, the units of columns for steps, weights that doubt leaves far from all others.

    And all leaves, if clusters are to be counted.
    """

    n: float
    widths: FloatArray | None
    doubting: FloatArray
    cells: NoisyCells | None


def summarize(curator: Curator, problem: PointProblem, charges: Charges) -> Summary:
    """Grow a private tree and return its leaves as weighted points."""
    n = min(max(float(curator.ask(Counts(Whole()), charges["rows"]).private_counts[0]), 1.0), MOST_ROWS)
    bits = bins_of(curator, problem, n, charges["columns"])
    densities = ask_densities(curator, problem, n, bits, charges["columns"])
    splits = Splits.of(problem.domain, densities)
    std = curator.preview(Counting(), charges["leaves"]).std
    start = int(math.log2(max(min(n / (START_STDS * max(std, 0.1)), START_CELLS * problem.k - 0.5), 1.0)))
    start = min(start, MAX_START, splits.depth)
    threshold = max(FINE_LEAF * n, COARSE_LEAF * n - COARSE_ROWS) * min(1.0, MANY_CLUSTERS / problem.k)
    leaves = curator.ask(Grow(splits, start, int(threshold)), charges["splits"]).leaves
    answer = curator.ask(Counts(leaves), charges["leaves"])
    weights, levels = answer.private_counts.astype(np.float64), leaves.depths - start
    full = are_full(weights / max(std, 1e-9), levels)
    widths = step_widths(problem, spreads(densities, problem.domain))
    (points, distances), cells = _placed(leaves, problem.schema), None
    if problem.is_counted:
        cells = NoisyCells(points, weights, *leaves.boxes(), full, std)
    doubting = weights
    if problem.n_features >= FEW_COLUMNS:
        remote = remoteness(points, distances, answer.private_counts, answer.noise)
        weights = weights * chances(answer.private_counts, levels, answer.noise)
        doubting = weights * chances(answer.private_counts, remote, answer.noise)
    return Summary(points[full], distances[full], weights[full], n, widths, doubting[full], cells)


def _placed(leaves: TreeCells, schema: Schema | None) -> tuple[FloatArray, FloatArray]:
    """Return a point of each leaf, with shares of categories such as its rows can have, and how far its rows spread."""
    points, distances = leaves.placed()
    return points if schema is None else consistent(points, *leaves.boxes(), schema), distances
