"""For many columns: private moments first, a shallow tree for the start, then private steps.

Letters: k clusters, d columns. With many columns a tree sees only a few of them, and most of the budget belongs to steps.

1. ``mean``      the noisy mean of all rows, and their noisy number.
2. ``distance``  a noisy histogram of distances to the mean: the typical distance sets the clipping radii below.
3. ``spread``    how far rows spread along each column: noisy histograms of all columns, which tell where in them rows lie too, if
   columns are not too many, noise is Gaussian and not large, and there are rows enough; else noisy second moments.
4. ``cells``     noisy counts of the cells of a shallow tree that halves the columns of largest spread around the mean, in a box
   that cuts off tails of columns, but no value at their ends, such as of indicators, that histograms show. Cells have their
   points where histograms, if there are any, say that their rows are; with Gaussian noise else mean, spread and shares.
5. ``leaves``    noisy counts of smaller cells, where those of 4 stand out of their noise: so rows that lie close together show.
   ``deeper``    with histograms: where few cells have rows though noise is small, for columns go together, noisy counts of cells
   below them, level by level; else the leaves get this budget.
6. The leaves are clustered into half as many centers again as the last step supports: free post-processing.
7. ``step 1``    a private Lloyd or Weiszfeld step; its weighted centers are then clustered into as many as the last one supports.
8. ``step 2`` and ``step 3``: two more steps. If noise is small and clusters overlap, ``more 1`` to ``more 3`` come before the
   last one (`descent.py`), which else gets their budget.
9. ``sizes``     noisy sizes of the released clusters.

Before a step ``radii 1``, ``radii 2`` and ``radii 3`` ask for distances, for the clipping radius of each cluster; a center that
they and the step before show without rows is put where two clusters share one (`spares.py`). There are as
many steps as the noisy number of rows is worth: a step whose noise would hide which rows belong together leaves its budget, and
that of its radii, to the next one, in one question. The last step moves as many centers as its budget supports; the others come
from the leaves. If it supports too few, what is left of the budget after ``mean`` and ``distance`` goes to the mean, in two
steps, or one question if noise is pure: so small budgets end near what the mean alone would cost, not in noise.

Proof: ``proofs/moments.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from spinney.algorithms.descent import descended, with_more
from spinney.algorithms.indicators import adding_up
from spinney.algorithms.margins import unmoved
from spinney.algorithms.polish import (
    SUPPORT,
    Moved,
    RingHistogram,
    ask_rings,
    completed,
    noise_length,
    step_widths,
    supported,
    take_step,
    together,
)
from spinney.algorithms.problem import MORE, Algorithm, Charges, PointProblem, Result
from spinney.algorithms.shape import Shape, is_binned, measure, shallow_leaves
from spinney.algorithms.spares import resettled
from spinney.algorithms.totals import Total, ask_total, mean_kernel
from spinney.curators.gate import Curator
from spinney.privacy.charges import Charge, Measure
from spinney.privacy.composition import Part
from spinney.questions.counts import Counting, Counts
from spinney.questions.partitions import Rings
from spinney.questions.sums import Summing
from spinney.solvers.weighted import solve
from spinney.spaces.box import FloatArray

__all__ = ["Moments"]

#: Shares of epsilon, in hundredths.
SHARES = {
    "mean": 5,
    "distance": 1,
    "spread": 3,
    "cells": 6,
    "leaves": 6,
    "radii 1": 1,
    "step 1": 18,
    "radii 2": 1,
    "step 2": 12,
    "radii 3": 2,
    "step 3": 42,
    "sizes": 3,
}
#: Where histograms of the columns may be asked for; then rows may be followed below the leaves, which come fifth.
BINNED_SHARES = {name: SHARES[name] for name in list(SHARES)[:5]} | {"deeper": 3} | SHARES | {"mean": 2, "spread": 6, "leaves": 3}
#: Centers of the first of several steps, for each one of the last. More than the last one supports would be moved by noise.
OVER = 1.5


class StepCharges(NamedTuple):
    """Names of the charges that pay for the radii of a step, if they are asked for, and for the step."""

    radii: tuple[str, ...]
    sums: tuple[str, ...]


#: What pays for the last step, and for those before it where there are any.
LAST = (*MORE, "step 3")
RADII = ("radii 1", "radii 2", "radii 3")
#: Which steps to take, the more the less noise there is.
SCHEDULES = (
    (StepCharges(RADII[:1], ("step 1",)), StepCharges(RADII[1:2], ("step 2",)), StepCharges(RADII[2:], LAST)),
    (StepCharges((), ("step 1",)), StepCharges((), ("step 2",)), StepCharges(RADII, LAST)),
    (StepCharges((), ("step 1", "step 2")), StepCharges(RADII, LAST)),
    (StepCharges(RADII, ("step 1", "step 2", *LAST)),),
)
#: Up to which noise in one column of a center of the first step, in clipping radii, each of them is right: noise along all other
#: directions hardly changes which center is nearest, so not the length of noise counts. Pure noise falls faster than Gaussian
#: noise when charges are put together.
LIMITS = {Measure.ZCDP: (0.03, 0.2, 0.3, math.inf), Measure.PURE: (0.03, 0.12, 0.25, math.inf)}
#: Before the last step centers have far to go, and radii are so many times those that suit their rows.
EARLY_RADII = 1.5
#: Offsets are clipped to this share of the typical distance.
STEP_RADIUS = 0.8
#: Steps are worth their noise if the last one moves two centers; if noise is pure, for then the steps before it have little, more
#: than a part of the clusters, or so many.
FEWEST = {Measure.ZCDP: 2, Measure.PURE: 4}
LEAST_PART = Fraction(1, 5)
#: What pays for the first of two steps of the mean, where it gets all: one step with clipped offsets leaves a part of its error.
EARLY = ("step 1", "step 2")


class Moments(Algorithm):
    """Private moments, a shallow tree, private steps."""

    name = "moments"

    def parts(self, problem: PointProblem) -> tuple[Part, ...]:
        """Return the shares and sensitivities, from public facts alone."""
        steps = dict.fromkeys(("step 1", "step 2", *LAST), problem.kernel)
        kernels = {"mean": mean_kernel(problem.domain), "spread": "second-moment"} | steps
        kinds: dict[str, Any] = {name: Summing(kernel, problem.n_features) for name, kernel in kernels.items()}
        if is_binned(problem):
            kinds["spread"] = Counting(problem.n_features)
        shares = BINNED_SHARES if is_binned(problem) else SHARES
        named = with_more(shares, "step 3").items()
        return tuple(kinds.get(name, Counting()).part(name, Fraction(share, 100)) for name, share in named)

    def supports(self, problem: PointProblem, charges: Charges, n_guess: int) -> int | None:
        """Return how many centers the last step would move, or 1 if the mean would get the budget."""
        if supported(problem, n_guess, together(charges, LAST)) < _fewest(problem, charges):
            return 1
        return supported(problem, n_guess, together(charges, schedule(problem, charges, n_guess)[-1].sums))

    def run(self, curator: Curator, problem: PointProblem, charges: Charges, rng: np.random.Generator) -> Result:
        """Ask the curator and return what may be released."""
        domain, k = problem.domain, problem.k
        total = ask_total(curator, domain, charges["mean"])
        if supported(problem, total.n, together(charges, LAST)) < _fewest(problem, charges):
            return self._around_the_mean(curator, problem, charges, rng, total)
        shape = measure(curator, problem, charges, total)
        fillers = shape.fillers(_many(k), domain, rng)
        leaves = shallow_leaves(curator, shape, problem, charges)
        taken = _take_steps(curator, problem, charges, shape, leaves, fillers, rng)
        whole = solve(*leaves, k, problem.power, rng, fillers[:k]).centers
        every = completed(taken.last.centers, whole, *leaves, problem.power)
        centers = domain.clip(adding_up(every, problem.schema))  # a leaf may reach out of a ball
        sizes = curator.ask(Counts(Rings(centers)), charges["sizes"])
        found = np.maximum(sizes.private_counts, 0), sizes.noise
        return Result(centers, *found, *taken.summary, supported=taken.supported, margins=unmoved(taken.last.margins, k))

    def _around_the_mean(
        self, curator: Curator, problem: PointProblem, charges: Charges, rng: np.random.Generator, total: Total
    ) -> Result:
        """Spend what is left on the mean: where one center is all that the budget supports, others come from around it."""
        domain, mean = problem.domain, total.mean(problem.domain)
        rings = ask_rings(curator, problem, mean, charges["distance"])
        kind = charges["step 3"].measure
        own = [name for name in with_more(BINNED_SHARES, "step 3") if name not in ("mean", "distance", "sizes")]
        names = [name for name in own if name in charges and charges[name].measure is kind]
        margins = np.full((1, domain.n_features), np.nan)  # none is told of two answers put together
        if kind is Measure.ZCDP:
            step = _mean_step(curator, problem, mean, rings, total.n, _pooled(curator, charges, EARLY, "sums"))
            rings = ask_rings(curator, problem, step.centers, _pooled(curator, charges, RADII, "counts"))
            rest = _pooled(curator, charges, [name for name in names if name not in (*EARLY, *RADII)], "sums")
            step = _mean_step(curator, problem, step.centers, rings, total.n, rest)
            mean, margins, distance = step.centers, step.margins, rings.likely_distance(total.n)
        else:  # pure noise may have lost the mean, and no step would find it again
            distance = rings.typical_distance()
            total = total.joined(ask_total(curator, domain, _pooled(curator, charges, names, "sums")))
            mean = total.mean(domain)
        spread = np.full(domain.n_features, distance / math.sqrt(domain.n_features))
        others = Shape(total.n, mean[0], distance, spread).fillers(problem.k - 1, domain, rng)
        centers = np.vstack([mean, others])
        sizes = curator.ask(Counts(Rings(centers)), charges["sizes"])
        found = np.maximum(sizes.private_counts, 0), sizes.noise, mean, np.array([total.n])
        return Result(centers, *found, supported=1, margins=unmoved(margins, problem.k))


def _mean_step(
    curator: Curator, problem: PointProblem, mean: FloatArray, rings: RingHistogram, n: float, charge: Charge
) -> Moved:
    """Take a step of the mean, with a clipping radius by the distances of all rows from it."""
    radii = np.array([STEP_RADIUS * rings.likely_distance(n)])
    return take_step(curator, problem, mean, radii, charge, leveled=True, kept=rings.kept(radii))


def _fewest(problem: PointProblem, charges: Charges) -> int:
    """Return how many centers the last step must move to be worth its noise."""
    part = math.floor(LEAST_PART * problem.k) + 1
    return min(max(min(FEWEST[charges["step 3"].measure], part), 2), problem.k)


def _many(last: int) -> int:
    """Return how many centers the first of several steps moves, if the last one moves so many."""
    return math.ceil(OVER * last)


def _pooled(curator: Curator, charges: Charges, names: Sequence[str], question: str) -> Charge:
    """Return one charge in the place of those of these names."""
    return curator.pool([charges[name] for name in names], question)


def schedule(problem: PointProblem, charges: Charges, n: float, widths: FloatArray | None = None) -> tuple[StepCharges, ...]:
    """Return the steps that are worth their noise for so many rows: a noisy number, or a guess."""
    for most, steps in zip(LIMITS[charges["step 1"].measure], SCHEDULES, strict=True):
        noise = noise_length(problem, together(charges, steps[0].sums), widths) / math.sqrt(problem.n_features)
        last = supported(problem, n, together(charges, steps[-1].sums), widths)
        if noise * _many(last) <= most * n:
            break
    return steps


@dataclass(frozen=True)
class Taken:
    """The last of the steps that were taken, weighted points that sum up the rows, and how many centers the step supported."""

    last: Moved
    summary: tuple[FloatArray, FloatArray]
    supported: int


def _take_steps(
    curator: Curator,
    problem: PointProblem,
    charges: Charges,
    shape: Shape,
    leaves: tuple[FloatArray, FloatArray],
    fillers: FloatArray,
    rng: np.random.Generator,
) -> Taken:
    """Cluster the leaves, and take as many private steps as are worth their noise."""
    k, widths, reach = problem.k, step_widths(problem, shape.spread), STEP_RADIUS * shape.distance
    steps = schedule(problem, charges, shape.n, widths)
    paid = [together(charges, step.sums) for step in steps]
    last = supported(problem, shape.n, paid[-1], widths)
    done: list[Moved] = []
    points, weights = summary = leaves
    for step, payable, count in zip(steps, paid, (*(_many(last), last)[: len(paid) - 1], last), strict=True):
        is_solved, is_last = len(points) == count, step is steps[-1]
        centers = points if is_solved else solve(points, weights, count, problem.power, rng, fillers[:count]).centers
        rings, scale = None, 1.0 if is_last else EARLY_RADII
        if step.radii:
            rings = ask_rings(curator, problem, centers, _pooled(curator, charges, step.radii, "counts"), widths=widths)
        if rings is not None and done:
            least = noise_length(problem, payable, widths) / SUPPORT
            centers, sources = resettled(problem.domain, centers, done[-1], rings, least, shape.spread, shape.distance, rng)
            rings = rings.of(sources)
        radii = partial(_step_radii, problem, rings, count, scale, reach, widths)
        if rings is not None and is_last:
            centers, charge = descended(curator, problem, charges, step.sums, centers, rings, radii, shape.n, widths)
        else:
            charge = _pooled(curator, charges, step.sums, "sums")
        clipped = radii(charge)
        kept = None if rings is None else rings.kept(clipped)
        done.append(take_step(curator, problem, centers, clipped, charge, widths=widths, kept=kept))
        points, weights = done[-1].centers, done[-1].weights
        summary = (points, weights) if count > k else summary
    return Taken(done[-1], summary, last)


def _step_radii(
    problem: PointProblem,
    rings: RingHistogram | None,
    count: int,
    scale: float,
    reach: float,
    widths: FloatArray | None,
    charge: Charge,
) -> FloatArray:
    """Return clipping radii of a step that this charge pays for: by distances, if they were asked for, and none above a reach."""
    if rings is None:
        return np.full(count, reach)
    return np.minimum(scale * rings.step_radii(problem, charge, widths), reach)
