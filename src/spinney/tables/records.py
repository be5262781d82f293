"""Records of a CSV file.

How a record is read depends on that record alone, and no record makes reading fail or warn. Blanks around a cell do not count.
A cell is a number if its text is one; anything else is missing. A file without quotes below its header is cut at line ends and
commas by polars; a file with quotes is cut by Python's own reader, which refuses no record. As for every reader of CSV, a quote
that is opened and never closed takes the records below it along: a file must come from a program that writes quotes in pairs.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Header", "as_names", "as_numbers", "has_quotes", "read_header", "read_records", "stream_records"]

#: Records with quotes that are held as Python texts at a time.
BATCH = 2**15
#: Bytes of a file without quotes that are read at a time when it is streamed.
BLOCK = 2**22
#: Python's reader refuses longer cells; the default limit is far lower.
LONGEST_CELL = 2**31 - 1


@dataclass(frozen=True, repr=False)
class Header:
    """Names of the columns, which are public, and the bytes they take up."""

    names: tuple[str, ...]
    size: int


def read_header(path: Path) -> Header:
    """Read the first line; of several columns of one name, the later ones get a suffix.

    Names that go on in the next line are refused: a quote that is never closed would make names of all rows.
    """
    _allow_long_cells()
    with path.open("rb") as file:
        reader = csv.reader(line.decode("utf-8-sig", "replace") for line in file)
        names: list[str] = []
        for name in next(reader, []):
            again = sum(known == name or known.startswith(f"{name}_duplicated_") for known in names)
            names.append(f"{name}_duplicated_{again - 1}" if name in names else name)
        if reader.line_num > 1:
            raise csv.Error("the names of columns go on in the next line")
        return Header(tuple(names), file.tell())


def as_numbers(text: pl.Expr) -> pl.Expr:
    """Return cells of text as numbers; what is not a number is missing."""
    import polars as pl

    return text.str.strip_chars().cast(pl.Float64, strict=False)


def as_names(text: pl.Expr) -> pl.Expr:
    """Return cells of text without blanks around them; a carriage return within a line is a blank, and nothing is missing."""
    import polars as pl

    name = text.str.replace_all("\r", " ", literal=True).str.strip_chars()
    return pl.when(name != "").then(name)


def has_quotes(path: Path, header: Header) -> bool:
    """Whether there is a quote below the header."""
    with path.open("rb") as file:
        file.seek(header.size)
        return any(b'"' in block for block in iter(lambda: file.read(BLOCK), b""))


def read_records(path: Path, header: Header, numbers: list[str], texts: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return some columns as numbers, and some as texts, in which an empty cell is missing; the header is of this file."""
    import polars as pl

    parts = list(stream_records(path, header, has_quotes(path, header), numbers, texts))
    return pl.concat(part[0] for part in parts), pl.concat(part[1] for part in parts)


def stream_records(
    path: Path, header: Header, quoted: bool, numbers: list[str], texts: list[str]
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Yield what `read_records` returns, in one piece or more; `quoted` is what `has_quotes` says."""
    return (_quoted_parts if quoted else _plain_parts)(path, header, numbers, texts)


def _plain_parts(path: Path, header: Header, numbers: list[str], texts: list[str]) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Read the lines of a file without quotes, as many at a time as fit a block."""
    # A header line that polars cuts where it cuts the lines below; not blank, for blank lines are skipped before a header.
    names = b",".join(b"c%d" % i for i in range(len(header.names))) + b"\n"
    with path.open("rb") as file:
        file.seek(header.size)
        rest = bytearray()
        while block := file.read(BLOCK):
            rest += block
            end = rest.rfind(b"\n", len(rest) - len(block)) + 1
            if end:
                yield _parse_plain(names + rest[:end], header, numbers, texts)
                del rest[:end]
        yield _parse_plain(names + rest, header, numbers, texts)


def _parse_plain(source: bytes, header: Header, numbers: list[str], texts: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Read lines without quotes below a header; polars reads most numbers right away, and the few it does not as text."""
    import polars as pl

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


def _quoted_parts(
    path: Path, header: Header, numbers: list[str], texts: list[str]
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Read records that may have quotes, which may hold commas and line ends."""
    import polars as pl

    places = {name: header.names.index(name) for name in numbers + texts}
    with path.open("rb") as file:
        file.seek(header.size)
        lines = (line.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", " ") for line in file)
        reader = csv.reader(lines)
        while True:
            _allow_long_cells()
            batch = list(islice(reader, BATCH))
            columns = {name: [record[i] if i < len(record) else None for record in batch] for name, i in places.items()}
            frame = pl.DataFrame(columns, schema=dict.fromkeys(places, pl.String))
            yield frame.select(as_numbers(pl.col(numbers))), frame.select(as_names(pl.col(texts)))
            if len(batch) < BATCH:
                return


def _allow_long_cells() -> None:
    """Let Python's reader take cells of any length.

    The limit belongs to the whole process, and a reader looks at it all the time: put back by one, it would end another that
    has come to a long cell. So it is raised for good, and again before each read in case somebody else has lowered it.
    """
    csv.field_size_limit(LONGEST_CELL)
