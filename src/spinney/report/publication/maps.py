"""A map of a release of sites as a file of one of several kinds."""

from __future__ import annotations

import json
from pathlib import Path

from spinney.exceptions import check_path
from spinney.releases.sites import SiteRelease
from spinney.report.canvas import save
from spinney.report.geography import Geography
from spinney.report.geojson import as_geojson
from spinney.report.map import map_figure
from spinney.report.publication.assembly import map_document
from spinney.report.publication.html import to_html
from spinney.spaces.metric import FiniteMetric

__all__ = ["draw_map"]


def draw_map(release: SiteRelease, path: str | Path, space: FiniteMetric | None = None, degrees: bool | None = None) -> None:
    """Write a map of a release: as GeoJSON, as HTML that pans and zooms, as SVG, or else as PNG, by how the path ends.

    Edges have the color of the site that they go to. HTML is one page that loads nothing. GeoJSON has features of four kinds:
    site, catchment (its points), hull (around them) and demand (the private summary).

    Privacy
    -------
    Post-processing of a release, beside public points and edges: free.

    Parameters
    ----------
    release : SiteRelease
        With coordinates, unless the space has them.
    path : str or Path
    space : FiniteMetric, optional
        The public space of the release. Without it the sites are drawn alone: a release knows where they are, but not where the
        points of its summary are.
    degrees : bool, optional
        Whether coordinates are degrees of longitude and latitude, so that a degree to the east is drawn shorter than one to the
        north; by default, whether they look like it.
    """
    check_path(path, "draw_map")
    kind = Path(path).suffix.lower()
    if kind == ".geojson":
        found = as_geojson(Geography.of("draw_map", release, space, degrees))
        Path(path).write_text(json.dumps(found, ensure_ascii=False) + "\n", encoding="utf-8")
    elif kind == ".html":
        Path(path).write_text(to_html(map_document(release, space, degrees)), encoding="utf-8")
    else:
        save(map_figure(release, space, degrees), path)
