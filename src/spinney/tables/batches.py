"""Tables that are left on disk: their rows stream by in batches, as often as they are asked for.

Cells are read exactly as `spinney.tables.files.read_table` reads them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney.exceptions import DataError
from spinney.naming import COMPRESSED, kind_of
from spinney.spaces.column import Column
from spinney.spaces.schema import Schema
from spinney.tables.arrow_streams import ArrowStream, stream
from spinney.tables.encoding import check_schema, coded_cells, coded_columns, with_codes
from spinney.tables.records import COMMAS, Csv, as_names, stream_records
from spinney.tables.schema import (
    ROWS,
    Found,
    Paths,
    check_choice,
    check_groups,
    check_names,
    chosen_columns,
    csv_header,
    open_parquet,
    parquet_cell,
    parquet_frames,
    parquet_schema,
    read_parquet,
    reader_errors,
    same_groups,
    shielded,
    table_files,
    unreadable,
)
from spinney.tables.sheets import check_reader, sheet_columns, sheet_header, sheet_names
from spinney.tables.streams import Batches, batch_rows, without_first

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Scan", "open_npy", "opened", "scan"]

#: How many bytes of text one byte of a compressed file is taken to hold.
SQUEEZED = 5


def scan(
    paths: Paths,
    columns: list[str] | None = None,
    groups: str | None = None,
    *,
    separator: str = "comma",
    encoding: str = "utf-8",
    quotes: bool = True,
    spool: str | Path | None = None,
) -> Scan | ArrowStream:
    """Return a table that stays on disk, for ``fit``: memory is then bounded, whatever the number of rows.

    Privacy
    -------
    Rows are read for every pass of a fit, by the same rules as `read_table`, so the release is the same. As many as fit a public
    bound are kept in memory until the fit ends. Only the schema is read here.

    Parameters
    ----------
    paths : path or list of paths
        CSV, Parquet, NPY or Excel (.xlsx) files of one kind, or folders of the first three, with the same columns; or a source of
        `stream`.
    columns : list of str, optional
        Which columns, in this order; all of the first file but `groups` by default. Not for NPY, whose columns have no names.
    groups : str, optional
        The column that names the group of each row; rows without a name do not count. Names, and some bytes per row of groups
        with more rows than the cap, are then held in memory for a moment, and one byte per row for long.
    separator : {"comma", "semicolon", "tab", "pipe"}
        What parts the cells of CSV files; the mark itself will do.
    encoding : str
        How CSV files write letters as bytes, such as ``"cp1252"``; bytes that mean none are replaced.
    quotes : bool
        Whether quotes may stand around cells of CSV files; if not, they are letters, and none can hide the lines below it.
    spool : path, optional
        For a source that is no file: the folder that its rows stay in while they are fitted, as for `stream`.
    """
    if spool is not None:
        return stream(paths, columns=columns, groups=groups, spool=spool)
    return opened(paths, columns, groups, written=Csv.of(separator, encoding, quotes, "scan"))


def opened(
    paths: Paths,
    columns: list[str] | None = None,
    groups: str | None = None,
    schema: Schema | None = None,
    written: Csv = COMMAS,
) -> Scan:
    """Return what `scan` does; cells of categories, truth values and dates are read as a schema says."""
    check_choice(columns, groups)
    check_schema(schema)
    files, coded = table_files(paths), coded_columns(schema)
    kind: Any = {".csv": _CsvFile, ".npy": _NpyFile, ".parquet": _ParquetFile, ".xlsx": _SheetFile}[kind_of(files[0])]
    first = kind(files[0], columns, groups, coded, written)
    names = columns if first.columns is None else list(first.columns)
    return Scan([first, *(kind(file, names, groups, coded, written) for file in files[1:])])


class _File(ABC):
    """A file of rows, and what it looked like when it was opened."""

    columns: tuple[str, ...] | None
    n_features: int
    nbytes: int
    #: The number of rows, private; it is known once they have been read.
    n_rows: int | None = None

    def __init__(self, path: Path, columns: list[str] | None, groups: str | None, coded: dict[str, Column], written: Csv) -> None:
        self.path, self.coded, self.written = path, coded, written
        self.groups = groups
        self._stamp = self._look()
        self._open(columns)

    @abstractmethod
    def _open(self, columns: list[str] | None) -> None:
        """Read the schema."""

    @abstractmethod
    def read(self, size: int, start: int) -> Iterator[NDArray[Any]]:
        """Yield the rows from one on, at most `size` at a time."""

    def read_groups(self) -> Iterator[pl.Series]:
        """Yield the names of the groups, all at once; an array has none."""
        raise NotImplementedError

    def _look(self) -> tuple[int, int, int]:
        state = self.path.stat()
        return state.st_size, state.st_mtime_ns, state.st_ino

    def check(self) -> None:
        """Raise if the file has changed since it was opened: all passes must see the same rows."""
        try:
            same = self._look() == self._stamp
        except OSError:
            same = False
        if not same:
            raise DataError(f"{self.path} has changed while it was in use.", "fit again when nothing writes to it any more.")


class Scan(Batches):
    """A table that stays on disk; made by `scan`.

    Attributes
    ----------
    n_features : int
    columns : tuple of str or None
        Names of the columns.
    has_groups : bool
    nbytes : int
        Roughly what the numbers would take in memory. As private as the number of rows.
    """

    def __init__(self, files: list[_File]) -> None:
        self._files = files
        self.n_features, self.columns = files[0].n_features, files[0].columns
        self.has_groups = files[0].groups is not None
        self.nbytes = sum(file.nbytes for file in files)
        for file in files:
            if file.n_features != self.n_features:
                raise unreadable(file.path, "has another number of columns than the file before it.")

    def declared(self, columns: Sequence[str], schema: Schema) -> Scan:
        """Return these columns of the same files, their cells read as a schema says."""
        first = self._files[0]
        return opened([file.path for file in self._files], list(columns), first.groups, schema, first.written)

    def __repr__(self) -> str:
        return f"Scan of {self.n_features} columns"

    def read(self) -> Iterator[NDArray[Any]]:
        """Yield all rows in batches."""
        return self.read_from(0)

    def read_from(self, start: int) -> Iterator[NDArray[Any]]:
        """Yield the rows from one on in batches; files before them are not read, but must not have changed either."""
        for file in self._files:
            if file.n_rows is not None and file.n_rows <= start:
                file.check()
                start -= file.n_rows
                continue
            yield from _guarded(file, file.read(batch_rows(self.n_features), start))
            start = max(start - (file.n_rows or 0), 0)

    def read_groups(self) -> Any:
        """Return the names of the groups of all rows."""
        groups = [names for file in self._files for names in _guarded(file, file.read_groups())]
        return same_groups([file.path for file in self._files], groups)

    def whole(self) -> NDArray[Any]:
        """Return all rows in memory; a single array stays on disk."""
        if len(self._files) == 1 and isinstance(self._files[0], _NpyFile):
            return open_npy(self._files[0].path, None, None)
        parts = list(self.read()) or [np.empty((0, self.n_features))]
        return np.concatenate(parts, out=np.empty((sum(map(len, parts)), self.n_features), np.result_type(*parts)))


def _guarded(file: _File, parts: Iterator[Found]) -> Iterator[Found]:
    """Yield what is read of a file; whatever a reader makes of a broken one, its message may hold cells: nothing refers to it."""
    file.check()
    is_whole = False
    try:
        yield from parts
        is_whole = True
    except MemoryError:
        raise
    except reader_errors():
        pass
    file.check()
    if not is_whole:
        raise unreadable(file.path, "cannot be read.")


class _ParquetFile(_File):
    def _open(self, columns: list[str] | None) -> None:
        import polars as pl

        self._schema = schema = parquet_schema(self.path)
        self.columns = tuple(chosen_columns(self.path, schema, columns, self.groups))
        self.n_features = len(self.columns)
        self._cells = {name: parquet_cell(self.path, name, schema[name], self.coded.get(name)) for name in self.columns}
        is_short = not self.coded and all(schema[name] == pl.Float32 for name in self.columns)
        self._dtype = np.float32 if is_short else np.float64
        if self.groups is not None:
            check_groups(self.path, self.groups, schema[self.groups])
        with open_parquet(self.path) as file:
            self._sizes = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
        self.n_rows = sum(self._sizes)
        self.nbytes = 8 * self.n_rows * self.n_features

    def read(self, size: int, start: int) -> Iterator[NDArray[Any]]:
        first = 0
        while first < len(self._sizes) and self._sizes[first] <= start:
            start -= self._sizes[first]
            first += 1
        frames = parquet_frames(self.path, self._schema, self._cells, size, range(first, len(self._sizes)))
        return without_first((frame.to_numpy(order="fortran").astype(self._dtype, copy=False) for frame in frames), start)

    def read_groups(self) -> Iterator[pl.Series]:
        import polars as pl

        yield read_parquet(self.path, self._schema, {str(self.groups): pl.col(str(self.groups))}).to_series()


class _CsvFile(_File):
    def _open(self, columns: list[str] | None) -> None:
        wanted = [*(columns or ()), *([] if self.groups is None else [self.groups])]
        self._header = csv_header(self.path, self.written, wanted)
        self.columns = tuple(chosen_columns(self.path, self._header.names, columns, self.groups))
        self.n_features = len(self.columns)
        self.nbytes = self._stamp[0] * (SQUEEZED if self.path.suffix.lower() in COMPRESSED else 1)

    def _records(self, numbers: list[str], texts: list[str]) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
        return stream_records(self.path, self._header, numbers, texts)

    def read(self, size: int, start: int) -> Iterator[NDArray[Any]]:
        return without_first(self._parse(size), start)

    def _parse(self, size: int) -> Iterator[NDArray[Any]]:
        chosen = list(self.columns or ())
        texts, count = [name for name in chosen if name in self.coded], 0
        for plain, cells in self._records([name for name in chosen if name not in self.coded], texts):
            numbers = with_codes(plain, cells, chosen, self.coded)
            count += numbers.height
            for start in range(0, numbers.height, size):
                yield numbers[start : start + size].to_numpy(order="fortran")
        self.n_rows = count

    def read_groups(self) -> Iterator[pl.Series]:
        import polars as pl

        names = pl.concat(cells for _, cells in self._records([], [str(self.groups)]))
        yield names.select(as_names(pl.all())).to_series()


class _SheetFile(_File):
    def _open(self, columns: list[str] | None) -> None:
        check_reader(self.path)
        self._places = shielded(lambda: sheet_header(self.path), unreadable(self.path, "cannot be read."))
        check_names(self.path, tuple(self._places))
        self.columns = tuple(chosen_columns(self.path, self._places, columns, self.groups))
        self.n_features = len(self.columns)
        self.nbytes = 8 * self._stamp[0]  # it is compressed

    def read(self, size: int, start: int) -> Iterator[NDArray[Any]]:
        return without_first(self._parse(size), start)

    def _parse(self, size: int) -> Iterator[NDArray[Any]]:
        facts, count = [self.coded.get(name) or Column(name, "number") for name in self.columns or ()], 0
        for cells in sheet_columns(self.path, [self._places[str(column.name)] for column in facts], size):
            count += len(cells[0])
            yield np.column_stack([coded_cells(one, column) for one, column in zip(cells, facts, strict=True)])
        self.n_rows = count

    def read_groups(self) -> Iterator[pl.Series]:
        yield sheet_names(self.path, self._places[str(self.groups)], ROWS)


class _NpyFile(_File):
    def _open(self, columns: list[str] | None) -> None:
        rows: Any = open_npy(self.path, columns, self.groups)
        self.columns = None
        self.n_rows, self.n_features = rows.shape
        self._type, self._start, self.nbytes = rows.dtype, rows.offset, rows.nbytes
        self._by_row = rows.flags.c_contiguous

    def read(self, size: int, start: int) -> Iterator[NDArray[Any]]:
        width, height = self.n_features, self.n_rows or 0

        def values(place: int, count: int) -> NDArray[Any]:
            file.seek(self._start + place * self._type.itemsize)
            found = np.fromfile(file, self._type, count)
            if found.size < count:
                raise EOFError
            return found

        with self.path.open("rb") as file:
            for first in range(start, height, size):
                count = min(size, height - first)
                if self._by_row:
                    yield values(first * width, count * width).reshape(count, width)
                else:
                    yield np.stack([values(column * height + first, count) for column in range(width)], axis=1)


def open_npy(path: Path, columns: list[str] | None, groups: str | None) -> NDArray[Any]:
    """Open an array; it stays on disk."""
    if columns or groups:
        hint = "give two bounds for all columns and no names of columns or groups, or use CSV or Parquet."
        raise DataError(f"{path} has no column names.", hint)
    rows = shielded(lambda: np.lib.format.open_memmap(path, mode="r"), unreadable(path, "cannot be read."))
    if rows.ndim != 2 or not rows.shape[1] or rows.dtype.kind not in "fiub":
        raise unreadable(path, "does not hold a two-dimensional array of numbers.")
    return rows
