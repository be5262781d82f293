"""The sites of a release as a table."""

from __future__ import annotations

from spinney.releases.sites import SiteRelease

__all__ = ["axis_names", "site_names", "site_rows"]


def site_names(release: SiteRelease) -> list[str]:
    """Return what the sites are called: their names, or else the indices of their points."""
    return [str(site) for site in release.sites] if release.names is None else list(release.names)


def axis_names(release: SiteRelease) -> list[str]:
    """Return what the coordinates of sites are called; none if there are none."""
    d = 0 if release.coordinates is None else release.coordinates.shape[1]
    return ["x", "y", "z"][:d] if d <= 3 else [f"x{i}" for i in range(1, d + 1)]


def site_rows(release: SiteRelease) -> list[list[str]]:
    """Return one row per site, chosen ones first, below a row of headings: name, coordinates, size, margin and kind.

    Privacy
    -------
    Post-processing of a release: free.
    """
    rows = [["name", *axis_names(release), "size", "margin", "kind"]]
    for i, name in enumerate(site_names(release)):
        place = [] if release.coordinates is None else [f"{value:.12g}" for value in release.coordinates[i]]
        kind = "new" if i < len(release.medoids) else "existing"
        rows.append([name, *place, f"{release.sizes[i]:.0f}", f"{release.sizes_margin:.0f}", kind])
    return rows
