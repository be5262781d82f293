"""Centers without rows, put where two clusters share one: between private steps, but not before the last, at no charge.

Two clusters that lie in one cell of a tree get one center between them, and another center is left without rows. Lloyd's steps
never mend that. But a plane through the mean of two clusters has one of them on each side, whatever its direction, if they are
farther apart than they are wide. So a center that is worth little is put beside the one whose rows lie farthest, and the next
step parts them.

All of it is post-processing of noisy answers. Proof: ``proofs/polish.md``.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from spinney.algorithms.reading import NOTHING
from spinney.algorithms.step import Distances, Moved
from spinney.solvers.stability import next_distances
from spinney.spaces.box import FloatArray
from spinney.spaces.nearest import nearest

__all__ = ["exchanged"]

#: Two centers with half of the rows each have 4 times the noise of one with all of them: what is more of it.
MORE_NOISE = 3


def exchanged(
    centers: FloatArray, moved: Moved, distances: Distances, noise: float, spreads: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, Distances]:
    """Return centers, those worth least beside those whose rows lie farther than the rows of others, and their distances.

    Parameters
    ----------
    centers : array of shape (k, d)
    moved : Moved
        The points that these centers were made of, by the step before.
    distances : Distances
        From these centers.
    noise : float
        The length of the noise in a sum of the next step, in clipping radii.
    spreads : array of shape (d,)
        Of all rows along each column: directions are drawn in these units.
    rng : numpy.random.Generator
        Public randomness.
    """
    weights = np.bincount(nearest(moved.centers, centers)[1], moved.weights, len(centers)).astype(np.float64)
    squares, gains = _gains(weights, distances, noise)
    worth = (weights + moved.least_weight) * next_distances(centers) ** 2  # what its rows cost more with the center beside it
    before, counts, free = centers, distances.counts.copy(), np.ones(len(centers), dtype=bool)
    centers = centers.copy()
    for one in np.argsort(-gains):
        offered = np.where(free & (np.arange(len(centers)) != one), worth, np.inf)
        spare = int(np.argmin(offered))
        if free[one] and gains[one] > offered[spare]:
            gaps = ((before - before[spare]) ** 2).sum(axis=1)
            gaps[spare] = np.inf
            free[[one, spare, int(np.argmin(gaps))]] = False
            away = rng.uniform(-1, 1, len(spreads)) * spreads
            away *= math.sqrt(squares[one] / len(spreads)) / max(float(np.linalg.norm(away)), NOTHING)
            centers[spare], centers[one] = centers[one] + away, centers[one] - away
            counts[[one, spare]] = counts[one] / 2
    return centers, replace(distances, counts=counts)


def _gains(weights: FloatArray, distances: Distances, noise: float) -> tuple[FloatArray, FloatArray]:
    """Return the mean of the squared distances of each center's rows, and what another center beside it may save.

    Half of what its rows cost more than those of all others do, less the noise: they may be one wide cluster. Only rings that
    surely have rows count.
    """
    rows, costs = distances.sure.sum(axis=1), distances.sure @ distances.middles**2
    squares = costs / np.maximum(rows, 1)
    others = (costs.sum() - costs) / np.maximum(rows.sum() - rows, 1)
    saved = weights * (squares - others) - MORE_NOISE * squares * noise**2 / np.maximum(weights, 1)
    return squares, np.where(rows > 0, saved / 2, 0)
