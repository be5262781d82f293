"""A map of a release of sites: the public points and edges, the private summary, and the sites."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.constraints import boolean, check, instance, optional
from spinney.exceptions import ReleaseError, check_path
from spinney.releases.sites import SiteRelease
from spinney.report.canvas import NewFigure, cut, entitle, new_figure, place_labels, save
from spinney.report.frames import site_names
from spinney.spaces.metric import FiniteMetric, Network
from spinney.spaces.one_sided import OneWay

__all__ = ["draw_map", "look_like_degrees"]

#: Sites are labeled up to this many; more labels would cover the map. Of a long name this many letters are shown.
LABELED, LETTERS = 40, 28
#: The area of the heaviest point of a summary of few points; with more than MANY points areas shrink, and so do lines.
AREA, MANY = 400, 100
#: Longitudes and latitudes: the largest ones, and how many degrees a map may span to be taken for a map of degrees.
LARGEST, LARGEST_SPAN = (180.0, 85.0), 20.0
#: The size of a map in inches: its longer side, the least of the shorter one, and what title and legend take.
SIDE, LEAST_SIDE, AROUND = 7.0, 3.6, 1.3
#: Below this width the legend is a single column.
NARROW = 6.0


def _plane(coordinates: NDArray[Any]) -> NDArray[np.float64]:
    """Return the first two coordinates; a single one lies on a line."""
    flat = np.zeros((len(coordinates), 2))
    flat[:, : min(2, coordinates.shape[1])] = coordinates[:, :2]
    return flat


def look_like_degrees(coordinates: NDArray[Any]) -> bool:
    """Whether coordinates could be degrees of longitude and latitude: two, in range, close together, not all whole numbers."""
    if coordinates.shape[1] != 2 or not len(coordinates):
        return False
    in_range = (np.abs(coordinates) <= LARGEST).all() and (np.ptp(coordinates, axis=0) <= LARGEST_SPAN).all()
    return bool(in_range and (coordinates != np.round(coordinates)).any())


def draw_map(release: SiteRelease, path: str | Path, space: FiniteMetric | None = None, degrees: bool | None = None) -> None:
    """Write a PNG of a release.

    Privacy
    -------
    Post-processing of a release, beside public points and edges: free.

    Parameters
    ----------
    release : SiteRelease
        With coordinates, unless the space has them.
    path : str or Path
    space : FiniteMetric, optional
        The public space of the release. Without it the sites are drawn alone: a release knows where they are, but not where the
        points of its summary are.
    degrees : bool, optional
        Whether coordinates are degrees of longitude and latitude, so that a degree to the east is drawn shorter than one to the
        north; by default, whether they look like it.
    """
    check_path(path, "draw_map")
    save(map_figure(release, space, degrees), path)


def map_figure(
    release: SiteRelease, space: FiniteMetric | None = None, degrees: bool | None = None, new: NewFigure = new_figure
) -> Any:
    """Return the figure that `draw_map` writes, made by `new`; other parameters as there."""
    lawful = {
        "release": instance(SiteRelease, "model.release_ of a PrivateKMedoids."),
        "space": optional(instance(FiniteMetric, "the one of the release.")),
        "degrees": optional(boolean("leave it out.")),
    }
    check("draw_map", {"release": release, "space": space, "degrees": degrees}, lawful)
    drawn = None if space is None else space.coordinates
    coordinates = release.coordinates if drawn is None else drawn[release.sites]
    if coordinates is None:
        raise ReleaseError("The release has no coordinates to draw.", "choose the sites in a space with coordinates.")
    everywhere = coordinates if drawn is None else drawn
    degrees = look_like_degrees(everywhere) if degrees is None else degrees
    places = _plane(coordinates)
    shape = _shape(_plane(everywhere), degrees)
    figure = new(*shape)
    axis = figure.subplots()
    if space is not None and drawn is not None:
        _draw_space(axis, release, space, _plane(drawn))
    _draw_sites(axis, release, places)
    _frame(axis, _plane(everywhere), degrees, flat=coordinates.shape[1] == 1)
    margin = "" if release.noise.is_exact else f" (+- {release.sizes_margin:.0f})"
    entitle(figure, shape[0], f"Sites and the rows that each serves{margin}", release.statement)
    figure.legend(loc="outside lower center", ncols=1 if shape[0] < NARROW else 3, fontsize=8, frameon=False)
    if len(places) <= LABELED:
        texts = [f"{cut(name, LETTERS)} ({size:.0f})" for name, size in zip(site_names(release), release.sizes, strict=True)]
        place_labels(axis, places, texts, marker=7)
    return figure


def _aspect(points: NDArray[np.float64], degrees: bool) -> float:
    """Return how much longer a unit to the north is drawn than one to the east."""
    middle = (points[:, 1].min() + points[:, 1].max()) / 2
    return float(1 / np.cos(np.radians(middle))) if degrees else 1.0


def _shape(points: NDArray[np.float64], degrees: bool) -> tuple[float, float]:
    """Return the width and height of the figure, so that the map fills it."""
    wide, high = np.ptp(points, axis=0) * [1.0, _aspect(points, degrees)]
    longest = max(wide, high) or 1.0
    wide, high = (max(SIDE * side / longest, LEAST_SIDE) for side in (wide, high))
    return wide + 0.6, high + AROUND


def _draw_space(axis: Any, release: SiteRelease, space: FiniteMetric, points: NDArray[np.float64]) -> None:
    """Draw the public edges or points, and the private summary of the demand."""
    from matplotlib.collections import LineCollection

    if isinstance(space.source, Network | OneWay):
        tails = np.repeat(np.arange(space.n_points), np.diff(space.source.starts))
        once = (tails < space.source.ends) | isinstance(space.source, OneWay)
        edges: Any = np.stack([points[tails[once]], points[space.source.ends[once]]], axis=1)
        width = 0.6 if len(edges) < MANY**2 else 0.2
        axis.add_collection(LineCollection(edges, colors="0.7", linewidths=width, zorder=1, label="network (public)"))
    else:
        axis.scatter(points[:, 0], points[:, 1], s=4, color="0.65", linewidths=0, zorder=1, label="points (public)")
    if len(release.summary_points):
        weights, shown = release.summary_weights, points[release.summary_points]
        area = AREA * min(1.0, (MANY / len(weights)) ** 0.5) * weights / max(float(weights.max()), 1.0)
        kind = "private summary" if release.is_private else "summary"
        look: dict[str, Any] = {"color": "tab:blue", "alpha": 0.3, "linewidths": 0}
        axis.scatter(shown[:, 0], shown[:, 1], s=area, zorder=2, **look)
        axis.scatter([], [], s=70, label=f"demand ({kind}), area for rows", **look)


def _draw_sites(axis: Any, release: SiteRelease, places: NDArray[np.float64]) -> None:
    k = len(release.medoids)
    axis.scatter(places[:k, 0], places[:k, 1], s=130, marker="*", color="tab:red", edgecolors="black", zorder=4, label="new site")
    if len(places) > k:
        look: dict[str, Any] = {"marker": "s", "color": "white", "edgecolors": "black", "label": "existing site"}
        axis.scatter(places[k:, 0], places[k:, 1], s=50, zorder=3, **look)


def _frame(axis: Any, points: NDArray[np.float64], degrees: bool, flat: bool) -> None:
    """Set what is shown, in which proportions, and the scales."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    aspect = _aspect(points, degrees)
    low, high = points.min(axis=0), points.max(axis=0)
    air = 0.06 * (max(float(((high - low) * [1.0, aspect]).max()), 1e-9) or 1.0)
    axis.set(xlim=(low[0] - air, high[0] + air), ylim=(low[1] - air / aspect, high[1] + air / aspect))
    axis.set_aspect("auto" if flat else aspect, adjustable="box" if not flat else None)
    axis.tick_params(labelsize=7, colors="0.35")
    for side, ends, locator in ((axis.xaxis, "WE", MaxNLocator(5)), (axis.yaxis, "SN", MaxNLocator(6))):
        side.set_major_locator(locator)
        if degrees:
            side.set_major_formatter(FuncFormatter(_degrees_in(ends)))
        else:
            side.get_major_formatter().set_useOffset(False)
    if flat:
        axis.set(ylim=(-1, 1), yticks=[])


def _degrees_in(ends: str) -> Any:
    return lambda value, place: f"{abs(value):.6g}°{ends[int(value > 0)] if value else ''}"
