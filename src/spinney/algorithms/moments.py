"""For many columns: private moments first, a shallow tree for the start, then private steps.

Letters: k clusters, d columns. With many columns a tree sees only a few of them, and most of the budget belongs to steps.

1. ``mean``      the noisy mean of all rows, and their noisy number.
2. ``distance``  a noisy histogram of distances to the mean: the typical distance sets the clipping radii below.
3. ``spread``    the noisy second moment of each column around the mean.
4. ``leaves``    noisy counts of a shallow tree that halves the columns of largest spread around the mean.
5. The leaves are clustered into twice as many centers as asked for: free post-processing.
6. ``step 1``    a private Lloyd or Weiszfeld step; its weighted centers are then clustered into k.
7. ``step 2``, ``radii``, ``step 3``: two more steps, the last with a clipping radius for each cluster.
8. ``sizes``     noisy sizes of the released clusters.

The last step moves as many centers as its budget supports; the others come from the leaves. If it supports too few, what is left
of the budget after ``mean`` and ``distance`` goes to the mean, in one question: so small budgets end near what the mean alone
would cost, not in noise.

Proof: ``proofs/moments.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spinney.algorithms.columns import inner_box
from spinney.algorithms.margins import unmoved
from spinney.algorithms.polish import ask_rings, completed, foreseen, shrunk, step_widths, supported, take_step
from spinney.algorithms.problem import Algorithm, Charges, PointProblem, Result
from spinney.curators.gate import Curator
from spinney.privacy.charges import Charge, Measure
from spinney.privacy.composition import Part
from spinney.questions.counts import Counting, Counts
from spinney.questions.partitions import Rings
from spinney.questions.sums import Summing, Sums
from spinney.solvers.weighted import solve
from spinney.spaces.box import Domain, FloatArray
from spinney.trees.quadtree import Splits, TreeCells

__all__ = ["Moments"]

#: Shares of epsilon, in hundredths.
SHARES = {
    "mean": 5,
    "distance": 1,
    "spread": 4,
    "leaves": 10,
    "step 1": 15,
    "step 2": 15,
    "radii": 3,
    "step 3": 44,
    "sizes": 3,
}
#: With so many columns and pure noise, which grows with them, the last step needs most.
PURE_COLUMNS = 100
PURE_SHARES = {
    "mean": 12,
    "distance": 2,
    "spread": 3,
    "leaves": 6,
    "step 1": 5,
    "step 2": 6,
    "radii": 2,
    "step 3": 61,
    "sizes": 3,
}
#: Squared coordinates are clipped to a vector of this length times the typical squared distance over the root of d.
SPREAD_RADIUS = 2.5
#: The tree's box reaches so many standard deviations from the mean: halving a column then puts points where halves have theirs.
SPAN = 1.6
#: Leaves are expected to hold so many standard deviations of their noise, and count if they hold at least one.
LEAF_STDS = 2
#: The tree has at most so many levels.
MAX_LEVELS = 12
#: Centers of the first step, per cluster.
OVER = 2
#: Offsets are clipped to this share of the typical distance.
STEP_RADIUS = 0.8
#: Steps are worth their noise if the last one moves so many centers: more if noise is pure, for then the steps before it, with
#: small shares, are lost.
FEWEST = {Measure.ZCDP: 2, Measure.PURE: 4}
#: Centers that the tree cannot give lie around the mean, so many standard deviations apart.
FILLER_SPREAD = 0.3


@dataclass(frozen=True)
class Total:
    """A noisy sum of all rows, as offsets from the middle of the domain in units of the columns, and their noisy number.

    Parameters
    ----------
    vector : array of shape (d,)
    weight : float
    vector_variance, weight_variance : float
        Of the noise in each coordinate, and in the number.
    """

    vector: FloatArray
    weight: float
    vector_variance: float
    weight_variance: float

    @property
    def n(self) -> float:
        """The number of rows, as far as it is known."""
        return max(self.weight, math.sqrt(self.weight_variance), 1.0)

    def mean(self, domain: Domain) -> FloatArray:
        """Return the mean, moved toward one level of all columns the less it stands out of its noise."""
        variances = np.array([self.vector_variance / self.n**2])
        steps = shrunk(self.vector[None, :] / self.n, variances, np.ones(domain.n_features))
        return domain.clip(domain.center + _units(domain) * steps)

    def joined(self, other: Total) -> Total:
        """Return what two answers about the same rows say together, each weighed by its noise."""
        vector, vector_variance = _weighed(self.vector, self.vector_variance, other.vector, other.vector_variance)
        weight, weight_variance = _weighed(self.weight, self.weight_variance, other.weight, other.weight_variance)
        return Total(vector, float(weight), vector_variance, weight_variance)


def _weighed(one: Any, one_variance: float, other: Any, other_variance: float) -> tuple[Any, float]:
    """Return the mean of two noisy answers with the least variance, and this variance."""
    share = other_variance / max(one_variance + other_variance, 1e-300)
    return share * one + (1 - share) * other, share * one_variance


@dataclass(frozen=True)
class Shape:
    """Private moments of the rows: how many, where, how far from there, and how spread along each column."""

    n: float
    mean: FloatArray
    distance: float
    spread: FloatArray

    def box(self, domain: Domain) -> Domain:
        """Return the box around the mean that holds most rows, inside the domain."""
        reach = SPAN * self.spread
        return inner_box(domain, self.mean - reach, self.mean + reach)

    def fillers(self, count: int, domain: Domain, rng: np.random.Generator) -> FloatArray:
        """Draw public points around the mean."""
        reach = math.sqrt(3) * FILLER_SPREAD * self.spread  # a uniform draw has a third of its squared reach as variance
        return domain.clip(rng.uniform(self.mean - reach, self.mean + reach, (count, self.mean.size)))


class Moments(Algorithm):
    """Private moments, a shallow tree, private steps."""

    name = "moments"

    def parts(self, problem: PointProblem) -> tuple[Part, ...]:
        """Return the shares and sensitivities, from public facts alone."""
        steps = dict.fromkeys(("step 1", "step 2", "step 3"), problem.kernel)
        kernels = {"mean": mean_kernel(problem.domain), "spread": "second-moment"} | steps
        kinds = {name: Summing(kernel, problem.n_features) for name, kernel in kernels.items()}
        is_pure = problem.budget.delta == 0 and problem.n_features >= PURE_COLUMNS
        shares = PURE_SHARES if is_pure else SHARES
        return tuple(kinds.get(name, Counting()).part(name, Fraction(share, 100)) for name, share in shares.items())

    def supports(self, problem: PointProblem, charges: Charges, n_guess: int) -> int | None:
        """Return how many centers the last step would move, or 1 if the mean would get the budget."""
        last = foreseen(problem, n_guess, charges["step 3"])
        return 1 if last < _fewest(problem, charges) else last

    def run(self, curator: Curator, problem: PointProblem, charges: Charges, rng: np.random.Generator) -> Result:
        """Ask the curator and return what may be released."""
        domain, k = problem.domain, problem.k
        total = ask_total(curator, domain, charges["mean"])
        last = supported(curator, problem, total.n, charges["step 3"], k)
        if last < _fewest(problem, charges):
            return self._around_the_mean(curator, problem, charges, rng, total)
        shape = measure(curator, problem, charges, total)
        fillers = shape.fillers(OVER * k, domain, rng)

        leaves = shallow_leaves(curator, shape, domain, charges["leaves"])
        points, weights = summary = leaves
        widths = step_widths(problem, shape.spread)
        radius = STEP_RADIUS * shape.distance
        for name, count in {"step 1": OVER * k, "step 2": k, "step 3": last}.items():
            is_solved = len(points) == count
            centers = points if is_solved else solve(points, weights, count, problem.power, rng, fillers[:count]).centers
            radii = np.full(count, radius)
            if name == "step 3":
                rings = ask_rings(curator, problem, centers, charges["radii"])
                radii = np.minimum(rings.step_radii(curator, problem, charges[name], widths), radius)
            step = take_step(curator, problem, centers, radii, charges[name], widths=widths)
            points, weights = step.centers, step.weights
            summary = (points, weights) if count > k else summary
        whole = solve(*leaves, k, problem.power, rng, fillers[:k]).centers
        centers = domain.clip(completed(points, whole, *leaves, problem.power))  # a leaf may reach out of a ball
        sizes = curator.ask(Counts(Rings(centers)), charges["sizes"])
        found = np.maximum(sizes.private_counts, 0), sizes.noise
        return Result(centers, *found, *summary, supported=last, margins=unmoved(step.margins, k))

    def _around_the_mean(
        self, curator: Curator, problem: PointProblem, charges: Charges, rng: np.random.Generator, total: Total
    ) -> Result:
        """Spend what is left on the mean: where one center is all that the budget supports, others come from around it."""
        domain, mean = problem.domain, total.mean(problem.domain)
        distance = ask_rings(curator, problem, mean, charges["distance"]).typical_distance()
        names = ("spread", "leaves", "step 1", "step 2", "radii", "step 3")
        rest = curator.pool([charges[name] for name in names if charges[name].measure is charges["step 3"].measure], "sums")
        margins = np.full((1, domain.n_features), np.nan)  # none is told of two answers put together
        if rest.measure is Measure.ZCDP:
            step = take_step(curator, problem, mean, np.array([STEP_RADIUS * distance]), rest, leveled=True)
            mean, margins = step.centers, step.margins
        else:  # pure noise may have lost the mean, and no step would find it again
            total = total.joined(ask_total(curator, domain, rest))
            mean = total.mean(domain)
        spread = np.full(domain.n_features, distance / math.sqrt(domain.n_features))
        others = Shape(total.n, mean[0], distance, spread).fillers(problem.k - 1, domain, rng)
        centers = np.vstack([mean, others])
        sizes = curator.ask(Counts(Rings(centers)), charges["sizes"])
        found = np.maximum(sizes.private_counts, 0), sizes.noise, mean, np.array([total.n])
        return Result(centers, *found, supported=1, margins=unmoved(margins, problem.k))


def _fewest(problem: PointProblem, charges: Charges) -> int:
    """Return how many centers the last step must move to be worth its noise."""
    return min(FEWEST[charges["step 3"].measure], problem.k)


def mean_kernel(domain: Domain) -> str:
    """Return what the first sum clips offsets to: a box whose corners rows may reach, or else the ball that they lie in."""
    return "box" if np.isinf(domain.radius) else "mean"


def ask_total(curator: Curator, domain: Domain, charge: Charge) -> Total:
    """Ask for the sum of all rows."""
    answer = curator.ask(Sums(domain.center[None, :], mean_kernel(domain), np.ones(1), widths=_units(domain)), charge)
    noise = answer.noise
    return Total(answer.private_vectors[0], float(answer.private_weights[0]), noise.vector_std**2, noise.weight_std**2)


def _units(domain: Domain) -> FloatArray:
    """Return how far rows may lie from the middle, in each column."""
    if np.isinf(domain.radius):
        return domain.upper / 2 - domain.lower / 2
    return np.full(domain.n_features, domain.half_diagonal)


def measure(curator: Curator, problem: PointProblem, charges: Charges, total: Total) -> Shape:
    """Ask for the moments of the rows around their mean."""
    domain = problem.domain
    d, widths, mean, n = domain.n_features, domain.upper - domain.lower, total.mean(domain), total.n
    distance = ask_rings(curator, problem, mean, charges["distance"]).typical_distance()
    square = SPREAD_RADIUS * distance**2 / math.sqrt(d)
    answer = curator.ask(Sums(mean, "second-moment", np.array([math.sqrt(square)])), charges["spread"])
    noise = square * answer.noise.vector_std / n
    variance = square * answer.private_vectors[0] / n
    # What does not stand out of the noise is taken to spread as far as the noise could hide; nothing beyond the domain.
    spread = np.clip(np.sqrt(np.maximum(variance, noise / 2)), 1e-6 * widths, widths)
    return Shape(n, mean[0], distance, spread)


def shallow_leaves(curator: Curator, shape: Shape, domain: Domain, charge: Charge) -> tuple[FloatArray, FloatArray]:
    """Count the rows in the leaves of a shallow tree around the mean; return leaves that are not empty as weighted points."""
    inner = shape.box(domain)
    splits = Splits.of(inner)
    std = curator.preview(Counting(), charge).std
    levels = int(math.log2(max(shape.n / (LEAF_STDS * max(std, 1.0)), 1.0)))
    levels = min(levels, MAX_LEVELS, splits.depth)
    leaves = TreeCells.grid(splits, levels)
    weights = curator.within(inner).ask(Counts(leaves), charge).private_counts.astype(np.float64)
    points = leaves.representatives()
    unseen = np.setdiff1d(np.arange(inner.n_features), splits.route.axes[:levels])
    points[:, unseen] = shape.mean[unseen]
    full = weights > std
    return points[full], weights[full]
