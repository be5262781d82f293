"""Loose bounds: find a private box around the rows first, then work inside it.

1. ``bounds``  a noisy histogram of every column.
2. In each column, the bins that stand out of the noise, alone or with their neighbors, are enclosed in an interval; it grows
   while what lies beside it still looks like rows, and a little more. A side is cut off only if it is wider than the interval:
   less is not worth the risk of losing a cluster. Rows outside are clipped to the box of these intervals.
3. Any algorithm runs inside the box, with the rest of the budget.

Proof: ``proofs/tighten.md``.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from spinney.algorithms.algorithm import Around
from spinney.algorithms.columns import inner_box
from spinney.algorithms.forecast import Forecast, Preview
from spinney.algorithms.problem import PointProblem
from spinney.algorithms.result import Result
from spinney.curators.purse import Purse
from spinney.mechanisms import Noise
from spinney.privacy import Part
from spinney.questions import ColumnBins, Counting, Counts
from spinney.spaces import Domain, FloatArray

#: The share of epsilon that finds the box.
SHARE = Fraction(10, 100)
#: Bins stand out if they hold what noise alone reaches in one of a hundred tables ...
CHANCE = 0.01
#: ... and what lies beside them belongs to them if it exceeds these standard deviations: a lost cluster costs more than width.
NEXT_STDS = 2.5
#: The interval is widened at both ends by this share of its width, and by at least one bin.
MARGIN = 0.1


class Tightened(Around):
    """An algorithm that works inside a private box. Its plan is made with the declared domain: plans read only its columns."""

    def parts(self, problem: PointProblem) -> tuple[Part, ...]:
        inside = (replace(part, share=part.share * (1 - SHARE)) for part in self.inner.parts(problem))
        return (Counting(problem.n_features).part("bounds", SHARE), *inside)

    def counts(self, problem: PointProblem) -> bool:
        return self.inner.counts(problem)

    def forecast(self, problem: PointProblem, preview: Preview, n_guess: int) -> Forecast | None:
        found: Forecast | None = self.inner.forecast(problem, preview, n_guess)
        return found

    def guarantee(self, problem: PointProblem) -> str | None:
        found = self.inner.guarantee(problem)
        return None if found is None else f"Of rows clipped to its private box: {found}"

    def typical_radius(self, problem: PointProblem) -> float:
        return self.inner.typical_radius(problem)

    def run(self, purse: Purse, problem: PointProblem, rng: np.random.Generator) -> Result:
        answer = purse.ask("bounds", Counts(ColumnBins()))
        box = tight_box(problem.domain, answer.private_counts.astype(np.float64), answer.noise)
        result: Result = self.inner.run(purse.within(box), replace(problem, domain=box), rng)
        return replace(result, centers=problem.domain.clip(result.centers), box=box)


def tight_box(domain: Domain, private_counts: FloatArray, noise: Noise) -> Domain:
    """Return the box of the intervals that hold what stands out; a column where nothing does keeps its bounds."""
    bins = private_counts.shape[1]
    threshold = noise.quantile(1 - CHANCE / private_counts.size)
    edges = np.array([_interval(column, threshold, NEXT_STDS * noise.std) for column in private_counts], dtype=np.float64)
    margin = np.maximum(MARGIN * (edges[:, 1] - edges[:, 0]), 1.0)
    first, last = np.maximum(edges[:, 0] - margin, 0), np.minimum(edges[:, 1] + margin, bins)
    width = (domain.upper - domain.lower) / bins
    lower = np.where(first > 0, domain.lower + first * width, domain.lower)
    upper = np.where(last < bins, domain.lower + last * width, domain.upper)
    return inner_box(domain, lower, upper)


def _interval(counts: FloatArray, threshold: float, next_threshold: float) -> tuple[int, int]:
    """Return the first and one past the last bin of the interval, all bins if nothing stands out."""
    first, last = _hull(counts, threshold)
    first, last = first - _reach(counts[:first][::-1], next_threshold), last + _reach(counts[last:], next_threshold)
    width = last - first
    return (first if first > width else 0), (last if counts.size - last > width else counts.size)


def _hull(counts: FloatArray, threshold: float) -> tuple[int, int]:
    """Enclose the runs of 1, 2, 4, ... bins that exceed the threshold times the root of their length.

    A run counts as a whole only if nothing inside it stands out.
    """
    bins, first, last = counts.size, counts.size, 0
    inside: NDArray[np.bool_] = np.zeros(bins, dtype=np.bool_)
    while True:
        size = bins // counts.size
        stands_out = (counts > threshold * size**0.5) & ~inside
        runs = np.flatnonzero(stands_out)
        if runs.size:
            first, last = min(first, int(runs[0]) * size), max(last, int(runs[-1] + 1) * size)
        if counts.size == 1:
            return (first, last) if last else (0, bins)
        inside = inside | stands_out
        counts, inside = counts[0::2] + counts[1::2], inside[0::2] | inside[1::2]


def _reach(counts: FloatArray, threshold: float) -> int:
    """Return how many of these bins, the nearest first, belong to an interval beside them: runs of 1, 2, 4, ... are tried."""
    reach, size = 0, 1
    while reach < counts.size:
        run = counts[reach : reach + size]
        if run.sum() > threshold * run.size**0.5:
            reach, size = reach + run.size, 1
        elif reach + size >= counts.size:
            break
        else:
            size *= 2
    return reach
