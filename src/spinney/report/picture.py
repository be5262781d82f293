"""A picture of a release: its private summary and its centers, beside public data if there is any."""

from __future__ import annotations

from contextlib import suppress
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.exceptions import ParameterError, check_path
from spinney.privacy.release import Release
from spinney.spaces.box import domain_from_dict

__all__ = ["draw"]


def _is_place(value: Any, n_features: int) -> bool:
    return not isinstance(value, bool) and isinstance(value, Integral) and 0 <= int(value) < max(n_features, 2)


def _table(name: str, values: Any, least: int, length: int | None = None) -> NDArray[np.float64] | None:
    """Return a table of numbers with at least so many columns, if there is one; an error does not quote it."""
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
    columns: tuple[int, int] = (0, 1),
) -> None:
    """Write a PNG of two columns of a release.

    Privacy
    -------
    The release alone is free post-processing. `public_points` are drawn as they are: pass only points that may be shown.

    Parameters
    ----------
    release : Release
    path : str or Path
    public_points : array of shape (n, d), optional
    colors : array of shape (n, 3), optional
        Colors of the public points, in [0, 1].
    columns : pair of int
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    check_path(path, "draw")
    if not isinstance(release, Release):
        raise ParameterError.wrong("release", "draw", "a Release", release, "model.release_.")
    domain = domain_from_dict(release.domain)
    if not (isinstance(columns, tuple | list) and len(columns) == 2 and all(_is_place(i, domain.n_features) for i in columns)):
        raise ParameterError.wrong("columns", "draw", "two indices of columns", columns, "columns=(0, 1).")
    public_points = _table("public_points", public_points, max(columns) + 1 if domain.n_features > 1 else 1)
    colors = _table("colors", colors, 3, 0 if public_points is None else len(public_points))
    names = release.feature_names or [f"column {i}" for i in range(domain.n_features)]
    first, second = columns[0], columns[1] if domain.n_features > 1 else columns[0]
    panels = 1 if public_points is None else 2
    figure = Figure(figsize=(6.2 * panels, 5.6), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots(1, panels, squeeze=False, sharex=True, sharey=True)[0]
    if public_points is not None:
        shown = {"color": "0.55"} if colors is None else {"c": colors}
        axes[0].scatter(public_points[:, first], public_points[:, second], s=3, linewidths=0, **shown)
        axes[0].set_title("data (public, so it may be shown)")
    summary = axes[-1]
    if len(release.summary_points):
        area = 250 * release.summary_weights / max(float(release.summary_weights.max()), 1.0)
        points = release.summary_points
        summary.scatter(points[:, first], points[:, second], s=area, color="tab:blue", alpha=0.35, linewidths=0)
    summary.set_title(f"private summary and centers\n{release.statement}")
    for axis in axes:
        axis.scatter(*release.centers[:, [first, second]].T, s=110, marker="X", color="white", edgecolors="black", zorder=3)
        axis.set(xlabel=str(names[first]), ylabel=str(names[second]))
        axis.set(xlim=(domain.lower[first], domain.upper[first]), ylim=(domain.lower[second], domain.upper[second]))
    figure.savefig(path, dpi=110)


def counts_line(release: Release) -> str:
    """Return the noisy sizes as one line."""
    sizes = ", ".join(f"{int(size)}" for size in np.sort(release.sizes)[::-1])
    return f"{sizes} (each +- {release.sizes_margin:.0f} with probability 0.95)"
