"""Reading a Spark DataFrame on its executors: Arrow batches become rows of numbers, and these become bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.exceptions import ParameterError
from spinney.spaces.described import Encoding
from spinney.spaces.grid import as_floats
from spinney.spaces.schema import Schema
from spinney.tables.cells import no_numbers
from spinney.tables.sources import read_source

#: Most rows that are added up at a time, which bounds partial sums, and most values, which bounds memory.
MOST_ROWS, MOST_VALUES = 2**16, 2**20
#: Bytes of a cell of packed rows, or of one row. Spark passes cells to Python in batches of at most 10,000 and some 64 MiB:
#: batches of 64 MiB, which few large cells make, take Java twice as long as those of 10 do. Much smaller cells cost more, too.
CELL = 2**10
#: Types that are read as they are, those that a 32-bit float holds exactly first.
SMALL = {"byte", "short", "float"}
PLAIN = {*SMALL, "integer", "long", "double"}
#: Numbers of 32 and of 64 bits, and what Spark calls them.
NARROW, WIDE = "<f4", "<f8"
NUMBERS = {NARROW: "float", WIDE: "double"}
#: Types that Spark turns into 64-bit floats.
CAST = {"boolean", "decimal", "void"}
#: A frame of packed rows: each cell has the bytes of a few, one behind the other.
PACKED = "rows binary"


def quoted(name: str) -> str:
    """Return the name of a column as Spark's expressions have it."""
    return f"`{name.replace('`', '``')}`"


def number_columns(frame: Any, names: Iterable[str], titles: Iterable[str] | None = None) -> list[Any]:
    """Return columns of a Spark DataFrame as types that `read_columns` takes.

    Columns and their types are schema, declared and so public: types that hold no numbers, such as texts and dates, are refused.
    A message names a column by its title, by default its name.
    """
    names = list(names)
    columns = [frame[quoted(name)] for name in names]
    kinds = [field.dataType.typeName() for field in frame.select(columns).schema.fields]
    for title, kind in zip(names if titles is None else titles, kinds, strict=True):
        if kind not in PLAIN | CAST:
            raise no_numbers(title, kind)
    if not kinds:
        raise ValueError("Found array with 0 feature(s) while a minimum of 1 is required.")
    return [column.cast("double") if kind in CAST else column for column, kind in zip(columns, kinds, strict=True)]


def check_types(frame: Any, columns: Sequence[Any], schema: Schema) -> None:
    """Raise unless the declared types of columns, which are public, can hold what a schema says; no row is read."""
    empty = None
    try:
        named = [column.alias(str(name)) for column, name in zip(columns, schema.names or (), strict=True)]
        empty = frame.select(named).limit(0).toArrow()
    except Exception:
        pass  # Spark's own words stay out
    if empty is None:
        raise ParameterError("A column is of a type that cannot be described.", "describe texts, numbers, dates or booleans.")
    read_source(empty, schema.names, schema=schema)


def read_columns(columns: Iterable[Any], dtype: str = WIDE) -> NDArray[Any]:
    """Return Arrow columns of numbers as an F-ordered array of rows."""
    with np.errstate(all="ignore"):
        arrays = [column.to_numpy(zero_copy_only=False) for column in columns]
        rows = np.empty((len(arrays), len(arrays[0])), dtype=dtype)
        for i, array in enumerate(arrays):
            rows[i] = array
    return rows.T


def read_cells(columns: Sequence[Any], schema: Schema) -> NDArray[Any]:
    """Return Arrow columns as one number for each cell, as a schema says."""
    import pyarrow as pa

    found: NDArray[Any] = read_source(pa.Table.from_arrays(list(columns), schema.table), schema=schema).nonprivate_rows
    return found


@dataclass(frozen=True, repr=False)
class Reader:
    """How an executor reads Arrow columns: as they are, or in scaled numbers, by the code that serves rows in memory.

    Numbers come as one column of arrays, `n_columns` each; cells of a schema come as columns.
    """

    n_columns: int
    width: int
    dtype: str
    #: Public units of the columns, and how cells are read if they are no plain numbers.
    encoding: Encoding | None = None
    cells: Schema | None = None

    def __call__(self, columns: Sequence[Any]) -> NDArray[Any]:
        """Return rows of numbers."""
        rows = read_rows(columns[0], self.n_columns) if self.cells is None else read_cells(columns, self.cells)
        return rows if self.encoding is None else self.encoding.encode(rows.astype(WIDE, copy=False))


def row_column(names: Iterable[str], dtype: str) -> str:
    """Return the expression of columns of numbers as one array a row: Spark hands over one column in less time than ten."""
    number = NUMBERS[dtype]
    return f"array({', '.join(f'cast({quoted(name)} as {number})' for name in names)}) as row"


def read_rows(column: Any, width: int) -> NDArray[Any]:
    """Return an Arrow column of arrays as rows of numbers; what is missing becomes NaN."""
    rows: NDArray[Any] = column.flatten().to_numpy(zero_copy_only=False).reshape(-1, width)
    return rows


def stretches(rows: NDArray[Any], width: int) -> Iterator[NDArray[Any]]:
    """Yield rows, not too many of them at a time."""
    most = max(min(MOST_ROWS, MOST_VALUES // width), 1)
    return (rows[start : start + most] for start in range(0, len(rows), most))


def packed(parts: Iterable[NDArray[Any]], width: int) -> Iterator[Any]:
    """Yield rows that come in parts as Arrow batches of cells, which hold the bytes of a few rows each."""
    import pyarrow as pa

    for rows in (some for part in parts for some in stretches(part, width)):
        size = rows.itemsize * width
        data = pa.py_buffer(np.ascontiguousarray(rows))
        ends = np.append(np.arange(0, data.size, max(CELL // size, 1) * size, dtype=np.int32), np.int32(data.size))
        cells = pa.Array.from_buffers(pa.binary(), len(ends) - 1, [None, pa.py_buffer(ends), data])
        yield pa.RecordBatch.from_arrays([cells], ["rows"])


@dataclass(frozen=True, repr=False)
class Packer:
    """What an executor does with a partition's Arrow batches: rows of numbers as bytes."""

    read: Reader

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield packed rows."""
        return packed((self.read(batch.columns) for batch in batches), self.read.width)


def unpacked(batches: Iterable[Any], width: int, dtype: str) -> Iterator[NDArray[Any]]:
    """Yield the rows of Arrow batches of cells: those of a batch lie one behind the other."""
    import pyarrow as pa

    for cells in (batch.column(0) for batch in batches if batch.num_rows):
        _, places, data = cells.buffers()
        ends = np.frombuffer(places, np.int64 if pa.types.is_large_binary(cells.type) else np.int32)
        first, last = int(ends[cells.offset]), int(ends[cells.offset + len(cells)])
        yield from stretches(as_floats(np.frombuffer(data.slice(first, last - first), dtype).reshape(-1, width)), width)
