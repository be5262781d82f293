"""The default: a private tree summarizes the rows, a solver clusters the summary, private steps move the centers.

1. ``rows``      a noisy number of rows, by which all later decisions go.
2. ``columns``, ``splits``, ``leaves``   the summary: leaves of a private tree as weighted points (`summary.py`).
3. Free: the summary is clustered. If the number of clusters is to be found, it is found here.
4. ``radii i``, ``step i``   private steps of all centers (`step.py`), as many as are worth their noise (`schedule.py`). Where
   noise is so large that only the mean of all rows can be found, there is no summary, and the last step gets its budget too.
5. ``sizes``     noisy sizes of the released clusters.

Letters: k clusters, d columns. Shares of the budget are a closed form of both: the more columns there are, the less a tree of so
many cells sees of them, and the more of the budget belongs to steps. Each step is paid twice what the one before it is.

Proof: ``proofs/tree.md``.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np

from spinney.algorithms.algorithm import Algorithm
from spinney.algorithms.exchange import exchanged
from spinney.algorithms.forecast import Forecast, Preview
from spinney.algorithms.indicators import adding_up
from spinney.algorithms.margins import unmoved
from spinney.algorithms.problem import PointProblem
from spinney.algorithms.reading import Summary
from spinney.algorithms.result import Result
from spinney.algorithms.schedule import FEW_COLUMNS, MOST_STEPS, RADII, STEPS, Schedule
from spinney.algorithms.step import Moved, ask_distances, move, step_widths
from spinney.algorithms.summary import solved, summarize
from spinney.curators.purse import Purse
from spinney.privacy.composition import Part
from spinney.questions.counts import Counting, Counts
from spinney.questions.grow import Splitting
from spinney.questions.partitions import Rings, Whole
from spinney.questions.sums import Summing
from spinney.solvers.categories import drawn_near
from spinney.solvers.valleys import count_clusters
from spinney.spaces.box import FloatArray

PERCENT = Fraction(1, 100)
#: Of epsilon, for the number of rows, the histograms of columns and the sizes, whatever follows.
ROWS, COLUMNS, SIZES = PERCENT, 4 * PERCENT, 3 * PERCENT
#: The most that steps get of what is left, and what a step pays for its radii.
MOST, RADII_PART = 80 * PERCENT, 10 * PERCENT
#: What the decisions to split get of the tree's budget, with steps and without.
SPLITS, ONLY_SPLITS = 55 * PERCENT, 37 * PERCENT
#: What the summary asks for.
SUMMARY = ("columns", "splits", "leaves")
#: No table has more rows; a noisy number beyond would overflow the scores of the splits.
MOST_ROWS = 1e12


def stages(problem: PointProblem) -> tuple[Part, ...]:
    """Return all stages with their shares, in the order of asking."""
    d, counting, has_steps = problem.n_features, Counting(), problem.n_features >= FEW_COLUMNS
    left = 1 - ROWS - COLUMNS - SIZES
    closed = Fraction(d / (d + 2 + 2 * math.log2(problem.k))).limit_denominator(PERCENT.denominator)  # amounts stay short
    part = min(closed, MOST) if has_steps else Fraction(0)
    tree, splits = left * (1 - part), SPLITS if has_steps else ONLY_SPLITS
    parts = [
        counting.part("rows", ROWS),
        Counting(d).part("columns", COLUMNS),
        Splitting().part("splits", tree * splits),
        counting.part("leaves", tree * (1 - splits)),
    ]
    for place, (radii, step) in enumerate(zip(RADII, STEPS, strict=True)) if has_steps else ():
        own = left * part * Fraction(2**place, 2 ** len(STEPS) - 1)
        parts.append(counting.part(radii, own * RADII_PART))
        parts.append(Summing(problem.kernel, d).part(step, own * (1 - RADII_PART)))
    return (*parts, counting.part("sizes", SIZES))


class Tree(Algorithm):
    """Private tree, weighted clustering of its leaves, private steps."""

    name = "tree"

    def parts(self, problem: PointProblem) -> tuple[Part, ...]:
        """Return the shares and sensitivities, from public facts alone."""
        return stages(problem)

    def counts(self, problem: PointProblem) -> bool:
        """Whether it can find out how many clusters there are: always, on the summary."""
        return True

    def forecast(self, problem: PointProblem, preview: Preview, n_guess: int) -> Forecast | None:
        """Return what pays for the last step of `n_guess` rows, and how many centers it moves, if the summary sees nothing."""
        if problem.n_features < FEW_COLUMNS:
            return None
        schedule = Schedule(problem, preview, max(n_guess, 1))
        is_seen = schedule.is_seen
        schedule = schedule if is_seen else schedule.of_one()
        paying = STEPS if schedule.first(1) == MOST_STEPS - 1 else STEPS[-1:]
        return Forecast(paying if is_seen else (*SUMMARY, *paying), schedule.problem.k)

    def run(self, purse: Purse, problem: PointProblem, rng: np.random.Generator) -> Result:
        """Ask through the purse and return what may be released."""
        n = min(max(float(purse.ask("rows", Counts(Whole())).private_counts[0]), 1.0), MOST_ROWS)
        schedule = Schedule(problem, purse.preview, n)
        is_seen = schedule.is_seen
        summary = summarize(purse, problem, n) if is_seen else unseen(purse, problem, n)
        counted = None
        if summary.cells is not None:
            counted = count_clusters(drawn_near(summary.cells, problem.schema), problem.k, problem.power, rng)
            problem = replace(problem, k=counted.k)
        schedule = replace(schedule, problem=problem) if is_seen else schedule.of_one()
        centers, moved = solved(summary, schedule.problem, rng), None
        if STEPS[0] in purse:
            summary, moved = take_steps(purse, schedule, summary, centers, rng)
            centers = moved.centers
        if not is_seen:  # beside the mean, others may lie anywhere
            centers = np.concatenate([centers, problem.domain.sample(problem.k - 1, rng)])
        centers = problem.domain.clip(adding_up(centers, problem.schema))  # a leaf may reach out of a ball
        sizes = purse.ask("sizes", Counts(Rings(centers)))
        found = np.maximum(sizes.private_counts, 0), sizes.noise, summary.points, summary.weights
        if moved is None:
            return Result(centers, *found, counted=counted)
        margins = unmoved(moved.margins, problem.k)
        return Result(centers, *found, supported=len(moved.centers), margins=margins, counted=counted)


def unseen(purse: Purse, problem: PointProblem, n: float) -> Summary:
    """Ask for no summary: what it costs pays for steps, or for their radii if it is counted in what steps are not."""
    for name in SUMMARY:
        purse.pass_on(name, STEPS[-1] if purse.measure(name) is purse.measure(STEPS[-1]) else RADII[-1])
    return Summary.unseen(problem, n)


def take_steps(
    purse: Purse, schedule: Schedule, summary: Summary, centers: FloatArray, rng: np.random.Generator
) -> tuple[Summary, Moved]:
    """Take the steps that are worth their noise, from centers of the summary, whose points move along with them."""
    problem, widths = schedule.problem, step_widths(schedule.problem, summary.columns)
    moved, first = None, schedule.first(summary.blind(centers))
    for place in range(MOST_STEPS):
        if place < first:
            purse.pass_on(RADII[place], RADII[place + 1])
            purse.pass_on(STEPS[place], STEPS[place + 1])
            continue
        distances = ask_distances(purse, problem, centers, RADII[place], summary, widths)
        are_new = np.zeros(len(centers), dtype=bool)
        if moved is not None:
            noise = schedule.noise(STEPS[place])
            centers, distances, are_new = exchanged(centers, moved, distances, noise, summary.columns, rng)
        moved = move(purse, problem, centers, distances, STEPS[place])
        moved = replace(moved, margins=np.where(are_new[:, None], np.nan, moved.margins))  # their clusters are not settled
        summary = summary.moved(centers, moved.centers, problem.domain)
        centers = moved.centers
    assert moved is not None  # the last step is always taken
    return summary, moved
