"""Centers without rows, put where two clusters share one: between private steps, at no charge.

Two clusters that lie in one cell of a tree get one center between them, and another center is left without rows. Lloyd's steps
never mend that. But a plane through the mean of two clusters has one of them on each side, whatever its direction, if they are
farther apart than they are wide. So a center that is worth little is put beside the one whose rows lie farthest, and the next
step parts them. Where more than two clusters may share a center, several are put beside it.

All of it is post-processing of noisy answers. Proof: ``proofs/polish.md``.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from spinney.algorithms.reading import NOTHING
from spinney.algorithms.step import Distances, Moved
from spinney.solvers.stability import next_distances
from spinney.spaces import FloatArray
from spinney.spaces.nearest import nearest


def exchanged(
    centers: FloatArray, moved: Moved, distances: Distances, noise: float, spreads: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, Distances, NDArray[np.bool_]]:
    """Return centers, those worth least beside those whose rows lie farther than the rows of others, and their distances.

    And which of them share the rows of one: their clusters are not settled, so they get no margins. The centers were made of
    `moved` by the step before; `noise` is its length in a sum of the next step, in clipping radii. Directions are drawn in units
    of the spreads of all rows along each column.
    """
    weights = np.bincount(nearest(moved.centers, centers)[1], moved.weights, len(centers)).astype(np.float64)
    squares, savings = _savings(weights, distances)
    noises = squares * noise**2 / np.maximum(weights, 1)
    widths = np.ones(len(spreads)) if distances.widths is None else distances.widths
    centers, spreads = centers / widths, spreads / widths
    owners, parts, middles = np.arange(len(centers)), np.ones(len(centers)), centers.copy()
    while True:
        # Of what the first center saves, m + 1 save 1/m^2 more than m, as along a line; m have m^2 times the noise of one.
        is_old = (parts == 1) & (owners == np.arange(len(centers)))
        gains = np.where(is_old | (parts > 1), savings / parts**2 - (2 * parts + 1) * noises, -np.inf)
        one = int(np.argmax(gains))
        worth = np.where(is_old, weights * next_distances(centers) ** 2, np.inf)  # what its rows cost more with the next center
        worth[one] = np.inf
        spare = int(np.argmin(worth))
        if not gains[one] > worth[spare]:
            break
        gaps = ((centers - centers[spare]) ** 2).sum(axis=1)
        gaps[spare] = np.inf
        weights[np.argmin(gaps)] += weights[spare]
        away = rng.uniform(-1, 1, len(spreads)) * spreads
        away *= math.sqrt(squares[one] / len(spreads)) / max(float(np.linalg.norm(away)), NOTHING)
        centers[spare] = middles[one] + away
        if parts[one] == 1:
            centers[one] = middles[one] - away
        owners[spare], parts[one] = one, parts[one] + 1
    counts = distances.counts[owners] / parts[owners, None]
    return centers * widths, replace(distances, counts=counts), parts[owners] > 1


def _savings(weights: FloatArray, distances: Distances) -> tuple[FloatArray, FloatArray]:
    """Return the least mean squared distance of each center's rows, and what another center beside it may save.

    That is what its rows surely cost above the average of all other rows. Other rows are those of centers that surely have some:
    what is expected of the rest is no measure.
    """
    squares, known = distances.middles**2, distances.sure.any(axis=1)
    rows, costs, least = known * distances.counts.sum(axis=1), known * (distances.counts @ squares), distances.sure @ squares
    others = (costs.sum() - costs) / np.maximum(rows.sum() - rows, 1)
    least = least / np.maximum(weights, 1)
    return least, weights * (least - others)
