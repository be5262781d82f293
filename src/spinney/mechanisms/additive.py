"""Integer answers made private by exact discrete noise.

Proof: ``proofs/additive.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from spinney.mechanisms.balls import ball_quantile, ball_std
from spinney.mechanisms.cubes import cube_quantile, cube_std
from spinney.mechanisms.drawing import NORMS, Draw, NoiseSource
from spinney.privacy import Charge, Measure, Unit, root_up, round_up
from spinney.spaces import IntArray

#: Exact answers are saturated here before noise is added, so that 64-bit noise cannot overflow.
SATURATION = 2**61


@dataclass(frozen=True)
class Sensitivity:
    """How far one added or removed row moves an integer answer, in L1 and in squared L2."""

    l1: int
    l2_squared: int
    #: How far it moves any column, added up over cells: if it is given, pure noise is shaped like a cube around each cell.
    largest: int | None = None
    #: Columns of a cell, for such noise.
    columns: int = 1
    #: How long its moves are, added up over cells: if it is given, pure noise is shaped like a ball around each cell.
    length: int | None = None

    def seen_by(self, distribution: str) -> int | None:
        """Return how far it moves the answer in the norm that this noise hides."""
        return {"laplace": self.l1, "gaussian": self.l2_squared, "cube": self.largest, "ball": self.length}[distribution]

    def of_unit(self, unit: Unit, are_counts: bool) -> Sensitivity:
        """Return how far a whole unit moves it: a replacement moves counts of two cells, and other sums twice as far in one."""
        times = unit.moved_rows
        largest, length = (None if one is None else one * times for one in (self.largest, self.length))
        squared = self.l2_squared * times * (unit.max_rows if are_counts else times)
        return Sensitivity(self.l1 * times, squared, largest, self.columns, length)


@dataclass(frozen=True)
class Noise:
    """Public facts about the noise in an answer, in the answer's own steps; of a cube or ball, also how many columns it has."""

    distribution: str
    scale: float
    columns: int = 1

    @property
    def std(self) -> float:
        """Standard deviation."""
        if self.distribution == "none":
            return 0.0
        if self.distribution == "gaussian":
            return self.scale
        if self.distribution == "cube":
            return cube_std(self.columns, self.scale)
        if self.distribution == "ball":
            return ball_std(self.columns, self.scale)
        alpha = math.exp(-1 / self.scale)
        return math.sqrt(2 * alpha) / -math.expm1(-1 / self.scale)

    def quantile(self, probability: float) -> float:
        """Return h such that the noise lies within [-h, h] with at least this probability."""
        if self.distribution == "none":
            return 0.0
        if self.distribution == "gaussian":
            from statistics import NormalDist

            return math.ceil(self.scale * NormalDist().inv_cdf((1 + probability) / 2)) + 1
        if self.distribution == "cube":
            return cube_quantile(self.columns, self.scale, probability)
        if self.distribution == "ball":
            return ball_quantile(self.columns, self.scale, probability)
        # P(|noise| > h) = 2 alpha^(h+1) / (1 + alpha), solved for h.
        alpha = math.exp(-1 / self.scale)
        return max(0, math.ceil(-self.scale * math.log((1 - probability) * (1 + alpha) / 2)) - 1)


def calibrate(sensitivity: Sensitivity, price: Charge) -> Noise:
    """Return the noise that makes an answer of this sensitivity worth at most `price` per row.

    Rounding only ever enlarges the scale.
    """
    if price.amount == math.inf:
        return Noise("none", 0.0)
    amount = Fraction(price.amount)
    if price.measure is Measure.PURE and sensitivity.largest is not None:
        # Below this scale radii are rejected ever more often; that is noise of less than a step of a column's share.
        return Noise("cube", max(round_up(sensitivity.largest / amount), float(sensitivity.columns)), sensitivity.columns)
    if price.measure is Measure.PURE and sensitivity.length is not None:
        return Noise("ball", round_up(sensitivity.length / amount), sensitivity.columns)
    if price.measure is Measure.PURE:
        return Noise("laplace", round_up(sensitivity.l1 / amount))
    return Noise("gaussian", root_up(sensitivity.l2_squared / (2 * amount)))


def privatize(exact: IntArray, noise: Noise, source: NoiseSource, moves: Sensitivity | None = None, part: str = "") -> IntArray:
    """Add noise to every slot, empty or not.

    `moves` is how far one whole unit moves the exact values, for who watches; the noise is calibrated already. `part` says which
    of several answers to one question this is.
    """
    values = np.clip(exact, -SATURATION, SATURATION).astype(np.int64)
    if noise.distribution == "none":
        return values
    moved = None if moves is None else moves.seen_by(noise.distribution)
    draw = Draw(noise.distribution, noise.scale, NORMS[noise.distribution], moved, part)
    slots = values.reshape(-1, noise.columns) if noise.distribution in ("cube", "ball") else values.ravel()
    return np.asarray(source.draw(slots, draw).reshape(values.shape))
