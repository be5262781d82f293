"""Whether public names of columns say that they hold degrees of longitude and latitude, which are no plane."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from spinney.exceptions import ParameterError

#: Words that stand for them in a name such as ``pickup_lat``.
LONGITUDE, LATITUDE = {"lon", "lng", "long"}, {"lat"}
NO_PLANE = "away from the equator a degree of longitude is shorter than one of latitude. Project them to meters first"
UNITS = (
    "or say by their names how much of each is as far, with bounds by name and scale, or with 'unit' in a schema: near latitude "
    "50 a kilometer is 0.014 of longitude and 0.009 of latitude."
)


def _says(name: str, long: str, short: set[str]) -> bool:
    return long in name.lower() or not short.isdisjoint(re.split("[^a-z]+", name.lower()))


def column_names(table: Any) -> list[Any]:
    """Return what the columns of a frame or an Arrow table are called; nothing for what has no names."""
    with suppress(Exception):  # whatever a value raises; a message may quote it
        return list(table.column_names if hasattr(table, "column_names") else table.columns)
    return []


def are_degrees(names: Iterable[object] | None) -> bool:
    """Whether one of these names says longitude and another latitude. Names alone decide: no number is looked at."""
    texts = [name for name in names or () if isinstance(name, str)]
    return any(_says(name, "longitude", LONGITUDE) for name in texts) and any(_says(name, "latitude", LATITUDE) for name in texts)


def east_first(table: Any, values: Any) -> tuple[Any, bool]:
    """Return two columns with the longitude first, if the names of a table's columns say which is which, and whether they do."""
    names = column_names(table)
    if len(names) != 2 or not are_degrees(names):
        return values, False
    return values[:, ::-1] if _says(names[0], "latitude", LATITUDE) else values, True


def refuse_degrees(names: Iterable[object] | None, owner: str, hint: str = UNITS) -> None:
    """Raise if columns that an owner measures as a plane are degrees by their public names; the hint says what else to do."""
    if are_degrees(names):
        raise ParameterError(
            f"{owner} measures columns as a plane, and their names say longitude and latitude.", f"{NO_PLANE}, {hint}"
        )
