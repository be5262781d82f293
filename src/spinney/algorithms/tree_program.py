"""One random tree: noisy counts level by level, and a dynamic program that chooses k of its leaves.

Everything here but the one question is post-processing of noisy counts and public geometry.

Proof: ``proofs/hst.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spinney.algorithms.problem import PointProblem
from spinney.curators.purse import Purse
from spinney.exceptions import ParameterError
from spinney.questions import Levels
from spinney.questions.levels import LevelAnswer
from spinney.questions.partitions import MOST_CELLS
from spinney.solvers.dynamic_program import place_centers
from spinney.spaces import FloatArray
from spinney.trees.consistent import consistent_counts
from spinney.trees.quadtree import WORD, Splits, TreeCells

#: A tree has no more cells than fit into this much memory where the fit runs, whatever the rows are.
MOST_BYTES = 2**33


@dataclass(frozen=True)
class Placed:
    """Centers, and a private summary: points of the leaves that seem to hold rows, and how many."""

    centers: FloatArray
    points: FloatArray
    weights: FloatArray


def cell_bytes(problem: PointProblem, levels: int) -> int:
    """Return how much memory a cell of a tree of this number of levels takes at most, on average, from public facts alone.

    A code twice, links, counts and weights; then either the table of the program, as long as there are leaves below, at most k,
    of which a level has no more than all leaves; or a point of the summary for each leaf, four times.
    """
    tables = 8 * (1 + (1 + min(problem.k, levels + 1)) / 2)
    return 16 * -(-levels // WORD) + 128 + int(max(tables, 16 * problem.n_features))


def most_cells(problem: PointProblem, levels: int) -> int:
    """Return the public limit of a tree's cells; raise if k leaves would not fit."""
    most: int = min(MOST_BYTES // cell_bytes(problem, levels), MOST_CELLS)
    if most < 2 * problem.k:
        raise ParameterError(
            f"A tree of {levels} levels with {problem.k} centers does not fit into {MOST_BYTES >> 30} GiB.",
            "ask for fewer centers, levels (HST's alpha) or columns (HST's projection).",
        )
    return min(most, (1 << min(levels + 1, 62)) - 1)


def ask_tree(
    purse: Purse, problem: PointProblem, splits: Splits, threshold: float, consistent: bool, name: str, most: int
) -> Placed:
    """Ask for the noisy counts of a tree, and return the middles of the k leaves that the dynamic program chooses.

    A cell is split if its count is above the threshold; those with the largest, if there would be more than `most` cells.
    """
    answer = purse.ask(name, Levels(splits, 0, splits.depth, threshold, most))
    tree, weights = answer.tree, cell_weights(answer, consistent)
    chosen, _ = place_centers(tree.first_child, weights * tree.cells.diameters() ** problem.power, problem.k)
    cells = spread(tree.cells.take(chosen), weights[chosen], problem)
    full = np.flatnonzero((tree.first_child < 0) & (weights > 0))
    points = problem.domain.clip(tree.cells.take(full).middles())
    return Placed(problem.domain.clip(cells.middles()), points, weights[full])


def cell_weights(answer: LevelAnswer, consistent: bool) -> FloatArray:
    """Return the weights of all cells; counts below zero are noise and taken as zero."""
    counts = answer.private_counts.astype(np.float64)
    if consistent and answer.noise.std > 0:
        counts = consistent_counts(answer.tree, counts)
    return np.maximum(counts, 0.0)


def spread(cells: TreeCells, weights: FloatArray, problem: PointProblem) -> TreeCells:
    """Return k cells where the tree has fewer leaves.

    Several centers in one place serve no one better than one does. So the cells that cost most without a center are cut
    further, as the public tree goes on, each child with half the weight; at the last level copies remain.
    """
    while len(cells) < problem.k:
        costs = weights * cells.diameters() ** problem.power
        dearest = np.argsort(-costs, kind="stable")
        dearest = dearest[cells.depths[dearest] < cells.splits.depth][: problem.k - len(cells)]
        if not dearest.size:
            return cells.take(np.arange(problem.k) % len(cells))
        cut = np.isin(np.arange(len(cells)), dearest)
        kept, children = cells.take(np.flatnonzero(~cut)), cells.children(cut)
        weights = np.concatenate([weights[~cut], np.repeat(weights[cut] / 2, 2)])
        cells = TreeCells(
            cells.splits, np.concatenate([kept.codes, children.codes]), np.concatenate([kept.depths, children.depths])
        )
    return cells
