"""Centers that have no rows, put where two clusters share one.

Two clusters that lie in one cell of a tree, or whose cells were taken together, get one center between them, and another one is
left without rows. Lloyd's steps never mend that. But a plane through the mean of two clusters has one of them on each side,
whatever its direction, as long as they are farther apart than they are wide. So a center without rows is put beside the one whose
rows lie far away, and the next step parts them.

All of it is post-processing of noisy answers. Proof: ``proofs/moments.md``.
"""

from __future__ import annotations

import math

import numpy as np

from spinney.algorithms.polish import Moved, RingHistogram
from spinney.solvers.nearest import nearest
from spinney.spaces.box import Domain, FloatArray
from spinney.spaces.metric import IntArray

__all__ = ["resettled"]

#: A center has no rows if it has less than so many standard deviations of noise...
EMPTY_STDS = 3.0
#: ...and these are no more than such a part of an average cluster: small clusters are not given up on a guess.
SURE = 0.15
#: Rows lie far away if the mean of their squared distances is so many times that of all others, and such a part of that of all
#: rows from their mean: rows of two clusters lie half as far from their center as the clusters from each other.
FAR, WIDE = 2.0, 0.25
#: How far the two centers lie on each side of the one that they come from, in root mean square distances of its rows.
APART = 0.1


def resettled(
    domain: Domain,
    centers: FloatArray,
    moved: Moved,
    rings: RingHistogram,
    least: float,
    spread: FloatArray,
    distance: float,
    rng: np.random.Generator,
) -> tuple[FloatArray, IntArray]:
    """Return centers, those without rows beside centers that two clusters seem to share, and which one each was before.

    Parameters
    ----------
    domain : Domain
    centers : array of shape (k, d)
    moved : Moved
        Points that they were made of, by the step before.
    rings : RingHistogram
        Around these centers.
    least : float
        How many rows a center must have for a step to move it.
    spread : array of shape (d,)
        Of all rows along each column: directions are drawn in these units.
    distance : float
        Of all rows from their mean.
    rng : numpy.random.Generator
        Public randomness.
    """
    sources, most = np.arange(len(centers)), EMPTY_STDS * moved.weight_std
    numbers = np.bincount(nearest(moved.centers, centers)[1], moved.weights, len(centers))
    empty = rings.seem_empty(EMPTY_STDS) & (numbers < most)
    full = np.flatnonzero(~empty)
    if most > SURE * rings.totals.sum() / len(centers) or len(full) in (0, len(centers)):
        return centers, sources
    centers, spares, squares = centers.copy(), list(np.flatnonzero(empty)), rings.mean_squares()
    sums, totals = rings.totals[full] @ squares[full], rings.totals[full].sum()
    for one in full[np.argsort(-(rings.totals * squares)[full])]:
        others = (sums - rings.totals[one] * squares[one]) / max(totals - rings.totals[one], 1.0)
        is_far = squares[one] >= max(FAR * others, WIDE * distance**2)
        if spares and rings.totals[one] >= 2 * least and is_far:
            away = rng.uniform(-spread, spread)
            away *= APART * math.sqrt(squares[one]) / max(float(np.linalg.norm(away)), 1e-300)
            spare = spares.pop(0)
            centers[spare], centers[one] = domain.clip(centers[one] + away), domain.clip(centers[one] - away)
            sources[spare] = one
    return centers, sources
