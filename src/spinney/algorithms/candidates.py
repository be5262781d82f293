"""Private sets of candidate centers: cells that hold rows.

`ask_candidates`: cells of a randomly shifted grid in a public subspace are halved along one direction a level, level by level,
where their noisy counts stand out. `ask_leaves`: leaves of a private tree of all columns. Everything but the answers is public or
post-processing.

Proof: ``proofs/balcan.md`` and ``proofs/point_coverage.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from spinney.algorithms.problem import PointProblem
from spinney.curators.purse import Purse
from spinney.privacy import Part
from spinney.questions import Counting, Counts, Grow, PlaneCells, Whole
from spinney.spaces import Domain, FiniteMetric, FloatArray, IntArray
from spinney.trees.quadtree import Splits, TreeCells

#: Levels for each direction of the subspace, and in all.
LEVELS_EACH, MOST_LEVELS = 6, 18
#: A cell is cut if its count is at least this many standard deviations of its noise, and this many rows ...
SPLIT_STDS, SPLIT_ROWS = 3.0, 4.0
#: ... and there are fewer cells than this.
MOST_CELLS = 1024
#: Points of a space are nearer than 1e100.
FARTHEST = 9.9e99
#: The grid reaches beyond the domain by a random part of its half width, up to this one, on each side.
SHIFT = 0.5

#: A leaf of a tree is split down to this part of the rows, and never below this number.
FINE_LEAF, LEAST_ROWS = 1 / 512, 8
#: No table has more rows; a noisy number beyond would overflow the scores of the splits.
MOST_ROWS = 1e12


@dataclass(frozen=True)
class Candidates:
    """Public points, once they are released: the middles of all cells that were counted, and of further random ones.

    Weights are noisy numbers of rows of the cells that were not cut; 0 for others, and where it does not stand out.
    """

    points: FloatArray
    weights: FloatArray

    @property
    def space(self) -> FiniteMetric:
        """The points and their distances."""
        return FiniteMetric.from_points(self.points)


def default_dimensions(k: int) -> int:
    """Return how many directions a projection keeps: about log2 of the number of clusters."""
    return 2 + math.ceil(math.log2(k))


def subspace_of(n_features: int, dimensions: int, rng: np.random.Generator) -> FloatArray:
    """Return an orthonormal basis of a public random subspace, a row per direction; of all columns if they are no more."""
    if dimensions >= n_features:
        return np.eye(n_features)
    basis: FloatArray = np.linalg.qr(rng.uniform(-1, 1, (n_features, dimensions)))[0].T
    return np.ascontiguousarray(basis)


def n_levels(dimensions: int, n_features: int) -> int:
    """Return how many levels a grid has, from public facts alone."""
    return min(LEVELS_EACH * min(dimensions, n_features), MOST_LEVELS)


def grid_parts(share: Fraction, dimensions: int, problem: PointProblem) -> tuple[Part, ...]:
    """Return the parts of the levels, which have this share together."""
    levels = n_levels(dimensions, problem.n_features)
    return tuple(Counting().part(f"level {i}", share / levels) for i in range(1, levels + 1))


def _box(domain: Domain, basis: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return the corners of a randomly shifted box of the subspace, around the domain's center, that holds the whole domain."""
    half = np.minimum(np.abs(basis) @ (domain.upper / 2 - domain.lower / 2), domain.radius)
    return -half * (1 + rng.uniform(0, SHIFT, half.size)), half * (1 + rng.uniform(0, SHIFT, half.size))


def ask_candidates(purse: Purse, problem: PointProblem, dimensions: int, rng: np.random.Generator) -> Candidates:
    """Ask for the noisy counts of a grid, level by level, and return the middles of its cells."""
    domain, basis = problem.domain, subspace_of(problem.n_features, dimensions, rng)
    low, high = _box(domain, basis, rng)
    lower, upper, sides = low[None, :], high[None, :], high - low
    cells, may_split = PlaneCells.root(basis), np.ones(1, dtype=np.bool_)
    totals, times, inner = np.zeros(1), np.zeros(1), []
    for i in range(1, n_levels(dimensions, problem.n_features) + 1):
        axis = int(sides.argmax())
        sides[axis] /= 2
        inner.append((lower[may_split] + upper[may_split]) / 2)
        places = inner[-1][:, axis]
        cells = cells.split(may_split, np.full(places.size, axis), places + basis[axis] @ domain.center)
        lower, upper = _halved(lower, upper, may_split, axis)
        totals, times = (np.concatenate([one[~may_split], np.zeros(2 * places.size)]) for one in (totals, times))
        answer = purse.ask(f"level {i}", Counts(cells))
        totals, times = totals + answer.private_counts, times + 1  # a cell that is not cut is counted again
        stands_out = answer.private_counts > max(SPLIT_STDS * answer.noise.std, SPLIT_ROWS)
        may_split = largest((times == 1) & stands_out, answer.private_counts, MOST_CELLS - len(cells))
    means = totals / times
    weights = np.where(means > answer.noise.std * math.log(len(means) + 1) / np.sqrt(times), means, 0.0)
    fillers = rng.uniform(low, high, (problem.k + 1, low.size))  # enough points for k centers and a swap, whatever was counted
    lifted = np.clip(domain.center + np.concatenate([(lower + upper) / 2, *inner, fillers]) @ basis, -FARTHEST, FARTHEST)
    return Candidates(lifted, np.concatenate([weights, np.zeros(len(lifted) - len(weights))]))


def ask_leaves(purse: Purse, problem: PointProblem) -> TreeCells:
    """Ask for the number of rows, ``rows``, and a private tree, ``splits``, and return its leaves."""
    n = min(max(float(purse.ask("rows", Counts(Whole())).private_counts[0]), 0.0), MOST_ROWS)
    threshold = int(max(FINE_LEAF * n, LEAST_ROWS))
    return purse.ask("splits", Grow(Splits.of(problem.domain), 0, threshold)).leaves


def _halved(lower: FloatArray, upper: FloatArray, chosen: NDArray[np.bool_], axis: int) -> tuple[FloatArray, FloatArray]:
    """Return the corners of all cells after the chosen ones are cut in the middle, in the order of `PlaneCells.split`."""
    low, high = (np.concatenate([one[~chosen], np.repeat(one[chosen], 2, axis=0)]) for one in (lower, upper))
    cut = (lower[chosen, axis] + upper[chosen, axis]) / 2
    first = len(low) - 2 * cut.size
    high[first::2, axis] = cut
    low[first + 1 :: 2, axis] = cut
    return low, high


def largest(lawful: NDArray[np.bool_], counts: IntArray, most: int) -> NDArray[np.bool_]:
    """Return which lawful cells have the largest noisy counts, up to this many."""
    order = np.argsort(np.where(lawful, -counts, 1), kind="stable")[: max(most, 0)]
    largest = np.zeros(lawful.size, dtype=np.bool_)
    largest[order] = True
    return largest & lawful
