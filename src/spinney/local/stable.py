"""LDP-Stable-k-Means of the paper, and its form for k-median: every user answers every question, with a share of epsilon.

A base solver (a private histogram over a grid, halved once where mass is, then plain weighted clustering) finds centers B. For
k-means, LDP-AVG then estimates the mean of the users within a third of the distance to the next center: Gaussian reports for the
sums, a private histogram for the counts. For k-median a private gradient descent moves each center over its Voronoi cell, a fresh
group of users for each step. Whichever of the two solutions costs less by a noisy difference is returned.

The paper gives epsilon to each of the three; here they share it, so that the sum is what is promised. Its noise is calibrated to
the replaced value: an offset within a region's reach moves by twice the reach, in any region.

Proof: ``proofs/local.md``.
"""

from __future__ import annotations

import math
from collections.abc import Generator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from spinney.algorithms import PointProblem, Result
from spinney.algorithms.problem import Charges
from spinney.constraints import boolean, check
from spinney.exceptions import ParameterError
from spinney.local.aggregation import ReportTally
from spinney.local.asking import PARTS, Asking
from spinney.local.cells import CellTree, Grid
from spinney.local.device import WIDEST
from spinney.local.protocol import Protocol, Scope, Talk, salt_of
from spinney.local.summary import CellSummary, gaps_of, levels_of
from spinney.mechanisms import Noise
from spinney.privacy import Charge, Measure
from spinney.spaces import FloatArray

#: Shares of epsilon: the base solver's two histograms, LDP-AVG's two halves, and the comparison.
SHARES = {
    "coarse cells": Fraction(1, 4), "fine cells": Fraction(1, 4), "regions": Fraction(3, 16), "sums": Fraction(3, 16),
    "cost": Fraction(1, 8),
}  # fmt: skip
#: Steps of the descent for k-median.
STEPS = 5
#: With one finer grid only, the first is this many halvings finer than with several.
MORE = 3
#: A part of a halved cell passes this many times the noise; most halvings of a cell; most cells in all.
SPLIT, DEEPEST, MOST_CELLS = 2.0, 4, 1024


@dataclass(frozen=True)
class StableLocal(Protocol):
    """The published protocol.

    Parameters
    ----------
    anchored : bool, default True
        Whether means are offsets from their centers; False, as printed: from the middle of the domain, whose radius is
        then the reach.
    """

    name = "stable"

    anchored: bool = True

    def __post_init__(self) -> None:
        check("StableLocal", vars(self), {"anchored": boolean("anchored=True reports means as offsets from their centers.")})

    def shares(self, problem: PointProblem) -> tuple[Charge, ...]:
        """Return the charges of one user, in the order of asking; all of delta is the Gaussian reports'."""
        budget, hint = problem.budget, "delta=1e-6, or the refined protocol, which needs none."
        if not budget.delta:
            raise ParameterError.wrong("delta", "the stable protocol", "a float in (0, 1)", float(budget.delta), hint)
        deltas = {"sums": budget.delta}
        return tuple(
            Charge(name, "reports", Measure.PURE, Fraction(budget.epsilon) * share, deltas.get(name, Fraction(0)))
            for name, share in SHARES.items()
        )

    def scope(self, problem: PointProblem) -> Scope:
        """Return what is asked at most; reports are about whole Voronoi cells for k-median alone."""
        k, widest = problem.k, WIDEST
        if problem.power == 2:
            widest = min(math.ceil(problem.domain.half_diagonal / Grid.of(problem.domain).step), WIDEST)
        slots = max(2 ** _levels(problem), MOST_CELLS, k * problem.n_features)
        return Scope(("cells", "cost", "regions", "sums"), slots, 2 * k, widest)

    def talk(self, problem: PointProblem, charges: Charges, rng: np.random.Generator) -> Talk:
        amounts = {name: Fraction(charge.amount) for name, charge in charges.items()}
        asking = Asking(Grid.of(problem.domain), salt_of(rng))
        tree, _ = CellTree(asking.grid).refined(np.array([_levels(problem)]))
        tally = yield "coarse cells", asking.cells("coarse", tree, amounts["coarse cells"])
        summary = CellSummary.unknown(tree).heard(tally, np.arange(len(tree)))
        tree, origins = tree.refined(summary.levels(tally, SPLIT, DEEPEST, MOST_CELLS))
        tally = yield "fine cells", asking.cells("fine", tree, amounts["fine cells"])
        summary = summary.over(tree, origins).heard(tally, origins)
        first = summary.solved(problem, rng)
        radii = gaps_of(first, problem) / 3
        if problem.power == 1:
            radii = np.full(len(first), np.inf)
        heard = yield "regions", asking.regions("regions", first, radii, amounts["regions"])
        counts, std = heard.counts[0], float(heard.count_std[0])
        step = self._descent if problem.power == 1 else self._average
        second = yield from step(
            problem, asking, first, np.maximum(counts, max(std, 1.0)), amounts["sums"], charges["sums"].delta
        )
        most = float(np.sqrt(((first - second) ** 2).sum(axis=1)).max())
        most *= 1 if problem.power == 1 else 4 * problem.domain.half_diagonal
        cost = yield "cost", asking.cost("cost", first, second, problem.power, most, amounts["cost"])
        centers = second if cost.cost_difference > 0 else first
        sizes, kept = np.maximum(np.rint(counts), 0).astype(np.int64), summary.weights > 0
        weights = summary.weights[kept] * tally.total_users
        return Result(centers, sizes, Noise("gaussian", max(std, 1e-9)), summary.tree.middles[kept], weights)

    def _average(
        self, problem: PointProblem, asking: Asking, centers: FloatArray, counts: FloatArray, epsilon: Fraction, delta: Fraction
    ) -> Generator[tuple[str, str], ReportTally, FloatArray]:
        """Return the means of the users within a third of the distance to the next center: LDP-AVG."""
        radii = gaps_of(centers, problem) / 3
        anchors, reaches = centers, radii
        if not self.anchored:
            anchors = np.broadcast_to(problem.domain.center, centers.shape)
            reaches = np.full(len(centers), problem.domain.half_diagonal)
        tally = yield "sums", asking.sums("sums", centers, radii, anchors, reaches, epsilon, delta)
        means = anchors + tally.vectors * (reaches / counts)[:, None]
        return problem.domain.clip(centers + _shortened(means - centers, radii))

    def _descent(
        self, problem: PointProblem, asking: Asking, centers: FloatArray, counts: FloatArray, epsilon: Fraction, delta: Fraction
    ) -> Generator[tuple[str, str], ReportTally, FloatArray]:
        """Return centers after steps along noisy mean directions, each reported by another group; the mean of the later half."""
        ends = [PARTS * step // STEPS for step in range(STEPS + 1)]
        third, everywhere = gaps_of(centers, problem) / 3, np.full(len(centers), np.inf)
        floor, start, passed = np.full(len(centers), asking.grid.step), centers, []
        for turn in range(STEPS):
            group = (ends[turn], ends[turn + 1])
            text = asking.sums(f"step {turn}", centers, everywhere, centers, floor, epsilon, delta, group)
            tally = yield "sums", text
            directions = tally.vectors / (counts / STEPS)[:, None]
            step = _shortened(directions, np.ones(len(centers))) * (third / (turn + 1))[:, None]
            centers = problem.domain.clip(start + _shortened(centers + step - start, third))
            passed.append(centers)
        return np.asarray(np.mean(passed[STEPS // 2 :], axis=0))


def _levels(problem: PointProblem) -> int:
    """Return how often the first grid is halved."""
    return min(levels_of(problem) + MORE, 10)


def _shortened(vectors: FloatArray, lengths: FloatArray) -> FloatArray:
    """Return vectors, cut to given lengths."""
    norms = np.sqrt((vectors**2).sum(axis=1))
    return np.asarray(vectors * np.minimum(1.0, lengths / np.maximum(norms, 1e-300))[:, None])
