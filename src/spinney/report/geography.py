"""What a map of sites shows: the public space, the sites of a release with what they serve, and the private summary of demand.

All of it is public or released: whatever a map is made of, it is made of this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.constraints import boolean, check, instance, optional
from spinney.exceptions import ParameterError, ReleaseError
from spinney.releases.sites import SiteRelease
from spinney.report.frames import site_names
from spinney.spaces.metric import FiniteMetric, IntArray, Network, nearest_site
from spinney.spaces.one_sided import OneWay

#: Longitudes and latitudes: the largest ones, and how many degrees a map may span to be taken for a map of degrees.
LARGEST, LARGEST_SPAN = (180.0, 85.0), 20.0


def look_like_degrees(coordinates: NDArray[Any]) -> bool:
    """Whether coordinates could be degrees of longitude and latitude: two, in range, close together, not all whole numbers."""
    if coordinates.shape[1] != 2 or not len(coordinates):
        return False
    in_range = (np.abs(coordinates) <= LARGEST).all() and (np.ptp(coordinates, axis=0) <= LARGEST_SPAN).all()
    return bool(in_range and (coordinates != np.round(coordinates)).any())


@dataclass(frozen=True, eq=False, repr=False)
class Geography:
    """Places in the plane, in the units of the coordinates; made by `of`.

    Attributes
    ----------
    release : SiteRelease
    sites : array of shape (s, 2)
        Chosen sites, then existing ones.
    names : list of str
    points : array of shape (n, 2)
        Of the space; of the sites alone, if the space is not known.
    edges : array of shape (m, 2), or None
        The ends of each edge of a network, once.
    serving : array of shape (n,), or None
        Whom each point goes to, by the place of its site, or -1 for nobody; None if the space is not known.
    demand, weights : arrays of shape (p, 2) and (p,)
        The private summary; no points if the space is not known.
    degrees, flat : bool
        Whether coordinates are longitudes and latitudes, and whether all lie on a line.
    """

    release: SiteRelease
    sites: NDArray[np.float64]
    names: list[str]
    points: NDArray[np.float64]
    edges: IntArray | None
    serving: IntArray | None
    demand: NDArray[np.float64]
    weights: NDArray[np.float64]
    degrees: bool
    flat: bool

    @classmethod
    def of(cls, owner: str, release: SiteRelease, space: FiniteMetric | None, degrees: bool | None) -> Geography:
        """Check what is to be shown, for whoever shows it."""
        lawful = {
            "release": instance(SiteRelease, "model.release_ of a PrivateKMedoids."),
            "space": optional(instance(FiniteMetric, "the one of the release.")),
            "degrees": optional(boolean("leave it out.")),
        }
        check(owner, {"release": release, "space": space, "degrees": degrees}, lawful)
        if space is not None and {**space.described, "n_candidates": None} != {**release.space, "n_candidates": None}:
            hint = "make it from the same public files."
            raise ParameterError.wrong("space", owner, f"the space of the release, {release.space}", space, hint)
        drawn = None if space is None else space.coordinates
        places = release.coordinates if drawn is None else drawn[release.sites]
        if places is None:
            raise ReleaseError("The release has no coordinates to draw.", "choose the sites in a space with coordinates.")
        everywhere = places if drawn is None else drawn
        if degrees is None:
            degrees = (space is not None and space.degrees) or look_like_degrees(everywhere)
        points, edges, serving, summary = _plane(everywhere), None, None, np.empty((0, 2))
        if space is not None and drawn is not None:
            serving = nearest_site(space, release.sites) if release.assignment is None else release.assignment
            summary = points[release.summary_points]
            edges = _edges(space.source) if isinstance(space.source, Network | OneWay) else None
        weights = release.summary_weights[: len(summary)]
        flat = places.shape[1] == 1
        return cls(release, _plane(places), site_names(release), points, edges, serving, summary, weights, degrees, flat)

    @property
    def aspect(self) -> float:
        """How much longer a unit to the north is drawn than one to the east: degrees to the east are shorter."""
        middle = (self.points[:, 1].min() + self.points[:, 1].max()) / 2
        return float(1 / np.cos(np.radians(middle))) if self.degrees else 1.0

    @property
    def margin_words(self) -> str:
        """How far the sizes may be off."""
        return "" if self.release.noise.is_exact else f" (+- {self.release.sizes_margin:,.0f})"


def _plane(coordinates: NDArray[Any]) -> NDArray[np.float64]:
    """Return the first two coordinates; a single one lies on a line."""
    flat = np.zeros((len(coordinates), 2))
    flat[:, : min(2, coordinates.shape[1])] = coordinates[:, :2]
    return flat


def _edges(network: Network | OneWay) -> IntArray:
    """Return the ends of each edge once, whatever its direction."""
    tails = np.repeat(np.arange(len(network.starts) - 1), np.diff(network.starts))
    both: IntArray = np.unique(np.sort(np.stack([tails, network.ends], axis=1), axis=1), axis=0)
    return both
