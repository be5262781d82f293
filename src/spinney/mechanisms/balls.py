"""Noise shaped like a ball, exact on integers: continuous noise of density exp(-length / scale), rounded.

Where one row moves a sum by a vector of limited length, this is pure noise in that length: a coordinate's variance is about half
of that of discrete Laplace noise for the same promise. Continuous numbers are known to as many bits as it takes to round them;
more bits are drawn until they do, so that no rounding error is left.

Proof: ``proofs/balls.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal, localcontext
from functools import lru_cache

import numpy as np

from spinney.mechanisms.cubes import IntArray

__all__ = ["add_balls", "ball_quantile", "ball_std"]

#: Bits of a uniform number to begin with; they are doubled until all coordinates are rounded.
FIRST_BITS = 128
#: With b bits, numbers nearer than 2**-(b / NEAR) to where a logarithm has its pole, or two cases meet, are not trusted.
NEAR = 8
#: A coordinate is known to within so many times its number of columns, its scale, and 2**-(b / 2): proofs/balls.md, step 3.
UNITS = 16
#: What 64 bits hold.
_MOST = 2**63 - 1


class _Uniforms:
    """Uniform numbers in [0, 1), known to some bits, and more of them if asked."""

    def __init__(self, randbits: Callable[[int], int]) -> None:
        self._randbits, self.bits = randbits, FIRST_BITS
        self._known: list[int] = []

    def __getitem__(self, place: int) -> int:
        """Return the known bits of a number, as a whole number: it lies between this and the next one, over 2**bits."""
        while len(self._known) <= place:
            self._known.append(self._randbits(self.bits))
        return self._known[place]

    def deepen(self) -> None:
        """Draw as many more bits of every number."""
        self._known = [known << self.bits | self._randbits(self.bits) for known in self._known]
        self.bits *= 2


def add_balls(values: IntArray, scale: float, randbits: Callable[[int], int]) -> IntArray:
    """Return values with noise on each cell, saturated to 64 bits.

    Parameters
    ----------
    values : array of shape (cells, columns)
    scale : float
    randbits : callable
        Draws a whole number of so many bits, all equally likely.
    """
    noisy = np.empty(values.shape, dtype=np.int64)
    for cell, exact in enumerate(values.tolist()):
        uniforms = _Uniforms(randbits)
        while (noise := _rounded(uniforms, len(exact), scale)) is None:
            uniforms.deepen()
        noisy[cell] = [min(max(value + more, -_MOST), _MOST) for value, more in zip(exact, noise, strict=True)]
    return noisy


def _rounded(uniforms: _Uniforms, columns: int, scale: float) -> list[int] | None:
    """Return a random vector whose density falls as exp(-length / scale), rounded; None if the known bits do not tell.

    It has an even number of columns, of which the last may be left out.
    """
    pairs, bits = (columns + 1) // 2, uniforms.bits
    near, side = 1 << (bits - bits // NEAR), 1 << bits
    # A context of its own: callers may have set theirs.
    with localcontext(Context(bits // 3 + 30, ROUND_HALF_EVEN, MIN_EMIN, MAX_EMAX, traps=[])):
        product = Decimal(1)  # the length is a sum of as many exponential numbers as there are columns
        for place in range(2 * pairs):
            if uniforms[place] < near:
                return None
            product *= Decimal(uniforms[place]) / side
        length = -product.ln()
        # The squared lengths of pairs of coordinates, over that of the whole, are the gaps between sorted uniform numbers.
        cuts = sorted(uniforms[place] for place in range(2 * pairs, 3 * pairs - 1))
        found, reach, place = list[Decimal](), Decimal(scale) * length / side, 3 * pairs - 1
        for low, high in zip([0, *cuts], [*cuts, side], strict=True):
            pair = _in_circle(uniforms, place, near)
            if pair is None:
                return None
            first, second, square, place = pair
            stretch = reach * (Decimal((high - low) * side) / square).sqrt()
            found += [first * stretch, second * stretch]
        error = UNITS * columns * Decimal(scale) * (1 + length) * Decimal(2) ** -(bits // 2)
        whole = [int(one.to_integral_value()) for one in found[:columns]]
        known = all(abs(one - near_by) + error < Decimal("0.5") for one, near_by in zip(found, whole, strict=False))
        return whole if known else None


def _in_circle(uniforms: _Uniforms, place: int, near: int) -> tuple[int, int, int, int] | None:
    """Return a uniform point of the circle around 0, as whole numbers of bits, its square, and the place of the next number.

    None if it is not known whether a point lies inside.
    """
    side = 1 << uniforms.bits
    while True:
        first, second = 2 * uniforms[place] - side, 2 * uniforms[place + 1] - side
        square, place = first * first + second * second, place + 2
        if square <= side * (side + near):
            return (first, second, square, place) if side * near < square < side * (side - near) else None


def ball_std(columns: int, scale: float) -> float:
    """Return the standard deviation of one coordinate."""
    return math.sqrt((columns + columns % 2 + 1) * scale**2 + 1 / 12)


@lru_cache(maxsize=256)
def ball_quantile(columns: int, scale: float, probability: float) -> float:
    """Return h such that one coordinate lies within [-h, h] with at least this probability."""
    from scipy.special import erfc, gammainc  # type: ignore[import-untyped]

    # A coordinate is normal, of a variance that is twice a gamma number; each of these is taken as the upper end of its part.
    shape = (columns + columns % 2 + 1) / 2
    ends = shape + np.linspace(-8, 40, 4000) * math.sqrt(shape)
    ends = ends[ends > 0]
    shares = np.diff(gammainc(shape, ends), prepend=0.0)

    def beyond(reach: float) -> float:
        """Return the probability that a coordinate lies further out, over the scale, or a little more."""
        return float(shares @ erfc(reach / (2 * np.sqrt(ends))) + 1 - shares.sum())

    low, high = 0.0, 1.0
    while beyond(high) > 1 - probability and high < 1e6:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle) > 1 - probability else (low, middle)
    return math.ceil(high * scale) + 1
