"""A picture of a release of sites: the public points and edges, the private summary, and the sites."""

from __future__ import annotations

from typing import Any

import numpy as np

from spinney.releases.sites import SiteRelease
from spinney.report.canvas import PALETTE, NewFigure, cut, entitle, new_figure, place_labels
from spinney.report.geography import Geography
from spinney.spaces.metric import FiniteMetric

__all__ = ["map_figure"]

#: Sites are labeled up to this many; more labels would cover the map. Of a long name this many letters are shown.
LABELED, LETTERS = 40, 28
#: The area of the heaviest point of a summary of few points, and how dark it is; with more than MANY points areas shrink and
#: become lighter, and lines shrink.
AREA, DARK, MANY = 400, 0.3, 100
#: More lines than this are one picture within an SVG.
LINES = 20_000
#: The size of a map in inches: its longer side, the least of the shorter one, and what title and legend take.
SIDE, LEAST_SIDE, AROUND = 7.0, 3.6, 1.3
#: Below this width the legend is a single column.
NARROW = 6.0


def map_figure(
    release: SiteRelease, space: FiniteMetric | None = None, degrees: bool | None = None, new: NewFigure = new_figure
) -> Any:
    """Return the figure that `draw_map` writes, made by `new`; other parameters as there."""
    where = Geography.of("draw_map", release, space, degrees)
    shape = _shape(where)
    figure = new(*shape)
    axis = figure.subplots()
    if where.serving is not None:
        _draw_space(axis, where)
    _draw_sites(axis, where)
    _frame(axis, where)
    entitle(figure, shape[0], f"Sites and the rows that each serves{where.margin_words}", release.statement)
    figure.legend(loc="outside lower center", ncols=1 if shape[0] < NARROW else 3, fontsize=8, frameon=False)
    if len(where.sites) <= LABELED:
        texts = [f"{cut(name, LETTERS)} ({size:.0f})" for name, size in zip(where.names, release.sizes, strict=True)]
        place_labels(axis, where.sites, texts, marker=7)
    return figure


def _shape(where: Geography) -> tuple[float, float]:
    """Return the width and height of the figure, so that the map fills it."""
    wide, high = np.ptp(where.points, axis=0) * [1.0, where.aspect]
    longest = max(wide, high) or 1.0
    wide, high = (max(SIDE * side / longest, LEAST_SIDE) for side in (wide, high))
    return wide + 0.6, high + AROUND


def _draw_space(axis: Any, where: Geography) -> None:
    """Draw the public edges or points by their nearest sites, and the private summary of the demand."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import to_rgba_array

    release, points = where.release, where.points
    assert where.serving is not None
    # Lighter ones, and one for edges between.
    colors = np.vstack([0.55 * to_rgba_array(PALETTE) + 0.45, to_rgba_array(["0.7"])])[:, :3]
    of = np.where(where.serving < 0, len(PALETTE), where.serving % len(PALETTE))
    if where.edges is not None:
        tails, heads = where.edges.T
        of = np.where(where.serving[tails] == where.serving[heads], of[tails], len(PALETTE))
        width = 0.8 if len(of) < MANY**2 else 0.3
        lines = np.stack([points[tails], points[heads]], axis=1)
        look: dict[str, Any] = {"linewidths": width, "zorder": 1, "label": "network (public), by site"}
        axis.add_collection(LineCollection(list(lines), colors=colors[of], rasterized=len(of) > LINES, **look))
    else:
        look = {"s": 5, "linewidths": 0, "zorder": 1, "label": "points (public), by site"}
        axis.scatter(points[:, 0], points[:, 1], color=colors[of], rasterized=len(of) > LINES, **look)
    if len(where.weights):
        crowd = min(1.0, MANY / len(where.weights))
        area = AREA * crowd**0.5 * where.weights / max(float(where.weights.max()), 1.0)
        kind = "private summary" if release.is_private else "summary"
        look = {"color": "0.25", "linewidths": 0}
        axis.scatter(where.demand[:, 0], where.demand[:, 1], s=area, zorder=2, alpha=DARK * crowd**0.25, **look)
        axis.scatter([], [], s=70, label=f"demand ({kind}), area for rows", alpha=DARK, **look)


def _draw_sites(axis: Any, where: Geography) -> None:
    k, places = len(where.release.medoids), where.sites
    axis.scatter(places[:k, 0], places[:k, 1], s=130, marker="*", color="tab:red", edgecolors="black", zorder=4, label="new site")
    if len(places) > k:
        look: dict[str, Any] = {"marker": "s", "color": "white", "edgecolors": "black", "label": "existing site"}
        axis.scatter(places[k:, 0], places[k:, 1], s=50, zorder=3, **look)


def _frame(axis: Any, where: Geography) -> None:
    """Set what is shown, in which proportions, and the scales."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    aspect, flat = where.aspect, where.flat
    low, high = where.points.min(axis=0), where.points.max(axis=0)
    air = 0.06 * (max(float(((high - low) * [1.0, aspect]).max()), 1e-9) or 1.0)
    axis.set(xlim=(low[0] - air, high[0] + air), ylim=(low[1] - air / aspect, high[1] + air / aspect))
    axis.set_aspect("auto" if flat else aspect, adjustable="box" if not flat else None)
    axis.tick_params(labelsize=7, colors="0.35")
    for side, ends, locator in ((axis.xaxis, "WE", MaxNLocator(5)), (axis.yaxis, "SN", MaxNLocator(6))):
        side.set_major_locator(locator)
        if where.degrees:
            side.set_major_formatter(FuncFormatter(lambda x, place, ends=ends: f"{abs(x):.6g}°{ends[int(x > 0)] if x else ''}"))
        else:
            side.get_major_formatter().set_useOffset(False)
    if flat:
        axis.set(ylim=(-1, 1), yticks=[])
