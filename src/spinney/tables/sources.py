"""What `fit` and `predict` take as a table besides arrays: frames, lazy frames, Arrow tables, and paths of files.

Nothing here is asked of a table before its parameters are checked, and nothing it says depends on a cell.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney.exceptions import DataError, ParameterError
from spinney.privacy.seal import sealed
from spinney.spaces.column import Column
from spinney.spaces.plain_values import canonical_name
from spinney.spaces.schema import Schema
from spinney.tables.arrow_streams import ADDRESS, as_stream, is_a, is_class_of_streams
from spinney.tables.cells import chosen_places, listed, no_numbers, number, numeric_array, numeric_column, single_column
from spinney.tables.encoding import coded_cells, coded_columns, codes, declared_cell, is_text, name_cell
from spinney.tables.schema import arrow_series, can_be_read, holds_names, holds_numbers, shielded

if TYPE_CHECKING:
    import polars as pl

    from spinney.tables.batches import Scan
    from spinney.tables.files import Table

__all__ = [
    "Source",
    "is_arrow_table",
    "is_lazy",
    "is_path",
    "is_spark_frame",
    "is_stream",
    "open_path",
    "place_column",
    "read_source",
]


@dataclass(frozen=True, eq=False, repr=False)
class Source:
    """Rows of numbers, a table that has the names of their columns if they have names, and whom each row belongs to."""

    nonprivate_rows: Any
    header: Any = None
    nonprivate_groups: Any = None

    @property
    def plain_schema(self) -> tuple[list[str] | None, int] | None:
        """The names and the number of columns of an array of numbers, whose names are texts if it has any; None of all else."""
        rows, names = self.nonprivate_rows, None
        if not isinstance(rows, np.ndarray) or isinstance(rows, np.matrix):
            return None
        if self.header is not None:
            is_frame = type(self.header).__module__.partition(".")[0] in ("pandas", "polars")
            names = list(self.header.columns) if is_frame else []
            if not names or any(type(name) is not str for name in names):
                return None
        return names, rows.shape[1]


def is_stream(X: Any) -> bool:
    """Whether this is a stream, or a source that `fit` takes as one, such as an address of files in a store."""
    return is_class_of_streams(type(X)) or (type(X) is str and ADDRESS.match(X) is not None)


def is_lazy(X: Any) -> bool:
    """Whether this is a lazy frame of polars."""
    return is_a(type(X), "polars", "LazyFrame")


def is_spark_frame(X: Any) -> bool:
    """Whether this is a Spark DataFrame; if pyspark was never imported, nothing is."""
    return is_a(type(X), "pyspark.sql", "DataFrame")


def is_arrow_table(X: Any) -> bool:
    """Whether this is a table of pyarrow."""
    return is_a(type(X), "pyarrow", "Table", "RecordBatch")


def _is_arrow_column(X: Any) -> bool:
    """Whether this is a column of pyarrow."""
    return is_a(type(X), "pyarrow", "Array", "ChunkedArray")


def is_path(X: Any) -> bool:
    """Whether this is a path, or a text, which can only be one."""
    return isinstance(X, str | os.PathLike)


def _existing(X: Any) -> Path:
    """Return the path of a file or folder; what is none is not repeated, because it may be the content of one."""
    try:
        path = Path(X)
        is_there = path.exists()
    except (OSError, TypeError, ValueError):
        is_there = False
    if not is_there:
        raise ParameterError(
            "X is a text that names no file or folder.",
            "pass a table, or the path of a .csv, .parquet, .npy or .xlsx file, or of a folder of tables.",
        )
    return path


def open_path(
    X: Any, columns: Sequence[str] | None, groups: Any = None, schema: Schema | None = None, whole: bool = False
) -> Table | Scan:
    """Return the table that a path leads to, in memory or left on disk; parameters as for `open_table`."""
    from spinney.tables.files import open_table

    if groups is not None and not isinstance(groups, str):
        raise ParameterError("A table on disk brings its own groups.", "name their column, for example groups='person'.")
    return open_table(_existing(X), None if columns is None else list(columns), groups, schema, whole)


def read_source(
    X: Any,
    columns: Sequence[str] | None = None,
    groups: Any = None,
    *,
    must_have_names: bool = False,
    schema: Schema | None = None,
    width: int | None = None,
) -> Source:
    """Return a table of any kind as numbers, one for each of its columns.

    Without columns, all but the groups are used; groups are names, or the name of a column. A table without names is taken as it
    is, or refused if it `must_have_names` and columns are given. A schema says how cells are read (`spinney.tables.encoding`).
    `width` is the number of columns, if public facts say it: rows of a list that have another one are missing.
    """
    coded = coded_columns(schema)
    if is_path(X) and not is_stream(X):
        from spinney.tables.files import read_table

        path = _existing(X)
        is_named = columns is not None and path.suffix.lower() != ".npy"
        table = read_table(path, list(columns or ()) if is_named else None, schema=schema)
        return Source(table.nonprivate_rows, None if table.columns is None else _header(table.columns))
    by_name = groups if isinstance(groups, str) else None
    if is_lazy(X):
        X = _collected(X, columns, by_name)
    if is_stream(X):
        X = as_stream(X)
        if not (groups is None or isinstance(groups, str)):
            raise ParameterError("A stream brings its own groups.", "name their column, for example groups='person'.")
        columns, groups = X.columns if columns is None else columns, X.groups if X.has_groups else groups
        by_name = groups if isinstance(groups, str) else None
        X = X.table(columns, by_name, lambda empty, chosen: read_source(empty, chosen, groups, schema=schema))
    if _is_arrow_column(groups):
        groups = _arrow_names(groups)
    if is_arrow_table(X):
        places = chosen_places(X.schema.names, columns, by_name)
        names = [X.schema.names[place] for place in places]
        if by_name is not None:
            groups = _arrow_names(X.column(X.schema.names.index(by_name)))
        return Source(_arrow_rows(X, places, coded), _header(names) if len(set(names)) == len(names) else None, groups)
    is_frame = hasattr(X, "columns") and hasattr(X, "dtypes")
    if not is_frame and columns is not None and (must_have_names or coded):
        raise ParameterError(
            "Bounds name columns, and X has no names of columns.", "pass a frame, or give bounds=(lower, upper)."
        )
    if is_frame and (columns is not None or by_name is not None):
        places = chosen_places(X.columns, columns, by_name)
        groups = groups if by_name is None else X[by_name]
        X = X.iloc[:, places] if hasattr(X, "iloc") else X[:, places]
    named = hasattr(X, "columns") and len(set(X.columns)) == len(X.columns)
    return Source(_coded_frame(X, coded) if coded else numeric_array(X, width), X if named else None, groups)


def _coded_frame(frame: Any, coded: dict[str, Column]) -> NDArray[np.float64]:
    """Return a frame as numbers, column by column; no type is refused, for frames take theirs from their cells."""
    with sealed():
        rows = np.empty((len(frame), len(frame.columns)))
        for place, name in enumerate(frame.columns):
            rows[:, place] = _coded_column(frame, place, coded[name]) if name in coded else _plain_numbers(frame, place)
    return rows


def _plain_numbers(frame: Any, place: int) -> NDArray[np.float64]:
    """Return a column of a frame as plain numbers."""
    one = frame.iloc[:, [place]] if hasattr(frame, "iloc") else frame[:, [place]]
    return np.asarray(numeric_array(one), dtype=np.float64)[:, 0]


def _coded_column(frame: Any, place: int, column: Column) -> NDArray[np.float64]:
    """Return a column of a frame as numbers; days and times of polars are written as in files."""
    import polars as pl

    is_pandas = hasattr(frame, "iloc")
    cells = frame.iloc[:, place] if is_pandas else frame[:, place]
    if not is_pandas and is_text(cells.dtype):
        return np.asarray(codes(cells.cast(pl.String), column).to_numpy())
    if column.kind == "number":
        is_plain = cells.dtype.kind in "fiub" if is_pandas else cells.dtype.is_numeric()
        return _plain_numbers(frame, place) if is_plain else coded_cells(listed(cells), column)
    if not is_pandas and cells.dtype in (pl.Date, pl.Datetime):
        days = cells.to_frame("cells").select(name_cell("cells", cells.dtype)).to_series()
        return np.asarray(codes(days, column).to_numpy())
    return coded_cells(listed(cells), column)


def _header(names: Sequence[str]) -> pl.DataFrame:
    """Return a frame without rows that has these columns."""
    import polars as pl

    return pl.DataFrame(schema=dict.fromkeys(names, pl.Float64))


def _collected(lazy: Any, columns: Sequence[str] | None = None, groups: str | None = None) -> Any:
    """Return a lazy frame's rows, of the columns that are used; whatever fails in it may quote a cell."""
    error = DataError("The lazy frame cannot be computed. Nothing was charged.", "X.collect() says why, to you alone.")
    names = shielded(lambda: lazy.collect_schema().names(), error)
    used = [names[place] for place in chosen_places(names, columns, groups)]
    used += [groups] if groups is not None and groups not in used else []
    return shielded(lambda: lazy.select(used).collect(), error)


def _arrow_rows(table: Any, places: list[int], coded: dict[str, Column]) -> NDArray[Any]:
    """Return columns of an Arrow table as rows of numbers; their types are declared, and those without numbers refused."""
    import polars as pl

    kinds, names = [_kind(table.column(place)) for place in places], [table.schema.names[place] for place in places]
    cells = {name: declared_cell("X", coded[name], kind) for name, kind in zip(names, kinds, strict=True) if name in coded}
    for place, kind in zip(places, kinds, strict=True):
        if table.schema.names[place] not in coded and not holds_numbers(kind):
            raise no_numbers(table.schema.names[place], str(table.schema.types[place]))
    if not places:
        raise ValueError("Found array with 0 feature(s) while a minimum of 1 is required.")
    is_short = set(kinds) == {pl.Float32} and not coded
    rows = np.empty((table.num_rows, len(places)), dtype=np.float32 if is_short else np.float64)

    def read() -> None:
        for i, (place, name, kind) in enumerate(zip(places, names, kinds, strict=True)):
            cell = cells.get(name, pl.col(name).cast(pl.Float64, strict=False))
            rows[:, i] = pl.DataFrame({name: arrow_series(table.column(place), kind)}).select(cell).to_series().to_numpy()

    shielded(read, DataError("The Arrow table cannot be read. Nothing was charged.", "X.validate(full=True) says why."))
    return rows


def _kind(column: Any) -> Any:
    """Return the declared type of an Arrow column as polars calls it; one that cannot be read is unknown."""
    import polars as pl
    import pyarrow as pa

    empty = pa.schema([("", column.type)]).empty_table().column(0)
    return pl.Series(pl.from_arrow(empty)).dtype if can_be_read(empty) else pl.Unknown()


def _arrow_cells(column: Any) -> NDArray[Any]:
    """Return a column of an Arrow table as numbers, or as objects if its declared type is a text; others are refused."""
    import polars as pl

    kind = _kind(column)
    if not holds_numbers(kind) and not is_text(kind):
        raise no_numbers("demand", str(column.type))

    def read() -> NDArray[Any]:
        cells = arrow_series(column, kind)
        if is_text(kind):
            return np.array(cells.to_list(), dtype=object)
        return cells.cast(pl.Float64, strict=False).to_numpy()

    return shielded(read, DataError("The Arrow column cannot be read. Nothing was charged.", "validate(full=True) says why."))


def _arrow_names(column: Any) -> pl.Series:
    """Return a column of an Arrow table as names of groups; its type is declared."""
    kind = _kind(column)
    if not holds_names(kind):
        raise ParameterError(
            f"The groups must be texts or numbers. Got a column of type {str(column.type)!r} instead.",
            "name a column of texts or whole numbers.",
        )

    error = DataError("The groups cannot be read. Nothing was charged.", "their column is broken.")
    return shielded(lambda: arrow_series(column, kind), error)


def place_column(column: Any, names: tuple[str, ...] | None) -> NDArray[Any]:
    """Return the point of each row of a private column, of any kind of table, as an index; what names no point is no index.

    How a cell is read depends on that cell and on public facts alone. In a space with names a text is the name of a point, and so
    is a whole number if some point is named by one; else numbers are indices. Without names, texts are refused where a type is
    declared.
    """
    if is_lazy(column):
        column = _collected(column)
    if is_arrow_table(column):
        column = column.column(0) if column.num_columns == 1 else np.empty((0, 0))
    if _is_arrow_column(column):
        cells = _arrow_cells(column)
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
