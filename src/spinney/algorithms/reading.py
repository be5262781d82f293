"""What noisy counts tell about cells: which of them have rows, and how many. What is told of all is a summary of the rows.

Letters: s the scale of the noise, mu the mean count of a cell that has rows, r = s / mu.

The prior: a cell is empty, or has rows, their number exponential with mean mu. The share of empty cells and mu are those under
which all noisy counts are most likely. The posterior is how likely each cell is to have rows, and its expected count. Noise and
an exponential count together have a density in closed form, for Laplace and for Gaussian noise, and so has the mean of the count
given the noisy one. Post-processing of noisy answers and public scales of noise.

Proof: ``proofs/tree.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from spinney.algorithms.problem import PointProblem
from spinney.mechanisms.additive import Noise
from spinney.solvers.valleys import NoisyCells
from spinney.spaces.box import Domain, FloatArray
from spinney.spaces.metric import IntArray
from spinney.spaces.nearest import nearest

#: Shares of empty cells are tried in steps of one over this, and as many means mu, from 2 s up to the largest count.
TRIED = 24
#: In units of s: a lower noisy count tells no more.
LOWEST = -10.0
#: Costs are divided by at least so much: there may be none.
NOTHING = 1e-300
#: A smaller s is read as this one: counts are whole numbers, and no doubt is left.
LEAST_SCALE = 1e-3


@dataclass(frozen=True)
class Summary:
    """The leaves that have rows: a point of each, how far its rows spread around it, and about how many it has.

    And how far all rows spread along each column; and all leaves, if clusters are to be counted.
    """

    points: FloatArray
    spreads: FloatArray
    weights: FloatArray
    columns: FloatArray
    cells: NoisyCells | None = None

    @classmethod
    def unseen(cls, problem: PointProblem, n: float) -> Summary:
        """Return what is known of n rows before anything is asked: they spread evenly around the middle of the domain."""
        domain = problem.domain
        return cls(domain.center[None, :], np.full(1, domain.half_diagonal / 2), np.full(1, n), domain.upper - domain.lower)

    def moved(self, centers: FloatArray, to: FloatArray, domain: Domain) -> Summary:
        """Return the summary whose points moved along with their nearest centers."""
        return replace(self, points=domain.clip(self.points + (to - centers)[nearest(self.points, centers)[1]]))

    def blind(self, centers: FloatArray) -> float:
        """Return the part of the cost of centers that lies within the leaves, where the summary does not see."""
        within, seen = float(self.weights @ self.spreads**2), float(self.weights @ nearest(self.points, centers)[0])
        return within / max(within + seen, NOTHING)


@dataclass(frozen=True)
class Occupancy:
    """The probability that each cell has rows, and its expected count."""

    has_rows: FloatArray
    counts: FloatArray

    @classmethod
    def of(cls, private_counts: IntArray | FloatArray, noise: Noise, prior: ArrayLike = 1.0) -> Occupancy:
        """Read noisy counts by the most likely share of empty cells and mean of the others.

        The prior is the probability that the surroundings of a cell have rows at all.
        """
        known = private_counts + 1j * np.asarray(prior)  # pairs
        different, place, times = np.unique(known, return_inverse=True, return_counts=True)
        scale = max(noise.scale, LEAST_SCALE)
        noisy = np.maximum(different.real / scale, LOWEST)  # in units of s, as all below
        laws = _Laplace if noise.distribution == "laplace" else _Gaussian
        means = np.geomspace(2, max(float(noisy.max()), 2 * 2), TRIED)
        shares = np.multiply.outer(np.arange(1, TRIED) / TRIED, different.imag)[:, None]
        filled, empty = laws.if_filled(noisy, 1 / means[:, None]), laws.if_empty(noisy)
        top = np.maximum(filled, empty)
        filled, empty = np.exp(filled - top), np.exp(empty - top)
        mixed = shares * filled + (1 - shares) * empty
        i, j = np.unravel_index(int(((np.log(mixed) + top) @ times).argmax()), mixed.shape[:2])
        has_rows = shares[i, 0] * filled[j] / mixed[i, j]
        counts = has_rows * laws.expected(noisy, 1 / means[j]) * scale
        return cls(has_rows[place], counts[place])


class _Laplace:
    """Noise of density ``exp(-|x|)``, up to a constant."""

    @staticmethod
    def if_empty(noisy: FloatArray) -> FloatArray:
        """Return the logarithms of the densities of noise alone."""
        return -np.abs(noisy)

    @staticmethod
    def if_filled(noisy: FloatArray, r: ArrayLike) -> FloatArray:
        """Return the logarithms of the densities of noise and a count c: ``r`` times the integral of ``exp(-r c - |x - c|)``."""
        r, x = np.asarray(r), np.maximum(noisy, 0.0)
        found: FloatArray = np.log(r * (2 / (1 - r**2) - np.exp(-(1 - r) * x) / (1 - r))) - r * x + np.minimum(noisy, 0.0)
        return found

    @staticmethod
    def expected(noisy: FloatArray, r: float) -> FloatArray:
        """Return the mean counts where these noisy ones were seen: the integral's derivative by ``-r``, over it."""
        x = np.maximum(noisy, 0.0)
        whole, near = 1 / (1 - r**2), np.exp(-(1 - r) * x) / (2 * (1 - r))
        found: FloatArray = (x * whole - 2 * r * whole**2 + near / (1 - r)) / (whole - near)
        return found


class _Gaussian:
    """Noise of density ``exp(-x^2 / 2)``, up to a constant."""

    @staticmethod
    def if_empty(noisy: FloatArray) -> FloatArray:
        """Return the logarithms of the densities of noise alone."""
        found: FloatArray = -(noisy**2) / 2
        return found

    @staticmethod
    def if_filled(noisy: FloatArray, r: ArrayLike) -> FloatArray:
        """Return the logarithms of the densities of noise and a count: a normal variable, shifted by ``-r``, above zero."""
        r = np.asarray(r)
        found: FloatArray = np.log(r * math.sqrt(2 * math.pi) * _above_zero(noisy - r)) + r**2 / 2 - r * noisy
        return found

    @staticmethod
    def expected(noisy: FloatArray, r: float) -> FloatArray:
        """Return the mean counts where these noisy ones were seen: that of a normal variable cut at zero."""
        shifted = noisy - r
        found: FloatArray = shifted + np.exp(-(shifted**2) / 2) / (math.sqrt(2 * math.pi) * _above_zero(shifted))
        return found


def _above_zero(means: FloatArray) -> FloatArray:
    """Return the probabilities that normal variables of these means and variance one are positive; none is below -11."""
    flat = [math.erfc(-mean / math.sqrt(2)) / 2 for mean in means.ravel().tolist()]
    return np.array(flat).reshape(means.shape)
