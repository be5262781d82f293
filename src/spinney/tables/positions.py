"""Private demand as it comes: positions that are moved to the nearest public point, and rows that count by their weight.

How a row is read depends on that row and on public facts alone.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.exceptions import ParameterError
from spinney.privacy.seal import sealed
from spinney.spaces.degrees import are_degrees, column_names, east_first
from spinney.spaces.distances import IntArray
from spinney.spaces.metric import FiniteMetric
from spinney.spaces.snapping import nearest_points
from spinney.tables.cells import numeric_column
from spinney.tables.networks import Demand, read_columns
from spinney.tables.schema import shielded, unreadable
from spinney.tables.sources import is_lazy, place_column, read_source

#: Three steps of 0.1 are 0.3, though their quotient is a little less.
ROUNDING = 1e-12
#: Python reads whole numbers of up to 4,300 digits.
LONGEST_WHOLE = 4_000
#: Brackets of JSON, and its texts, which may hold brackets; and how deep they are looked into.
_NESTING, DEEPEST = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL), 50
#: What a position that is missing is read as.
NO_POSITION = (math.nan, math.nan)


@dataclass(frozen=True, repr=False)
class Weights:
    """How often a row counts: its weight, up to a public largest one, in whole public steps."""

    largest: float
    step: float

    @property
    def most(self) -> int:
        """How often a row counts at most."""
        return int(self.largest / self.step * (1 + ROUNDING))

    @sealed()
    def times(self, nonprivate_weights: Any) -> IntArray:
        """Return how often each row counts; one whose weight is missing, negative or not finite does not."""
        with np.errstate(all="ignore"):  # a warning must not reveal a value
            given = np.asarray(numeric_column(nonprivate_weights), dtype=np.float64)
        known = np.isfinite(given) & (given >= 0)
        clipped = np.minimum(np.where(known, given, 0.0), self.largest)
        return np.minimum(np.floor(clipped / self.step * (1 + ROUNDING)), self.most).astype(np.int64)


def are_in_pairs(demand: Any) -> bool:
    """Whether an array or a table has two columns: positions. Its declared shape says so; no row is looked at."""
    if isinstance(demand, np.ndarray):
        return demand.ndim == 2 and demand.shape[1] == 2
    return len(demand.collect_schema().names() if is_lazy(demand) else column_names(demand)) == 2


def demand_places(demand: Any, space: FiniteMetric, limit: float | None) -> NDArray[Any]:
    """Return the point of each row by its index; what names no point, or is farther than a limit from all, is no index.

    One column names points, and two are positions, which are moved to the nearest point of a space with coordinates.
    """
    if not are_in_pairs(demand):
        return place_column(demand, space.names)
    source = read_source(demand)
    check_positions(space, column_names(source.header))
    with sealed():
        return nearest_rows(east_first(source.header, source.nonprivate_rows)[0], space, limit)


def check_positions(space: FiniteMetric, columns: Sequence[Any]) -> None:
    """Raise unless positions in columns of these names can be moved to points of a space."""
    if space.coordinates is None or space.coordinates.shape[1] != 2:
        raise ParameterError(
            "Demand in two columns needs a space with two coordinates.", "make the space with coordinates=, one row per point."
        )
    if are_degrees(columns) and not space.degrees:
        raise ParameterError(
            "Demand is in longitude and latitude, and the space is not.",
            "coordinates of a space are degrees if their columns say so: a frame with the columns longitude and latitude.",
        )


@sealed()
def nearest_rows(nonprivate_rows: Any, space: FiniteMetric, limit: float | None) -> IntArray:
    """Return the nearest point of each position; its index is negative if it has none."""
    assert space.coordinates is not None
    return nearest_points(space.coordinates, space.degrees, nonprivate_rows, limit)


@sealed()
def read_positions(path: Path, columns: Sequence[str], groups: str | None = None, weights: str | None = None) -> Demand:
    """Return the private position of each row of a table, longitude first if the columns say so, or of GeoJSON points.

    Privacy
    -------
    As for `read_demand`. Of GeoJSON the names of properties are typed, and each feature is read by itself.
    """
    if path.suffix.lower() in (".geojson", ".json"):
        return _features(path, groups, weights)
    read = read_columns(path, [], [*columns, *([weights] if weights is not None else [])], groups, header_is_secret=True)
    rows = np.column_stack([read.numbers[name].fill_null(math.nan).to_numpy() for name in columns])
    if are_degrees(columns):
        rows, _ = east_first(read.numbers.select(columns), rows)
    return Demand(rows, read.groups, None if weights is None else read.numbers[weights].fill_null(math.nan).to_numpy())


def _features(path: Path, groups: str | None, weights: str | None) -> Demand:
    """Return the points of a private file of GeoJSON."""

    def read() -> list[Any]:
        text = path.read_bytes().decode("utf-8-sig", "replace")
        try:
            found = _parsed(text)["features"]
        except RecursionError:
            found = _parsed(_without_depths(text))["features"]
        return found if type(found) is list else []

    features = shielded(read, unreadable(path, "cannot be read.", "give a FeatureCollection of points."))
    properties = [_part(feature, "properties") for feature in features]
    rows = np.array([_position(feature) for feature in features], dtype=np.float64).reshape(-1, 2)
    named = None if groups is None else [about.get(groups) for about in properties]
    weighed = None if weights is None else np.array([_number(about.get(weights)) for about in properties], dtype=np.float64)
    return Demand(rows, named, weighed)


def _parsed(text: str) -> Any:
    """Return what JSON says; line ends and other controls may stand in its texts."""
    return json.loads(text, parse_int=_whole, strict=False)


def _without_depths(text: str) -> str:
    """Return JSON with null for what is nested deeper than any point, at which Python's reader gives up."""
    depth, kept, pieces = 0, 0, list[str]()
    for found in _NESTING.finditer(text):
        step = 1 if found[0] in "[{" else -1 if found[0] in "]}" else 0
        if max(depth, depth + step) == DEEPEST + 1:
            if step > 0:
                pieces += text[kept : found.start()], "null"
            kept = found.end()
        depth += step
    return "".join([*pieces, text[kept:]])


def _whole(text: str) -> int | float:
    """Return a whole number; one of so many digits that Python refuses it is no number of anything."""
    return int(text) if len(text) < LONGEST_WHOLE else math.inf


def _part(feature: Any, name: str) -> dict[str, Any]:
    """Return a part of a feature that has parts; an empty one of anything else."""
    part = feature.get(name) if type(feature) is dict else None
    return part if type(part) is dict else {}


def _number(cell: Any) -> float:
    """Return a number of a feature; anything else is missing."""
    try:
        return float(cell) if type(cell) in (int, float) else math.nan
    except OverflowError:
        return math.nan


def _position(feature: Any) -> tuple[float, float]:
    """Return the longitude and latitude of a feature that is a point."""
    geometry = _part(feature, "geometry")
    place = geometry.get("coordinates") if geometry.get("type") == "Point" else None
    return (_number(place[0]), _number(place[1])) if type(place) is list and len(place) >= 2 else NO_POSITION
