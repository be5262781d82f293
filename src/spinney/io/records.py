"""Records of a CSV file.

How a record is read depends on that record alone, and no record makes reading fail or warn. Blanks around a cell do not count.
A cell is a number if its text is one; anything else is missing. A file without quotes below its header is cut at line ends and
commas by polars; a file with quotes is cut by Python's own reader, which refuses no record. As for every reader of CSV, a quote
that is opened and never closed takes the records below it along: a file must come from a program that writes quotes in pairs.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Header", "as_names", "as_numbers", "read_header", "read_records"]

#: Records with quotes that are held as Python texts at a time.
BATCH = 2**15
#: Python's reader refuses longer cells; the default limit is far lower.
LONGEST_CELL = 2**31 - 1


@dataclass(frozen=True)
class Header:
    """Names of the columns, which are public, the bytes they take up, and whether it is one line cut at its commas alone."""

    names: tuple[str, ...]
    size: int
    is_plain: bool


def read_header(path: Path) -> Header:
    """Read the first line; of several columns of one name, the later ones get a suffix.

    Names that go on in the next line are refused: a quote that is never closed would make names of all rows.
    """
    with path.open("rb") as file:
        reader = csv.reader(line.decode("utf-8-sig", "replace") for line in file)
        names: list[str] = []
        for name in next(reader, []):
            again = sum(known == name or known.startswith(f"{name}_duplicated_") for known in names)
            names.append(f"{name}_duplicated_{again - 1}" if name in names else name)
        if reader.line_num > 1:
            raise csv.Error("the names of columns go on in the next line")
        size = file.tell()
        file.seek(0)
        return Header(tuple(names), size, is_plain=file.readline().count(b",") == len(names) - 1)


def as_numbers(text: pl.Expr) -> pl.Expr:
    """Return cells of text as numbers; what is not a number is missing."""
    import polars as pl

    return text.str.strip_chars().cast(pl.Float64, strict=False)


def as_names(text: pl.Expr) -> pl.Expr:
    """Return cells of text without blanks around them; a carriage return within a line is a blank, and nothing is missing."""
    import polars as pl

    name = text.str.replace_all("\r", " ", literal=True).str.strip_chars()
    return pl.when(name != "").then(name)


def read_records(path: Path, header: Header, numbers: list[str], texts: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return some columns as numbers, and some as texts, in which an empty cell is missing.

    Parameters
    ----------
    path : Path
    header : Header
        What `read_header` gave for this file.
    numbers, texts : list of str
        Names of columns.
    """
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        has_quotes = content.find(b'"', header.size) >= 0
    return (_read_quoted if has_quotes else _read_plain)(path, header, numbers, texts)


def _read_plain(path: Path, header: Header, numbers: list[str], texts: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Read lines without quotes; polars reads most numbers right away, and the few it does not as text."""
    import polars as pl

    source: Any = path
    if not header.is_plain:  # polars shall cut the names where it cuts the lines below
        places = b",".join(b"c%d" % i for i in range(len(header.names)))  # not blank: blank lines are skipped before a header
        source = places + b"\n" + path.read_bytes()[header.size :]

    def scan(floats: set[str]) -> pl.LazyFrame:
        return pl.scan_csv(
            source,
            with_column_names=lambda _: list(header.names),
            schema_overrides=dict.fromkeys(floats, pl.Float64),
            infer_schema=False,
            quote_char=None,
            encoding="utf8-lossy",
            ignore_errors=True,
            truncate_ragged_lines=True,
            glob=False,
        )

    floats = set(numbers).difference(texts)
    frame = scan(floats).select(list(dict.fromkeys(numbers + texts))).collect()
    # Numbers with blanks behind them are among the cells that polars could not read.
    unread = [name for name in numbers if name in floats and frame[name].null_count()]
    if unread:
        rest = scan(set()).select(as_numbers(pl.col(unread))).collect()
        frame = frame.with_columns(frame[name].fill_null(rest[name]) for name in unread)
    cells = [pl.col(name) if name in floats else as_numbers(pl.col(name)) for name in numbers]
    return frame.select(cells), frame.select(as_names(pl.col(texts)))


def _read_quoted(path: Path, header: Header, numbers: list[str], texts: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Read records that may have quotes, which may hold commas and line ends."""
    import polars as pl

    places = {name: header.names.index(name) for name in numbers + texts}
    parts: list[tuple[pl.DataFrame, pl.DataFrame]] = []
    with path.open("rb") as file, _long_cells():
        file.seek(header.size)
        lines = (line.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", " ") for line in file)
        reader = csv.reader(lines)
        while True:
            batch = list(islice(reader, BATCH))
            columns = {name: [record[i] if i < len(record) else None for record in batch] for name, i in places.items()}
            frame = pl.DataFrame(columns, schema=dict.fromkeys(places, pl.String))
            parts.append((frame.select(as_numbers(pl.col(numbers))), frame.select(as_names(pl.col(texts)))))
            if len(batch) < BATCH:
                return pl.concat(part[0] for part in parts), pl.concat(part[1] for part in parts)


@contextmanager
def _long_cells() -> Iterator[None]:
    before: Any = csv.field_size_limit(LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)
