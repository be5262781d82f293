"""What every release offers to look at: a page in notebooks, a frame, a plot. The room `report` makes them."""

from __future__ import annotations

from typing import Any

from spinney._shown import Showable, offered

__all__ = ["Presented"]


class Presented(Showable):
    """Shows itself by what `spinney.report` makes of it."""

    def to_frame(self, kind: str = "pandas") -> Any:
        """Return the clusters, sites or choices as a frame, in the order of the release.

        Privacy
        -------
        Post-processing of a release: free.

        Parameters
        ----------
        kind : {"pandas", "polars"}
        """
        return offered("frame")(self, kind)

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
        return offered("plot")(self, columns)
