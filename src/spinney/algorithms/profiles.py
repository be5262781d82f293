"""What noisy histograms of a column say about clusters: quantiles, and how far a cluster is from all rows.

All of it is work on released counts and public scales of noise. A histogram has a row for each cluster, equal bins of the column,
and one bin more, the last, for rows that do not say it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from spinney.spaces import FloatArray

#: How many standard deviations hold 95% of a normal law.
NORMAL = 1.959964
#: A bin of all clusters together has rows if it holds this many standard deviations of its noise.
POOLED_STDS = 3.0
#: Distances of a cluster's shares from the shares of all rows, as parts of these: from near 0 to a bin of the cluster alone.
APART = tuple(2.0**power for power in range(-7, 3))


@dataclass(frozen=True)
class Quantiles:
    """Quantiles as places from 0 to 1 between the bounds of a column, by cluster and level, and where the true ones may lie."""

    places: FloatArray
    lower: FloatArray
    upper: FloatArray


def distances(counts: FloatArray, rows: FloatArray, std: float, rows_std: float) -> FloatArray:
    """Return how far each cluster is from all rows together: half the sum, over bins, of the differences of shares.

    This total variation distance is what DPClustX calls the interestingness of a column for a cluster (Gilad et al. 2025, after
    its low-sensitivity form), here expected from noisy counts. Noise alone would add to every difference, most of all in bins
    that hardly a row is in: so the shares ``p`` of a cluster are taken to differ from the shares of all rows ``q`` by ``t q`` at
    random, and to add up to one; how far, `t`, is one of `APART`, each weighing as likely as it makes the counts. Counts
    (k, bins) and numbers of rows (k,) are noisy, with these standard deviations; the numbers are positive.
    """
    together = counts.sum(axis=0)
    if not std:
        exact: FloatArray = np.abs(counts / rows[:, None] - together / rows.sum()).sum(axis=1) / 2
        return np.minimum(exact, 1.0)
    full = together > POOLED_STDS * std * math.sqrt(len(rows))
    if not full.any():
        return np.zeros(len(rows))
    shares = together[full] / together[full].sum()
    likely, expected = (
        np.stack(each, axis=1)
        for each in zip(*(_differences(counts[:, full], rows, shares, t, std, rows_std) for t in APART), strict=True)
    )
    weights = np.exp(likely - likely.max(axis=1, keepdims=True))
    found: FloatArray = (weights * expected).sum(axis=1) / weights.sum(axis=1) / (2 * rows)
    return np.minimum(found, 1.0)


def _differences(
    counts: FloatArray, rows: FloatArray, shares: FloatArray, t: float, std: float, rows_std: float
) -> tuple[FloatArray, FloatArray]:
    """Return how likely noisy counts are, as a logarithm, and the sum over bins of expected differences, in rows.

    With ``x`` and ``y`` the noise of a count and of the number of rows, ``counts - shares * rows = u + x - shares * y``; `u` is
    what is wanted, normal with deviations ``t * shares * rows`` and a sum of zero. All of it is normal (Laplace noise nearly),
    so that `y` is found first, then `u` for each bin alone, and then `u` given its sum.
    """
    seen = counts - shares * rows[:, None]
    prior = (t * shares * rows[:, None]) ** 2
    both = prior + std**2
    kept = prior / both
    certainty = 1 / rows_std**2 + (shares**2 / both).sum(axis=1)
    of_rows = -(shares * seen / both).sum(axis=1) / certainty
    differences = kept * (seen + shares * of_rows[:, None])
    pulled = (kept * shares).sum(axis=1) / certainty
    with_sum = kept * (std**2 + shares * pulled[:, None])
    sums, spread = differences.sum(axis=1), with_sum.sum(axis=1)
    differences -= with_sum * (sums / spread)[:, None]
    variance = kept * std**2 + (kept * shares) ** 2 / certainty[:, None] - with_sum**2 / spread[:, None]
    likely = -(np.log(both) + seen**2 / both).sum(axis=1) + certainty * of_rows**2 - np.log(certainty)
    likely += np.log(prior.sum(axis=1)) - np.log(spread) - sums**2 / spread
    return likely / 2, _lengths(differences, np.sqrt(np.maximum(variance, 0.0))).sum(axis=1)


def _lengths(means: FloatArray, stds: FloatArray) -> FloatArray:
    """Return expected absolute values of normal variables."""
    from scipy.special import erf  # type: ignore[import-untyped]  # slow to import

    apart = np.clip(means / np.maximum(stds, 1e-100), -30.0, 30.0)  # beyond, a variable has one sign
    inner = math.sqrt(2 / math.pi) * stds * np.exp(-(apart**2) / 2)
    return np.asarray(inner + means * erf(apart / math.sqrt(2)))


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

    Counts (k, bins) come without the bin of rows that do not say the column, `present` has the numbers (k,) of those that do.
    Numbers within twice their noise have no quantiles.
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
