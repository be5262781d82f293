"""A picture of a release: its private summary and its centers, beside public data if there is any."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.constraints import check, instance, is_integer
from spinney.exceptions import ParameterError, check_path
from spinney.releases.centers import Release
from spinney.releases.objectives import title_of
from spinney.report.canvas import NewFigure, cut, entitle, new_figure, place_labels, save
from spinney.spaces.box import domain_from_dict
from spinney.spaces.nearest import nearest

__all__ = ["counts_line", "draw", "figure_of"]

#: Columns that a picture shows, each against each other one.
SHOWN_COLUMNS = 4
#: Clusters up to this many have a color each, and a label with their size; up to LISTED their sizes stand in the legend.
COLORED, LABELED, LISTED = 20, 20, 12
#: The area of the heaviest point of a summary of few points; with more than MANY points areas shrink.
AREA, MANY = 250, 100
#: The number of bars of a single column, and the letters shown of a column's name.
BARS, LETTERS = 48, 40


def _table(name: str, values: Any, least: int, length: int | None = None) -> NDArray[np.float64] | None:
    """Return a table of numbers with at least `least` columns, if there is one; an error does not quote it."""
    if values is None:
        return None
    table: NDArray[Any] = np.empty(0)
    with suppress(Exception):  # whatever a table of texts raises
        table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] < least or length not in (None, len(table)):
        raise ParameterError.wrong(name, "draw", "a table of numbers", values, "leave it out to draw the release alone.")
    return table


def draw(
    release: Release,
    path: str | Path,
    public_points: NDArray[Any] | None = None,
    colors: NDArray[Any] | None = None,
    columns: tuple[int, ...] | None = None,
) -> None:
    """Write a PNG of a release: bars of one column, or points of two or more, each column against each other one.

    Privacy
    -------
    The release alone is free post-processing. `public_points` are drawn as they are: pass only points that may be shown.

    Parameters
    ----------
    release : Release
    path : str or Path
    public_points : array of shape (n, d), optional
        Drawn in a panel of their own, beside the first two of the columns.
    colors : array of shape (n, 3), optional
        Colors of the public points, in [0, 1].
    columns : tuple of int, optional
        Which to show; by default up to four, those along which the centers differ most.
    """
    check_path(path, "draw")
    save(figure_of(release, public_points, colors, columns), path)


def figure_of(
    release: Release, public_points: Any = None, colors: Any = None, columns: Any = None, new: NewFigure = new_figure
) -> Any:
    """Return the figure that `draw` writes, made by `new`; other parameters as there."""
    check("draw", {"release": release}, {"release": instance(Release, "model.release_.")})
    d = release.centers.shape[1]
    listed = isinstance(columns, tuple | list) and len(columns) >= 2
    if columns is not None and not (listed and all(is_integer(i) and 0 <= int(i) < max(d, 2) for i in columns)):
        raise ParameterError.wrong("columns", "draw", "two or more indices of columns, or None", columns, "columns=(0, 1).")
    shown = informative_columns(release) if columns is None else tuple(int(i) for i in columns)
    public_points = _table("public_points", public_points, max(shown[:2]) + 1)
    colors = _table("colors", colors, 3, 0 if public_points is None else len(public_points))
    if release.centers.shape[1] == 1:
        return _bars(release, new)
    if public_points is not None:
        return _beside(release, shown[:2], public_points, colors, new)
    return _matrix(release, shown, new)


def informative_columns(release: Release, count: int = SHOWN_COLUMNS) -> tuple[int, ...]:
    """Return up to `count` columns along which the centers differ most, by their sizes and the width of the domain, in order.

    Numbers and dates come before indicators, which have but two places.
    """
    domain = domain_from_dict(release.tightened or release.domain)
    weights = release.sizes + 1.0
    scaled = (release.centers - domain.lower) / (domain.upper - domain.lower)
    spread = np.average((scaled - np.average(scaled, axis=0, weights=weights)) ** 2, axis=0, weights=weights)
    best = np.lexsort((-spread, indicators(release)))[:count]
    return tuple(sorted(best.tolist()))


def indicators(release: Release) -> NDArray[np.bool_]:
    """Return which columns are truth values, or say whether a row is of one category."""
    if release.facts is None:
        return np.zeros(release.centers.shape[1], dtype=bool)
    return np.array([column.kind in ("boolean", "category") for column in release.facts.of_titles])


def _name_axes(axis: Any, release: Release, first: int | None, second: int | None) -> None:
    """Write the names of the columns beside an axis, as they are: a dollar sign begins no formula; days are written as days."""
    from matplotlib.ticker import MaxNLocator

    names = release.feature_names or [f"column {i}" for i in range(release.centers.shape[1])]
    for side, column in ((axis.xaxis, first), (axis.yaxis, second)):
        if column is not None:
            side.label.set_parse_math(False)
            side.set_label_text(cut(str(names[column]), LETTERS))
            fact = None if release.facts is None else release.facts.of_titles[column]
            if fact is not None and fact.kind == "date":
                side.set_major_locator(MaxNLocator(2))  # a day takes many letters
                side.set_major_formatter(lambda value, place, fact=fact: fact.day(value))


def _summary_words(release: Release) -> str:
    return "private summary" if release.is_private else "summary"


def _sizes_words(release: Release) -> str:
    if release.noise.is_exact:
        return "its number: its exact number of rows"
    return f"its number: its noisy number of rows, +- {release.sizes_margin:.0f}"


def _size_texts(release: Release) -> list[str]:
    return [f"{i}: {size:.0f}" for i, size in enumerate(release.sizes)]


def _colors(release: Release) -> tuple[Any, Any]:
    """Return the colors of the centers and of the summary's points: each point has its nearest center's, if there are few."""
    k = len(release.centers)
    if k > COLORED:
        return ["white"] * k, "tab:blue"
    from matplotlib import colormaps

    palette = np.array([colormaps["tab10" if k <= 10 else "tab20"](i) for i in range(k)])
    if not len(release.summary_points):
        return palette, "none"
    return palette, palette[nearest(release.scaled(release.summary_points), release.scaled(release.centers))[1]]


def _scatter(axis: Any, release: Release, first: int, second: int) -> None:
    """Draw the summary and the centers in two columns, within the bounds."""
    centers, points = _colors(release)
    box = domain_from_dict(release.tightened or release.domain)
    if len(release.summary_points):
        weights = release.summary_weights
        area = AREA * min(1.0, (MANY / len(weights)) ** 0.25) * weights / max(float(weights.max()), 1.0)
        places = release.summary_points[:, [first, second]].T
        axis.scatter(*places, s=area, c=points, alpha=0.35, linewidths=0)
    axis.scatter(
        *release.centers[:, [first, second]].T, s=90, marker="X", c=centers, edgecolors="black", linewidths=1.1, zorder=3
    )
    axis.set(xlim=_limits(box, first), ylim=_limits(box, second))


def _limits(box: Any, column: int) -> tuple[float, float]:
    """Return the bounds of a column, with a little air for markers on them."""
    air = 0.03 * (box.upper[column] - box.lower[column])
    return box.lower[column] - air, box.upper[column] + air


def _handles(release: Release) -> list[Any]:
    words = f"{_summary_words(release)}: area for rows"
    words += "" if len(release.centers) > COLORED else ", color for the nearest center"
    handles = [_mark("o", "0.6", "none", words)] if len(release.summary_points) else []
    return [*handles, _mark("X", "white", "black", "center")]


def _mark(marker: str, face: Any, edge: str, label: str) -> Any:
    from matplotlib.lines import Line2D

    look: dict[str, Any] = {"color": "none", "markerfacecolor": face, "markeredgecolor": edge, "markersize": 9}
    return Line2D([], [], marker=marker, **look, label=label)


def _headline(release: Release, columns: tuple[int, ...]) -> str:
    k, d = release.centers.shape
    summary = f" and the {_summary_words(release)}" if len(release.summary_points) else ""
    line = f"{title_of(release.objective)}: {k} {'center' if k == 1 else 'centers'}{summary}"
    return line if len(columns) == d else f"{line}, {len(columns)} of {d} columns"


def _matrix(release: Release, columns: tuple[int, ...], new: NewFigure) -> Any:
    """Return a figure of each column against each other one, with the sizes beside the centers, or where panels would repeat."""
    side = len(columns) - 1
    width, height = (6.8, 6.2) if side == 1 else (3.0 * side + 1.0, 2.8 * side + 1.2)
    figure = new(width, height)
    axes = figure.subplots(side, side, squeeze=False, sharex="col", sharey="row")
    for i, j in np.ndindex(side, side):
        if j > i:
            axes[i, j].set_axis_off()
            continue
        _scatter(axes[i, j], release, columns[j], columns[i + 1])
        _name_axes(axes[i, j], release, columns[j] if i == side - 1 else None, columns[i + 1] if j == 0 else None)
    entitle(figure, width, _headline(release, columns), release.statement)
    if side > 1:
        axes[0, -1].legend(handles=_matrix_handles(release, columns), loc="upper right", fontsize=8, frameon=False)
        return figure
    handles, labeled = _handles(release), len(release.centers) <= LABELED
    if labeled:
        handles[-1].set_label(f"center, with {_sizes_words(release)}")
    figure.legend(handles=handles, loc="outside lower center", ncols=1, fontsize=8, frameon=False)
    if labeled:
        place_labels(axes[0, 0], release.centers[:, list(columns)], _size_texts(release))
    return figure


def _matrix_handles(release: Release, columns: tuple[int, ...]) -> list[Any]:
    """Return what the legend explains, with one line per cluster if there are few."""
    from matplotlib.lines import Line2D

    handles = _handles(release)
    if handles[:-1]:
        handles[0].set_label(f"{_summary_words(release)},\narea for rows")
    if len(release.centers) <= LISTED:
        colors, _ = _colors(release)
        margin = "" if release.noise.is_exact else f" (+- {release.sizes_margin:.0f})"
        handles[-1].set_label(f"center: the cluster's number,\nand the rows it serves{margin}:")
        texts = _size_texts(release)
        handles += [_mark("X", colors[i], "black", texts[i]) for i in np.argsort(-release.sizes, kind="stable")]
    if len(columns) < release.centers.shape[1]:
        handles.append(Line2D([], [], color="none", label="The columns along which\nthe centers differ most."))
    return handles


def _beside(
    release: Release, columns: tuple[int, ...], public_points: NDArray[Any], colors: NDArray[Any] | None, new: NewFigure
) -> Any:
    """Return a figure of public points on the left and of the release on the right."""
    width = 12.4
    figure = new(width, 6.2)
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    first, second = columns
    look = {"color": "0.55"} if colors is None else {"c": colors}
    left.scatter(public_points[:, first], public_points[:, second], s=3, linewidths=0, **look)
    left.scatter(*release.centers[:, [first, second]].T, s=90, marker="X", color="white", edgecolors="black", zorder=3)
    left.set_title("data (public, so it may be shown) and the centers", fontsize=10)
    _scatter(right, release, first, second)
    right.set_title(f"{_summary_words(release)} and the centers", fontsize=10)
    for axis in (left, right):
        _name_axes(axis, release, first, second)
    entitle(figure, width, _headline(release, columns), release.statement)
    figure.legend(handles=_handles(release), loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    return figure


def _bars(release: Release, new: NewFigure) -> Any:
    """Return a figure of one column: bars of the summary, or else of the sizes, and the centers as lines."""
    from matplotlib.ticker import MaxNLocator

    width = 7.4
    figure, box = new(width, 4.4), domain_from_dict(release.tightened or release.domain)
    axis, places = figure.subplots(), release.centers[:, 0]
    edges = np.linspace(box.lower[0], box.upper[0], BARS + 1)
    if len(release.summary_points):
        within = np.clip(release.summary_points[:, 0], edges[0], edges[-1])
        lefts, words = edges[:-1], _summary_words(release)
        heights, _ = np.histogram(within, edges, weights=release.summary_weights)
    else:
        lefts, heights, words = places - (edges[1] - edges[0]) / 2, release.sizes, "rows of each center"
    axis.bar(lefts, heights, edges[1] - edges[0], align="edge", color="tab:blue", alpha=0.55, label=words)
    top = 1.05 * max(float(heights.max()), 1.0)
    tips = np.column_stack([places, np.full(len(places), top)])
    axis.vlines(places, 0, top, color="black", linewidth=1.2)
    look: dict[str, Any] = {"marker": "X", "color": "white", "edgecolors": "black"}
    axis.scatter(tips[:, 0], tips[:, 1], s=60, zorder=3, label=f"center, with {_sizes_words(release)}", **look)
    axis.set(xlim=_limits(box, 0), ylim=(0, 1.2 * top), ylabel="rows")
    _name_axes(axis, release, 0, None)
    axis.yaxis.set_major_locator(MaxNLocator(integer=True))
    entitle(figure, width, _headline(release, (0,)), release.statement)
    figure.legend(loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    if len(places) <= LABELED:
        place_labels(axis, tips, _size_texts(release), 8 if len(places) <= LISTED else 6.5)
    return figure


def counts_line(release: Release) -> str:
    """Return the noisy sizes as one line."""
    sizes = ", ".join(f"{int(size)}" for size in np.sort(release.sizes)[::-1])
    return f"{sizes} (each +- {release.sizes_margin:.0f} with probability 0.95)"
