"""Private Lloyd from random centers: the usual baseline.

Letters: k clusters, d columns, T rounds. Each round asks for the noisy sum and the noisy number of the rows nearest to each
center and moves the center to their quotient (k-means), or takes one clipped Weiszfeld step toward their median (k-median, with
the seven rounds of the published baseline). Sums of k-means are taken around the middle of the domain and clipped to the whole
domain, so nothing is lost when noise is switched off.

Proof: ``proofs/lloyd.md``.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from spinney.algorithms import Algorithm, PointProblem, Result
from spinney.algorithms.margins import step_margins
from spinney.curators.purse import Purse
from spinney.privacy import Part
from spinney.questions import Counting, Summing, Sums

#: T by the power of distances, public constants.
ROUNDS = {1: 7, 2: 5}
#: Hundredths of epsilon for the final sizes.
SIZES_SHARE = 5
#: A Weiszfeld step treats distances below this share of the domain's half diagonal as equal.
MEDIAN_RADIUS = 0.1


class Lloyd(Algorithm):
    """Private Lloyd rounds from public random centers."""

    name = "lloyd"

    def parts(self, problem: PointProblem) -> tuple[Part, ...]:
        step = Fraction(100 - SIZES_SHARE, 100) / ROUNDS[problem.power]
        summing = Summing(problem.kernel, problem.n_features)
        rounds = [summing.part(f"round {i}", step) for i in range(1, ROUNDS[problem.power] + 1)]
        return (*rounds, Counting().part("sizes", Fraction(SIZES_SHARE, 100)))

    def typical_radius(self, problem: PointProblem) -> float:
        return problem.domain.half_diagonal * (1.0 if problem.power == 2 else MEDIAN_RADIUS)

    def run(self, purse: Purse, problem: PointProblem, rng: np.random.Generator) -> Result:
        domain, k = problem.domain, problem.k
        centers = domain.sample(k, rng)
        middles = np.repeat(domain.center[None, :], k, axis=0)
        for i in range(1, ROUNDS[problem.power] + 1):
            if problem.power == 2:
                anchors, radii = middles, np.full(k, domain.half_diagonal)
            else:
                anchors, radii = centers, np.full(k, MEDIAN_RADIUS * domain.half_diagonal)
            answer = purse.ask(f"round {i}", Sums(centers, problem.kernel, radii, anchors))
            # A cell whose noisy weight does not stand out of the noise keeps its center.
            moves = answer.private_weights > max(answer.noise.weight_std, 1e-9)
            weights = np.where(moves, answer.private_weights, 1.0)
            moved = anchors + radii[:, None] * answer.private_vectors / weights[:, None]
            centers = np.where(moves[:, None], domain.clip(moved), centers)
        margins = np.where(moves[:, None], step_margins(answer, radii), np.nan)
        return Result.asked(purse, centers, np.empty((0, domain.n_features)), np.empty(0), margins=margins)
