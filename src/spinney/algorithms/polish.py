"""A private step around released centers: clipped Lloyd or Weiszfeld, shrunk by its signal-to-noise ratio.

Everything here but the question itself is post-processing of noisy answers and public noise levels.

Proof: ``proofs/polish.md``.
"""

from __future__ import annotations

import math

import numpy as np

from spinney.algorithms.problem import PointProblem
from spinney.curators.gate import Curator
from spinney.privacy.charges import Charge
from spinney.questions.counts import Counts
from spinney.questions.partitions import Rings
from spinney.questions.sums import Summing, Sums
from spinney.spaces.box import FloatArray

__all__ = ["RingHistogram", "ask_rings", "polish", "ring_edges", "take_step"]

#: Distance rings: radii from the domain's diagonal down by factors of sqrt(2).
RING_EDGES = 24
#: A Weiszfeld step treats the nearest rows, up to this share of a cluster, as equally near.
NEAR_SHARE = 0.4


class RingHistogram:
    """Noisy numbers of rows by center and distance."""

    def __init__(self, edges: FloatArray, private_counts: FloatArray, std: float) -> None:
        self.edges = edges
        # A ring that does not stand out of the noise is taken as empty; rows cannot lie beyond the last edge.
        counts = np.where(private_counts < 2 * std, 0.0, private_counts)
        self.counts = counts[:, :-1]
        self.totals = np.maximum(self.counts.sum(axis=1), 1.0)

    def step_radii(self, curator: Curator, problem: PointProblem, charge: Charge) -> FloatArray:
        """Return the clipping radii for a step that this charge pays for."""
        if problem.power == 1:
            return self.median_radii()
        d = problem.n_features
        return self.mean_radii(math.sqrt(d) * curator.preview(Summing(problem.kernel, d), charge).vector_std)

    def typical_distance(self) -> float:
        """Return the root mean square distance of all rows from their centers; that of the domain if nothing stands out."""
        squares = (self.edges / 2**0.25) ** 2
        total = self.counts.sum()
        return math.sqrt(float((self.counts @ squares).sum() / total) if total > 0 else float(squares[-1]))

    def mean_radii(self, sum_std: float) -> FloatArray:
        """Return the radii at which what clipping can lose balances noise of this length per unit radius."""
        middles = self.edges / 2**0.25
        excess = np.maximum(middles[None, :] - self.edges[:, None], 0.0)  # candidate radius x ring
        lost = self.counts @ excess.T / self.totals[:, None]
        noise = sum_std * self.edges[None, :] / self.totals[:, None]
        radii: FloatArray = self.edges[np.argmin(lost**2 + noise**2, axis=1)]
        return radii

    def median_radii(self) -> FloatArray:
        """Return the radii that hold the nearest share of each cluster's rows."""
        shares = self.counts.cumsum(axis=1) / self.totals[:, None]
        radii: FloatArray = self.edges[np.argmax(shares >= NEAR_SHARE, axis=1)]
        return radii


def ring_edges(problem: PointProblem) -> FloatArray:
    """Return the public distances at which clusters are cut into rings."""
    edges: FloatArray = 2 * problem.domain.half_diagonal * 2.0 ** (-np.arange(RING_EDGES)[::-1] / 2.0)
    return edges


def ask_rings(curator: Curator, problem: PointProblem, centers: FloatArray, charge: Charge) -> RingHistogram:
    """Ask how many rows lie at which distance from the nearest center."""
    edges = ring_edges(problem)
    answer = curator.ask(Counts(Rings(centers, edges)), charge)
    return RingHistogram(edges, answer.private_counts.astype(np.float64), answer.noise.std)


def take_step(
    curator: Curator, problem: PointProblem, centers: FloatArray, radii: FloatArray, charge: Charge
) -> tuple[FloatArray, FloatArray]:
    """Ask for one step with these clipping radii; return the moved centers and their noisy weights, all positive."""
    d = problem.domain.n_features
    answer = curator.ask(Sums(centers, problem.kernel, radii), charge)
    weights = np.maximum(answer.private_weights, max(2 * answer.noise.weight_std, 1e-9))
    steps = radii[:, None] * answer.private_vectors / weights[:, None]
    noise = d * (radii * answer.noise.vector_std / weights) ** 2
    square = np.maximum((steps**2).sum(axis=1), noise)
    shrink = 1 - noise / np.maximum(square, 1e-300)
    return problem.domain.clip(centers + shrink[:, None] * steps), weights


def polish(
    curator: Curator, problem: PointProblem, centers: FloatArray, rings: RingHistogram, charge: Charge
) -> tuple[FloatArray, FloatArray]:
    """Ask for one step with clipping radii from a histogram of distances; return what `take_step` does."""
    return take_step(curator, problem, centers, rings.step_radii(curator, problem, charge), charge)
