"""Columns that are described: how their cells become numbers behind the columns that were clustered.

A cell becomes a number from 0 to 1: its place between the public bounds, or the middle of the bin of its category. A missing
cell becomes `ABSENT`, unless its column says what it is read as. The map is public and looks at one cell alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.spaces.box import Domain, FloatArray
from spinney.spaces.column import Column
from spinney.spaces.schema import Schema

#: What a missing cell becomes: its distance from all others is at least their width.
ABSENT = 2.0


def is_measured(column: Column) -> bool:
    """Whether a column has means and quantiles: numbers and dates do, categories and truth values have shares."""
    return column.kind in ("number", "date")


def bin_names(column: Column) -> tuple[str, ...]:
    """Return what the bins of a column that is not measured are called."""
    return column.categories if column.kind == "category" else ("false", "true")


def _places(column: Column, cells: NDArray[Any]) -> FloatArray:
    """Return the cells of one column as places from 0 to 1; a missing one is NaN."""
    values = np.asarray(cells, dtype=np.float64)
    values = column.known(np.where(np.isfinite(values), values, np.nan))
    if is_measured(column):
        found: FloatArray = np.clip((values - column.lower) / (column.upper - column.lower), 0.0, 1.0)
        return found
    return (values + 0.5) / len(bin_names(column))


@dataclass(frozen=True)
class DescribedSchema:
    """How rows of a table become columns that decide a cluster and, behind them, columns that are described.

    Parameters
    ----------
    table : tuple of str
        The columns of the table, in the order in which they are read.
    clustered : tuple of int
        The places of those that decide a cluster.
    schema : Schema or None
        Their units, categories and dates; None if they are numbers as they are.
    described : tuple of Column
        Public facts of the columns that are described.
    """

    table: tuple[str, ...]
    clustered: tuple[int, ...]
    schema: Schema | None
    described: tuple[Column, ...]

    #: Rows keep the names of the table's columns.
    titles = None

    @property
    def width(self) -> int:
        """The number of columns of encoded rows."""
        return (len(self.clustered) if self.schema is None else self.schema.width) + len(self.described)

    def encode(self, cells: NDArray[Any]) -> FloatArray:
        """Return rows from one number for each column of the table, as tables are read.

        If a number that decides the cluster is missing, all described cells of the row are missing too: several such rows of one
        person have equal draws, so it must not matter which of them counts.
        """
        first = self.width - len(self.described)
        found = np.empty((len(cells), self.width), order="F")
        with np.errstate(all="ignore"):  # a number too large becomes infinite, and so missing, in silence
            own = cells[:, list(self.clustered)]
            found[:, :first] = own if self.schema is None else self.schema.encode(own)
            silent = ~np.isfinite(found[:, :first]).all(axis=1)  # rows that do not count, or are all read alike
            for i, column in enumerate(self.described):
                places = _places(column, cells[:, self.table.index(str(column.name))])
                found[:, first + i] = np.where(np.isnan(places) | silent, ABSENT, places)
        return found

    def domain(self, clustered: Domain) -> Domain:
        """Return the box of encoded rows around the box of the columns that decide a cluster."""
        more = len(self.described)
        return Domain(
            np.concatenate([clustered.lower, np.zeros(more)]), np.concatenate([clustered.upper, np.full(more, ABSENT)]), np.inf
        )


#: What makes rows of numbers out of cells.
Encoding = Schema | DescribedSchema
