"""The question `sums`: noisy sums of clipped offsets, and noisy weights, over the Voronoi cells of public centers or other cells.

Proof: ``proofs/questions.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from spinney.mechanisms import Noise, NoiseSource, Sensitivity, privatize
from spinney.mechanisms.balls import ball_std
from spinney.privacy import Charge, Measure, Unit
from spinney.questions.arrays import finite_points, finite_radii, finite_widths, freeze, require
from spinney.questions.ground import Ground
from spinney.questions.planes import PlaneCells
from spinney.questions.question import CENTERS, Exact, Kind, Listed, Question
from spinney.questions.record import Answer, additive_record
from spinney.spaces import FloatArray

#: A clipping radius is this many integer steps of a clipped vector.
RADIUS_STEPS = 2**20
#: From this many columns on pure noise is shaped like a ball; with fewer it would hardly be less than Laplace noise.
BALL_COLUMNS = 5
#: The largest share of a charge that pays for the weights.
WEIGHT_SHARE = Fraction(1, 5)
#: What is summed.
KERNELS = ("mean", "core", "median", "second-moment", "box")


@dataclass(frozen=True)
class StepNoise:
    """Public facts about the noise of a `sums` answer, in integer steps and in the answer's own units."""

    vectors: Noise
    weights: Noise
    weight_steps: int

    @property
    def vector_std(self) -> float:
        """Standard deviation of each coordinate of a sum, in radii."""
        return self.vectors.std / RADIUS_STEPS

    @property
    def weight_std(self) -> float:
        """Standard deviation of each weight, in rows."""
        return self.weights.std / self.weight_steps


@dataclass(frozen=True)
class SumAnswer:
    """Noisy sums per cell, in units of the cell's radius, and noisy weights."""

    private_vectors: FloatArray
    private_weights: FloatArray
    noise: StepNoise


@dataclass(frozen=True)
class Summing(Kind):
    """Sums of vectors of some columns: one row adds a weight, and a vector in an L2 ball (inside an L1 ball) or a cube."""

    question = "sums"

    kernel: str
    n_features: int

    @property
    def l1(self) -> float:
        """The L1 norm of a vector of length 1; of a ball or cube, one for which Laplace noise would be as wide as its noise."""
        if self.kernel == "box":
            return self.n_features / math.sqrt(6)
        if self.n_features < BALL_COLUMNS:
            return math.sqrt(self.n_features)
        return ball_std(self.n_features, RADIUS_STEPS) / RADIUS_STEPS / math.sqrt(2)

    @property
    def l2(self) -> float:
        """A vector in a cube is at most as long as its diagonal."""
        return math.sqrt(self.n_features) if self.kernel == "box" else 1.0

    @property
    def row(self) -> Sensitivity:
        """How far one row moves the vectors."""
        square = RADIUS_STEPS**2
        if self.kernel == "box":
            return Sensitivity(self.n_features * RADIUS_STEPS, self.n_features * square, RADIUS_STEPS, self.n_features)
        plain = Sensitivity(math.isqrt(self.n_features * square), square)
        return plain if self.n_features < BALL_COLUMNS else replace(plain, columns=self.n_features, length=RADIUS_STEPS)

    @property
    def weight_steps(self) -> int:
        """How many steps the weight of one row has."""
        return RADIUS_STEPS if self.kernel == "median" else 1

    def weight_share(self, measure: Measure) -> Fraction:
        """Return the share of a charge that pays for the weights: with more columns, whose noise adds up, less.

        A step is a sum over its weight. Noise in a sum of d columns has a squared length of d / s for a share s of Gaussian
        noise and of (d / s)^2 for pure noise; noise in the weight of 1 / (1 - s) and of its square, for a step as long as the
        radius. Together they are least where s / (1 - s) is the power of d below. The weight of a box is the number of all rows,
        by which algorithms decide what follows, and keeps its share.
        """
        if self.kernel == "box":
            return WEIGHT_SHARE
        vectors = round(self.n_features ** (2 / 3 if measure is Measure.PURE else 1 / 2))
        return min(WEIGHT_SHARE, Fraction(1, 1 + vectors))

    def moves(self, unit: Unit) -> Sensitivity:
        """Return how far one whole unit moves the vectors alone: furthest if a replacement stays in one cell."""
        return self.row.of_unit(unit, are_counts=False)

    def weight_moves(self, unit: Unit) -> Sensitivity:
        """Return how far one whole unit moves the weights alone: furthest if a replacement moves to another cell."""
        return self._weight.of_unit(unit, are_counts=True)

    @property
    def _weight(self) -> Sensitivity:
        return Sensitivity(self.weight_steps, self.weight_steps**2)

    def noise(self, charge: Charge, unit: Unit) -> StepNoise:
        vectors, weights = self._answers(charge, unit)
        return StepNoise(vectors.noise, weights.noise, weights.steps)

    def _answers(self, charge: Charge, unit: Unit) -> tuple[Answer, Answer]:
        """Return vectors and weights with their sensitivities, prices and noise."""
        share = self.weight_share(charge.measure)
        price = unit.step_price(charge, share, weights_are_counts=self.kernel != "median")
        vectors = Answer("vectors", RADIUS_STEPS, self.row, price.vectors)
        return vectors, Answer("weights", self.weight_steps, self._weight, price.weights)

    def record(self, charge: Charge, unit: Unit) -> dict[str, Any]:
        """Return both answers; a row is replaced inside one cell, or between two."""
        inside = (4, 1 if self.kernel == "median" else 0)
        return additive_record(charge, unit, self._answers(charge, unit), (inside, (2, 2)), kernel=self.kernel)

    def words(self, charge: Charge, unit: Unit) -> str:
        return f"each coordinate of a sum +- {self.noise(charge, unit).vector_std:.3g} clipping radii"


@dataclass(frozen=True, eq=False)
class Offsets:
    """The aggregate: exact sums of clipped offsets in steps, and of weights."""

    centers: FloatArray | PlaneCells
    kernel: str
    radii: FloatArray
    anchors: FloatArray
    widths: FloatArray


@dataclass(frozen=True, eq=False)
class Sums(Question[SumAnswer]):
    """Noisy sums of clipped offsets, and noisy weights, over the Voronoi cells of public centers.

    Parameters
    ----------
    centers : array of shape (k, d), or PlaneCells
        Of the Voronoi cells; or the cells themselves, which have no centers and need anchors.
    kernel : {"mean", "core", "median", "second-moment", "box"}
        ``mean``: the offset clipped to the cell's radius, with weight 1. ``core``: the offset of a row within the radius of the
        anchor, with weight 1; a row farther off adds nothing. ``median``: the offset over the larger of its length
        and the radius, with weight radius / that (a clipped Weiszfeld step). ``second-moment``: the squared coordinates of the
        offset, as a vector clipped to the squared radius and in units of it, with weight 1. ``box``: each coordinate of the
        offset clipped to the radius, with weight 1.
    radii : array of shape (k,)
        Positive.
    anchors : array of shape (k, d), optional
        Points that offsets are taken from; the centers by default.
    widths : array of shape (d,), optional
        Units of the columns: offsets are taken in them before they are clipped, and the answer is in radii of them. Cells are
        those of the nearest centers as ever.
    """

    centers: FloatArray | PlaneCells
    kernel: str
    radii: FloatArray
    anchors: FloatArray | None = None
    widths: FloatArray | None = None

    def __post_init__(self) -> None:
        freeze(self, *(() if type(self.centers) is PlaneCells else ("centers",)), "radii", "anchors", "widths")

    @property
    def family(self) -> str:
        return PlaneCells.family if isinstance(self.centers, PlaneCells) else CENTERS

    def kind(self, ground: Ground) -> Summing:
        """One row adds one clipped vector and one weight to one cell."""
        return Summing(self.kernel, ground.n_features)

    def check(self, ground: Ground) -> None:
        require(ground.domain is not None, "only rows of numbers can be summed")
        require(type(self.kernel) is str and self.kernel in KERNELS, f"the kernel must be one of {', '.join(KERNELS)}")
        require(type(self.centers) in (np.ndarray, PlaneCells), "sums are over Voronoi cells, or over cells of planes")
        if isinstance(self.centers, PlaneCells):
            require(self.anchors is not None, "cells without centers need anchors")
            self.centers.check(ground)
        else:
            finite_points(self.centers, ground.n_features, "centers")
        if self.anchors is not None:
            finite_points(self.anchors, ground.n_features, "anchors")
            require(len(self.anchors) == len(self.centers), "there must be one anchor per center")
        finite_radii(self.radii, len(self.centers))
        finite_widths(self.widths, ground.n_features)

    def answer(self, rows: Exact, ground: Ground, charge: Charge, unit: Unit, source: NoiseSource) -> SumAnswer:
        """Sum, and add noise to every coordinate and weight."""
        kind = self.kind(ground)
        noise = kind.noise(charge, unit)
        widths = np.ones(ground.n_features) if self.widths is None else self.widths
        anchors: Any = self.centers if self.anchors is None else self.anchors  # which cells of planes have
        vectors, weights = rows.exact(Offsets(self.centers, self.kernel, self.radii, anchors, widths))
        return SumAnswer(
            np.asarray(privatize(vectors, noise.vectors, source, kind.moves(unit), "vectors") / RADIUS_STEPS),
            np.asarray(privatize(weights, noise.weights, source, kind.weight_moves(unit), "weights") / noise.weight_steps),
            noise,
        )


LISTED = Listed(
    Sums, Summing, "one vector of length at most RADIUS_STEPS and one weight of at most one row, in one cell",
    ("proofs/questions.md", "proofs/pricing.md"),
    ("tests/privacy/test_brute_force.py", "tests/privacy/test_sensitivity.py"),
)  # fmt: skip
