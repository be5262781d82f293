"""Rows that were read once and stay in a folder until a fit ends: plain numbers, in batches that stay the same.

A cell is read when it comes, so that each pass copies bytes and no more: nothing is kept in memory between passes.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from spinney.tables.schema import parquet_schema, read_parquet
from spinney.tables.streams import Batches, batch_rows

__all__ = ["Spooled"]

#: Of how many of the first rows labels may be kept, at a byte or two each.
MOST_LABELED = 2**26


class Spooled(Batches):
    """The rows of Arrow tables, the first of which has none, in a new folder that only its owner may enter.

    It is removed when the fit ends, however it ends, and when nobody holds these rows any more.

    Parameters
    ----------
    folder : Path
    tables : iterable of Arrow tables
        Read once.
    read : callable
        Makes rows of numbers of a table.
    columns : list of str
        Their names.
    groups : str, optional
        The column that names the group of each row.
    """

    def __init__(
        self, folder: Path, tables: Iterable[Any], read: Callable[[Any], NDArray[Any]], columns: list[str], groups: str | None
    ) -> None:
        home = Path(tempfile.mkdtemp(prefix="spinney-", dir=folder))
        self._remove = weakref.finalize(self, shutil.rmtree, home, ignore_errors=True)
        self.columns, self.n_features, self.has_groups = tuple(columns), len(columns), groups is not None
        self._path, self._names, self._groups = home / "rows", home / "names.parquet", groups
        self._sizes: list[int] = []
        self._count = 0
        self._finite: dict[int, int] = {}
        try:
            self._write(iter(tables), read)
        except BaseException:
            self._remove()
            raise

    def _write(self, tables: Iterator[Any], read: Callable[[Any], NDArray[Any]]) -> None:
        import pyarrow.parquet as pq

        first = next(tables)
        self._type, named = read(first).dtype, [self._groups] if self.has_groups else []
        with self._path.open("wb") as file, pq.ParquetWriter(self._names, first.select(named).schema) as names:
            for table in tables:
                self._add(file, read(table))
                names.write_table(table.select(named))

    def _add(self, file: IO[bytes], rows: NDArray[Any]) -> None:
        """Write rows, column by column in each batch."""
        size = batch_rows(self.n_features)
        for start in range(0, len(rows), size):
            batch = rows[start : start + size]
            with np.errstate(all="ignore"):
                if np.isfinite(batch.sum()):  # then all values are, and no pass has to look
                    self._finite[self._count] = len(batch)
            np.ascontiguousarray(batch.T).tofile(file)
            self._sizes.append(len(batch))
            self._count += len(batch)

    @property
    def n_steady(self) -> int:  # type: ignore[override]
        """Of how many rows labels may be kept, because batches stay the same."""
        return min(self._count, MOST_LABELED)

    def read(self) -> Iterator[NDArray[Any]]:
        """Yield all rows."""
        return self.read_from(0)

    def read_from(self, start: int) -> Iterator[NDArray[Any]]:
        """Yield the rows from one on."""
        place = 0
        with self._path.open("rb") as file:
            for size in self._sizes:
                count = size * self.n_features
                if place + size <= start:
                    file.seek(count * self._type.itemsize, 1)
                else:
                    values = np.fromfile(file, self._type, count)
                    if values.size < count:
                        raise EOFError
                    yield values.reshape(self.n_features, size).T[max(start - place, 0) :]
                place += size

    def is_finite(self, start: int, count: int) -> bool:
        """Whether it was seen that all values of a batch are finite."""
        return count <= self._finite.get(start, -1)

    def drop(self) -> None:
        """Remove the folder."""
        self._remove()

    def read_groups(self) -> Any:
        """Return the names of the groups of all rows."""
        import polars as pl

        name = str(self._groups)
        return read_parquet(self._names, parquet_schema(self._names), {name: pl.col(name)}).to_series()
