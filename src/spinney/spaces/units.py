"""Units of columns: how much change in each counts as one, and a warning where no unit was given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from spinney.exceptions import ParameterError, UnitsWarning
from spinney.naming import named
from spinney.spaces.box import Box, Domain
from spinney.spaces.column import Column
from spinney.spaces.column_facts import HINT, SCALE_HINT, column_of, with_unit
from spinney.spaces.plain_values import is_positive
from spinney.spaces.schema import Schema

#: Widths that differ by more than this factor are rarely meant.
UNEVEN = 20.0


def schema_of(bounds: Any, scale: Any, owner: str) -> Schema | None:
    """Return the schema that bounds by name and a scale make; None if they are plain bounds of numbers as they are.

    Bounds that are no mapping have no names, so that a scale of theirs can only be "bounds" or one number.
    """
    is_lawful = (
        scale is None or (isinstance(scale, str) and scale == "bounds") or isinstance(scale, Mapping) or is_positive(scale)
    )
    if not is_lawful or (isinstance(scale, Mapping) and not isinstance(bounds, Mapping)):
        expected = "None, 'bounds', a positive number, or units by column if the bounds are by column"
        raise ParameterError.wrong("scale", owner, expected, scale, SCALE_HINT)
    if not isinstance(bounds, Mapping):
        return None
    for name in [*bounds] or [None]:
        if not isinstance(name, str):
            raise ParameterError.wrong("bounds", owner, "named by columns, at least one", type(name).__name__, HINT)
    columns = [column_of(name, given, owner) for name, given in bounds.items()]
    is_plain = all(isinstance(bounds[column.name], tuple | list) and column.kind == "number" for column in columns)
    if is_plain and (scale is None or scale == 1):
        return None
    return Schema(tuple(_united(columns, scale, owner)))


def nameless_schema(box: Domain, scale: Any, owner: str) -> Schema:
    """Return the schema of columns without names, each over its width or over one number."""
    pairs = zip(box.lower.tolist(), box.upper.tolist(), strict=True)
    return Schema(tuple(_united([Column(None, "number", low, high) for low, high in pairs], scale, owner)))


def _united(columns: list[Column], scale: Any, owner: str) -> list[Column]:
    """Return columns with their units; one that states its own keeps it."""
    if isinstance(scale, Mapping):
        return _by_name(columns, scale, owner)
    if scale is None:
        return columns
    measured = [column.kind in ("number", "date") and not column.stated for column in columns]
    return [
        with_unit(column, column.upper - column.lower if scale == "bounds" else scale, owner)
        if needs
        else replace(column, stated=True)
        for column, needs in zip(columns, measured, strict=True)
    ]


def _by_name(columns: list[Column], scale: Mapping[Any, Any], owner: str) -> list[Column]:
    """Return columns with units by name: each number and date has one, said once."""
    known = {column.name: column for column in columns}
    for name in scale:
        if not isinstance(name, str) or name not in known:
            raise ParameterError.wrong("scale", owner, "named by columns of bounds", name, SCALE_HINT)
        if known[name].kind in ("boolean", "category"):
            hint = f"bounds={{{named(name)}: {{'categories': [...], 'weight': 1}}}}: how far a category is from another one."
            raise ParameterError.wrong("scale", owner, "units of numbers and dates", f"one for {named(name)}", hint)
        if known[name].stated:
            raise ParameterError.wrong("scale", owner, "said once", f"a second unit for {named(name)}", "leave one of them out.")
    for column in columns:
        if column.kind in ("number", "date") and not column.stated and column.name not in scale:
            raise ParameterError.wrong("scale", owner, f"a unit for {named(column.name)} too", "none", SCALE_HINT)
    return [
        with_unit(column, scale[column.name], owner) if column.name in scale else replace(column, stated=True)
        for column in columns
    ]


def uneven(space: Any) -> UnitsWarning | None:
    """Return what to type if public widths of a Box or Schema differ much and some column states no unit; None otherwise."""
    if isinstance(space, Schema):
        if all(column.stated for column in space.columns if column.kind in ("number", "date")):
            return None
        widths = space.scaled.upper - space.scaled.lower
    elif isinstance(space, Box):
        widths = np.subtract(space.upper, space.lower)
    else:
        return None
    if float(np.max(widths)) <= UNEVEN * float(np.min(widths)):
        return None
    return UnitsWarning(
        f"The public widths of columns differ more than {UNEVEN:g}-fold, so that the widest decides alone what is near.",
        f"{SCALE_HINT} scale=1 leaves them as they are.",
    )
