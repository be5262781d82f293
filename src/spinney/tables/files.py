"""Tables from CSV, Parquet and NPY files, and bounds from JSON.

Names of columns are schema, and public, and so are types where a file declares them; a cell that is not a number is missing,
silently.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney.exceptions import DataError, check_path
from spinney.naming import named
from spinney.privacy.seal import sealed
from spinney.spaces.column import Column
from spinney.spaces.schema import Schema
from spinney.tables.batches import Scan, memory_bytes, open_npy, opened, scan
from spinney.tables.encoding import check_schema, coded_columns, with_codes
from spinney.tables.records import read_records
from spinney.tables.schema import (
    Paths,
    check_choice,
    check_groups,
    chosen_columns,
    csv_header,
    parquet_cell,
    parquet_schema,
    read_parquet,
    same_groups,
    shielded,
    table_files,
    unreadable,
)

if TYPE_CHECKING:
    import polars as pl

__all__ = ["LARGE_SHARE", "Table", "open_table", "read_bounds", "read_table", "scan"]

#: A table is left on disk if its numbers, at eight bytes each, would take more than this share of the memory.
LARGE_SHARE = 1 / 8


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Rows of numbers, the names of their columns, and whom each row belongs to. All but the names is private."""

    nonprivate_rows: NDArray[Any]
    columns: tuple[str, ...] | None = None
    nonprivate_groups: Any = None


def open_table(
    paths: Paths,
    columns: list[str] | None = None,
    groups: str | None = None,
    schema: Schema | None = None,
    whole: bool = False,
) -> Table | Scan:
    """Return the rows of files, as `read_table` does, or left on disk if they would take a large share of memory.

    What is released does not depend on this choice, nor what is refused; only time and memory do. `whole` rows are never left.
    """
    found = opened(paths, columns, groups, schema)
    is_large = found.nbytes > LARGE_SHARE * memory_bytes() and not whole
    return found if is_large else read_table(paths, columns, groups, schema)


@sealed()
def read_table(paths: Paths, columns: list[str] | None = None, groups: str | None = None, schema: Schema | None = None) -> Table:
    """Return the rows of a file, or of several that have the same columns, in their order; parameters as for `scan`.

    Columns that a schema says to hold categories, truth values or dates are read as numbers (`spinney.tables.encoding`).
    """
    check_choice(columns, groups)
    check_schema(schema)
    files, coded = table_files(paths), coded_columns(schema)
    read = {".csv": _read_csv, ".npy": _read_npy, ".parquet": _read_parquet}[files[0].suffix.lower()]
    tables = [read(files[0], columns, groups, coded)]
    names = tables[0].columns
    tables += [read(file, columns if names is None else list(names), groups, coded) for file in files[1:]]
    if len(tables) == 1:
        return tables[0]
    for file, table in zip(files, tables, strict=True):
        if table.nonprivate_rows.shape[1] != tables[0].nonprivate_rows.shape[1]:
            raise unreadable(file, "has another number of columns than the file before it.")
    rows = np.concatenate([table.nonprivate_rows for table in tables])
    return Table(rows, names, None if groups is None else same_groups(files, [table.nonprivate_groups for table in tables]))


def _table(numbers: pl.DataFrame, groups: pl.Series | None) -> Table:
    return Table(numbers.to_numpy(order="c"), tuple(numbers.columns), groups)


def _read_csv(path: Path, columns: list[str] | None, groups: str | None, coded: dict[str, Column]) -> Table:
    header = csv_header(path)
    chosen = chosen_columns(path, header.names, columns, groups)
    plain, texts = [name for name in chosen if name not in coded], [name for name in chosen if name in coded]
    texts += [] if groups is None or groups in texts else [groups]

    def read() -> tuple[pl.DataFrame, pl.DataFrame]:
        numbers, names = read_records(path, header, plain, texts)
        return with_codes(numbers, names, chosen, coded), names

    numbers, names = shielded(read, unreadable(path, "cannot be read."))
    return _table(numbers, None if groups is None else names[groups])


def _read_parquet(path: Path, columns: list[str] | None, groups: str | None, coded: dict[str, Column]) -> Table:
    import polars as pl

    schema = parquet_schema(path)
    chosen = chosen_columns(path, schema, columns, groups)
    cells = {name: parquet_cell(path, name, schema[name], coded.get(name)) for name in chosen}
    if groups is not None:
        check_groups(path, groups, schema[groups])
    numbers = read_parquet(path, schema, cells)
    return _table(numbers, None if groups is None else read_parquet(path, schema, {groups: pl.col(groups)})[groups])


def _read_npy(path: Path, columns: list[str] | None, groups: str | None, coded: dict[str, Column]) -> Table:
    """Open an array; it stays on disk."""
    return Table(open_npy(path, columns, groups))


def read_bounds(path: Path) -> dict[str, tuple[float, float]]:
    """Return public bounds by column from a JSON file such as ``{"age": [0, 110], "bmi": [10, 60]}``."""
    hint = 'write JSON such as {"age": [0, 110], "bmi": [10, 60]}.'

    def parse(content: bytes) -> dict[str, tuple[float, float]]:
        record = json.loads(content.decode("utf-8"))
        return {str(name): (float(low), float(high)) for name, (low, high) in record.items()}

    check_path(path, "read_bounds")
    content = shielded(Path(path).read_bytes, DataError(f"{path} cannot be read.", hint))
    bounds = shielded(lambda: parse(content), DataError(f"{path} does not hold bounds.", hint))
    for name, (low, high) in bounds.items():
        if not low < high:
            raise DataError(f"{path}: the lower bound of {named(name)} is not below its upper bound.", hint)
    return bounds
