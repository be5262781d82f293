"""What every release offers to look at: a page in notebooks, a frame, a plot. The room `report` makes them."""

from __future__ import annotations

from typing import Any

from spinney._lazy import above

__all__ = ["Presented"]


class Presented:
    """Shows itself by what `spinney.report` makes of it."""

    def _repr_html_(self) -> str:
        text: str = above("spinney.report.notebook:release_html")(self)
        return text

    def to_frame(self, kind: str = "pandas") -> Any:
        """Return the clusters, sites or choices as a frame, in the order of the release.

        Privacy
        -------
        Post-processing of a release: free.

        Parameters
        ----------
        kind : {"pandas", "polars"}
        """
        return above("spinney.report.frames:to_frame")(self, kind)

    def plot(self, columns: tuple[int, ...] | None = None) -> Any:
        """Draw the release with matplotlib and return the axes, several as an array; notebooks show them.

        Privacy
        -------
        Post-processing of a release: free.

        Parameters
        ----------
        columns : tuple of int, optional
            Of centers: which to show, as for `spinney.report.draw`.
        """
        return above("spinney.report.plots:plot")(self, columns)
