"""The 1-cluster problem: a small ball that holds at least t rows.

After Nissim and Stemmer 2018, in a practical form of its own: they find a radius first and then a center by random projections
and boxes; here a private tree finds centers first, which is what trees do well, and noisy counts of rings find the radius.

1. The parts of ``tree``, for a number of candidates that is public: their centers, and a private summary of the rows.
2. ``spread``   noisy numbers of rows by candidate and distance: the candidate that reaches t rows within the least radius ...
3. ``center``   ... goes to the noisy mean of its rows, offsets clipped to that radius.
4. ``ball i``   noisy numbers of all rows by distance from this center, from the best ball of the summary, and from the largest
   candidate: the least radius that holds t, of the three, is released, with the noisy number of rows inside.

Proof: ``proofs/one_cluster.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from spinney.algorithms.algorithm import Algorithm
from spinney.algorithms.default import Tree
from spinney.algorithms.problem import PointProblem
from spinney.algorithms.result import Result
from spinney.algorithms.step import take_step
from spinney.curators.purse import Purse
from spinney.mechanisms import Noise
from spinney.privacy import Part
from spinney.questions import Counting, Counts, Rings, Summing
from spinney.releases.ball import OneCluster
from spinney.solvers.balls import smallest_ball
from spinney.spaces import Domain, FloatArray

#: Shares of epsilon, in hundredths; the tree has the rest.
SHARES = {"spread": 8, "center": 12, "ball 1": 6, "ball 2": 6, "ball 3": 6}
#: Radii are tried from the domain's diameter down, by factors of 2^(1/4).
EDGES, FINE = 44, 4
#: Most points of the summary that balls are searched from.
STARTS = 64


@dataclass(frozen=True, kw_only=True)
class BallProblem(PointProblem):
    """One ball for at least `wanted` rows."""

    wanted: int

    what = "balls"
    title = "1-cluster"

    def release(  # type: ignore[override]
        self, result: Result, algorithm: str, columns: tuple[str, ...] | None, promise: dict[str, Any]
    ) -> OneCluster:
        assert isinstance(result, BallResult)
        whole = super().release(result, algorithm, columns, promise)
        margin = 1.96 * result.size_noise.std * math.sqrt(result.rings)
        return OneCluster(whole.centers[0], result.radius, result.count, margin, self.wanted, whole)


@dataclass(frozen=True)
class BallResult(Result):
    """Released values: a center, and the radius, the number of rows inside, and from how many rings that was added up."""

    radius: float = 0.0
    count: float = 0.0
    rings: int = 0


@dataclass(frozen=True)
class _Reach:
    """A noisy ball around a released center: the least radius that holds what is wanted, infinite if none does."""

    center: FloatArray
    private_counts: FloatArray
    noise: Noise
    place: int

    @classmethod
    def of(cls, center: FloatArray, private_counts: FloatArray, noise: Noise, wanted: int) -> _Reach:
        held = np.cumsum(private_counts) >= wanted
        return cls(center, private_counts, noise, int(np.argmax(held)) if held.any() else len(held))


@dataclass(frozen=True)
class OneClusterSearch(Algorithm):
    """Candidates from a private tree, radii from noisy rings.

    Parameters
    ----------
    candidates : int
        How many centers the tree is asked for: about as many as there may be clusters.
    """

    candidates: int = 12

    name = "one-cluster"

    def parts(self, problem: PointProblem) -> tuple[Part, ...]:
        rest = Fraction(100 - sum(SHARES.values()), 100)
        kinds = {"center": Summing(problem.kernel, problem.n_features)}
        own = (kinds.get(name, Counting()).part(name, Fraction(share, 100)) for name, share in SHARES.items())
        first = Tree().parts(replace(problem, k=self.candidates))
        return (*(replace(part, share=part.share * rest) for part in first), *own)

    def run(self, purse: Purse, problem: BallProblem, rng: np.random.Generator) -> BallResult:
        found = Tree().run(purse, replace(problem, k=self.candidates), rng)
        edges = ball_edges(problem.domain)
        balls = []
        for i, center in enumerate(self._centers(purse, problem, found, edges), start=1):
            answer = purse.ask(f"ball {i}", Counts(Rings(center[None, :], edges)))
            balls.append(_Reach.of(center, answer.private_counts[0, :-1].astype(np.float64), answer.noise, problem.wanted))
        best = min(balls, key=lambda ball: ball.place)
        last = min(best.place, len(edges) - 1)
        count = max(float(best.private_counts[: last + 1].sum()), 0.0)
        whole = np.maximum(best.private_counts.sum()[None], 0).astype(np.int64)
        shared = (best.center[None, :], whole, best.noise, found.summary_points, found.summary_weights)
        return BallResult(*shared, radius=float(edges[last]), count=count, rings=last + 1)

    def _centers(
        self, purse: Purse, problem: BallProblem, found: Result, edges: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return three released centers to try."""
        centers: FloatArray = found.centers
        spread = purse.ask("spread", Counts(Rings(centers, edges)))
        private_counts = spread.private_counts[:, :-1].astype(np.float64)
        balls = [_Reach.of(c, own, spread.noise, problem.wanted) for c, own in zip(centers, private_counts, strict=True)]
        # The number wanted may be spread over candidates: then those reach no radius, and the largest of them is taken.
        order = sorted(range(len(balls)), key=lambda j: (balls[j].place, -private_counts[j].sum()))
        largest = int(np.argmax(private_counts.sum(axis=1)))
        places = np.array([min(ball.place, len(edges) - 1) for ball in balls])
        moved = take_step(purse, problem, centers, edges[places], "center").centers
        points = np.concatenate([found.summary_points, centers])
        weights = np.concatenate([found.summary_weights, np.zeros(len(centers))])
        starts = np.concatenate([centers, found.summary_points[np.argsort(-found.summary_weights)[:STARTS]]])
        return moved[order[0]], problem.domain.clip(smallest_ball(points, weights, problem.wanted, starts).center), moved[largest]


def ball_edges(domain: Domain) -> FloatArray:
    """Return the radii that are tried, the last of which holds the domain."""
    return np.asarray(2 * domain.half_diagonal * 2.0 ** (-np.arange(EDGES)[::-1] / FINE))
