"""Pictures that stay open: their axes are returned, and notebooks show them."""

from __future__ import annotations

from typing import Any

import numpy as np

from spinney.exceptions import ReleaseError
from spinney.releases.centers import Release
from spinney.releases.curve import CostCurve
from spinney.releases.promise import Promise
from spinney.releases.sites import SiteRelease
from spinney.report.canvas import DPI
from spinney.report.curve import curve_figure
from spinney.report.map import map_figure
from spinney.report.picture import figure_of

__all__ = ["plot"]


def shown_figure(width: float, height: float) -> Any:
    """Return a figure that pyplot knows, so that notebooks show it at the end of a cell."""
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ReleaseError("matplotlib is not installed.", "install spinney with the extra 'plot'.") from None
    return pyplot.figure(figsize=(width, height), layout="constrained", dpi=DPI)


def axes_of(figure: Any) -> Any:
    """Return the axes of a figure: one alone, several as an array."""
    found = [axis for axis in figure.axes if axis.axison]
    return found[0] if len(found) == 1 else np.array(found, dtype=object)


def plot(release: Promise | CostCurve, columns: tuple[int, ...] | None = None) -> Any:
    """Draw a release or a curve and return the axes; see ``release.plot``."""
    if isinstance(release, CostCurve):
        return axes_of(curve_figure(release, shown_figure))
    if isinstance(release, Release):
        return axes_of(figure_of(release, columns=columns, new=shown_figure))
    if isinstance(release, SiteRelease) and columns is None:
        return axes_of(map_figure(release, new=shown_figure))
    raise ReleaseError("This release has no such picture.", "release.plot() draws centers, and sites with coordinates.")
