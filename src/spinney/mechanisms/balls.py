"""Noise shaped like a ball, exact on integers: continuous noise of density exp(-length / scale), rounded.

Where one row moves a sum by a vector of limited length, this is pure noise in that length: a coordinate's variance is about half
of the one of discrete Laplace noise for the same promise. Continuous numbers are known to as many bits as it takes to round them;
more bits are drawn until they do, so that no rounding error is left.

Proof: ``proofs/balls.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal, getcontext, localcontext
from functools import lru_cache

import numpy as np

from spinney.mechanisms.cubes import least_reach
from spinney.spaces import IntArray

#: Bits of a uniform number to begin with; they are doubled until all coordinates are rounded.
FIRST_BITS = 128
#: With b bits, numbers nearer than 2**-(b / NEAR) to where a logarithm has its pole, or two cases meet, are not trusted.
NEAR = 8
#: A coordinate is known to within this many times its number of columns, its scale, and 2**-(b / 2): proofs/balls.md, step 3.
UNITS = 16
#: How many numbers are drawn at a time.
_AT_ONCE = 16
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
            drawn, mask = self._randbits(_AT_ONCE * self.bits), (1 << self.bits) - 1
            self._known += [drawn >> number * self.bits & mask for number in range(_AT_ONCE)]
        return self._known[place]

    def deepen(self) -> None:
        """Draw as many more bits of every number."""
        self._known = [known << self.bits | self._randbits(self.bits) for known in self._known]
        self.bits *= 2


def add_balls(values: IntArray, scale: float, randbits: Callable[[int], int]) -> IntArray:
    """Return values, a row for each cell, with noise on each cell, saturated to 64 bits; `randbits` draws as many random bits."""
    noisy = np.empty(values.shape, dtype=np.int64)
    for cell, exact in enumerate(values.tolist()):
        uniforms = _Uniforms(randbits)
        while (noise := _rounded(uniforms, len(exact), scale)) is None:
            uniforms.deepen()
        noisy[cell] = [min(max(value + more, -_MOST), _MOST) for value, more in zip(exact, noise, strict=True)]
    return noisy


def _rounded(uniforms: _Uniforms, columns: int, scale: float) -> list[int] | None:
    """Return a random vector whose density falls as exp(-length / scale), rounded; None if the known bits do not decide.

    It has an even number of columns, of which the last may be left out.
    """
    pairs, bits = (columns + 1) // 2, uniforms.bits
    near, side = 1 << (bits - bits // NEAR), 1 << bits
    length = _length(uniforms, 2 * pairs, near)
    if length is None:
        return None
    with localcontext(_context(_digits(bits))):
        reach = int(Decimal(scale) * length * side)
        error = int(UNITS * columns * Decimal(scale) * (1 + length) * 2 ** (3 * bits - bits // 2)) + (2 << 2 * bits)
    # The squared lengths of pairs of coordinates, as shares of the whole, are the gaps between sorted uniform numbers.
    cuts = sorted(uniforms[place] for place in range(2 * pairs, 3 * pairs - 1))
    found, half, place = list[int](), 1 << (3 * bits - 1), 3 * pairs - 1
    for low, high in zip([0, *cuts], [*cuts, side], strict=True):
        pair = _in_circle(uniforms, place, near)
        if pair is None:
            return None
        *point, square, place = pair
        stretch = reach * math.isqrt((high - low << 3 * bits) // square)
        for coordinate in point[: columns - len(found)]:
            exact = coordinate * stretch  # in parts of 2**(3 * bits)
            found.append((exact + half) >> 3 * bits)
            if abs(exact - (found[-1] << 3 * bits)) + error >= half:
                return None
    return found


def _length(uniforms: _Uniforms, columns: int, near: int) -> Decimal | None:
    """Return the length over the scale, a sum of as many exponential numbers as there are columns; None if near a pole."""
    bits = uniforms.bits
    product, halvings = 1, columns * bits
    for place in range(columns):
        if uniforms[place] < near:
            return None
        product *= uniforms[place]
        excess = max(product.bit_length() - 2 * bits, 0)
        product, halvings = product >> excess, halvings - excess
    with localcontext(_context(_digits(bits))):
        return halvings * _logarithm_of(2, _digits(bits)) - _logarithm(Decimal(product))


def _digits(bits: int) -> int:
    """Return how many digits decimals need beside numbers of this many bits."""
    return bits // 6 + 12


def _context(digits: int) -> Context:
    """Return a new context for decimals of this many digits: callers may have set theirs."""
    return Context(digits, ROUND_HALF_EVEN, MIN_EMIN, MAX_EMAX, traps=[])


def _logarithm(number: Decimal) -> Decimal:
    """Return the logarithm of a positive number, in the digits of the context; ten times faster than ``number.ln()``.

    The logarithm of a whole number of sixteenths near its leading digits, plus a short series for the rest.
    """
    digits, exponent = getcontext().prec, number.adjusted()
    sixteenths = number.scaleb(-exponent) * 16
    near = int(sixteenths)
    total = power = (sixteenths - near) / (sixteenths + near)
    square, odd = power * power, 1
    while power:
        power, odd = power * square, odd + 2
        if total == (total := total + power / odd):
            break
    return exponent * _logarithm_of(10, digits) + _logarithm_of(near, digits) - _logarithm_of(16, digits) + 2 * total


@lru_cache(maxsize=1024)
def _logarithm_of(whole: int, digits: int) -> Decimal:
    """Return the logarithm of a whole number."""
    return _context(digits).ln(Decimal(whole))


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

    return math.ceil(least_reach(beyond, probability) * scale) + 1
