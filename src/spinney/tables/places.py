"""Reading a user's demand as indices of public points, by index or by name, without a word about its rows."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.exceptions import ParameterError
from spinney.spaces.plain_values import canonical_name
from spinney.tables.cells import number, numeric_column, single_column
from spinney.tables.sources import arrow_cells, collected, is_arrow_column, is_arrow_table, is_lazy

__all__ = ["place_column"]


def place_column(column: Any, names: tuple[str, ...] | None) -> NDArray[Any]:
    """Return the point of each row of a private column, of any kind of table, as an index; what names no point is no index.

    How a cell is read depends on that cell and on public facts alone. In a space with names a text is the name of a point, and so
    is a whole number if some point is named by one; else numbers are indices. Without names, texts are refused where a type is
    declared.
    """
    if is_lazy(column):
        column = collected(column)
    if is_arrow_table(column):
        column = column.column(0) if column.num_columns == 1 else np.empty((0, 0))
    if is_arrow_column(column):
        cells = arrow_cells(column)
        if cells.dtype.kind == "O" and names is None:
            raise _no_names(str(column.type))
        column = cells
    if isinstance(column, np.ndarray) and column.dtype.kind in "UST" and names is None:
        raise _no_names("text")
    if names is None:
        return numeric_column(column)
    places = {canonical_name(name): place for place, name in enumerate(names)}
    places |= {name: place for place, name in enumerate(names)}
    is_numbered = any(re.fullmatch(r"-?[0-9]+", name) for name in places)

    def place(cell: Any) -> float:
        cell = cell.decode("utf-8", "replace") if isinstance(cell, bytes) else cell
        if isinstance(cell, str):
            return places.get(cell, places.get(canonical_name(cell), math.nan))
        value = number(cell)
        if not is_numbered:
            return value
        return places.get(str(int(value)), math.nan) if math.isfinite(value) and value == int(value) else math.nan

    return np.array([place(cell) for cell in single_column(column)], dtype=np.float64)


def _no_names(kind: str) -> ParameterError:
    return ParameterError(
        f"Demand must be indices of points, because the space has no names. Got a column of type {kind!r} instead.",
        "make the space with names for its points, or pass indices.",
    )
