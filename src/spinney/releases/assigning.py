"""Whom a release's centers serve: free post-processing for points that are not private."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.privacy.seal import sealed
from spinney.releases.centers import Release
from spinney.releases.sites import SiteRelease
from spinney.spaces.box import FloatArray, domain_from_dict
from spinney.spaces.metric import FiniteMetric, nearest_site
from spinney.spaces.nearest import nearest


@sealed()
def finite_points(release: Release, rows: NDArray[Any]) -> FloatArray:
    """Return new points in 64 bits, in the units of distances; a missing or infinite value puts one in the middle of the domain.

    With a schema, rows have one number for each column of the table, as tables are read.
    """
    with np.errstate(all="ignore"):
        encoded = rows if release.facts is None else release.facts.encode(rows)
        points = np.array(encoded, dtype=np.float64, order="C")
    points[~np.isfinite(points).all(axis=1)] = domain_from_dict(release.in_scale.domain).center
    return points


@sealed()
def assign(release: Release, rows: NDArray[Any]) -> NDArray[np.int32]:
    """Return the index of the nearest center of each point; points as `finite_points` reads them."""
    return nearest(finite_points(release, rows), release.scaled(release.centers))[1]


def assign_sites(release: SiteRelease, space: FiniteMetric, places: NDArray[Any]) -> NDArray[np.int64]:
    """Return whom each point goes to, given by its index: the nearest site, unless the release says otherwise.

    What is no index is read as the first point.
    """
    labels = nearest_site(space, release.sites) if release.assignment is None else release.assignment
    with sealed():
        with np.errstate(all="ignore"):
            known = (places >= 0) & (places < space.n_points) & (places == np.floor(places))
        served: NDArray[np.int64] = labels[np.where(known, places, 0).astype(np.int64)]
    return served
