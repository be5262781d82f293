"""How the rows spread along each column, from noisy answers.

Bins are combined by a thresholded Haar transform: where two halves of an interval do not differ by more than the noise, they
are taken to be alike. Post-processing of a noisy answer.
"""

from __future__ import annotations

import numpy as np

from spinney.spaces.box import Domain, FloatArray

__all__ = ["inner_box", "smooth_densities", "spreads"]

#: Halves are told apart if they differ by this many standard deviations.
SIGNIFICANT = 3.0


def smooth_densities(private_counts: FloatArray, std: float) -> FloatArray:
    """Return shares per bin and column, not negative and summing to one, from noisy counts of 2**b bins a column."""
    sums = [private_counts]
    while sums[-1].shape[1] > 1:
        sums.append(sums[-1][:, 0::2] + sums[-1][:, 1::2])
    shares = np.ones((len(private_counts), 1))
    for level in range(len(sums) - 2, -1, -1):
        left, right = sums[level][:, 0::2], sums[level][:, 1::2]
        noise = std * np.sqrt(2.0 * 2**level)
        total = np.maximum(left + right, max(noise, 1.0))
        part = np.where(np.abs(left - right) > SIGNIFICANT * noise, np.clip(left / total, 0.0, 1.0), 0.5)
        shares = np.stack([shares * part, shares * (1 - part)], axis=2).reshape(len(shares), -1)
    return shares


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
