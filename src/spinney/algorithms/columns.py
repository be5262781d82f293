"""How the rows spread along each column, from noisy histograms.

Few rows, or much noise, tell roughly where the rows of a column are and no more. So the bins are as wide as the noise asks for,
and rows are first taken to lie in one bump somewhere, all bumps weighed by how likely they make the noisy counts. Then halves of
an interval that differ from that by more than the noise are as the counts say. Post-processing of noisy answers.

Proof: ``proofs/tree.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from spinney.mechanisms import Noise
from spinney.spaces import Domain, FloatArray
from spinney.trees.quadtree import BIN_BITS

#: Standard deviations of the bumps, in widths of a column, and the number of their places.
BUMP_WIDTHS, BUMP_PLACES = 2.0 ** -np.arange(0.5, 4.1, 0.5), 32
#: This share of the rows may lie anywhere else.
ELSEWHERE = 0.1
#: Halves are told apart if they differ by this many standard deviations from what is likely.
SIGNIFICANT = 3


@dataclass(frozen=True)
class Densities:
    """The share of the rows in each of 2**BIN_BITS equal bins of each column of a domain; a row each, which sums to one."""

    domain: Domain
    shares: FloatArray

    @classmethod
    def likely(cls, domain: Domain, private_counts: FloatArray, n: float, noise: Noise) -> Densities:
        """Read noisy histograms: counts in equal bins, a row for each column, with this noise, of a noisy number n of rows."""
        finest = _in_bumps(private_counts, n, noise)
        sums, likely = [private_counts], [finest.reshape(*private_counts.shape, -1).sum(axis=2)]
        while sums[-1].shape[1] > 1:
            for halves in (sums, likely):
                halves.append(halves[-1][:, 0::2] + halves[-1][:, 1::2])
        shares = np.ones((len(private_counts), 1))
        for level in range(len(sums) - 2, -1, -1):
            left, total, expected = sums[level][:, 0::2], sums[level + 1], likely[level][:, 0::2] / likely[level + 1]
            std = noise.std * math.sqrt(2**level)  # of a half
            apart = np.abs(left - expected * total) > SIGNIFICANT * std * np.sqrt(expected**2 + (1 - expected) ** 2)
            part = np.where(apart, np.clip(left / np.maximum(total, max(math.sqrt(2) * std, 1)), 0, 1), expected)
            shares = np.stack([shares * part, shares * (1 - part)], axis=2).reshape(len(shares), -1)
        within = finest.reshape(*private_counts.shape, -1) / likely[0][:, :, None]
        return cls(domain, (shares[:, :, None] * within).reshape(len(shares), -1))

    @property
    def means(self) -> FloatArray:
        """The mean of each column."""
        middles = (np.arange(self.shares.shape[1]) + 0.5) / self.shares.shape[1]
        return np.asarray(self.domain.lower + (self.shares @ middles) * (self.domain.upper - self.domain.lower))

    @property
    def spreads(self) -> FloatArray:
        """The standard deviation of each column; rows are taken to spread evenly within a bin, which adds a twelfth of it."""
        n_bins = self.shares.shape[1]
        middles = (np.arange(n_bins) + 0.5) / n_bins
        variances = self.shares @ middles**2 - (self.shares @ middles) ** 2 + 1 / (12 * n_bins**2)
        return np.asarray(np.sqrt(np.maximum(variances, 0)) * (self.domain.upper - self.domain.lower))

    def box(self, reach: float) -> Densities:
        """Return the same in a box inside the domain, this number of standard deviations around the means.

        Rows beyond its ends are clipped, and lie in its first and last bins.
        """
        inner = inner_box(self.domain, self.means - reach * self.spreads, self.means + reach * self.spreads)
        if (inner.lower == self.domain.lower).all() and (inner.upper == self.domain.upper).all():
            return self
        places, found = np.linspace(0, 1, self.shares.shape[1] + 1), np.empty_like(self.shares)
        widths = self.domain.upper - self.domain.lower
        starts, sides = (inner.lower - self.domain.lower) / widths, (inner.upper - inner.lower) / widths
        for i, (start, side) in enumerate(zip(starts.tolist(), sides.tolist(), strict=True)):
            below = np.interp(start + places * side, places, np.concatenate([[0], np.cumsum(self.shares[i])]))
            found[i] = np.diff(np.concatenate([[0], below[1:-1], [1]]))
        return Densities(inner, np.maximum(found, 0))


@cache
def _bumps() -> FloatArray:
    """Return the shares of bumps in 2**BIN_BITS bins."""
    middles = (np.arange(2**BIN_BITS) + 0.5) / 2**BIN_BITS
    places = (np.arange(BUMP_PLACES) + 0.5) / BUMP_PLACES
    shares = np.exp(-(((middles - places[:, None]) / BUMP_WIDTHS[:, None, None]) ** 2) / 2).reshape(-1, middles.size)
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _in_bumps(private_counts: FloatArray, n: float, noise: Noise) -> FloatArray:
    """Return shares of the finest bins: all bumps, each as likely as it makes the noisy counts of n rows."""
    bumps, found = _bumps(), np.empty((len(private_counts), 2**BIN_BITS))
    expected = n * bumps.reshape(len(bumps), private_counts.shape[1], -1).sum(axis=2)
    scale = max(noise.scale, 1)
    for i, counts in enumerate(private_counts):
        gaps = np.abs(counts - expected) / scale
        doubts = gaps.sum(axis=1) if noise.distribution == "laplace" else (gaps**2).sum(axis=1) / 2
        chances = np.exp(doubts.min() - doubts)
        found[i] = chances @ bumps / chances.sum()
    return np.asarray(ELSEWHERE / found.shape[1] + (1 - ELSEWHERE) * found)


def inner_box(domain: Domain, lower: FloatArray, upper: FloatArray) -> Domain:
    """Return the box between two corners inside the domain; a column in which they meet, if only by rounding, keeps its."""
    lower, upper = np.maximum(lower, domain.lower), np.minimum(upper, domain.upper)
    is_wide = upper > lower
    return Domain(np.where(is_wide, lower, domain.lower), np.where(is_wide, upper, domain.upper), np.inf)
