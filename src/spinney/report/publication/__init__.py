"""A report of a release: a page of HTML, Markdown or PDF to publish, in words that need no mathematics, and one of text."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Unpack

from spinney.exceptions import ParameterError, check_path
from spinney.ledgers.ledger import Ledger
from spinney.releases.centers import Release
from spinney.releases.curve import CostCurve
from spinney.releases.reading import AnyRelease
from spinney.report.publication.assembly import Shown, assembled, in_short
from spinney.report.publication.html import to_html
from spinney.report.publication.plain import to_markdown, to_text
from spinney.report.publication.printing import print_pdf
from spinney.spaces.metric import FiniteMetric
from spinney.verification.report import Verification

__all__ = ["html_page", "markdown_page", "page", "write_report"]

#: How the files end that are written.
KINDS = (".html", ".md", ".pdf")


def html_page(
    release: AnyRelease,
    *,
    title: str | None = None,
    ledger: Ledger | str | PathLike[str] | None = None,
    curve: CostCurve | None = None,
    verification: Verification | None = None,
    described: Release | None = None,
    names: dict[int, str] | None = None,
    space: FiniteMetric | None = None,
) -> str:
    """Return a report as one page of HTML, without anything from outside, and without scripts but that of its map.

    Privacy
    -------
    Post-processing of a release, beside public facts of a ledger: free. A release that is not private says so at its top.

    Parameters
    ----------
    release : Release, SiteRelease, CoverRelease or DescriptionRelease
        Of any version of the format.
    title : str, optional
        By default what was released.
    ledger : Ledger, str or Path, optional
        Shows what is left in it, and whether it paid for the release.
    curve : CostCurve, optional
        `cost_curve(release)`, to be shown.
    verification : Verification, optional
        `spinney.verify(path)`: its verdict is shown, and a release that was refused is marked as such.
    described : Release, optional
        Of a description: the release whose clusters it describes, to show their centers.
    names : dict, optional
        Of clusters: names by their numbers, given after reading the release alone. They stand on the page and nowhere else.
    space : FiniteMetric, optional
        Of sites: the public space that they were chosen from, for a map that pans and zooms by a script within the page.
    """
    shown = Shown(title=title, ledger=ledger, curve=curve, verification=verification, described=described, names=names)
    shown["space"] = space
    return to_html(assembled("html_page", release, shown))


def markdown_page(release: AnyRelease, **shown: Unpack[Shown]) -> str:
    """Return a report as Markdown; parameters and privacy as for `html_page`."""
    return to_markdown(assembled("markdown_page", release, shown))


def write_report(release: AnyRelease, path: str | PathLike[str], **shown: Unpack[Shown]) -> None:
    """Write a report to a file that ends in .html, .md or .pdf; other parameters and privacy as for `html_page`.

    A PDF is printed by Chromium, Chrome or Edge, whichever is installed.
    """
    check_path(path, "write_report")
    kind = Path(path).suffix.lower()
    if kind not in KINDS:
        raise ParameterError("A report cannot be written to a file of this kind.", f"a name that ends in {', '.join(KINDS)}.")
    document = assembled("write_report", release, shown)
    if kind == ".pdf":
        print_pdf(to_html(document), path)
        return
    Path(path).write_text(to_markdown(document) if kind == ".md" else to_html(document), encoding="utf-8")


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
