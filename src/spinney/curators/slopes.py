"""The loop over rows behind private minima: gradients and second derivatives of smooth distances, in whole steps."""

from __future__ import annotations

import numpy as np

from spinney.compilation import compiled
from spinney.curators.entrance import enter_near
from spinney.curators.kernels import Labeled, Mask, Rows
from spinney.mechanisms.perturbation import SLOPE_STEPS
from spinney.spaces import BLOCK, Door, FloatArray, IntArray

#: Coordinates are cut off here, in radii, so that their squares stay finite.
_FAR = 1e100


@compiled
def _steps(part):  # type: ignore[no-untyped-def]
    """Return a part from -1 to 1 in whole steps, toward zero; what is beyond, or no number, is clipped."""
    part = part if part > -1.0 else -1.0
    return np.int64((part if part < 1.0 else 1.0) * SLOPE_STEPS)


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
            weights[j] += _steps(weight)
            for t in range(d):
                gap[t] *= weight
                slopes[j, t] += _steps(gap[t])
                for s in range(t + 1):
                    bends[j, t, s] += _steps(((1.0 if s == t else 0.0) - gap[t] * gap[s]) * weight)


def sum_slopes(
    rows: Rows, mask: Mask, door: Door, labels: Labeled, points: FloatArray, radii: FloatArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Sum what `Slopes` describes, in steps of 1 / SLOPE_STEPS.

    Conversions to whole numbers go toward zero. A chunk has 2**16 rows, so that its sums stay below 2**61.
    """
    (k, d), gap = points.shape, np.empty(points.shape[1])
    slopes, weights, bends = (np.zeros(shape, dtype=np.int64) for shape in ((k, d), (k,), (k, d, d)))
    for entered, own in enter_near(rows, mask, door, labels):
        _add_slopes(entered.slab, own, points, radii, gap, slopes, weights, bends)
    bends += np.tril(bends, -1).swapaxes(1, 2)
    return slopes, weights, bends
