"""A release of sites as GeoJSON: sites, what each of them serves, and the private summary of demand."""

from __future__ import annotations

from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.report.frames import travel_columns
from spinney.report.geography import Geography


def _hull(points: NDArray[np.float64]) -> list[list[float]]:
    """Return the corners of the convex hull against the clock, the first one again at the end (Andrew 1979)."""
    rows = np.unique(points, axis=0).tolist()

    def half(ordered: list[list[float]]) -> list[list[float]]:
        found: list[list[float]] = []
        for x, y in ordered:
            while len(found) > 1:
                (a, b), (c, d) = found[-2:]
                if (c - a) * (y - b) > (d - b) * (x - a):  # a turn to the left
                    break
                found.pop()
            found.append([x, y])
        return found

    return half(rows)[:-1] + half(rows[::-1])


def _feature(kind: str, shape: str, places: Any, **properties: Any) -> dict[str, Any]:
    geometry = {"type": shape, "coordinates": places}
    return {"type": "Feature", "geometry": geometry, "properties": {"kind": kind, **properties}}


def as_geojson(where: Geography) -> dict[str, Any]:
    """Return a collection of features; each property `kind` is site, catchment (points), hull or demand.

    Coordinates are as in the public files: of longitude and latitude if these have them.
    """
    release, margin = where.release, 0.0 if where.release.noise.is_exact else where.release.sizes_margin
    features = []
    for i, place in enumerate(where.sites):
        site: dict[str, Any] = {"site": where.names[i], "rows": float(release.sizes[i]), "margin": float(margin)}
        for name, values in travel_columns(release).items():
            site[name.replace(" ", "_")] = None if isnan(values[i]) else float(values[i])
        features.append(_feature("site", "Point", place.tolist(), is_new=i < len(release.medoids), **site))
        if where.serving is None:
            continue
        served = where.points[where.serving == i]
        features.append(_feature("catchment", "MultiPoint", served.tolist(), **site))
        corners = _hull(served)
        if len(corners) > 3:
            features.append(_feature("hull", "Polygon", [corners], **site))
    if where.serving is not None:
        served = where.serving[release.summary_points]
        for place, weight, of in zip(where.demand.tolist(), where.weights.tolist(), served.tolist(), strict=True):
            features.append(_feature("demand", "Point", place, rows=weight, site=where.names[of] if of >= 0 else None))
    units = "degrees of longitude and latitude" if where.degrees else "as in the public files"
    told = {"statement": release.statement, "digest": release.digest, "coordinates": units}
    return {"type": "FeatureCollection", "spinney": told, "features": features}
