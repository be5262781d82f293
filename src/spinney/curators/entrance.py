"""The one door for rows: nothing else ever reads a raw value.

A row with a value that is not finite is dropped or sent to the middle of the domain, values are clipped, and coordinates are
floored to the public grid. The search for nearest centers leaves the flooring out: 32 bits would not see it.
A door may lie behind another one (`views.py`): what rows become on the way to it is what comes in (`seen`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney.compilation import compiled
from spinney.curators.views import Fence
from spinney.spaces import BLOCK, GRID_BITS, Door, FloatArray, ScaledCenters, as_floats, find_labels
from spinney.spaces.nearest import load, stretches

#: What becomes of a value: nothing, where rows are only counted; it is clipped; or it becomes its place on the grid, whose whole
#: part is the number of its grid step; or the middle of its grid step.
RAW, CLIPPED, STEPS, PLACES = 0, 1, 2, 3
_LAST = 2.0**GRID_BITS - 1.0
_LARGEST = float(np.finfo(np.float64).max)
#: Up to this many columns they are copied one by one; rows of more would not stay in the first-level cache meanwhile.
_FEW = 8
NOTHING, NO_MASK, ALL = as_floats(np.empty((0, 0))), np.empty(0, np.uint8), np.empty((0, BLOCK), np.bool_)
#: The mask of rows that have been looked at: all of them count, and all their values are finite.
FINITE = np.empty(0, np.uint8)


class Entered(NamedTuple):
    """Rows that have come in: the first `size` of a slab, which is used again for the rows that follow."""

    here: slice
    size: int
    slab: FloatArray
    alive: NDArray[np.bool_]

    @property
    def rows(self) -> FloatArray:
        """The rows one by one, as far as the slab is not used again."""
        return self.slab[:, :, :BLOCK].transpose(0, 2, 1).reshape(-1, self.slab.shape[1])[: self.size]

    def __repr__(self) -> str:
        return object.__repr__(self)  # no row is printed


class Near(NamedTuple):
    """Centers of which the nearest is looked for while rows come in, and where its index, or -1, is written for each row."""

    scaled: ScaledCenters
    labels: NDArray[np.int32]

    def __repr__(self) -> str:
        return object.__repr__(self)  # nor where one lies


@compiled
def _copy(rows, at, slab, b, size, is_known, alive):  # type: ignore[no-untyped-def]
    """Copy a block of rows to a slab, if there are any, say which of its rows are finite, and return whether all are.

    If it is known that they are, nothing is said.
    """
    d, clean = slab.shape[1], True
    if rows.size and d <= _FEW:
        for t in range(d):
            for i in range(size):
                slab[b, t, i] = rows[at + b * BLOCK + i, t]
    elif rows.size:
        for i in range(size):
            for t in range(d):
                slab[b, t, i] = rows[at + b * BLOCK + i, t]
    if is_known:
        return True
    for t in range(d):
        for i in range(size):
            clean &= abs(slab[b, t, i]) <= _LARGEST  # neither NaN nor infinite
    for i in range(size):
        alive[b, i] = True
    if not clean:
        for t in range(d):
            for i in range(size):
                alive[b, i] &= abs(slab[b, t, i]) <= _LARGEST
    return clean


@compiled
def _pull_in(slab, b, size, center, radius):  # type: ignore[no-untyped-def]
    """Move the rows of a block that lie out of a ball to its surface."""
    parts = np.zeros(size)
    for t in range(slab.shape[1]):
        middle = center[t]
        for i in range(size):
            gap = slab[b, t, i] - middle
            parts[i] += gap * gap
    for i in range(size):
        parts[i] = min(1.0, radius / np.sqrt(max(parts[i], 1e-300)))
    for t in range(slab.shape[1]):
        middle = center[t]
        for i in range(size):
            slab[b, t, i] = middle + (slab[b, t, i] - middle) * parts[i]


@compiled
def enter_slab(rows, at, slab, count, mask, fences, radius, nan_to_center, form, is_known, alive):  # type: ignore[no-untyped-def]
    """Change the raw values of the first `count` rows of a slab, and decide which of the rows count.

    ``rows`` from a place on are copied to the slab first; if there are none, it has been filled. If it is known that all values
    are finite, ``alive`` says which rows count but for the mask.
    ``fences`` comes from `fences_of`. Rounding keeps the order of numbers, so a value may as well be clipped after it has become
    its place on the grid. Conditions are written so that the compiler makes one instruction of each.
    """
    d = slab.shape[1]
    for b in range(-(-count // BLOCK)):
        size = min(BLOCK, count - b * BLOCK)
        clean = _copy(rows, at, slab, b, size, is_known, alive)
        if form == CLIPPED or (form != RAW and radius < np.inf):
            for t in range(d):
                lower, upper = fences[0, t], fences[1, t]
                for i in range(size):
                    slab[b, t, i] = min(max(slab[b, t, i], lower), upper)
        if form != RAW and radius < np.inf:
            _pull_in(slab, b, size, fences[4], radius)
        if form >= STEPS:
            for t in range(d):
                lower, inverse = fences[0, t], fences[2, t]
                step, last = fences[3, t], fences[5, t]
                if form == STEPS:
                    for i in range(size):
                        place = (slab[b, t, i] - lower) * inverse
                        place = place if place > 0.0 else 0.0
                        slab[b, t, i] = place if place < last else last
                else:
                    for i in range(size):
                        place = np.floor((slab[b, t, i] - lower) * inverse)
                        place = place if place > 0.0 else 0.0
                        slab[b, t, i] = lower + ((place if place < last else last) + 0.5) * step
        if not clean:
            for i in range(size):
                if not alive[b, i]:
                    alive[b, i] = nan_to_center
                    for t in range(d):
                        slab[b, t, i] = fences[6, t]
        if mask.size:
            for i in range(size):
                alive[b, i] &= mask[at + b * BLOCK + i] != 0


def fences_of(door: Door, form: int) -> FloatArray:
    """Return what `enter_slab` needs to know of a door, as one array: kernels are called often, and each array costs time.

    Its rows are the lower and upper bounds, the inverses of the grid steps, the steps, the domain's center, the number of the
    last grid step, and what becomes of the center.
    """
    return _fences(form, *(array.tobytes() for array in door[:5]))


@lru_cache(maxsize=64)
def _fences(form: int, *public: bytes) -> FloatArray:
    lower, upper, inverse, step, middle = (np.frombuffer(array) for array in public)
    with np.errstate(all="ignore"):  # as in compiled loops
        last = np.minimum(np.floor((upper - lower) * inverse), _LAST)
        center = np.clip(middle, lower, upper)
        if form >= STEPS:
            center = np.minimum(np.floor((center - lower) * inverse), last)
        if form == PLACES:
            center = lower + (center + 0.5) * step
    return np.array([lower, upper, inverse, step, middle, last, center])


@compiled
def _project(slab, count, directions, center, found):  # type: ignore[no-untyped-def]
    """Write the products of the first `count` rows of a slab, from a center, with directions to another slab."""
    for b in range(-(-count // BLOCK)):
        size = min(BLOCK, count - b * BLOCK)
        for t in range(directions.shape[0]):
            for i in range(size):
                found[b, t, i] = 0.0
            for j in range(slab.shape[1]):
                factor, middle = directions[t, j], center[j]
                for i in range(size):
                    found[b, t, i] += factor * (slab[b, j, i] - middle)


def seen(rows: NDArray[Any], mask: NDArray[np.uint8], door: Door) -> tuple[NDArray[Any], NDArray[np.uint8], Door]:
    """Return rows as they are behind views, which of them count there, and the last door: what is given if there is no view."""
    view = door.view
    if view is None:
        return rows, mask, door
    count = np.empty(len(rows), dtype=np.uint8)
    if type(view) is Fence:
        for here, labels in find_near(rows, mask, view.outer, view.scaled):
            count[here] = (labels >= 0) & view.kept[labels]
        return seen(rows, count, view.inner)
    found = np.empty((len(rows), len(view.directions)))
    for part in enter(rows, mask, view.outer, PLACES):
        slab = np.empty((len(part.slab), len(view.directions), part.slab.shape[2]))
        _project(part.slab, part.size, view.directions, view.outer.center, slab)
        found[part.here], count[part.here] = part._replace(slab=slab).rows, part.alive
    return found, count, door._replace(view=None)


def find_near(
    rows: NDArray[Any], mask: NDArray[np.uint8], door: Door, scaled: ScaledCenters
) -> Iterator[tuple[slice, NDArray[np.int32]]]:
    """Yield stretches of rows and the index of each row's nearest center, or -1 for a row that does not count."""
    for entered in enter(rows, mask, door, CLIPPED):
        labels = find_labels(entered.slab, entered.size, scaled)
        labels[~entered.alive] = -1
        yield entered.here, labels


def enter_near(
    rows: NDArray[Any], mask: NDArray[np.uint8], door: Door, near: Near | NDArray[np.int32]
) -> Iterator[tuple[Entered, NDArray[np.int32]]]:
    """Yield all rows as they come in, in the middles of their grid steps, and their labels, which are given or looked for."""
    if isinstance(near, Near):
        for here, labels in find_near(rows, mask, door, near.scaled):
            near.labels[here] = labels
        near = near.labels
    for entered in enter(rows, mask, door, PLACES):
        yield entered, near[entered.here]


def enter(rows: NDArray[Any], mask: NDArray[np.uint8], door: Door, form: int) -> Iterator[Entered]:
    """Yield all rows as they come in; an empty mask means that all rows count that the door lets in."""
    rows, mask, door = seen(rows, mask, door)
    fences, is_known = fences_of(door, form), mask is FINITE
    rows = as_floats(rows)
    is_ready = rows.dtype == np.float64 and rows.flags.c_contiguous  # others become so in the slab
    parts, slab = stretches(*rows.shape)
    everyone = np.ones((len(slab), BLOCK), dtype=np.bool_)
    for here in parts:
        count, alive = here.stop - here.start, everyone if is_known else np.empty(everyone.shape, dtype=np.bool_)
        if not is_ready:
            load(rows[here], slab)
        ready = rows[here] if is_ready else NOTHING
        enter_slab(ready, 0, slab, count, mask[here], fences, door.radius, door.nan_to_center, form, is_known, alive)
        yield Entered(here, count, slab, alive.reshape(-1)[:count])
