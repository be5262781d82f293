"""The public schema of a table: its columns, in the units in which distances are measured.

Three kinds of numbers: a **cell**, as it stands in the table; its **own numbers**, in the user's units, of which a column of
categories has one for each of them (a share, in a center); and **scaled numbers**, own numbers over their units, which a fit
works on. Both maps are public and look at one cell alone, so that neighbors stay neighbors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.exceptions import ParameterError
from spinney.naming import named
from spinney.spaces.box import Box, Domain, FloatArray
from spinney.spaces.columns import HINT, Column, as_typed, column_of, is_positive

__all__ = ["Schema", "schema_of", "uneven"]

#: Widths that differ more than so many times are rarely meant.
UNEVEN = 20.0
SCALE_HINT = (
    "scale='bounds' takes each column over its width; scale={'age': 10, 'income': 20_000}: ten years weigh as much as 20,000."
)


@dataclass(frozen=True)
class Schema:
    """Public facts about the columns of a table, in the order of the fit.

    Parameters
    ----------
    columns : tuple of Column
    """

    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the table's columns; None if it has none."""
        names = [column.name for column in self.columns if column.name is not None]
        return tuple(names) if len(names) == len(self.columns) else None

    @property
    def titles(self) -> tuple[str, ...] | None:
        """What the columns of the fit are called: indicators ``region=north``."""
        found = [column.titles for column in self.columns if column.titles is not None]
        return tuple(title for titles in found for title in titles) if len(found) == len(self.columns) else None

    @property
    def width(self) -> int:
        """The number of columns of the fit."""
        return sum(column.width for column in self.columns)

    @property
    def is_plain(self) -> bool:
        """Whether cells are their own numbers: none is a category, a date or a truth value, and none is filled in."""
        return all(column.kind == "number" and column.fill is None for column in self.columns)

    @cached_property
    def units(self) -> FloatArray:
        """What own numbers are divided by."""
        return self._each([column.step for column in self.columns])

    @property
    def own(self) -> Domain:
        """The box of own numbers."""
        return Domain(self._each([c.lower for c in self.columns]), self._each([c.upper for c in self.columns]), np.inf)

    @property
    def scaled(self) -> Domain:
        """The box of scaled numbers."""
        return Domain(self.own.lower / self.units, self.own.upper / self.units, np.inf)

    def domain(self, n_features: int) -> Domain:
        """Return the box of scaled numbers; a table must have these columns and no others."""
        if n_features != self.width:
            raise ParameterError.wrong(
                "n_features", "plan", f"{len(self.columns)}, the number of columns that bounds name", n_features, "leave it out."
            )
        return self.scaled

    def encode(self, cells: NDArray[Any]) -> FloatArray:
        """Return scaled numbers from one number for each column of the table, a category by its place in the list.

        A missing cell is filled in if its column says so; else a column of the row is missing, and so is the row.
        """
        with np.errstate(all="ignore"):  # a number too large for its unit becomes infinite, and so missing, in silence
            if self.is_plain:
                scaled: FloatArray = cells / self.units
                return scaled
            found = np.empty((len(cells), self.width), order="F")
            place = 0
            for i, column in enumerate(self.columns):
                values = np.asarray(cells[:, i], dtype=np.float64)
                if column.fill is not None:
                    code = column.categories.index(str(column.fill)) if column.kind == "category" else column.fill
                    values = np.where(np.isfinite(values), values, float(code))
                for category in range(column.width):
                    own = values if column.kind != "category" else np.where(np.isfinite(values), values == category, np.nan)
                    found[:, place] = own / column.step
                    place += 1
        return found

    @property
    def of_titles(self) -> tuple[Column, ...]:
        """The column that each column of the fit comes from."""
        return tuple(column for column in self.columns for _ in range(column.width))

    @property
    def record(self) -> list[dict[str, Any]]:
        """The facts as a release states them."""
        return [column.record for column in self.columns]

    @classmethod
    def from_record(cls, record: list[dict[str, Any]]) -> Schema:
        """Read what `record` gave; raises a ValueError, or a KeyError, unless it is a schema."""
        columns = [replace(column_of(str(facts["name"]), as_typed(facts), "a release"), name=facts["name"]) for facts in record]
        if not columns or not all(isinstance(column.name, str | None) for column in columns):
            raise ValueError("there are no columns")
        return cls(tuple(columns))

    @property
    def typed(self) -> tuple[Any, Any]:
        """Bounds and a scale that give this schema again."""
        if self.names is not None:
            return {str(column.name): as_typed(column.record) for column in self.columns}, None
        is_whole = all(column.unit == column.upper - column.lower for column in self.columns)
        return Box(self.own.lower.tolist(), self.own.upper.tolist()), "bounds" if is_whole else self.columns[0].unit

    @classmethod
    def of_box(cls, box: Domain, scale: Any, owner: str) -> Schema:
        """Return the schema of columns without names, each over its width or over one number."""
        pairs = zip(box.lower.tolist(), box.upper.tolist(), strict=True)
        return cls(tuple(_united([Column(None, "number", low, high) for low, high in pairs], scale, owner)))

    def named(self, names: tuple[str, ...]) -> Schema:
        """Return the schema with these names of columns."""
        return Schema(tuple(replace(column, name=name) for column, name in zip(self.columns, names, strict=True)))

    def _each(self, values: list[float]) -> FloatArray:
        return np.repeat(np.asarray(values, dtype=np.float64), [column.width for column in self.columns])


def schema_of(bounds: Any, scale: Any, owner: str) -> Schema | None:
    """Return the schema that bounds by name and a scale make; None if they are plain bounds of numbers as they are.

    Parameters
    ----------
    bounds : mapping or other
        Other bounds have no names, so that a scale of theirs can only be "bounds" or one number.
    scale : None, "bounds", float or mapping
    owner : str
        Whose parameters they are, for the message.
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


def _united(columns: list[Column], scale: Any, owner: str) -> list[Column]:
    """Return columns with their units; one that states its own keeps it."""
    if isinstance(scale, Mapping):
        return _by_name(columns, scale, owner)
    if scale is None:
        return columns
    measured = [column.kind in ("number", "date") and not column.stated for column in columns]
    return [
        column.scaled(column.upper - column.lower if scale == "bounds" else scale, owner)
        if needs
        else replace(column, stated=True)
        for column, needs in zip(columns, measured, strict=True)
    ]


def _by_name(columns: list[Column], scale: Mapping[Any, Any], owner: str) -> list[Column]:
    """Return columns with units by name: each number and date has one, said once."""
    known = {column.name: column for column in columns}
    for name in scale:
        if not isinstance(name, str) or name not in known:
            told = named(name) if isinstance(name, str) else type(name).__name__
            raise ParameterError.wrong("scale", owner, "named by columns of bounds", told, SCALE_HINT)
        if known[name].kind in ("boolean", "category"):
            hint = f"bounds={{{named(name)}: {{'categories': [...], 'weight': 1}}}}: how far a category is from another one."
            raise ParameterError.wrong("scale", owner, "units of numbers and dates", f"one for {named(name)}", hint)
        if known[name].stated:
            raise ParameterError.wrong("scale", owner, "said once", f"a second unit for {named(name)}", "leave one of them out.")
    for column in columns:
        if column.kind in ("number", "date") and not column.stated and column.name not in scale:
            raise ParameterError.wrong("scale", owner, f"a unit for {named(column.name)} too", "none", SCALE_HINT)
    return [
        column.scaled(scale[column.name], owner) if column.name in scale else replace(column, stated=True) for column in columns
    ]


def uneven(space: Any) -> str | None:
    """Return what to type if public widths differ much and nothing was said about units; None otherwise.

    Parameters
    ----------
    space : Box, Ball or Schema
    """
    if isinstance(space, Schema):
        if any(column.stated for column in space.columns):
            return None
        widths = space.scaled.upper - space.scaled.lower
    elif isinstance(space, Box):
        widths = np.subtract(space.upper, space.lower)
    else:
        return None
    if float(np.max(widths)) <= UNEVEN * float(np.min(widths)):
        return None
    return (
        f"The public widths of columns differ more than {UNEVEN:g}-fold, so that the widest decides alone what is near.\n"
        f"Hint: {SCALE_HINT} scale=1 leaves them as they are."
    )
