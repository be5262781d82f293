"""How the rows spread along each column, from noisy answers.

Few rows, or much noise, tell roughly where the rows of a column are and no more. So the bins are as wide as the noise asks for,
and rows are first taken to lie in one bump somewhere, all bumps weighed by how likely they make the noisy counts. Then halves of
an interval that differ from that by more than the noise are as the counts say. All but the question of `ask_densities` is
post-processing of noisy answers.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from spinney.algorithms.indicators import two_ended
from spinney.algorithms.problem import PointProblem
from spinney.curators.gate import Curator
from spinney.mechanisms.additive import Noise
from spinney.privacy.charges import Charge
from spinney.questions.counts import Counting, Counts
from spinney.questions.partitions import ColumnBins
from spinney.spaces.box import Domain, FloatArray
from spinney.trees.quadtree import BIN_BITS

__all__ = ["ask_densities", "bin_bits", "bins_of", "inner_box", "narrowed", "smooth_densities", "spreads", "with_ends"]

#: A bin is expected to hold so many standard deviations of its noise, if rows were spread evenly ...
BIN_STDS = 2.0
#: ... and there are at least 2**LEAST_BITS of them.
LEAST_BITS = 2
#: Standard deviations of the bumps, in widths of a column, and the number of their places.
BUMP_WIDTHS, BUMP_PLACES = 2.0 ** -np.arange(0.5, 4.1, 0.5), 32
#: This share of the rows may lie anywhere else.
ELSEWHERE = 0.1
#: Halves are told apart if they differ by this many standard deviations from what is likely.
SIGNIFICANT = 3.0
#: The end of a column is this part of it; if as much again lies between it and a box, and of the rows beyond the box at least
#: MOST there, they are a value of their own.
END, MOST = 1 / 16, 0.75


def bin_bits(n: float, std: float) -> int:
    """Return into how many bins, as a power of two, a column is cut if about n rows are counted with such noise."""
    return int(np.clip(math.log2(max(n / (BIN_STDS * max(std, 1e-9)), 1.0)), LEAST_BITS, BIN_BITS))


@cache
def _bumps() -> FloatArray:
    """Return the shares of bumps in 2**BIN_BITS bins."""
    middles = (np.arange(2**BIN_BITS) + 0.5) / 2**BIN_BITS
    places = (np.arange(BUMP_PLACES) + 0.5) / BUMP_PLACES
    shares = np.exp(-(((middles - places[:, None]) / BUMP_WIDTHS[:, None, None]) ** 2) / 2).reshape(-1, middles.size)
    found: FloatArray = shares / shares.sum(axis=1, keepdims=True)
    return found


def _likely(private_counts: FloatArray, n: float, noise: Noise) -> FloatArray:
    """Return shares of the finest bins: all bumps, each as likely as it makes the noisy counts of n rows."""
    bumps, found = _bumps(), np.empty((len(private_counts), 2**BIN_BITS))
    expected = n * bumps.reshape(len(bumps), private_counts.shape[1], -1).sum(axis=2)
    scale = max(noise.scale, 1.0)
    for i, counts in enumerate(private_counts):
        gaps = np.abs(counts - expected) / scale
        doubts = gaps.sum(axis=1) if noise.distribution == "laplace" else (gaps**2).sum(axis=1) / 2
        chances = np.exp(doubts.min() - doubts)
        found[i] = chances @ bumps / chances.sum()
    mixed: FloatArray = ELSEWHERE / found.shape[1] + (1 - ELSEWHERE) * found
    return mixed


def smooth_densities(private_counts: FloatArray, n: float, noise: Noise) -> FloatArray:
    """Return shares per column and each of 2**BIN_BITS bins, not negative and summing to one.

    Parameters
    ----------
    private_counts : array of shape (d, 2**bits)
        Noisy numbers of rows in equal bins of each column.
    n : float
        The noisy number of rows.
    noise : Noise
        Of each count.
    """
    finest = _likely(private_counts, n, noise)
    sums, likely = [private_counts], [finest.reshape(*private_counts.shape, -1).sum(axis=2)]
    while sums[-1].shape[1] > 1:
        for halves in (sums, likely):
            halves.append(halves[-1][:, 0::2] + halves[-1][:, 1::2])
    shares = np.ones((len(private_counts), 1))
    for level in range(len(sums) - 2, -1, -1):
        left, total, expected = sums[level][:, 0::2], sums[level + 1], likely[level][:, 0::2] / likely[level + 1]
        std = noise.std * math.sqrt(2**level)  # of a half
        apart = np.abs(left - expected * total) > SIGNIFICANT * std * np.sqrt(expected**2 + (1 - expected) ** 2)
        part = np.where(apart, np.clip(left / np.maximum(total, max(math.sqrt(2) * std, 1.0)), 0.0, 1.0), expected)
        shares = np.stack([shares * part, shares * (1 - part)], axis=2).reshape(len(shares), -1)
    within = finest.reshape(*private_counts.shape, -1) / likely[0][:, :, None]
    found: FloatArray = (shares[:, :, None] * within).reshape(len(shares), -1)
    return found


def bins_of(curator: Curator, problem: PointProblem, n: float, charge: Charge) -> int:
    """Return into how many bins, as a power of two, a charge can count each column of about n rows."""
    return bin_bits(n, curator.preview(Counting(problem.n_features), charge).std)


def ask_densities(curator: Curator, problem: PointProblem, n: float, bits: int, charge: Charge) -> FloatArray:
    """Ask for histograms of all columns of about n rows; return shares per column and each of 2**BIN_BITS bins."""
    answer = curator.ask(Counts(ColumnBins(bits)), charge)
    bins, noise = answer.private_counts.astype(np.float64), answer.noise
    return two_ended(smooth_densities(bins, n, noise), bins, noise.std, problem.schema)


def narrowed(densities: FloatArray, domain: Domain, inner: Domain) -> FloatArray:
    """Return shares per bin of a box inside the domain; rows beyond its ends lie in its first and last bins.

    Parameters
    ----------
    densities : array of shape (d, n_bins)
        Of the bins of the domain; rows are taken to spread evenly within a bin.
    domain, inner : Domain
    """
    places, found = np.linspace(0.0, 1.0, densities.shape[1] + 1), np.empty_like(densities)
    widths = domain.upper - domain.lower
    starts, sides = (inner.lower - domain.lower) / widths, (inner.upper - inner.lower) / widths
    for i, (start, side) in enumerate(zip(starts.tolist(), sides.tolist(), strict=True)):
        below = np.interp(start + places * side, places, np.concatenate([[0.0], np.cumsum(densities[i])]))
        found[i] = np.diff(np.concatenate([[0.0], below[1:-1], [1.0]]))
    return np.maximum(found, 0.0)


def with_ends(densities: FloatArray, domain: Domain, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return corners of a box that reach to the ends of the domain in columns where most rows beyond them lie at an end.

    A tail of far rows is better cut off, but an indicator that few rows have is a value like others, however far it lies.

    Parameters
    ----------
    densities : array of shape (d, n_bins)
        Shares of rows in the bins of the domain.
    domain : Domain
    lower, upper : array of shape (d,)
    """
    widths = domain.upper - domain.lower
    at_lower = _lie_at_end(densities, (lower - domain.lower) / widths)
    at_upper = _lie_at_end(densities[:, ::-1], (domain.upper - upper) / widths)
    return np.where(at_lower, domain.lower, lower), np.where(at_upper, domain.upper, upper)


def _lie_at_end(densities: FloatArray, cuts: FloatArray) -> NDArray[np.bool_]:
    """Return for each column whether most rows before a cut, in widths of the column, lie where it begins, away from the cut."""
    places = np.linspace(0.0, 1.0, densities.shape[1] + 1)
    found = []
    for cut, column in zip(cuts.tolist(), densities, strict=True):
        ending, before = np.interp([min(cut, END), cut], places, np.concatenate([[0.0], np.cumsum(column)]))
        found.append(cut >= 2 * END and ending >= MOST * before)
    return np.array(found)


def spreads(densities: FloatArray, domain: Domain) -> FloatArray:
    """Return the standard deviation of each column, from shares per bin; rows are taken to spread evenly within a bin."""
    n_bins = densities.shape[1]
    middles = (np.arange(n_bins) + 0.5) / n_bins
    variances = densities @ middles**2 - (densities @ middles) ** 2 + 1 / (12 * n_bins**2)
    found: FloatArray = np.sqrt(np.maximum(variances, 0.0)) * (domain.upper - domain.lower)
    return found


def inner_box(domain: Domain, lower: FloatArray, upper: FloatArray) -> Domain:
    """Return the box between two corners inside the domain; a column in which they meet, if only by rounding, keeps its."""
    lower, upper = np.maximum(lower, domain.lower), np.minimum(upper, domain.upper)
    is_wide = upper > lower
    return Domain(np.where(is_wide, lower, domain.lower), np.where(is_wide, upper, domain.upper), np.inf)
