"""The refined protocol: every user answers one question, with the whole epsilon.

Users are dealt into groups by a public hash. The first ones report their cells: of a coarse grid, and of grids that are halved
where the group before found mass. The cells that stand out of the noise are a weighted summary, which plain clustering turns into
centers. Another group reports where in the Voronoi cell of its center, in one column, a user is, in a few bins: this moves the
centers and shows how wide clusters are. The last one reports the same within a narrower reach, on which the noise depends, and
moves the centers once more. Steps are weighed by the noise of what they correct and their own.

Proof: ``proofs/local.md``.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.algorithms import PointProblem, Result
from spinney.algorithms.problem import Charges
from spinney.constraints import Constraint, check, integer, real
from spinney.local.aggregation import ReportTally
from spinney.local.asking import PARTS, Asking
from spinney.local.cells import CellTree, Grid
from spinney.local.device import WIDEST
from spinney.local.protocol import Protocol, Scope, Talk, salt_of
from spinney.local.summary import CellSummary, cut_of, gaps_of, levels_of
from spinney.mechanisms import Noise
from spinney.privacy import Charge, Measure
from spinney.solvers.weighted import solve
from spinney.spaces import FloatArray
from spinney.spaces.nearest import nearest

#: More centers than asked for are used if a cluster of average size exceeds the noise by this many standard deviations.
#: One of them is merged with others if its users exceed the noise by this many, and one beside the middle is asked about again.
SUPPORTED, STANDS_OUT = 6.0, 2.0
#: Users of a cell are known if they exceed by this many standard deviations what noise passes somewhere. Cells know where users
#: are if those hold this share of all.
LEAST_SUPPORT, MOST_USERS = 1.0, 0.5
#: What the parameters may be.
_POSITIVE = real(lambda value: 0 < value < math.inf, "(0, inf)", "leave it out for the default.")
PARAMETERS = {
    **{name: integer(1, f"{name}=120.", PARTS) for name in ("coarse", "fine", "wide")},
    "rounds": integer(0, "rounds=3.", 16),
    "most_cells": integer(1, "most_cells=1024.", 2**16),
    "deepest": integer(1, "deepest=4.", 16),
    "bins": integer(2, "bins=4.", 64),
    "split": _POSITIVE,
    "reach": _POSITIVE,
    "spare": real(lambda value: 1 <= value <= 4, "[1, 4]", "spare=1.5."),
}


@dataclass(frozen=True)
class Refined(Protocol):
    """One question a user; cells that are refined where mass is, then offsets.

    Parameters
    ----------
    coarse, fine, wide : int
        How many of a thousand users report coarse cells, finer cells each time, and wide offsets; the others narrow offsets.
    rounds : int
        How often finer cells are asked for.
    most_cells : int
        Of the finer grids.
    split : float
        A cell is halved as long as its parts would pass this many standard deviations of the noise.
    deepest : int
        Halvings of a cell in one round, at most.
    bins : int
        Of wide offsets.
    reach : float
        Of narrow offsets, in standard deviations of a cluster's columns.
    spare : float
        Centers that wide offsets describe, per center asked for; they are merged afterwards: of two clusters that the
        cells take for one, both are found.
    """

    name = "refined"

    coarse: int = 120
    fine: int = 120
    wide: int = 200
    rounds: int = 3
    most_cells: int = 1024
    split: float = 1.5
    deepest: int = 4
    bins: int = 4
    reach: float = 2.5
    spare: float = 1.5

    def __post_init__(self) -> None:
        check("Refined", vars(self), PARAMETERS)
        told = self.coarse + self.rounds * self.fine + self.wide
        some = Constraint(lambda _: told < PARTS, f"fewer: coarse + rounds * fine + wide is less than {PARTS}", "wide=200.")
        check("Refined", {"wide": self.wide}, {"wide": some})

    def shares(self, problem: PointProblem) -> tuple[Charge, ...]:
        """Return one charge: a user answers one question."""
        return (Charge("reports", "reports", Measure.PURE, problem.budget.epsilon),)

    def scope(self, problem: PointProblem) -> Scope:
        """Return what is asked at most: cells, and offsets in whole Voronoi cells."""
        points = math.ceil(self.spare * problem.k)
        slots = max(2 ** levels_of(problem), self.most_cells, points * self.bins, problem.k * 2)
        return Scope(("cells", "offsets"), slots, points, WIDEST)

    def talk(self, problem: PointProblem, charges: Charges, rng: np.random.Generator) -> Talk:
        epsilon = Fraction(charges["reports"].amount)
        asking = Asking(Grid.of(problem.domain), salt_of(rng))
        ends = [*np.cumsum([0, self.coarse, *[self.fine] * self.rounds, self.wide]).tolist(), PARTS]
        groups = list(pairwise(ends))
        summary, tally, users = yield from self._cells(problem, asking, epsilon, groups)
        tree, weights = summary.tree, summary.weights
        wide = users * self.wide / (self.coarse + self.rounds * self.fine)  # users to come
        count = self._supported(problem.k, float(tally.count_std[0]) / math.sqrt(max(tally.total_users, 1)), wide)
        centers = summary.solved(problem, rng, count)
        kernel = problem.kernel
        spread, variance = _spreads(tree, weights, summary.stds, centers, problem)
        reaches = np.minimum(3 * spread, gaps_of(centers, problem))
        known = _known(summary, centers, problem.k)
        unknown = centers[~known]
        if unknown.size:
            half = float((problem.domain.upper - problem.domain.lower).max()) / 2
            centers, reaches = np.vstack([centers[known], problem.domain.center]), np.append(reaches[known], half)
            spread, variance = np.append(spread[known], half), np.append(variance[known], half**2 / 3)
        third = yield "reports", asking.offsets("wide", centers, reaches, "mean", self.bins, epsilon, groups[-2])
        step = _Step(third, asking.grid, reaches)
        is_told = np.arange(len(centers)) < len(centers) - bool(unknown.size)  # by cells
        pull, spread = _pull(centers, variance, step, is_told), step.spreads(spread)
        centers, variance = _moved(centers, variance, step, pull)
        doubt = variance * is_told  # how far off they may still be; one in the middle was no estimate
        if len(centers) > problem.k:
            centers, variance, spread = _merged(centers, variance, spread, step, problem, rng)
            reaches, doubt = gaps_of(centers, problem), variance
        elif unknown.size:
            found = step.masses > STANDS_OUT * step.mass_std
            found[-1] = True
            unknown = np.vstack([centers[~found], unknown])
            centers, variance, spread, reaches, doubt = (one[found] for one in (centers, variance, spread, reaches, doubt))
        reaches = np.minimum(self.reach * np.sqrt(spread**2 + doubt), reaches)
        floor = reaches if kernel == "mean" else np.maximum(reaches / self.reach * 0.5, asking.grid.step)
        fourth = yield "reports", asking.offsets("narrow", centers, floor, kernel, 2, epsilon, groups[-1])
        last = _Step(fourth, asking.grid, floor)
        centers, _ = _moved(centers, variance, last)
        users += third.total_users + fourth.total_users
        sizes = np.maximum(np.rint(last.masses * users / max(fourth.total_users, 1)), 0).astype(np.int64)
        noise = Noise("gaussian", float(last.mass_std * users / max(fourth.total_users, 1)) + 1e-9)
        missing = max(problem.k - len(centers), 0)
        centers, sizes = np.vstack([centers, unknown[:missing]]), np.pad(sizes, (0, missing))
        kept = weights > 0
        return Result(problem.domain.clip(centers), sizes, noise, tree.middles[kept], weights[kept] * users)

    def _cells(
        self, problem: PointProblem, asking: Asking, epsilon: Fraction, groups: list[tuple[int, int]]
    ) -> Generator[tuple[str, str], ReportTally, tuple[CellSummary, ReportTally, int]]:
        """Ask for cells, finer ones where users are; return the summary, the last reports, and how many users were asked."""
        tree, _ = CellTree(asking.grid).refined(np.array([levels_of(problem)]))
        tally = yield "reports", asking.cells("cells 0", tree, epsilon, groups[0])
        summary, users = CellSummary.unknown(tree).heard(tally, np.arange(len(tree))), tally.total_users
        for turn in range(self.rounds):
            tree, origins = summary.tree.refined(summary.levels(tally, self.split, self.deepest, self.most_cells))
            tally = yield "reports", asking.cells(f"cells {turn + 1}", tree, epsilon, groups[turn + 1])
            summary = summary.over(tree, origins).heard(tally, origins)
            users += tally.total_users
        return summary, tally, users

    def _supported(self, k: int, noise: float, users: float) -> int:
        """Return about how many centers wide offsets are asked, given the noise that a user adds to each count."""
        share = noise * math.sqrt(self.bins / max(users, 1.0))  # of users in a region: its standard deviation
        return math.ceil(self.spare * k) if users >= 1 and SUPPORTED * share * k <= 1 else k


def _spreads(
    tree: CellTree, weights: FloatArray, stds: FloatArray, centers: FloatArray, problem: PointProblem
) -> tuple[FloatArray, FloatArray]:
    """Return how far users are from each center in a column, by the summary, and the variance of each center's columns."""
    kept = weights > 0
    points, mass, widths = tree.middles[kept], weights[kept], tree.widths[kept]
    k = len(centers)
    squares, labels = nearest(points, centers)
    total = np.maximum(np.bincount(labels, mass, k), 1e-12)
    d = points.shape[1]
    inside = (widths**2).mean(axis=1) / 12
    spread = np.sqrt(_medians(squares / d + inside, mass, labels, k))  # a far cell that is noise does not widen it
    noise = np.bincount(labels, squares / d * stds[kept] ** 2, k) / total**2
    variance = noise + np.bincount(labels, mass**2 * inside, k) / total**2
    empty = np.bincount(labels, minlength=k) == 0
    spread[empty], variance[empty] = problem.domain.half_diagonal, problem.domain.half_diagonal**2
    return spread, variance


def _medians(values: FloatArray, weights: FloatArray, labels: NDArray[Any], k: int) -> FloatArray:
    """Return the weighted median of each cluster's values; 0 of none."""
    found, order = np.zeros(k), np.argsort(values)
    for cluster in range(k):
        mine = order[labels[order] == cluster]
        sums = np.cumsum(weights[mine])
        found[cluster] = values[mine[np.searchsorted(sums, sums[-1] / 2)]] if mine.size else 0.0
    return found


class _Step:
    """What reports of offsets say about each center: where its users are on average, how many and how far away."""

    def __init__(self, tally: ReportTally, grid: Grid, reaches: FloatArray) -> None:
        asked = tally.asked
        self.d, bins, k = grid.steps.size, asked["bins"], len(asked["centers"])
        users = np.maximum(tally.users, 1)[:, None, None]
        shares = tally.counts.reshape(-1, k, bins) / users  # of those who spoke about a column
        std = tally.count_std / users[:, 0, 0]
        self._stds = std[: self.d]
        places = np.linspace(-1, 1, bins)
        self.reaches, self._places, self._shares = reaches, places, shares
        columns = shares[: self.d]
        self.masses = columns.sum(axis=2).mean(axis=0) * tally.total_users
        self.mass_std = float(std[: self.d].mean() * np.sqrt(bins / self.d)) * tally.total_users
        mass = np.maximum(self.masses / max(tally.total_users, 1), 1e-12)
        self._mass = mass
        denominator = mass
        if len(tally.users) > self.d:  # a median: weights are reported too
            denominator = np.maximum((shares[self.d] * places).sum(axis=1), 0.05 * mass)
        self.offsets = ((columns * places).sum(axis=2) / denominator).T * reaches[:, None]
        noise = std[: self.d].mean() * np.sqrt((places**2).sum())
        variance = np.maximum(noise / denominator * reaches, 1e-12 * reaches) ** 2
        self.precision = np.where(self.masses > 2 * self.mass_std, 1 / variance, 0.0)
        self.clipped = np.clip(self.offsets, -reaches[:, None], reaches[:, None])

    def spreads(self, before: FloatArray) -> FloatArray:
        """Return the standard deviation of a cluster's columns, between an eighth of what it was thought to be and the whole."""
        squares = (self._shares[: self.d] * self._places**2).sum(axis=2).mean(axis=0) / self._mass * self.reaches**2
        gap = self.reaches * (self._places[1] - self._places[0])
        found = np.sqrt(np.maximum(squares - (self.offsets**2).mean(axis=1) - gap**2 / 6, 0))
        pooled = float(np.median(found[self.precision > 0])) if self.precision.any() else np.inf
        return np.asarray(np.clip(np.clip(found, pooled / 2, pooled * 2), before / 8, before))


def _merged(
    centers: FloatArray, variance: FloatArray, spread: FloatArray, step: _Step, problem: PointProblem, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return k centers for those that were asked about, by their noisy masses, with variances and spreads of their columns."""
    k, d = problem.k, problem.n_features
    kept = step.masses > STANDS_OUT * step.mass_std
    kept[np.argsort(-step.masses)[:k]] = True
    points, mass = centers[kept], np.maximum(step.masses[kept], step.mass_std)
    found = solve(points, mass, k, problem.power, rng, problem.domain.sample(k, rng)).centers
    squares, labels = nearest(points, found)
    total = np.maximum(np.bincount(labels, mass, k), 1e-12)
    wide = np.sqrt(np.bincount(labels, mass * (spread[kept] ** 2 + squares / d), k) / total)
    noise = np.bincount(labels, mass**2 * variance[kept], k) / total**2
    empty = np.bincount(labels, minlength=k) == 0
    wide[empty], noise[empty] = problem.domain.half_diagonal, problem.domain.half_diagonal**2
    return found, noise, wide


def _known(summary: CellSummary, centers: FloatArray, k: int) -> NDArray[np.bool_]:
    """Which centers to keep: all, if cells that stand out of the noise show users of k of them and most users; else the best.

    Cells of noise are among those with weights, for the largest of many were taken; so what noise passes somewhere counts for
    nothing. The others make room for a center that starts in the middle of the domain and reaches everywhere.
    """
    seen = (summary.weights > 0) & (summary.evidence > cut_of(len(summary.weights)) + LEAST_SUPPORT)
    users = np.bincount(nearest(summary.tree.middles[seen], centers)[1], summary.weights[seen], len(centers))
    if np.sum(users > 0) >= k and users.sum() >= MOST_USERS:
        return np.ones(len(centers), dtype=bool)
    best = np.isin(np.arange(len(centers)), np.argsort(-users)[: k - 1])
    return best & (users > 0)


def _pull(centers: FloatArray, variance: FloatArray, step: _Step, is_told: NDArray[np.bool_]) -> FloatArray:
    """Return what the steps of centers have in common, as far as noise allows: a pull toward their mean, or away from it.

    Where cells are coarse, users of each lie on the side of the others. All reports together tell that better than each alone.
    """
    weights = step.precision * is_told
    if np.count_nonzero(weights) < 2:
        return np.zeros_like(centers)
    away = np.asarray((centers - weights @ centers / weights.sum()) * is_told[:, None])
    known = weights @ (away**2).sum(axis=1)  # the precision of the share of `away`
    if not known:
        return away
    before = centers.shape[1] * (weights @ variance) / known
    share = weights @ (step.clipped * away).sum(axis=1) / known
    return np.asarray(share * before / (before + 1 / known) * away)


def _moved(
    centers: FloatArray, variance: FloatArray, step: _Step, pull: FloatArray | float = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Return centers after a pull and the rest of a step, as far as its noise allows, and the variance that is left."""
    gain = variance * step.precision
    return centers + pull + (gain / (1 + gain))[:, None] * (step.clipped - pull), variance / (1 + gain)
