"""The loop over rows behind private minima: gradients and second derivatives of smooth distances, in whole steps."""

from __future__ import annotations

import numpy as np

from spinney.compilation import compiled
from spinney.curators.entrance import PLACES, enter
from spinney.curators.kernels import Labels, Mask, Rows
from spinney.mechanisms.perturbation import SLOPE_STEPS
from spinney.mechanisms.source import IntArray
from spinney.solvers.nearest import BLOCK
from spinney.spaces.box import FloatArray
from spinney.spaces.grid import Door

__all__ = ["sum_slopes"]

#: Coordinates are cut off here, in radii, so that their squares stay finite.
_FAR = 1e100


@compiled
def _add_slopes(slab, labels, points, radii, gap, slopes, weights, bends):  # type: ignore[no-untyped-def]
    """Add gradients, weights and second derivatives of sqrt(1 + |x - p|^2 / r^2) in p / r, in whole steps toward zero."""
    d = slab.shape[1]
    for b in range(slab.shape[0]):
        for i in range(min(BLOCK, labels.size - b * BLOCK)):
            j = labels[b * BLOCK + i]
            if j < 0:
                continue
            square = 1.0
            for t in range(d):
                gap[t] = min(max((points[j, t] - slab[b, t, i]) / radii[j], -_FAR), _FAR)
                square += gap[t] * gap[t]
            weight = 1.0 / np.sqrt(square)
            weights[j] += np.trunc(weight * SLOPE_STEPS)
            for t in range(d):
                gap[t] *= weight
                slopes[j, t] += np.trunc(gap[t] * SLOPE_STEPS)
                for s in range(t + 1):
                    bends[j, t, s] += np.trunc(((1.0 if s == t else 0.0) - gap[t] * gap[s]) * weight * SLOPE_STEPS)


def sum_slopes(
    rows: Rows, mask: Mask, door: Door, labels: Labels, points: FloatArray, radii: FloatArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Sum what `Slopes` tells of, in steps of 1 / SLOPE_STEPS.

    Floats that hold whole numbers add up exactly here: a chunk has 2**16 rows, so its sums stay below 2**53.
    """
    k, d = points.shape
    slopes, weights, bends, gap = np.zeros((k, d)), np.zeros(k), np.zeros((k, d, d)), np.empty(d)
    for entered in enter(rows, mask, door, PLACES):
        _add_slopes(entered.slab, labels[entered.here], points, radii, gap, slopes, weights, bends)
    bends += np.tril(bends, -1).swapaxes(1, 2)
    return slopes.astype(np.int64), weights.astype(np.int64), bends.astype(np.int64)
