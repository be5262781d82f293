"""Public lines on a map, as a network: lines meet where they end, and wherever two of them have the same point.

Lengths are an attribute of the lines, or are measured along them: in meters along the globe, or in the units of the map.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from spinney.exceptions import ParameterError
from spinney.spaces.box import FloatArray
from spinney.spaces.graphs import LENGTHS, PlainGraph, as_number
from spinney.spaces.sphere import are_positions, on_sphere, to_arcs

#: What says that a line leads one way, as drawn or against it (OpenStreetMap), in lower case.
FORWARD, BACKWARD = {"yes", "true", "1"}, {"-1", "reverse"}
#: Attributes that name the two ends of a line (OSMnx).
ENDS = ("u", "v")


def features_of(table: Any) -> list[Mapping[str, Any]]:
    """Return the features of GeoJSON, or of what shows itself as such."""
    found = getattr(table, "__geo_interface__", table)
    kind = found.get("type") if isinstance(found, Mapping) else None
    if kind == "FeatureCollection":
        return list(found["features"])
    if kind == "Feature":
        return [found]
    if kind is not None:
        return [{"properties": {}, "geometry": found}]
    raise ParameterError.wrong("graph", "FiniteMetric", "GeoJSON", table, "a FeatureCollection.")


def shapes_of(features: Iterable[Mapping[str, Any]], kind: str) -> Iterator[tuple[Mapping[str, Any], Any]]:
    """Yield the attributes and the coordinates of each shape of a kind, those of Multi-shapes one by one."""
    for feature in features:
        about, geometry = feature.get("properties") or {}, feature.get("geometry") or {}
        if feature.get("id") is not None:
            about = {"id": feature["id"], **about}
        if geometry.get("type") == kind:
            yield about, geometry["coordinates"]
        elif geometry.get("type") == f"Multi{kind}":
            for part in geometry["coordinates"]:
                yield about, part


def place_name(place: Iterable[float]) -> str:
    """Return what a point is called that has no name: where it is."""
    return " ".join(f"{float(number):.12g}" for number in place)


def lines_graph(features: Iterable[Mapping[str, Any]], degrees: bool, weight: str | None = None) -> PlainGraph:
    """Return a network of lines. Points are called by where they are, unless attributes `u` and `v` name the ends of each line.

    Lines that are one-way by their attribute ``oneway`` make a directed graph, in which the others lead both ways.
    """
    lines = [(about, [tuple(map(float, place[:2])) for place in line]) for about, line in shapes_of(features, "LineString")]
    lines = [(about, line) for about, line in lines if len(line) > 1]
    key = weight if weight is not None else next((name for name in LENGTHS if any(name in about for about, _ in lines)), None)
    named = bool(lines) and all(about.get(end) is not None for about, _ in lines for end in ENDS)
    met = Counter(place for _, line in lines for place in (line if not named else ()))
    nodes: dict[str, dict[str, float]] = {}
    links: list[tuple[str, str, dict[str, Any]]] = []
    ways = [_way(about) for about, _ in lines]
    for (about, line), way in zip(lines, ways, strict=True):
        steps = measured(np.array(line), degrees)
        whole = as_number(about.get(key)) if key is not None else float(steps.sum())
        cuts = [0, *(i for i in range(1, len(line) - 1) if met[line[i]] > 1), len(line) - 1]
        for start, stop in pairwise(cuts):
            share = float(steps[start:stop].sum()) / (float(steps.sum()) or 1.0) if len(cuts) > 2 else 1.0
            ends = [str(about[end]) for end in ENDS] if named else [place_name(line[start]), place_name(line[stop])]
            for name, place in zip(ends, (line[start], line[stop]), strict=True):
                nodes.setdefault(name, {"x": place[0], "y": place[1]})
            length = {"length": whole * share if isinstance(whole, int | float) else whole}
            if way >= 0:
                links.append((ends[0], ends[1], length))
            if way < 0 or (way == 0 and any(ways)):
                links.append((ends[1], ends[0], length))
    return PlainGraph(nodes, links, any(ways), "epsg:4326" if degrees else None)


def measured(line: FloatArray, degrees: bool) -> FloatArray:
    """Return the lengths of the steps of a line."""
    if degrees and not are_positions(line).all():
        raise ParameterError("Lines must be in longitude and latitude.", "GeoJSON is always in degrees (RFC 7946); write it so.")
    steps = np.linalg.norm(np.diff(on_sphere(line) if degrees else line, axis=0), axis=1)[None]
    if degrees:
        to_arcs(steps)
    return np.asarray(steps[0])


def _way(about: Mapping[str, Any]) -> int:
    """Return 1 for a line that leads one way, -1 against it, 0 both ways."""
    said = str(about.get("oneway", "")).lower()
    return 1 if said in FORWARD else -1 if said in BACKWARD else 0
