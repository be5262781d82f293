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
from spinney.mechanisms.drawing import Draw, drawn
from spinney.mechanisms.source import IntArray, NoiseSource
from spinney.privacy.budget import root_up, round_up
from spinney.privacy.charges import Charge, Measure

__all__ = ["SHAPED", "Noise", "Sensitivity", "calibrate", "privatize"]

#: Exact answers are saturated here before noise is added, so that 64-bit noise cannot overflow.
SATURATION = 2**61
#: Noise on whole cells, and the norm of their moves that it hides, added up over cells.
SHAPED = {"cube": "largest of a cell", "ball": "length of a cell"}


@dataclass(frozen=True)
class Sensitivity:
    """How far one added or removed row moves an integer answer, in L1 and in squared L2.

    Parameters
    ----------
    l1, l2_squared : int
    largest : int, optional
        How far it moves any column, added up over cells: if it is given, pure noise is shaped like a cube around each cell.
    columns : int
        Of a cell, for such noise.
    length : int, optional
        How long its moves are, added up over cells: if it is given, pure noise is shaped like a ball around each cell.
    """

    l1: int
    l2_squared: int
    largest: int | None = None
    columns: int = 1
    length: int | None = None


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

    Parameters
    ----------
    exact : array of int
    noise : Noise
    source : NoiseSource
    moves : Sensitivity, optional
        How far one whole unit moves the exact values: for who watches; the noise is calibrated already.
    part : str
        Which of several answers to one question this is.
    """
    values = np.clip(exact, -SATURATION, SATURATION).astype(np.int64)
    if noise.distribution == "none":
        return values
    if noise.distribution in SHAPED:
        moved = None if moves is None else moves.largest if noise.distribution == "cube" else moves.length
        draw = Draw(noise.distribution, noise.scale, SHAPED[noise.distribution], moved, part)
        in_cells: IntArray = drawn(values.reshape(-1, noise.columns), draw, source).reshape(values.shape)
        return in_cells
    if noise.distribution == "laplace":
        draw = Draw("laplace", noise.scale, "l1", None if moves is None else moves.l1, part)
    else:
        draw = Draw("gaussian", noise.scale, "squared l2", None if moves is None else moves.l2_squared, part)
    noisy: IntArray = drawn(values.ravel(), draw, source).reshape(values.shape)
    return noisy
