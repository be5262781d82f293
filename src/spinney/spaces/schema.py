"""The public schema of a table: its columns, in the units in which distances are measured.

Three kinds of numbers: a **cell**, as it stands in the table; its **own numbers**, in the user's units, of which a column of
categories has one for each of them (a share, in a center); and **scaled numbers**, own numbers over their units, which a fit
works on. Both maps are public and look at one cell alone, so that neighbors stay neighbors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.exceptions import ParameterError
from spinney.spaces.box import Box, Domain, FloatArray
from spinney.spaces.column import Column
from spinney.spaces.column_facts import as_typed, column_of, record_of


@dataclass(frozen=True)
class Schema:
    """Public facts about the columns of a table, in the order of the fit."""

    columns: tuple[Column, ...]

    @property
    def names(self) -> tuple[str, ...] | None:
        """Names of the table's columns; None if it has none."""
        names = [column.name for column in self.columns if column.name is not None]
        return tuple(names) if len(names) == len(self.columns) else None

    @property
    def table(self) -> tuple[str, ...]:
        """Names of the table's columns, none of a table without names."""
        return self.names or ()

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
        """Whether all columns are plain numbers: no category, date or truth value, nothing is filled in, and nothing missing."""
        return all(not column.is_coded and column.fill is None and not column.missing for column in self.columns)

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
                values = column.known(np.asarray(cells[:, i], dtype=np.float64))
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
        return [record_of(column) for column in self.columns]

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
            return {str(column.name): as_typed(record_of(column)) for column in self.columns}, None
        is_whole = all(column.unit == column.upper - column.lower for column in self.columns)
        return Box(self.own.lower.tolist(), self.own.upper.tolist()), "bounds" if is_whole else self.columns[0].unit

    def named(self, names: tuple[str, ...]) -> Schema:
        """Return the schema with these names of columns."""
        return Schema(tuple(replace(column, name=name) for column, name in zip(self.columns, names, strict=True)))

    def _each(self, values: list[float]) -> FloatArray:
        return np.repeat(np.asarray(values, dtype=np.float64), [column.width for column in self.columns])
