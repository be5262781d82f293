"""One random tree: noisy counts level by level, and a dynamic program that chooses k of its leaves.

Everything here but the one question is post-processing of noisy counts and public geometry.

Proof: ``proofs/hst.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spinney.algorithms.problem import PointProblem
from spinney.curators.purse import Purse
from spinney.questions import Levels
from spinney.questions.levels import LevelAnswer
from spinney.solvers.dynamic_program import place_centers
from spinney.spaces import FloatArray
from spinney.trees.consistent import consistent_counts
from spinney.trees.quadtree import Splits, TreeCells


@dataclass(frozen=True)
class Placed:
    """Centers, and a private summary: points of the leaves that seem to hold rows, and how many."""

    centers: FloatArray
    points: FloatArray
    weights: FloatArray


def ask_tree(purse: Purse, problem: PointProblem, splits: Splits, threshold: float, consistent: bool, name: str) -> Placed:
    """Ask for the noisy counts of a tree, and return the middles of the k leaves that the dynamic program chooses.

    A cell is split if its count is above the threshold.
    """
    answer = purse.ask(name, Levels(splits, 0, splits.depth, threshold))
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
