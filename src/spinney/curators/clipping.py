"""The loop behind sums of offsets: what a row adds, clipped and in whole steps."""

from __future__ import annotations

import numpy as np

from spinney.compilation import compiled
from spinney.questions.sums import KERNELS, RADIUS_STEPS

#: Squares of coordinates are cut off here, so that their own squares stay finite.
_FAR = 1e100
#: What is summed, as compiled loops know it.
_CORE, _MEDIAN, _SQUARE, _BOX = (KERNELS.index(name) for name in ("core", "median", "second-moment", "box"))
#: The most steps of a coordinate, and its square.
_STEPS, _MOST = float(RADIUS_STEPS), float(RADIUS_STEPS) ** 2
#: Rows of scratch.
_SQUARES, _FACTORS, _RADII = 0, 1, 2


@compiled
def _measure(slab, size, anchors, units, is_square, cells, scratch):  # type: ignore[no-untyped-def]
    """Change the rows of a block to their offsets, or the squares of these, and add up the squared lengths."""
    is_one = anchors.shape[1] == 1
    for t in range(slab.shape[1]):  # loops of one kind of work each, which the compiler vectorizes
        unit = units[t]
        if is_one:  # nothing to look up
            middle = anchors[t, 0]
            for i in range(size):
                slab[0, t, i] = (slab[0, t, i] - middle) * unit
        else:
            for i in range(size):
                slab[0, t, i] = (slab[0, t, i] - anchors[t, cells[i]]) * unit
        if is_square:
            for i in range(size):
                ratio = slab[0, t, i] / scratch[_RADII, i]
                slab[0, t, i] = min(ratio * ratio, _FAR)
        for i in range(size):
            scratch[_SQUARES, i] += slab[0, t, i] * slab[0, t, i]


@compiled
def _add_steps(slab, size, is_box, cells, scratch, vectors):  # type: ignore[no-untyped-def]
    """Change the offsets of a block to whole steps and add them up; squared lengths are measured again, in steps.

    Coordinates are clipped to a box. Those of a vector that was clipped to a ball lie within it anyway; a number that is none
    would be clipped too.
    """
    d, is_one = slab.shape[1], vectors.shape[1] == 1
    for t in range(d):
        for i in range(size):
            steps = slab[0, t, i] * scratch[_FACTORS, i]
            steps = steps if steps > -_STEPS else -_STEPS
            slab[0, t, i] = np.trunc(steps if steps < _STEPS else _STEPS)
        if not is_box:
            for i in range(size):
                scratch[_SQUARES, i] += slab[0, t, i] * slab[0, t, i]
        if is_one:
            total = 0.0
            for i in range(size):
                total += slab[0, t, i]
            vectors[t, 0] += total
        elif t % 4 == 3:  # four columns at once: rows of one center after each other would wait for each other's sum
            for i in range(size):
                j = cells[i]
                vectors[t - 3, j] += slab[0, t - 3, i]
                vectors[t - 2, j] += slab[0, t - 2, i]
                vectors[t - 1, j] += slab[0, t - 1, i]
                vectors[t, j] += slab[0, t, i]
        elif t >= d - d % 4:
            for i in range(size):
                vectors[t, cells[i]] += slab[0, t, i]


@compiled
def add_offsets(slab, labels, start, size, anchors, radii, units, kernel, cells, scratch, vectors, weights):  # type: ignore[no-untyped-def]
    """Add the clipped offsets of a block of rows, in whole steps, and their weights; the rows are overwritten.

    Labels are read from a place on.
    ``anchors`` and ``vectors`` have a row per column, and ``units`` are the inverse widths of the columns. ``cells`` and
    ``scratch`` are for the rows of a block: the centers they are nearest to, squared lengths, factors and radii. Steps are whole
    numbers of at most 2**20, and no vector but a box's is longer than that, up to rounding: so their sums and squared lengths
    are exact in floats, whatever the order.
    """
    is_core, is_median, is_square, is_box = kernel == _CORE, kernel == _MEDIAN, kernel == _SQUARE, kernel == _BOX
    for i in range(size):
        cells[i] = max(labels[start + i], 0)
        scratch[_SQUARES, i], scratch[_RADII, i] = 0.0, radii[cells[i]]
    _measure(slab, size, anchors, units, is_square, cells, scratch)
    for i in range(size):
        radius, length = 1.0 if is_square else scratch[_RADII, i], np.sqrt(scratch[_SQUARES, i])
        longest = length if length > radius and not is_box else radius
        is_counted = labels[start + i] >= 0 and not (is_core and longest > radius)
        # What does not count adds zeros.
        scratch[_SQUARES, i], scratch[_FACTORS, i] = 0.0, _STEPS / longest if is_counted else 0.0
        if is_counted:
            weights[cells[i]] += np.trunc(radius / longest * _STEPS) if is_median else 1.0
    _add_steps(slab, size, is_box, cells, scratch, vectors)
    for i in range(size):
        while scratch[_SQUARES, i] > _MOST:  # rounded to more than the radius: one step nearer to zero
            scratch[_SQUARES, i] = 0.0
            for t in range(slab.shape[1]):
                step = np.sign(slab[0, t, i])
                vectors[t, cells[i]] -= step
                slab[0, t, i] -= step
                scratch[_SQUARES, i] += slab[0, t, i] * slab[0, t, i]
