"""The question `cost`: a noisy cost of public centers, or a difference of two costs.

Proof: ``proofs/questions.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from spinney.mechanisms import NoiseSource, Sensitivity
from spinney.privacy import Charge, Unit
from spinney.questions.arrays import LONGEST, SHORTEST, finite_points, freeze, frozen, require, require_power
from spinney.questions.ground import Ground
from spinney.questions.question import Exact, Listed, Question
from spinney.questions.record import AdditiveKind
from spinney.spaces import Domain, FloatArray

#: A cost is cut into this many integer steps of its public range.
COST_STEPS = 2**30
#: A step is no shorter: its inverse is finite.
LEAST_STEP = float(np.finfo(np.float64).tiny)
#: Numbers in a block of a table that compares two sets of centers, about.
MOST_NUMBERS = 2**22


@dataclass(frozen=True)
class CostAnswer:
    """A noisy cost, or difference of costs."""

    private_cost: float
    std: float


@dataclass(frozen=True)
class Costing(AdditiveKind):
    """A sum of bounded signed costs, in steps of its range."""

    question = of = "cost"
    steps = COST_STEPS
    shown = "a cost +- {:.3g} of one row's range"
    are_counts = False

    @property
    def row(self) -> Sensitivity:
        return Sensitivity(COST_STEPS, COST_STEPS**2)


@dataclass(frozen=True, eq=False)
class Costs:
    """The aggregate: the exact sum of differences of costs, each a whole number of steps."""

    first: FloatArray
    second: FloatArray
    power: int
    step: float


@dataclass(frozen=True, eq=False)
class Cost(Question[CostAnswer]):
    """The noisy cost of public centers, or how much more the first set costs than the second.

    Parameters
    ----------
    first : array of shape (k, d)
    power : {1, 2}
        1 sums distances, 2 squared distances.
    second : array of shape (m, d), optional
    most : float, optional
        A row's cost, or difference, is cut off at this, if its public range is larger: less noise, where few rows matter most.
    """

    first: FloatArray
    power: int
    second: FloatArray | None = None
    most: float | None = None

    def __post_init__(self) -> None:
        freeze(self, "first", "second")

    def kind(self, ground: Ground) -> Costing:
        """One row's cost is cut off at its public range."""
        return Costing()

    def check(self, ground: Ground) -> None:
        require(ground.domain is not None, "only rows of numbers have such a cost")
        require_power(self.power)
        for centers in (self.first, self.second):
            if centers is not None:
                finite_points(centers, ground.n_features, "centers")
        if self.most is not None:
            lawful = type(self.most) is float and SHORTEST < self.most < LONGEST
            require(lawful, "what a cost is cut off at must be a positive number")

    def answer(self, rows: Exact, ground: Ground, charge: Charge, unit: Unit, source: NoiseSource) -> CostAnswer:
        assert ground.domain is not None
        second = frozen(np.empty((0, self.first.shape[1]))) if self.second is None else self.second
        most = cost_range(ground.domain, self.first, second, self.power)
        step = max((most if self.most is None else min(most, self.most)) / COST_STEPS, LEAST_STEP)
        (total,) = rows.exact(Costs(self.first, second, self.power, step))
        cost, noise = self.kind(ground).answered(total, charge, unit, source)
        return CostAnswer(float(cost[0]) * step, noise.std * step)


def cost_range(domain: Domain, first: FloatArray, second: FloatArray, power: int) -> float:
    """Return a public bound on one row's cost, or on the absolute difference of its two costs.

    A squared difference |x-b|^2 - |x-c|^2 is linear in x, so its maximum over the box is at a corner; for distances the
    triangle inequality bounds the difference by the distance from a center to the nearest center of the other set.
    """
    reach = np.maximum(np.abs(domain.upper - first), np.abs(first - domain.lower))
    farthest = float(np.sqrt((reach**2).sum(axis=1)).min())
    if not len(second):
        return farthest**power

    def worst(b: FloatArray, c: FloatArray) -> float:
        """Largest d(x, B)^p - d(x, C)^p: x is served by some c, and by the b that suits that c's worst x best."""
        if power == 1:
            return math.sqrt(((b[:, None] - c[None]) ** 2).sum(axis=2).min(axis=0).max())
        slope = 2 * (c[None] - b[:, None])
        corner = np.where(slope > 0, domain.upper, domain.lower)
        gain = ((corner - b[:, None]) ** 2 - (corner - c[None]) ** 2).sum(axis=2)
        return float(gain.min(axis=0).max())

    sides = ((first, second), (second, first))
    found = [worst(b, part) for b, c in sides for part in np.array_split(c, -(-b.size * len(c) // MOST_NUMBERS))]
    return max(*found, 1e-12 * domain.half_diagonal**power)


LISTED = Listed(
    Cost, Costing, "the sum by at most COST_STEPS, the steps of its public range, or of a smaller one",
    ("proofs/questions.md",),
    ("tests/privacy/test_brute_force.py", "tests/privacy/test_sensitivity.py"),
)  # fmt: skip
