"""Objective perturbation: a private minimum of a sum of smooth convex losses, one for every cell.

A linear term with a random slope is added to the sum, and a quadratic pull toward a public point; the minimum is found to a
tolerance, and noise hides what is left of it. The loss of a row must be convex, with a gradient no longer than 1 and second
derivatives of at most 1 in any direction. Slopes and minima are floating point numbers here: what is claimed is proved over the
real numbers only.

Proof: ``proofs/perturbation.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spinney.mechanisms.additive import Noise, Sensitivity, privatize
from spinney.mechanisms.drawing import Draw, NoiseSource, drawn_at
from spinney.privacy import Charge, Measure, Unit, round_up
from spinney.spaces import FloatArray, IntArray

#: Shares of epsilon: of how much a row bends the sum, against the pull, and of what a tolerance leaves; slopes get the rest.
BEND_SHARE, POINT_SHARE = Fraction(1, 4), Fraction(1, 50)
#: Steps of a gradient of length 1, and of a radius for a minimum. Equal rows jump by a step together:
#: a million of them stay within the least tolerance, and a descent ends.
SLOPE_STEPS, POINT_STEPS = 2**44, 2**20
#: Covers the rounding of a root, an exponential and a quotient.
ROUNDED = 1 - Fraction(1, 10**9)
#: Most rounds of descent; a handful is enough.
ROUNDS = 200
#: The least pull: it keeps a cell without rows where it is, and the tolerance within what sums in steps can resolve.
LEAST_PULL = 1 / 16


@dataclass(frozen=True)
class Perturbation:
    """The public constants of a private minimum."""

    #: What one whole unit may lose at most.
    epsilon: Fraction | float
    columns: int
    #: Of the random slope: its density falls as ``exp(-length / scale)``; 0 without noise.
    scale: float
    #: Of the quadratic term, ``pull / 2`` times the squared distance from the public point, in radii.
    pull: float
    #: Noise of the minimum, in steps; it hides what a tolerance leaves.
    points: Noise

    @property
    def tolerance(self) -> float:
        """The longest gradient at a minimum: the true one is then at most one step away: the pull bends the sum enough."""
        return self.pull / POINT_STEPS

    def losses(self, unit: Unit) -> tuple[float, float, float]:
        """Return what a whole unit loses at most: by slopes, by bends, and by what the tolerance leaves."""
        if not self.scale:
            return math.inf, math.inf, math.inf
        points = point_sensitivity(self.columns) * unit.moved_rows / self.points.scale
        return unit.moved_rows / self.scale, unit.max_rows * self.columns * math.log1p(1 / self.pull), points

    def check(self, unit: Unit) -> None:
        """Raise a ValueError unless the conditions of the proof hold: a positive pull, and losses of at most epsilon together."""
        if not (self.pull > 0 and (self.epsilon == math.inf or sum(self.losses(unit)) <= float(self.epsilon))):
            raise ValueError("a minimum needs a positive pull, and all its losses within its epsilon")


def point_sensitivity(columns: int) -> int:
    """Return how far apart, in steps and in L1, two minima of one cell lie that are both found to the tolerance and rounded."""
    return 2 * (math.isqrt(columns - 1) + 1) + columns


def perturbation(charge: Charge, unit: Unit, columns: int) -> Perturbation:
    """Return the constants that a charge buys; every rounding enlarges the noise or the pull.

    One mechanism serves both measures: a loss of epsilon is one of ``epsilon^2 / 2`` in rho.
    """
    if charge.amount == math.inf:
        return Perturbation(math.inf, columns, 0.0, LEAST_PULL, Noise("none", 0.0))
    amount = Fraction(charge.amount)
    epsilon = amount if charge.measure is Measure.PURE else Fraction(math.sqrt(2 * amount)) * ROUNDED
    slopes = epsilon * (1 - BEND_SHARE - POINT_SHARE) * ROUNDED
    bends = float(epsilon * BEND_SHARE * ROUNDED) / (unit.max_rows * columns)
    found = Perturbation(
        epsilon=epsilon,
        columns=columns,
        scale=round_up(unit.moved_rows / slopes),
        pull=max(round_up(1 / Fraction(math.expm1(min(bends, 500.0))) / ROUNDED), LEAST_PULL),
        points=Noise("laplace", round_up(point_sensitivity(columns) * unit.moved_rows / (epsilon * POINT_SHARE * ROUNDED))),
    )
    found.check(unit)
    return found


#: The exact sums at points in radii, one of each cell: gradients in steps of 1 / SLOPE_STEPS, weights and second derivatives too.
ExactSlopes = Callable[[FloatArray], tuple[IntArray, IntArray, IntArray]]


def minimized(slopes: ExactSlopes, n_cells: int, found: Perturbation, source: NoiseSource, unit: Unit) -> FloatArray:
    """Return private minima of all cells, in radii from their public points; the unit is for who watches."""
    found.check(unit)
    shape = (n_cells, found.columns)

    def solve(noise: FloatArray) -> FloatArray:
        return _descent(slopes, noise / SLOPE_STEPS, found)

    if not found.scale:
        return solve(np.zeros(shape))
    draw = Draw("radial", found.scale * SLOPE_STEPS, "length of a cell", SLOPE_STEPS * unit.moved_rows, "slopes")
    points = drawn_at(shape, solve, lambda at: slopes(at)[0], draw, source)
    steps = np.rint(np.fmax(np.fmin(points, 2.0**40), -(2.0**40)) * POINT_STEPS).astype(np.int64)
    moves = point_sensitivity(found.columns) * unit.moved_rows
    noisy: Any = privatize(steps, found.points, source, Sensitivity(moves, moves**2), "points")
    return np.asarray(noisy / POINT_STEPS)


def _descent(slopes: ExactSlopes, noise: FloatArray, found: Perturbation) -> FloatArray:
    """Return where each cell's perturbed sum has a gradient within the tolerance.

    A Newton step is taken where it shortens the gradient; else a Weiszfeld step, which always lowers the sum. A cell stops by its
    own gradient alone, so that no other cell's rows decide where.
    """
    here, ahead = np.zeros_like(noise), np.zeros_like(noise)
    length, is_safe, careful = np.full(len(noise), np.inf), np.full(len(noise), True), np.zeros_like(noise)
    for _ in range(ROUNDS):
        exact, weights, bends = (np.asarray(part, dtype=np.float64) / SLOPE_STEPS for part in slopes(ahead))
        gradient = exact + found.pull * ahead + noise
        reached = np.sqrt((gradient**2).sum(axis=1))
        is_open = length > found.tolerance
        shorter = is_open & (reached < length)
        taken = shorter | (is_open & is_safe)
        safe = ahead - gradient / (weights + found.pull)[:, None]
        newton = ahead - np.linalg.solve(bends + found.pull * np.eye(found.columns), gradient[:, :, None])[:, :, 0]
        here, length = np.where(taken[:, None], ahead, here), np.where(taken, reached, length)
        careful = np.where(taken[:, None], safe, careful)
        if (length <= found.tolerance).all():
            break
        ahead = np.where(shorter[:, None], newton, careful)
        is_safe = ~shorter
    return here
