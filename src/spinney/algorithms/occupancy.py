"""What noisy counts tell about cells: which of them have rows, and how many.

Letters: s the scale of the noise, mu the mean count of a cell that has rows, r = s / mu.

A cell is either empty or has rows, their number exponential with mean mu. The share of empty cells, and mu, are those under
which all noisy counts are most likely. Then each cell has rows with some probability, and an expected count. Noise and an
exponential count together have a density in closed form, for Laplace and for Gaussian noise, and so has the mean of the count
if the noisy one is known. Post-processing of noisy answers and public scales of noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from spinney.mechanisms.additive import Noise
from spinney.spaces.box import FloatArray
from spinney.spaces.metric import IntArray

__all__ = ["Occupancy"]

#: Shares of empty cells, and the number of means mu from LEAST_MEAN s up to the largest count; the likeliest pair is taken.
EMPTY_SHARES = np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98])
N_MEANS, LEAST_MEAN = 24, 2.0
#: A noisy count below so many s tells no more.
LOWEST = -10.0
#: A smaller s is read as this one: counts are whole numbers, and no doubt is left.
LEAST_SCALE = 1e-3


@dataclass(frozen=True)
class Occupancy:
    """The probability that each cell has rows, and its expected count."""

    has_rows: FloatArray
    counts: FloatArray

    @classmethod
    def of(cls, private_counts: IntArray | FloatArray, noise: Noise, prior: ArrayLike = 1.0) -> Occupancy:
        """Read noisy counts by the most likely share of empty cells and mean of the others.

        Parameters
        ----------
        private_counts : array of int or float
        noise : Noise
        prior : float or array
            The probability that the surroundings of a cell have rows at all, as known before.
        """
        known = private_counts + 1j * np.asarray(prior)  # pairs
        different, place, times = np.unique(known, return_inverse=True, return_counts=True)
        scale = max(noise.scale, LEAST_SCALE)
        noisy = np.maximum(different.real / scale, LOWEST)  # in units of s, as all below
        laws = _Laplace if noise.distribution == "laplace" else _Gaussian
        means = np.geomspace(LEAST_MEAN, max(float(noisy.max()), 2 * LEAST_MEAN), N_MEANS)
        shares = np.multiply.outer(1 - EMPTY_SHARES, different.imag)[:, None]
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
