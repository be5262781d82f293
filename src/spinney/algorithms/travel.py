"""The mean travel to each site, with its margin: asked after any algorithm for sites, from a share of the budget.

Letters, of one site: l and h, the least and largest distance from a point of its catchment; W its noisy size.

1. The algorithm, with the rest of the budget. Now the sites, and whom each point goes to, are released.
2. ``travel``  for each site the noisy sum V of how far the distances of its rows lie from the middle, (l + h) / 2, in halves of
   the range, (h - l) / 2: public numbers of the rows' points between -1 and 1.
3. Free: the mean is (l + h) / 2 + (h - l) / 2 V / W. Its margin follows from both noises, as that of a step does
   (`spinney.algorithms.margins`). Of a site whose size does not stand out of its noise neither is told.

From the middle a sum needs half the noise that it needs from zero, and noise in the size hardly matters: V / W is small. Counts
of rings of distances would need more noise the finer the rings are, and leave their width as an error.

Proof: ``proofs/sites.md``.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from spinney.algorithms.algorithm import Around
from spinney.algorithms.margins import step_margins
from spinney.algorithms.problem import SiteProblem
from spinney.algorithms.result import Result
from spinney.curators.purse import Purse
from spinney.privacy import Part
from spinney.questions import Labels, Lengths, Measuring
from spinney.questions.sums import RADIUS_STEPS, StepNoise, SumAnswer
from spinney.spaces import FiniteMetric, FloatArray, IntArray, nearest_site

#: The share of epsilon. The rest chooses sites nearly as well, and with twice the share of the sizes both noises matter alike.
SHARE = Fraction(10, 100)


class WithTravel(Around):
    """An algorithm for sites, and the mean travel of the rows of each."""

    solves = "sites"

    def parts(self, problem: SiteProblem) -> tuple[Part, ...]:
        inside = (replace(part, share=part.share * (1 - SHARE)) for part in self.inner.parts(problem))
        return (*inside, Measuring().part("travel", SHARE))

    def guarantee(self, problem: SiteProblem) -> str | None:
        found = self.inner.guarantee(problem)
        return None if found is None else f"With {1 - SHARE} of epsilon: {found}"

    def run(self, purse: Purse, problem: SiteProblem, rng: np.random.Generator) -> Result:
        result: Result = self.inner.run(purse, problem, rng)
        sites = np.concatenate([result.centers, problem.existing])
        labels = nearest_site(problem.space, sites) if result.assignment is None else result.assignment
        return replace(result, travel=_mean_travel(purse, result, labels, _own_distances(problem.space, sites, labels)))


def _own_distances(space: FiniteMetric, sites: IntArray, labels: IntArray) -> FloatArray:
    """Return the distance from each point to its site; 0 of points that go to nobody."""
    found = np.zeros(space.n_points)
    for part, block in space.blocks(sites):
        inside = np.flatnonzero((labels >= part.start) & (labels < part.stop))
        found[inside] = block[labels[inside] - part.start, inside]
    return found


def _mean_travel(purse: Purse, result: Result, labels: IntArray, distances: FloatArray) -> FloatArray:
    """Ask for the travel to each site, and return its mean and its margin; NaN where too few rows are seen to tell."""
    count, points = len(result.private_sizes), np.flatnonzero(labels >= 0)
    own, away = labels[points], distances[points]
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, own, away)
    np.maximum.at(high, own, away)
    low = np.where(low <= high, low, np.nan)  # to some site no point may go
    middle, half = low / 2 + high / 2, high / 2 - low / 2
    steps = np.zeros(len(labels), dtype=np.int64)
    places = np.divide(away - middle[own], half[own], out=np.zeros_like(away), where=half[own] > 0)
    steps[points] = np.rint(np.clip(places, -1.0, 1.0) * RADIUS_STEPS)
    answer = purse.ask("travel", Lengths(Labels(labels, count), steps))
    weights = result.private_sizes.astype(np.float64)
    noise = StepNoise(answer.noise, result.size_noise, 1)
    margins = step_margins(SumAnswer(answer.private_totals[:, None], weights, noise), half)[:, 0]
    ratios = np.divide(answer.private_totals, weights, out=np.full(count, np.nan), where=~np.isnan(margins))
    return np.stack([middle + half * np.clip(ratios, -1.0, 1.0), margins])
