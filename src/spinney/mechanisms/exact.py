"""Discrete Laplace and Gaussian noise in whole numbers, exactly: the samplers of Canonne, Kamath and Steinke (2020), compiled.

Coins are thrown with whole numbers, so that probabilities are exact for the scale, a rational. The one number that
is not whole, the exponent with which a Gaussian proposal is taken, is known to within a proven error; a draw with a coin that
falls within it, about one in 10**14, is made again in fractions, from the same bits. So is whatever 64 bits do not hold.

Proof: ``proofs/exact.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from spinney.compilation import compiled
from spinney.spaces import IntArray

#: Bits of a word.
BITS = 62
#: Between these scales no whole number of a draw is beyond 64 bits, with fewer turns than `TURNS`.
LEAST, MOST, TURNS = 2.0**-10, 2.0**50, 1024
#: Error of the exponent of a Gaussian proposal, at most, as a multiple of one more than itself, up to `FAR`.
ERROR, FAR = 2.0**-48, 2.0**40
#: Values that words are drawn for at a time; most values take fewer than these.
_AT_ONCE, _PER_VALUE = 4096, 32
#: What 64 bits hold.
_MOST = 2**63 - 1
#: Of a kind that no kernel is compiled for once more, as literal numbers are.
_ONE: Any = np.int64(1)
#: Why `_fill` ends.
_DONE, _NO_WORDS, _DOUBT = 0, 1, 2


def add_exact(values: IntArray, scale: float, gaussian: bool, random_bytes: Callable[[int], bytes]) -> IntArray:
    """Return values with noise on each, saturated to 64 bits.

    Of Laplace noise, P(z) is in proportion to exp(-|z| / scale); of Gaussian noise, to exp(-z^2 / (2 scale^2)).
    """
    if type(scale) is not float or not 0 < scale < math.inf:  # kernels would be compiled for other numbers, and overflow
        raise ValueError("Noise needs a scale above 0, and a finite one, that is a float.")
    if values.dtype != np.int64:
        raise ValueError("Noise is added to numbers of 64 bits.")
    whole, over = (math.floor(scale) + 1, 1) if gaussian else scale.as_integer_ratio()
    sigma = scale if gaussian else 0.0
    stream = _Words(random_bytes)
    noise, wide, done = np.zeros(values.size, dtype=np.int64), dict[int, int](), 0
    while done < noise.size:
        why = _DOUBT
        if LEAST <= scale <= MOST:
            done, why = _fill(stream.words, stream.place, noise, done, whole, over.bit_length() - 1, sigma)
        if why == _NO_WORDS:
            stream.refill(_PER_VALUE * min(noise.size - done, _AT_ONCE))
        elif why == _DOUBT:
            wide[done] = _one(stream.word, whole, over, sigma)
            done += 1
    exact = values.ravel()
    noisy = exact + noise
    beyond = (noisy < exact) != (noise < 0)  # what does not fit has come round at the other end
    noisy[beyond] = np.where(noise[beyond] < 0, -_MOST, _MOST)
    noisy = np.maximum(noisy, -_MOST)
    for place, more in wide.items():
        noisy[place] = min(max(int(exact[place]) + more, -_MOST), _MOST)
    return np.asarray(noisy.reshape(values.shape))


class _Words:
    """Uniform whole numbers of 62 bits, of which those before a place are used."""

    def __init__(self, random_bytes: Callable[[int], bytes]) -> None:
        self._random_bytes = random_bytes
        self.words, self.place = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)

    def refill(self, count: int) -> None:
        """Draw more words behind those that are not used."""
        fresh = np.frombuffer(self._random_bytes(8 * count), dtype=np.uint64) >> np.uint64(64 - BITS)
        self.words = np.concatenate([self.words[self.place[0] :], fresh.astype(np.int64)])
        self.place[0] = 0

    def word(self) -> int:
        """Use one word."""
        if self.place[0] == self.words.size:
            self.refill(_PER_VALUE)
        self.place[0] += 1
        return int(self.words[self.place[0] - 1])


# --- In fractions, of any size ---------------------------------------------------------------------------------------


def _one(word: Callable[[], int], whole: int, over: int, sigma: float) -> int:
    """Draw noise of the scale `whole` over `over` or, with a sigma, Gaussian noise: what `_fill` draws from the same words."""
    while (noise := _proposed(word, whole, over, sigma)) is None:
        pass
    return noise


def _proposed(word: Callable[[], int], whole: int, over: int, sigma: float) -> int | None:
    """Return a number that is proposed, or None if it is not taken."""
    part = _number(word, whole)
    if not _decays(word, lambda: _number(word, whole) < part):
        return None
    turns = 0
    while _decays(word, _heads):
        turns += 1
    negative, size = _number(word, 2) == 1, (part + whole * turns) // over
    if (negative and size == 0) or (sigma > 0 and not _taken(word, size, sigma, whole)):
        return None
    return -size if negative else size


def _number(word: Callable[[], int], bound: int) -> int:
    """Draw a whole number below a bound, all equally likely."""
    bits = (bound - 1).bit_length()
    while True:
        part = 0
        for _ in range(0, bits, BITS):
            part = part << BITS | word()
        part &= (1 << bits) - 1
        if part < bound:
            return part


def _heads() -> bool:
    """Show heads."""
    return True


def _decays(word: Callable[[], int], coin: Callable[[], bool]) -> bool:
    """Return true with probability exp(-p), where a coin shows heads with probability p."""
    turn = 1
    while _number(word, turn) == 0 and coin():
        turn += 1
    return turn % 2 == 1


def _taken(word: Callable[[], int], size: int, sigma: float, width: int) -> bool:
    """Return whether a Gaussian proposal of this size is taken."""
    variance = Fraction(sigma) ** 2
    exponent = (size - variance / width) ** 2 / (2 * variance)
    turns = math.floor(exponent)
    if LEAST <= sigma <= MOST and exponent < FAR:
        turns = int(_exponent(float(size), sigma, float(width))[1])
    for _ in range(turns):
        if not _decays(word, _heads):
            return False
    rest = (exponent - turns) / 2

    def coin() -> bool:
        """Show heads with probability `rest`: a word decides, unless the boundary lies within its step."""
        share = rest * 2**BITS - word()
        return bool(share >= 1) or (share > 0 and _number(word, share.denominator) < share.numerator)

    return _decays(word, coin) and _decays(word, coin)


# --- Compiled --------------------------------------------------------------------------------------------------------


@compiled(error_model="numpy")
def _exponent(size: float, sigma: float, width: float) -> tuple[float, int]:
    """Return the exponent of a Gaussian proposal, nearly, and how often 1 is taken off: about 0 to 1.5 is left."""
    away = (size - sigma * sigma / width) / sigma
    exponent = away * away / 2.0
    return exponent, int(exponent - 0.5) if 0.5 < exponent < 2.0 * FAR else 0


@compiled
def _draw(words: IntArray, place: IntArray, bound: int, mask: int) -> int:
    """Return a whole number below a bound, all equally likely; without words, 0, and the place is beyond their end."""
    if mask == 0:
        return 0
    while place[0] < words.size:
        part: int = words[place[0]] & mask
        place[0] += 1
        if part < bound:
            return part
    place[0] = words.size + 1
    return 0


@compiled
def _falls(words: IntArray, place: IntArray, low: int, high: int, bound: int, mask: int) -> int:
    """Return 1 with probability exp(-p), else 0: of numbers below a bound a part p are heads. Or 2, if in doubt.

    Those below `low` are heads, those above `high` are not, and between them is doubt.
    """
    turn: int = _ONE
    small: int = _ONE - _ONE
    while place[0] <= words.size:
        if turn > small + 1:
            small = 2 * small + 1
        if _draw(words, place, turn, small) != 0:
            break
        number = _draw(words, place, bound, mask)
        if number > high:
            break
        if number >= low:
            return 2
        turn += 1
    return turn % 2


@compiled
def _accepts(words: IntArray, place: IntArray, size: int, sigma: float, width: int) -> int:
    """Return whether a Gaussian proposal of this size is taken: 1, 0, or 2 if in doubt."""
    exponent, turns = _exponent(float(size), sigma, float(width))
    if exponent > FAR / 2.0:  # never, with so few turns
        return 2
    rest, error = (exponent - turns) / 2.0, (1.0 + exponent) * ERROR
    turn, verdict, low, high, bound = 0, 1, _ONE, _ONE - _ONE, _ONE
    while verdict == 1 and turn < turns + 2 and place[0] <= words.size:
        if turn == turns:
            high, bound = int((rest + error) * 2.0**BITS), _ONE << BITS
            low = int((rest - error) * 2.0**BITS) if rest > error else 0
        verdict = _falls(words, place, low, high, bound, bound - 1)
        turn += 1
    return verdict


@compiled
def _fill(words: IntArray, place: IntArray, noise: IntArray, done: int, whole: int, shift: int, sigma: float) -> tuple[int, int]:
    """Draw noise from the done ones on; return how many are done and why no more. The place is where the next one begins.

    The scale is `whole` over 2**shift; with a sigma, noise is Gaussian.
    """
    full = 0
    while full < whole - 1:
        full = 2 * full + 1
    while done < noise.size:
        begun, verdict, size, negative = place[0], 0, 0, 0
        while verdict == 0:
            part = _draw(words, place, whole, full)
            turns, low, bound, mask = 0, part, whole, full
            while turns <= TURNS and place[0] <= words.size and _falls(words, place, low, low - 1, bound, mask) == 1:
                turns, low, bound, mask = turns + 1, _ONE, _ONE, _ONE - _ONE
            if turns > 0:
                negative = _draw(words, place, _ONE + 1, _ONE)
            if turns > TURNS or place[0] > words.size:
                break
            size = (part + whole * (turns - 1)) >> shift
            if turns > 0 and (size != 0 or negative == 0):
                verdict = _accepts(words, place, size, sigma, whole) if sigma > 0 else 1
        if verdict != 1 or place[0] > words.size:
            why = _NO_WORDS if place[0] > words.size else _DOUBT
            place[0] = begun
            return done, why
        noise[done] = -size if negative else size
        done += 1
    return done, _DONE
