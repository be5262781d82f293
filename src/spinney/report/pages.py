"""A release as one readable page of text."""

from __future__ import annotations

from spinney.releases.reading import AnyRelease
from spinney.report.publication.assembly import in_short
from spinney.report.publication.text import to_text

__all__ = ["page"]


def page(release: AnyRelease, *, whole: bool = False, curve: bool = True) -> str:
    """Return what was promised, the centers, sites or choices with their sizes, and what was spent on what.

    Clusters have the numbers that labels have: from 0, in the order of the release.

    Privacy
    -------
    Post-processing of a release: free.

    Parameters
    ----------
    release : Release, SiteRelease, CoverRelease or DescriptionRelease
    whole : bool
        Whether to show every column, center and charge, and not as many as fit on a page.
    curve : bool
        Whether to show the costs that a number of clusters was found from, if it was.
    """
    return to_text(in_short(release, whole, curve))
