"""Tables of Excel: the first sheet of an .xlsx file, whose first row names the columns.

A cell says what it says in a CSV file: a number is a number, a day is a day, and a text is read as the schema says; each cell
alone. Columns without a name are left out, whatever stands in them. openpyxl reads cells one by one, and fails at none; readers
that panic at a day too far away would tell of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spinney.exceptions import DataError
from spinney.tables.encoding import cell_names
from spinney.tables.records import as_names, unique_names

if TYPE_CHECKING:
    import polars as pl


def check_reader(path: Path) -> None:
    """Raise unless the package that reads sheets is installed."""
    if find_spec("openpyxl") is None:
        raise DataError(f"{path} needs the package openpyxl.", "pip install 'spinney-dp[excel]', or save the sheet as CSV.")


def _rows(path: Path) -> Iterator[tuple[Any, ...]]:
    import openpyxl  # type: ignore[import-untyped]

    # For good, as all state of the whole process: a warning of a day that there is not repeats its cell.
    warnings.filterwarnings("ignore", module=r"openpyxl\.")
    with closing(openpyxl.load_workbook(path, read_only=True, data_only=True, keep_links=False)) as book:
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # some programs write wrong ones
        yield from sheet.iter_rows(values_only=True)


def sheet_header(path: Path) -> dict[str, int]:
    """Return the names of the columns with their places."""
    named = {place: str(cell) for place, cell in enumerate(next(_rows(path), ())) if cell is not None}
    return dict(zip(unique_names(named.values()), named, strict=True))


def sheet_columns(path: Path, places: list[int], size: int) -> Iterator[list[list[Any]]]:
    """Yield the cells of columns at these places, at most this number of each at a time."""
    rows = islice(_rows(path), 1, None)
    while batch := list(islice(rows, size)):
        yield [[row[place] if place < len(row) else None for row in batch] for place in places]


def sheet_names(path: Path, place: int, size: int) -> pl.Series:
    """Return the cells of a column as names of groups."""
    import polars as pl

    names = cell_names(cell for (cells,) in sheet_columns(path, [place], size) for cell in cells)
    return names.to_frame().select(as_names(pl.all())).to_series()
