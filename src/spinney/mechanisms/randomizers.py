"""Sums of many users' randomized responses, drawn together: exact binomial numbers from random bits.

A user whose slot is set says so with one chance, any other user with another, both whole numbers of 2^-32. What a server adds up
over independent users is a sum of two binomial numbers for each slot. A uniform number of 32 bits lies below a threshold as its
first bit that differs from the threshold's says; so half of the users are decided by their first bit, half of the rest by the
second, and a binomial number is a chain of numbers of heads among fair coins, which are counted bits.

Proof: ``proofs/randomizers.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Chances are whole numbers of 2^-BITS.
BITS = 32
#: Words of random bits that are drawn at once.
CHUNK = 2**20


@dataclass(frozen=True)
class Responses:
    """What users are asked: how many there are for each slot, and how likely their own slot, and any other, is set."""

    users: tuple[int, ...]
    own: int
    other: int

    def sharper(self, factor: float) -> Responses:
        """Return responses whose loss is divided by a factor: to try whether an audit notices. Rounded, so for audits alone."""
        odds = ((1 << BITS) - self.other) / self.other
        other = round((1 << BITS) / (1 + odds ** (1 / factor)))
        is_unary = 2 * self.own == 1 << BITS
        return Responses(self.users, self.own if is_unary else (1 << BITS) - other, other)


def _heads(coins: NDArray[np.int64], entropy: Callable[[int], bytes]) -> NDArray[np.int64]:
    """Return the number of heads among each number of fair coins: bits of whole words, a slot's one after another."""
    words = (coins + 63) >> 6
    ends, found = np.cumsum(words), np.zeros(coins.size, dtype=np.int64)
    for start in range(0, int(words.sum()), CHUNK):
        stop = min(start + CHUNK, int(ends[-1]))
        bits = np.frombuffer(entropy(8 * (stop - start)), dtype=np.uint64).copy()
        here = np.flatnonzero((words > 0) & (ends > start) & (ends - words < stop))
        whole = here[ends[here] <= stop]  # slots whose last word is among these: some of its bits may be too many
        bits[ends[whole] - 1 - start] <<= (-coins[whole] & 63).astype(np.uint64)
        firsts = np.maximum(ends[here] - words[here], start) - start
        found[here] += np.add.reduceat(np.bitwise_count(bits).astype(np.int64), firsts)
    return found


def binomials(trials: NDArray[np.int64], chance: int, entropy: Callable[[int], bytes]) -> NDArray[np.int64]:
    """Return the number of successes in each number of independent trials; the chance is in parts of 2^32, from 0 to 2^32."""
    if chance >= 1 << BITS:
        return trials.copy()
    found, open_ = np.zeros_like(trials), trials.copy()
    for place in range(BITS - 1, -1, -1):
        if not open_.any() or not chance & ((2 << place) - 1):  # no threshold bit is left: nothing more lies below
            break
        heads = _heads(open_, entropy)
        if chance >> place & 1:
            found, open_ = found + (open_ - heads), heads
        else:
            open_ = open_ - heads
    return found


def responses(values: NDArray[np.int64], rule: Responses, entropy: Callable[[int], bytes]) -> NDArray[np.int64]:
    """Return how many users set each slot, from how many have it as their own."""
    others = np.asarray(rule.users, dtype=np.int64) - values
    return binomials(values, rule.own, entropy) + binomials(others, rule.other, entropy)
