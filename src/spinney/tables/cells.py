"""Reading a user's table as numbers, without a word about its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from numbers import Complex, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.exceptions import ParameterError
from spinney.privacy.seal import sealed

__all__ = [
    "check_groups",
    "chosen_places",
    "is_list_of_names",
    "listed",
    "no_numbers",
    "number",
    "numeric_array",
    "numeric_column",
    "single_column",
]


def number(cell: object) -> float:
    """Return a cell as a number; what is not a real number is missing."""
    try:
        if isinstance(cell, Real | Decimal | str):
            return float(cell)
        if isinstance(cell, Complex) and cell.imag == 0:  # what a frame makes of a number beside a complex one
            return float(cell.real)
    except Exception:  # whatever a cell may raise, it is missing
        return np.nan
    return np.nan


def listed(column: Any) -> list[Any]:
    """Return the cells of a series; one that Python cannot hold, such as a time in the year 12000, is missing.

    polars panics there, and writes so to the screen: it is not asked. Its times and nested cells are neither numbers nor names.
    """
    dtype: Any = getattr(column, "dtype", None)
    if hasattr(dtype, "is_temporal") and (dtype.is_temporal() or dtype.is_nested()):
        return [None] * len(column)
    try:
        return list(column.to_list())
    except MemoryError:
        raise
    except Exception:  # each cell alone, below: one must not decide about others
        cells = getattr(column, "iloc", column)
    return [_cell_at(cells, place) for place in range(len(column))]


def _cell_at(cells: Any, place: int) -> Any:
    try:
        return cells[place]
    except Exception:  # whatever a cell may raise, it is missing
        return None


def _numbers(cells: list[Any]) -> NDArray[np.float64]:
    return np.array([number(cell) for cell in cells], dtype=np.float64)


def no_numbers(column: str, kind: str) -> ParameterError:
    """Return the error for a column whose declared type holds no numbers; its name and its type are public."""
    return ParameterError(
        f"The columns of X must hold numbers. Column {column!r} is of type {kind!r} instead.",
        "leave it out: bounds={'age': (0, 110), 'income': (0, 200_000)} names the columns to use. A date becomes a number "
        "as days since a public date.",
    )


def chosen_places(known: Sequence[Any], columns: Sequence[str] | None, groups: str | None = None) -> list[int]:
    """Return the places in a table of the columns to use: the named ones, or all but the groups.

    Names are public. Names of the table are not repeated: a file without a header makes names of a row.
    """
    known = list(known)
    hint = "spell names as list(X.columns) does, each once."
    for name in (*(columns or ()), *(() if groups is None else (groups,))):
        if known.count(name) != 1:
            what = "no column" if name not in known else "more than one column"
            raise ParameterError(f"X has {what} {name!r}.", hint)
    if columns is None:
        return [place for place, name in enumerate(known) if groups is None or name != groups]
    return [known.index(name) for name in columns]


def _refuse_type(dtype: np.dtype[Any]) -> None:
    """Raise if an array's type holds no numbers. Objects are read by cell.

    The type is declared and reveals nothing about rows, except the name of a type of texts, which has the length of the longest.
    """
    if dtype.kind in "Mm":
        raise ParameterError(
            "The columns of X must hold numbers. Got dates, times or durations instead.",
            "turn them into numbers, such as days since a public date.",
        )
    if dtype.kind == "c":
        raise ValueError("Complex data not supported.")
    if dtype.kind not in "fiubO":
        what = "texts" if dtype.kind in "UST" else "other things"
        raise ParameterError(
            f"The columns of X must hold numbers. Got an array of {what} instead.",
            "pass the columns of numbers alone, as an array of numbers.",
        )


def _pandas_column(column: Any) -> NDArray[Any]:
    """Return a pandas column as numbers; whether it is read whole or cell by cell depends on its type alone."""
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "fiub":
        return np.asarray(column.to_numpy())
    if column.dtype.kind in "fiub":  # a nullable or sparse type of numbers
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return _numbers(listed(column))


def _polars_column(column: Any) -> NDArray[Any]:
    """Return a polars column as numbers; whether it is read whole or cell by cell depends on its type alone."""
    plain = column.dtype.is_float() or column.dtype.is_integer() or str(column.dtype) == "Boolean"
    return column.cast(float).to_numpy() if plain else _numbers(listed(column))


def _read_frame(frame: Any) -> NDArray[Any]:
    """Read a pandas or polars frame column by column: a cell's neighbors must not decide how it is read.

    No type is refused: frames take theirs from their cells, so a refusal would reveal a row. Dates and texts are missing.
    """
    dtypes = list(frame.dtypes)
    if all(isinstance(dtype, np.dtype) and dtype.kind in "fiub" for dtype in dtypes) and dtypes:
        return np.asarray(frame.to_numpy())
    is_pandas = hasattr(frame, "iloc")
    with np.errstate(all="ignore"):
        columns = [_pandas_column(frame.iloc[:, i]) if is_pandas else _polars_column(frame[:, i]) for i in range(frame.shape[1])]
    return np.column_stack(columns) if columns else np.empty((len(frame), 0))


def _read_masked(array: Any) -> NDArray[Any]:
    """Return a masked array as numbers, masked cells missing; types that hold no numbers as they are, to be refused."""
    data: NDArray[Any] = np.asarray(array.data)
    if data.dtype.kind not in "fiubO":
        return data
    with np.errstate(all="ignore"):  # a value too large for a float becomes infinite, and so missing, in silence
        numbers = data.astype(np.float64) if data.dtype.kind in "fiub" else _numbers(data.ravel().tolist()).reshape(data.shape)
    return np.where(np.ma.getmaskarray(array), np.nan, numbers)


def is_list_of_names(names: Any, length: int) -> bool:
    """Whether this is a plain sequence with `length` entries, whatever the entries are, and not an array of dates."""
    is_plain = hasattr(names, "__len__") and not isinstance(names, str | bytes | dict) and not hasattr(names, "columns")
    return (
        is_plain
        and getattr(names, "ndim", 1) == 1
        and not (isinstance(names, np.ndarray) and names.dtype.kind in "Mm")  # a series has its type from its cells
        and len(names) == length
    )


def check_groups(groups: Any, length: int) -> None:
    """Raise unless groups, if there are any, name one group per row."""
    if groups is not None and not is_list_of_names(groups, length):
        raise ParameterError(
            "The 'groups' argument of fit must name one group per row.",
            "pass a column of the same table, for example groups=table['person'].",
        )


def _cells_of(row: Any) -> Sequence[Any] | None:
    """Return the cells of one row of a list; None of what has none."""
    if type(row) in (list, tuple):
        return row  # type: ignore[no-any-return]
    try:
        if isinstance(row, np.ndarray) or hasattr(row, "__array__"):
            array = row if isinstance(row, np.ndarray) else np.asarray(row)
            return list(array.tolist()) if array.ndim == 1 else None
        return list(row) if isinstance(row, Sequence) and not isinstance(row, str | bytes | bytearray | memoryview) else None
    except Exception:  # whatever a row may raise, it is missing
        return None


def _read_rows(rows: Sequence[Any], width: int | None) -> NDArray[np.float64] | None:
    """Read a list row by row; one that does not have the table's number of columns is missing. None if no row has any.

    Where bounds do not say that number, it is the number of most rows, the first of equals, and as public as an array's.
    """
    found = [_cells_of(row) for row in rows]
    if width is None:
        lengths = Counter(len(cells) for cells in found if cells) or Counter(0 for cells in found if cells is not None)
        if not lengths:
            return None
        width = lengths.most_common(1)[0][0]
    missing = [None] * width
    cells = [cell for row in found for cell in (row if row is not None and len(row) == width else missing)]
    return _numbers(cells).reshape(len(found), width)


def numeric_array(X: Any, width: int | None = None) -> Any:
    """Return a table as an array of numbers, not copied if it is one already.

    What stands in a cell is private: a cell that is not a number becomes missing, silently. The type of an array is declared, and
    so public: one of texts or dates is refused. The types of a frame follow from its cells, and none is refused. Nor is a row of
    a list: one without the right number of cells is missing; `width` is that number, if public facts say it.
    """
    with sealed():
        if isinstance(X, np.ndarray) and X.ndim == 1 and X.dtype.kind == "O":  # what a list of unequal rows becomes
            X = list(X)
        if isinstance(X, Sequence) and not isinstance(X, str | bytes):
            rows = _read_rows(X, width)
            X = np.empty(0) if rows is None else rows
        if hasattr(X, "columns") and hasattr(X, "dtypes"):
            X = _read_frame(X)
        if hasattr(X, "toarray"):  # sparse: left to scikit-learn's own message
            return X
        if isinstance(X, np.ma.MaskedArray):
            X = _read_masked(X)
        if not isinstance(X, np.ndarray):
            X = np.asarray(X, dtype=None if hasattr(X, "__array__") else object)
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead. Reshape your data: one row per record.")
    _refuse_type(X.dtype)
    if X.shape[1] == 0:
        raise ValueError("Found array with 0 feature(s) while a minimum of 1 is required.")
    with sealed():
        return X if X.dtype.kind in "fiub" else _numbers(X.ravel().tolist()).reshape(X.shape)


def _cell(row: Any) -> Any:
    """Return the cell of a row that has one; other rows as they are."""
    row = row.tolist() if isinstance(row, np.ndarray) else row
    return row[0] if isinstance(row, list | tuple) and len(row) == 1 else row


def _column_of(rows: list[Any] | tuple[Any, ...]) -> NDArray[Any]:
    """Return a list of rows as one column; how a row is read does not depend on the others."""
    column = np.empty(len(rows), dtype=object)
    for place, row in enumerate(rows):
        column[place] = _cell(row)
    return column


def _one_column(column: Any) -> Any:
    """Return a list, an array, a series or a table of one column as a frame or an array of one column."""
    with sealed():
        if isinstance(column, list | tuple):
            column = _column_of(column)
        if hasattr(column, "to_frame") and not hasattr(column, "columns"):
            column = column.to_frame()
        if not hasattr(column, "columns"):
            if not isinstance(column, np.ndarray):
                column = np.asarray(column, dtype=None if hasattr(column, "__array__") else object)
            column = column[:, None] if column.ndim == 1 else column
        shape: tuple[int, ...] = getattr(column, "shape", ())
    if len(shape) != 2 or shape[1] != 1:
        raise ParameterError(
            "The rows of demand must be one index each.", "pass one column, such as table['site'], of indices of points."
        )
    return column


def numeric_column(column: Any) -> NDArray[Any]:
    """Return one column as an array of numbers, as `numeric_array` does: a list, an array, a series, or a table of one column."""
    return np.asarray(numeric_array(_one_column(column))[:, 0])


def single_column(column: Any) -> list[Any]:
    """Return the cells of one column, whatever they are; an array of dates is refused by its type."""
    table = _one_column(column)
    if hasattr(table, "columns"):
        return listed(table.iloc[:, 0] if hasattr(table, "iloc") else table[:, 0])
    if table.dtype.kind not in "UST":
        _refuse_type(table.dtype)
    return list(table[:, 0].tolist())
