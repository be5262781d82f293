"""Records of a CSV file.

How a record is read depends on that record alone, and no record makes reading fail or warn. Blanks around a cell do not count. A
cell is a number if its text is one; anything else is missing. Lines are cut by polars as long as quotes stand around whole cells
of a line; from the first lines on where they do anything else, Python's own reader cuts records, and refuses none. As for every
reader of CSV, a quote that is opened and never closed takes the records below it along: a file must come from a program that
writes quotes in pairs, or be read without quotes, where each line is a record and a quote a letter.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np

from spinney.compilation import compiled
from spinney.constraints import Constraint, check

if TYPE_CHECKING:
    import polars as pl

#: Records with quotes that are held as Python texts at a time.
BATCH = 2**15
#: Bytes of a file that are read at a time when it is streamed.
BLOCK = 2**22
#: Python's reader refuses longer cells; the default limit is far lower.
LONGEST_CELL = 2**31 - 1
_QUOTE, _END = b'"'[0], b"\n"[0]
_UTF_8 = ("utf-8", "utf-8-sig")
#: What parts cells, by its name.
SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}


@dataclass(frozen=True)
class Csv:
    """How a CSV file is written, which is public: what parts its cells, how letters are bytes, and whether quotes hold cells."""

    separator: str = ","
    encoding: str = "utf-8"
    quotes: bool = True

    @classmethod
    def of(cls, separator: Any, encoding: Any, quotes: Any, owner: str) -> Csv:
        """Return what was typed, after checks."""
        check(owner, {"separator": separator, "encoding": encoding, "quotes": quotes}, _TYPED)
        return cls(SEPARATORS.get(separator, separator), codecs.lookup(encoding).name, quotes)

    @property
    def others(self) -> dict[str, Csv]:
        """The same with other separators, by their names."""
        return {name: replace(self, separator=mark) for name, mark in SEPARATORS.items() if mark != self.separator}

    def records(self, lines: Iterable[str]) -> Any:
        """Return Python's reader of lines."""
        return csv.reader(lines, delimiter=self.separator, quoting=csv.QUOTE_MINIMAL if self.quotes else csv.QUOTE_NONE)

    @property
    def is_utf_8(self) -> bool:
        """Whether bytes are read as they are."""
        return self.encoding in _UTF_8


#: Encodings in which no cell can change how others are read: those without shifts and escapes.
_ENCODINGS = re.compile(
    r"utf-(?:8|8-sig|16|16-[bl]e|32|32-[bl]e)|ascii|cp[0-9]+|iso8859-[0-9]+|koi8-[rtu]|mac-[a-z0-9]+|tis-620"
    r"|shift_jis|euc_jp|euc_kr|gbk|gb2312|gb18030|big5"
)
_LETTERS = bytes(range(32, 127)) + b"\n"


def _is_encoding(value: Any) -> bool:
    try:
        name = codecs.lookup(value).name
        is_wide = name.startswith(("utf-16", "utf-32"))
        return _ENCODINGS.fullmatch(name) is not None and (is_wide or codecs.decode(_LETTERS, name) == _LETTERS.decode())
    except (LookupError, TypeError, ValueError):
        return False


_TYPED = {
    "separator": Constraint(
        lambda value: isinstance(value, str) and value in {*SEPARATORS, *SEPARATORS.values()},
        "'comma', 'semicolon', 'tab' or 'pipe'",
        "separator='semicolon' is usual where numbers have commas.",
    ),
    "encoding": Constraint(
        _is_encoding,
        "the name of an encoding without shifts or escapes",
        "encoding='cp1252' is usual for old files of Windows.",
    ),
    "quotes": Constraint(
        lambda value: isinstance(value, bool), "True or False", "quotes=False if a quote is a letter like others, as for inches."
    ),
}  # fmt: skip


#: How most files are written.
COMMAS = Csv()


@dataclass(frozen=True, repr=False)
class Header:
    """Names of the columns, which are public, and the bytes (of other encodings than UTF-8: letters) that they take up."""

    names: tuple[str, ...]
    size: int
    written: Csv = COMMAS


def _opened(path: Path) -> BinaryIO:
    """Open a file to be read from its start on, as it was before it was compressed."""
    if path.suffix.lower() == ".gz":
        return cast(BinaryIO, gzip.open(path))
    if path.suffix.lower() == ".zst":
        import pyarrow as pa

        return cast(BinaryIO, io.BufferedReader(pa.input_stream(str(path), compression="zstd"), BLOCK))
    return path.open("rb")


def _lettered(path: Path, written: Csv) -> io.TextIOWrapper:
    """Open a file of another encoding than UTF-8."""
    return io.TextIOWrapper(_opened(path), encoding=written.encoding, errors="replace", newline="\n")


def unique_names(given: Iterable[str]) -> tuple[str, ...]:
    """Return names of columns; of several of one name, the later ones get a suffix."""
    names: list[str] = []
    for name in given:
        again = sum(known == name or known.startswith(f"{name}_duplicated_") for known in names)
        names.append(f"{name}_duplicated_{again - 1}" if name in names else name)
    return tuple(names)


def read_header(path: Path, written: Csv = COMMAS) -> Header:
    """Read the first line.

    Names that go on in the next line are refused: a quote that is never closed would make names of all rows. The rows below it
    are not looked at.
    """
    _allow_long_cells()
    with _opened(path) if written.is_utf_8 else _lettered(path, written) as file:
        line: bytes | str = file.readline()
        text = line.decode("utf-8-sig", "replace") if isinstance(line, bytes) else line.removeprefix("\ufeff")
        reader = written.records([text, "\n"])  # the second is read if a quote is still open
        names = unique_names(next(reader, []))
        if reader.line_num > 1:
            raise csv.Error("the names of columns go on in the next line")
        return Header(names, len(line), written)


def as_numbers(text: pl.Expr) -> pl.Expr:
    """Return cells of text as numbers; what is not a number is missing."""
    import polars as pl

    return text.str.strip_chars().cast(pl.Float64, strict=False)


def as_names(text: pl.Expr) -> pl.Expr:
    """Return cells of text without blanks around them; a carriage return within a line is a blank, and nothing is missing."""
    import polars as pl

    def filled(cells: pl.Series) -> pl.Series:  # named twice, the strip would be done twice
        return cells.to_frame("x").select(pl.when(pl.col("x") != "").then(pl.col("x"))).to_series()

    return text.str.replace_all("\r", " ", literal=True).str.strip_chars().map_batches(filled, return_dtype=pl.String)


def read_records(path: Path, header: Header, numbers: list[str], texts: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return some columns as numbers, and some as texts, in which an empty cell is missing; the header is of this file."""
    import polars as pl

    parts = list(stream_records(path, header, numbers, texts))
    return pl.concat(part[0] for part in parts), pl.concat(part[1] for part in parts).select(as_names(pl.col(texts)))


def _blocks(path: Path, header: Header) -> Iterator[bytes]:
    """Yield what is below the header as bytes of UTF-8."""
    if header.written.is_utf_8:
        with _opened(path) as file:
            file.read(header.size)
            yield from iter(lambda: file.read(BLOCK), b"")
        return
    with _lettered(path, header.written) as letters:
        letters.read(header.size)
        for text in iter(lambda: letters.read(BLOCK), ""):
            yield text.encode("utf-8", "replace")


def stream_records(
    path: Path, header: Header, numbers: list[str], texts: list[str]
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Yield what `read_records` returns, the lines of a block at a time; texts are as they are, with blanks around them."""
    blocks, rest = _blocks(path, header), bytearray()
    for block in blocks:
        rest += block
        end = rest.rfind(b"\n", len(rest) - len(block)) + 1
        if end:
            lines = bytes(rest[:end])
            if not is_plain(lines, header.written):
                break
            yield _parse_plain(lines, header, numbers, texts)
            del rest[:end]
    if is_plain(rest, header.written):
        yield _parse_plain(bytes(rest), header, numbers, texts)
    else:
        yield from reader_parts(chain([bytes(rest)], blocks), header, numbers, texts)


def is_plain(lines: bytes | bytearray, written: Csv) -> bool:
    """Whether all quotes stand around whole cells of one line, so that polars cuts these lines where Python's reader does."""
    if not written.quotes or _QUOTE not in lines:
        return True
    return bool(are_whole(np.frombuffer(bytes(lines), np.uint8), ord(written.separator)))


@compiled
def are_whole(letters: Any, mark: int) -> bool:
    """Whether quotes come in pairs on one line, with a mark or the end of a line before and behind each pair."""
    place = 0
    while place < len(letters):
        if letters[place] != _QUOTE:
            place += 1
            continue
        if place and letters[place - 1] != mark and letters[place - 1] != _END:
            return False
        place += 1
        while place < len(letters) and letters[place] != _QUOTE:
            if letters[place] == _END:
                return False
            place += 1
        place += 1
        if place > len(letters) or (place < len(letters) and letters[place] != mark and letters[place] != _END):
            return False
    return True


def _parse_plain(lines: bytes, header: Header, numbers: list[str], texts: list[str]) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Read lines whose quotes are plain; polars reads most numbers right away, and the few it does not as text."""
    import polars as pl

    # A header line that polars cuts where it cuts the lines below; not blank, for blank lines are skipped before a header.
    separator, has_quotes = header.written.separator, header.written.quotes and _QUOTE in lines
    source = separator.encode().join(b"c%d" % i for i in range(len(header.names))) + b"\n" + lines

    def scan(floats: set[str]) -> pl.LazyFrame:
        return pl.scan_csv(
            source,
            with_column_names=lambda _: list(header.names),
            schema_overrides=dict.fromkeys(floats, pl.Float64),
            infer_schema=False,
            separator=separator,
            quote_char='"' if has_quotes else None,
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
    return frame.select(cells), frame.select(texts)


def reader_parts(
    blocks: Iterable[bytes], header: Header, numbers: list[str], texts: list[str]
) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Read records that may have quotes, which may hold separators and line ends."""
    import polars as pl

    places = {name: header.names.index(name) for name in numbers + texts}
    lines = (line.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", " ") for line in _lines(blocks))
    reader = header.written.records(lines)
    while True:
        _allow_long_cells()
        batch = list(islice(reader, BATCH))
        columns = {name: [record[i] if i < len(record) else None for record in batch] for name, i in places.items()}
        frame = pl.DataFrame(columns, schema=dict.fromkeys(places, pl.String))
        yield frame.select(as_numbers(pl.col(numbers))), frame.select(texts)
        if len(batch) < BATCH:
            return


def _lines(blocks: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines with their ends."""
    rest = b""
    for block in blocks:
        *whole, rest = (rest + block).split(b"\n")
        for line in whole:
            yield line + b"\n"
    if rest:
        yield rest


def _allow_long_cells() -> None:
    """Let Python's reader take cells of any length.

    The limit belongs to the whole process, and a reader looks at it all the time: put back by one, it would end another that
    has come to a long cell. So it is raised for good, and again before each read in case somebody else has lowered it.
    """
    csv.field_size_limit(LONGEST_CELL)
