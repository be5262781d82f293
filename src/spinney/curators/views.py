"""Doors behind doors: rows that are projected on public directions, or of which those near some public centers alone are seen.

A view holds public arrays. What it makes of a row is a function of the row's own values and of these; `entrance.py` does it.

Proof: ``proofs/questions.md``, "Views".
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney.questions.arrays import LONGEST, finite_points, frozen, frozen_places, require
from spinney.questions.ground import Ground
from spinney.spaces import Domain, Door, FloatArray, ScaledCenters, door, scale_centers


class Projection(NamedTuple):
    """Rows enter by the outer door, and become their products with directions, from the middle of its domain."""

    outer: Door
    directions: FloatArray


class Fence(NamedTuple):
    """Rows enter by the inner door, if the nearest of some centers, as seen through the outer one, is among those kept."""

    outer: Door
    inner: Door
    scaled: ScaledCenters
    kept: NDArray[np.bool_]


def projected(outer: Door, ground: Ground, directions: Any, domain: Domain) -> tuple[Ground, Door]:
    """Return ground and door of rows that are projected and clipped to a public domain; the ground given is the outer door's."""
    directions, found = frozen(directions), Ground(domain)
    what = "rows are projected on finite directions, one entry per column, into a domain of a column each"
    shaped = directions.ndim == 2 and directions.shape == (found.n_features, ground.n_features) and directions.size
    require(shaped and (np.abs(directions) < LONGEST).all(), what)
    assert found.domain is not None
    return found, door(found.domain, outer.nan_to_center)._replace(view=Projection(outer, directions))


def fenced(outer: Door, ground: Ground, centers: Any, kept: Any) -> Door:
    """Return the door of those rows whose nearest center is one of the kept ones, given by their places."""
    centers, places = frozen(centers), frozen_places(kept)
    finite_points(centers, ground.n_features, "centers")
    require(places.ndim == 1 and ((places >= 0) & (places < len(centers))).all(), "kept centers must be among the centers")
    return outer._replace(view=Fence(outer, outer, scale_centers(centers), np.isin(np.arange(len(centers)), places)))


def drops_rows(door: Door) -> bool:
    """Whether rows may not count for where they lie, so that a replaced row can change how many there are."""
    return door.view is not None and (type(door.view) is Fence or drops_rows(door.view.outer))


def narrowed(old: Door, domain: Domain) -> Door:
    """Return a door to another domain of as many columns, behind the same views."""
    if type(old.view) is Fence:
        inner = narrowed(old.view.inner, domain)
        return inner._replace(view=old.view._replace(inner=inner))
    return door(domain, old.nan_to_center)._replace(view=old.view)
