"""A map of a release of sites: the public points and edges, the private summary, and the sites."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.exceptions import ParameterError, ReleaseError, check_path
from spinney.privacy.site_release import SiteRelease
from spinney.report.site_page import site_names
from spinney.spaces.metric import FiniteMetric, Network

__all__ = ["draw_map"]

#: Sites are labeled up to this many; more labels would cover the map.
LABELED = 40
#: The area of the heaviest point of a summary of few points; with more than MANY points areas shrink, and so do lines.
AREA, MANY = 400, 100


def _plane(coordinates: NDArray[Any]) -> NDArray[np.float64]:
    """Return the first two coordinates; a single one lies on a line."""
    flat = np.zeros((len(coordinates), 2))
    flat[:, : min(2, coordinates.shape[1])] = coordinates[:, :2]
    return flat


def draw_map(release: SiteRelease, path: str | Path, space: FiniteMetric | None = None) -> None:
    """Write a PNG of a release.

    Privacy
    -------
    Post-processing of a release, beside public points and edges: free.

    Parameters
    ----------
    release : SiteRelease
        With coordinates.
    path : str or Path
    space : FiniteMetric, optional
        The public space of the release. Without it the sites are drawn alone: a release knows where they are, but not where the
        points of its summary are.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.collections import LineCollection
    from matplotlib.figure import Figure
    from matplotlib.patheffects import withStroke

    check_path(path, "draw_map")
    if not isinstance(release, SiteRelease):
        raise ParameterError.wrong("release", "draw_map", "a SiteRelease", release, "model.release_ of a PrivateKMedoids.")
    if not (space is None or isinstance(space, FiniteMetric)):
        raise ParameterError.wrong("space", "draw_map", "a FiniteMetric or None", space, "that of the release.")
    if release.coordinates is None:
        raise ReleaseError(
            "The release has no coordinates to draw.\nHint: choose the sites with --coordinates, or from --points."
        )
    figure = Figure(figsize=(7.4, 7.0), layout="constrained")
    FigureCanvasAgg(figure)
    axis = figure.subplots()
    if space is not None and space.coordinates is not None:
        points = _plane(space.coordinates)
        if isinstance(space.source, Network):
            tails = np.repeat(np.arange(space.n_points), np.diff(space.source.starts))
            once = tails < space.source.ends
            edges: Any = np.stack([points[tails[once]], points[space.source.ends[once]]], axis=1)
            width = 0.6 if len(edges) < MANY**2 else 0.2
            axis.add_collection(LineCollection(edges, colors="0.75", linewidths=width, zorder=1))
        else:
            axis.scatter(points[:, 0], points[:, 1], s=2, color="0.65", linewidths=0, zorder=1)
        if len(release.summary_points):
            weights, shown = release.summary_weights, points[release.summary_points]
            area = AREA * min(1.0, (MANY / len(weights)) ** 0.5) * weights / max(float(weights.max()), 1.0)
            look: dict[str, Any] = {"color": "tab:blue", "alpha": 0.3, "linewidths": 0, "label": "demand (private summary)"}
            axis.scatter(shown[:, 0], shown[:, 1], s=area, zorder=2, **look)
    places, k = _plane(release.coordinates), len(release.medoids)
    axis.scatter(places[:k, 0], places[:k, 1], s=130, marker="*", color="tab:red", edgecolors="black", zorder=4, label="new site")
    if len(places) > k:
        axis.scatter(
            places[k:, 0], places[k:, 1], s=60, marker="s", color="white", edgecolors="black", zorder=3, label="existing site"
        )
    if len(places) <= LABELED:
        for place, name, size in zip(places, site_names(release), release.sizes, strict=True):
            label = axis.annotate(
                f"{name} ({size:.0f})", place, xytext=(7, 5), textcoords="offset points", fontsize=8, zorder=3.5, parse_math=False
            )
            label.set_path_effects([withStroke(linewidth=2, foreground="white")])
    axis.set_aspect("equal", adjustable="datalim")
    axis.margins(0.1)
    axis.set(xticks=[], yticks=[])
    axis.legend(loc="upper right", fontsize=8, framealpha=0.8)
    axis.set_title(f"Sites and the rows that each serves (+- {release.sizes_margin:.0f})\n{release.statement}", fontsize=10)
    figure.savefig(path, dpi=110)
