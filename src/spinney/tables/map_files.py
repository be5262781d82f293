"""Public networks and places in the files that planners have: GraphML, GeoJSON, shapefiles, GeoPackages and GTFS feeds.

All of them are public. What is wrong in one is said with its name.
"""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from spinney.exceptions import DataError, ParameterError, check_path
from spinney.naming import kind_of
from spinney.spaces.graphs import LENGTHS, PlainGraph
from spinney.spaces.lines import features_of, lines_graph, place_name, shapes_of
from spinney.spaces.metric import FiniteMetric
from spinney.spaces.sphere import are_positions
from spinney.tables.graphml import read_graphml
from spinney.tables.networks import Points, read_edges, read_points
from spinney.tables.schema import unreadable

#: Kinds of files by how their names end.
GRAPHML, JSON, SHAPES, FEEDS = {".graphml"}, {".geojson", ".json"}, {".shp", ".gpkg", ".fgb"}, {".zip", ".txt"}
#: Kinds of files that hold places.
PLACES = JSON | SHAPES | FEEDS
#: What stops of a feed are places: stops and stations, not their entrances or parts.
STOPS = {"", "0", "1"}
#: Attributes that may name a place, the first one that names all of them differently.
NAMES = ("osmid", "stop_id", "name", "id")

_FORMATS = "give a .graphml, .geojson, .shp, .gpkg, .csv or .parquet file."


def read_network(
    path: str | Path, candidates: Any = None, *, weight: str | None = None, largest_part: bool = False, both_ways: bool = False
) -> FiniteMetric:
    """Read a public network from a file: GraphML, GeoJSON lines, a shapefile, a GeoPackage, or a table from, to, length.

    One-way streets lead one way: demand travels along them to the sites.

    Parameters
    ----------
    path : str or Path
        ``.graphml`` (OSMnx's too), ``.geojson``, ``.shp`` or ``.gpkg`` (with geopandas), ``.csv`` or ``.parquet``.
    candidates : array of int, or of names, optional
        Where a center may be; by default everywhere.
    weight : str, optional
        The attribute that holds lengths or minutes; by default ``length`` or ``weight``, or else lines are measured.
    largest_part : bool, default False
        Leave out what is not connected with the largest part, instead of an error.
    both_ways : bool, default False
        Take one-way streets as open in both directions.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "roads.geojson"
    >>> road = {"type": "LineString", "coordinates": [[8.20, 53.14], [8.22, 53.14]]}
    >>> _ = file.write_text(json.dumps({"type": "Feature", "properties": {}, "geometry": road}))
    >>> round(read_network(file).diameter)
    1334
    """
    check_path(path, "read_network")
    path = Path(path)
    if kind_of(path) not in GRAPHML | JSON | SHAPES:
        edges = read_edges(path, largest_part)
        if weight is not None:
            raise ParameterError("A table of edges has its lengths in the column length.", "leave weight out.")
        return FiniteMetric.from_graph(edges.graph, candidates, names=edges.names)
    graph = read_graph(path, weight, both_ways)
    try:
        found = graph.largest_part() if largest_part else graph
        return FiniteMetric.from_graph(found, candidates, weight=weight if kind_of(path) in GRAPHML else None)
    except ParameterError as error:
        if error.name != "graph":
            raise
        raise DataError(f"{path}: {error.must}", "largest_part=True keeps the largest part alone.") from None


def read_graph(path: Path, weight: str | None = None, both_ways: bool = False) -> PlainGraph:
    """Return the graph of a file of GraphML or of lines, after a check that edges have lengths."""
    if not path.is_file():
        raise unreadable(path, "is not a file.", _FORMATS)
    if kind_of(path) in GRAPHML:
        graph = read_graphml(path)
        wanted = LENGTHS if weight is None else (weight,)
        known = dict.fromkeys(name for _, _, about in graph.links for name in about)
        if not any(name in known for name in wanted):
            listed = ", ".join(map(repr, known)) or "none"
            what = "length or weight" if weight is None else "length of that name"
            raise DataError(f"{path}: no edge has a {what}.", f"say which holds the length; edges have {listed}.")
    else:
        features, degrees = _features(path, "LineString")
        graph = lines_graph(features, degrees, weight)
    if not graph.links:
        raise DataError(f"{path} has no edges.", _FORMATS)
    return PlainGraph(graph.nodes, graph.links, graph.directed and not both_ways, graph.crs)


def _features(path: Path, kind: str) -> tuple[Sequence[Mapping[str, Any]], bool]:
    """Return the features of a file of shapes, and whether they are in degrees."""
    if kind_of(path) in JSON:
        try:
            return features_of(json.loads(path.read_text(encoding="utf-8-sig"))), True
        except (ValueError, KeyError, ParameterError):
            raise DataError(f"{path} is no GeoJSON.", "a FeatureCollection of lines or points, in degrees.") from None
    try:
        import geopandas  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        raise DataError(f"{path} needs geopandas.", "pip install 'spinney-dp[maps]', or write the file as GeoJSON.") from None
    layers = geopandas.list_layers(path)
    fit = [name for name, shape in zip(layers["name"], layers["geometry_type"], strict=True) if kind in str(shape)]
    table = geopandas.read_file(path, layer=(fit or list(layers["name"]))[0])
    return features_of(table), table.crs is not None and bool(table.crs.is_geographic)


def read_places(path: str | Path, columns: Sequence[str] = ("x", "y")) -> Points:
    """Read public places from a file: stops of a GTFS feed, points of GeoJSON, a shapefile or a GeoPackage, or a table.

    They have ``names`` and ``coordinates``, in degrees if ``degrees`` says so: `FiniteMetric.nearest` finds the nearest points
    of a network, such as candidates.

    Parameters
    ----------
    path : str or Path
        A feed (its folder, ``.zip`` or ``stops.txt``), ``.geojson``, ``.shp`` or ``.gpkg`` (with geopandas), ``.csv`` or
        ``.parquet`` with the columns ``name`` and those of coordinates.
    columns : sequence of str, default ("x", "y")
        The columns of coordinates of a table.
    """
    check_path(path, "read_places")
    plain = isinstance(columns, list | tuple) and all(isinstance(name, str) for name in columns)
    if not plain or not 0 < len(columns) == len(set(columns)):
        raise ParameterError.wrong("columns", "read_places", "a list of different names", columns, "columns=['lon', 'lat'].")
    path = Path(path)
    if path.is_dir() or kind_of(path) in FEEDS:
        return _stops(path)
    if kind_of(path) not in JSON | SHAPES:
        found = read_points(path, list(columns))
        return _checked(path, list(found.names), found.coordinates, found.degrees)
    if not path.is_file():
        raise unreadable(path, "is not a file.", _FORMATS)
    features, degrees = _features(path, "Point")
    shapes = list(shapes_of(features, "Point"))
    if not shapes:
        raise DataError(f"{path} has no points.", "a FeatureCollection of points.")
    coordinates = np.array([place[:2] for _, place in shapes], dtype=np.float64)
    named = ([str(about.get(key, "")).strip() for about, _ in shapes] for key in NAMES)
    names = next((found for found in named if "" not in found and len(set(found)) == len(found)), None)
    return _checked(path, names or [place_name(place) for place in coordinates], coordinates, degrees)


def _stops(path: Path) -> Points:
    """Return the stops and stations of a GTFS feed."""
    try:
        if path.is_dir():
            text = (path / "stops.txt").read_bytes()
        elif path.suffix.lower() == ".zip":
            with zipfile.ZipFile(path) as feed:
                text = feed.read(next(name for name in feed.namelist() if name.rpartition("/")[2] == "stops.txt"))
        else:
            text = path.read_bytes()
        rows = list(csv.DictReader(io.StringIO(text.decode("utf-8-sig"), newline="")))
        stops = [row for row in rows if (row.get("location_type") or "").strip() in STOPS]
        names = [row["stop_id"].strip() for row in stops]
        coordinates = np.array([[float(row["stop_lon"]), float(row["stop_lat"])] for row in stops]).reshape(-1, 2)
    except (OSError, KeyError, ValueError, TypeError, StopIteration, zipfile.BadZipFile):
        hint = "it needs stops.txt with stop_id, stop_lat and stop_lon, each stop with numbers."
        raise DataError(f"{path} is no GTFS feed.", hint) from None
    return _checked(path, names, coordinates, True)


def _checked(path: Path, names: list[str], coordinates: Any, degrees: bool) -> Points:
    """Return places after a check that they have a name each, and are where they can be."""
    if not names or len(set(names)) < len(names) or not all(names):
        raise DataError(f"{path} has no places, or some of one name.", "give every place a name of its own.")
    if not (are_positions(coordinates).all() if degrees else np.isfinite(coordinates).all()):
        raise DataError(f"{path} has places that are nowhere.", "degrees of longitude and latitude.")
    return Points(tuple(names), coordinates, degrees)
