"""A release of sites as one readable page of text, and as a table."""

from __future__ import annotations

from spinney.releases.sites import FAINT_SITES, SiteRelease
from spinney.report.page import (
    aligned,
    before_lines,
    made_lines,
    promise_lines,
    shortened,
    sizes_words,
    spent_lines,
)

__all__ = ["site_names", "site_page", "site_rows"]


def site_names(release: SiteRelease) -> list[str]:
    """Return what the sites are called: their names, or else the indices of their points."""
    return [str(site) for site in release.sites] if release.names is None else list(release.names)


def site_rows(release: SiteRelease) -> list[list[str]]:
    """Return one row per site, chosen ones first, below a row of headings: name, coordinates, size, margin and kind.

    Privacy
    -------
    Post-processing of a release: free.
    """
    d = 0 if release.coordinates is None else release.coordinates.shape[1]
    axes = ["x", "y", "z"][:d] if d <= 3 else [f"x{i}" for i in range(1, d + 1)]
    rows = [["name", *axes, "size", "margin", "kind"]]
    for i, name in enumerate(site_names(release)):
        place = [] if release.coordinates is None else [f"{value:.12g}" for value in release.coordinates[i]]
        kind = "new" if i < len(release.medoids) else "existing"
        rows.append([name, *place, f"{release.sizes[i]:.0f}", f"{release.sizes_margin:.0f}", kind])
    return rows


def site_page(release: SiteRelease) -> str:
    """Return what was promised, the sites with their sizes, and what was spent on what.

    Privacy
    -------
    Post-processing of a release: free.
    """
    space = release.space
    costs = "squared travel costs" if release.power == 2 else "travel costs"
    existing = f", {len(release.existing_sites)} existing" if len(release.existing_sites) else ""
    order = release.sizes.argsort(kind="stable")[::-1]
    rows = [["size", "site", "kind"]]
    for i in order:
        kind = "new" if i < len(release.medoids) else "existing"
        rows.append([f"{release.sizes[i]:.0f}", site_names(release)[i], kind])
    lines = [
        f"sites: {len(release.medoids)} new{existing}, {costs}, algorithm {release.algorithm!r}, spinney {release.version}",
        f"Space: {space['kind']} of {space['n_points']} points, {space['n_candidates']} of them candidates.",
        *promise_lines(release),
        "",
        f"Sites by {sizes_words(release, ', the rows each serves')}:",
        *shortened(aligned(rows), "sites"),
        *([FAINT_SITES] if release.looks_empty else []),
        "",
        *spent_lines(release),
        "",
        f"Summary: {len(release.summary_points)} weighted points.",
        *before_lines(release),
        *made_lines(release),
    ]
    return "\n".join(lines)
