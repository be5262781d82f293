"""Noise shaped like a cube, exact on integers: P(z) in proportion to exp(-max |z_j| / scale).

Where any one row may move every column of a sum by as much, this is the least pure noise of its kind: a coordinate's variance is
about a sixth of discrete Laplace noise's for the same promise. With one column it is discrete Laplace noise.

Proof: ``proofs/cubes.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from spinney.spaces import IntArray

#: Up to this many radii a sum is added up; beyond it is an integral, up to one part in a million.
_SUMMED = 100_000
#: What 64 bits hold.
_MOST = 2**63 - 1


def add_cubes(values: IntArray, geometric: Callable[[int], list[int]], below: Callable[[int], int]) -> IntArray:
    """Return values, a row for each cell, with noise on each cell, saturated to 64 bits.

    `geometric` draws as many whole numbers r >= 0 as its argument says, each with probability in proportion to exp(-r / scale);
    `below` a whole number from 0 to below its argument, all equally likely.
    """
    columns = values.shape[1]
    noisy = np.empty(values.shape, dtype=np.int64)
    for cell, exact in enumerate(values.tolist()):
        radius = _radius(columns, geometric, below)
        noisy[cell] = [min(max(value + below(2 * radius + 1) - radius, -_MOST), _MOST) for value in exact]
    return noisy


def wide_geometric(
    scale: float, count: int, geometric: Callable[[float, int], list[int]], below: Callable[[int], int]
) -> list[int]:
    """Draw whole numbers r >= 0 with probability in proportion to exp(-r / scale), of any size.

    `geometric` draws `count` such numbers, of a scale of at most 2**41, as 64 bits hold; `below` is as for `add_cubes`.
    """
    step = 2 ** max(math.frexp(scale)[1] - 41, 0)  # a number is a multiple of a step, and less than a step
    multiples = geometric(scale / step, count)
    if step == 1:
        return multiples
    ratio = Fraction(scale)
    return [step * multiple + _part(step, ratio, below) for multiple in multiples]


def _part(step: int, scale: Fraction, below: Callable[[int], int]) -> int:
    """Draw a whole number r below a step, with probability in proportion to exp(-r / scale)."""
    while True:
        part = below(step)
        if _happens(part / scale, below):
            return part


def _happens(exponent: Fraction, below: Callable[[int], int]) -> bool:
    """Return true with probability exp(-exponent), for an exponent of at most 1 (Canonne, Kamath and Steinke 2020)."""
    turns = 1
    while below(exponent.denominator * turns) < exponent.numerator:
        turns += 1
    return turns % 2 == 1


def _radius(columns: int, geometric: Callable[[int], list[int]], below: Callable[[int], int]) -> int:
    """Draw a cube's radius r, with probability in proportion to (2 r + 1)^columns exp(-r / scale)."""
    while True:
        radius = sum(geometric(columns + 1))
        if all(below(2 * (radius + i)) <= 2 * radius for i in range(1, columns + 1)):
            return radius


def cube_std(columns: int, scale: float) -> float:
    """Return the standard deviation of one coordinate."""
    reach = 40 * scale * (columns + 1) + 60
    if reach > _SUMMED:
        return math.sqrt(max((columns + 1) * (columns + 2) * scale**2 - 0.25, 0.0) / 3)
    radii = np.arange(int(reach))
    logs = columns * np.log(2 * radii + 1) - radii / scale
    law = np.exp(logs - logs.max())
    return math.sqrt(float((law @ (radii * (radii + 1.0))) / law.sum()) / 3)


def cube_quantile(columns: int, scale: float, probability: float) -> float:
    """Return h such that one coordinate lies within [-h, h] with at least this probability."""
    from scipy.special import gammaincc  # type: ignore[import-untyped]

    def beyond(reach: float) -> float:
        """Return the probability that a uniform number of a cube of gamma distributed radius lies further out."""
        return float(gammaincc(columns + 1, reach) - reach / columns * gammaincc(columns, reach))

    return math.ceil(least_reach(beyond, probability) * scale) + 1


def least_reach(beyond: Callable[[float], float], probability: float) -> float:
    """Return how far it is to where no more than the rest of a probability lies beyond."""
    low, high = 0.0, 1.0
    while beyond(high) > 1 - probability and high < 1e6:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle) > 1 - probability else (low, middle)
    return high
