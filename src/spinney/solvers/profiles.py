"""What noisy histograms of a column tell about clusters: quantiles, and how far a cluster is from all rows.

All of it is work on released counts and public scales of noise. A histogram has a row for each cluster, equal bins of the column,
and one bin more, the last, for rows that do not say it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from spinney.spaces.box import FloatArray

__all__ = ["NORMAL", "Quantiles", "distances", "quantiles"]

#: How many standard deviations hold 95% of a normal law.
NORMAL = 1.959964


@dataclass(frozen=True)
class Quantiles:
    """Quantiles as places from 0 to 1 between the bounds of a column, by cluster and level, and where the true ones may lie."""

    places: FloatArray
    lower: FloatArray
    upper: FloatArray


def distances(counts: FloatArray, rows: FloatArray, std: float) -> FloatArray:
    """Return how far each cluster is from all rows together: half the sum, over bins, of the differences of shares.

    This total variation distance is what DPClustX calls the interestingness of a column for a cluster (Gilad et al. 2025, after
    its low-sensitivity form), here estimated from noisy counts: noise alone would add to every difference, so that its variance
    is taken off the square of each.

    Parameters
    ----------
    counts : array of shape (k, bins)
        Noisy.
    rows : array of shape (k,)
        Noisy numbers of rows, positive.
    std : float
        Of the noise of each count.
    """
    total, k = float(rows.sum()), len(rows)
    apart = counts / rows[:, None] - counts.sum(axis=0) / total
    # The noise of a cluster's own count is in both terms.
    variance = std**2 * (1 / rows**2 - 2 / (rows * total) + k / total**2)
    found: FloatArray = np.sqrt(np.maximum(apart**2 - variance[:, None], 0.0)).sum(axis=1) / 2
    return np.minimum(found, 1.0)


def _cumulative(counts: FloatArray, present: float, std: float, present_std: float) -> tuple[FloatArray, FloatArray]:
    """Return noisy numbers of rows below each edge of the bins, growing, and their standard deviations.

    The bins below an edge are added up, and those above it taken off the number of all, whichever has less noise weighing more.
    """
    size = counts.size
    below = np.concatenate([[0.0], np.cumsum(counts)])
    above = present - (below[-1] - below)
    first, second = np.arange(size + 1) * std**2, np.arange(size, -1, -1) * std**2 + present_std**2
    both = first + second
    share = np.divide(first, both, out=np.zeros(size + 1), where=both > 0)
    found = (1 - share) * below + share * above
    grown = (np.maximum.accumulate(found) + np.minimum.accumulate(found[::-1])[::-1]) / 2
    return np.clip(grown, 0.0, present), np.sqrt(first * (1 - share))


def quantiles(counts: FloatArray, present: FloatArray, levels: tuple[float, ...], std: float, present_std: float) -> Quantiles:
    """Return quantiles of each cluster, and edges of bins between which the true ones lie with a probability of about 0.95.

    Parameters
    ----------
    counts : array of shape (k, bins)
        Noisy, without the bin of rows that do not say the column.
    present : array of shape (k,)
        Noisy numbers of rows that say it; of no quantile is told where it is within twice its noise.
    levels : tuple of float
        Between 0 and 1.
    std, present_std : float
        Of the noise of each count, and of each number.
    """
    k, size = counts.shape
    edges, shape = np.linspace(0.0, 1.0, size + 1), (k, len(levels))
    places, lower, upper = (np.full(shape, np.nan) for _ in range(3))
    for j in range(k):
        if present[j] <= max(2 * present_std, 0.5):
            continue
        grown, noise = _cumulative(counts[j], float(present[j]), std, present_std)
        for i, level in enumerate(levels):
            wanted = level * present[j]
            places[j, i] = np.interp(wanted, grown, edges)
            near = min(int(np.searchsorted(grown, wanted)), size)
            reach = NORMAL * math.hypot(float(noise[max(near - 1, 0) : near + 1].max()), level * present_std)
            first = int(np.searchsorted(grown, wanted - reach, side="right")) - 1
            last = int(np.searchsorted(grown, wanted + reach, side="left"))
            lower[j, i], upper[j, i] = edges[max(first, 0)], edges[min(last, size)]
    return Quantiles(places, lower, upper)
