"""Public networks and points from CSV and Parquet files, and private demand at them.

What is wrong in a public file is named by its line. Of the demand only the header is public: no cell of it ever causes a word.
A name is a text without blanks around it; a whole number is named by its digits, so that ``12``, ``12.0`` and ``"12"`` are one
name, and ``012`` is another. How a cell is read depends on that cell and on its column's type alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney.exceptions import DataError
from spinney.naming import kind_of
from spinney.privacy.seal import sealed
from spinney.spaces.box import WIDEST
from spinney.spaces.degrees import east_first
from spinney.spaces.plain_values import WHOLE
from spinney.tables.encoding import is_text, name_cell
from spinney.tables.records import as_numbers, read_header, read_records
from spinney.tables.schema import check_groups, check_names, parquet_schema, read_parquet, shielded, unreadable

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "NAME",
    "SUFFIXES",
    "Demand",
    "Edges",
    "Points",
    "find_places",
    "read_columns",
    "read_demand",
    "read_edges",
    "read_names",
    "read_points",
]

#: Columns of an edge, and the one that names points in all other public files.
ENDS, LENGTH, NAME = ["from", "to"], "length", "name"
#: Lengths of one edge given more than once may differ by this share: rounding.
ROUNDING = 1e-9
#: What a row of demand that names no point is read as: no index.
NOWHERE = -1

#: Raises unless the asked columns are among these; what a reader returns: names, numbers and groups.
Check = Callable[[Iterable[str]], None]
Frames = tuple["pl.DataFrame", "pl.DataFrame", "pl.DataFrame"]

#: What the names of public files end in.
SUFFIXES = (".csv", ".parquet")
_FORMATS = "give a .csv (with a header line) or .parquet file."


@dataclass(frozen=True, eq=False, repr=False)
class Columns:
    """Some columns of a file: names of points, numbers, and whom each row belongs to."""

    names: pl.DataFrame
    numbers: pl.DataFrame
    groups: pl.Series | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Edges:
    """A public network: what its points are called, and the edges as a sparse matrix of lengths, each in one direction."""

    names: tuple[str, ...]
    graph: Any


@dataclass(frozen=True, eq=False, repr=False)
class Points:
    """Public points: what they are called and where they are, and whether that is longitude and latitude."""

    names: tuple[str, ...]
    coordinates: NDArray[np.float64]
    degrees: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class Demand:
    """Private: the point of each row by its index, -1 if it names none, or its position; whom it belongs to; its weight."""

    nonprivate_rows: NDArray[Any]
    nonprivate_groups: Any = None
    nonprivate_weights: Any = None


def read_columns(
    path: Path, names: list[str], numbers: list[str], groups: str | None = None, header_is_secret: bool = False
) -> Columns:
    """Return columns of a file; an empty cell is missing, and so is one that is no number among numbers.

    Groups are read as `read_table` reads them. A secret header is a private row if the file has no header: messages do not
    repeat it.
    """
    if not path.is_file():
        raise unreadable(path, "is not a file.", _FORMATS)
    readers = {".csv": _read_csv, ".parquet": _read_parquet}
    if kind_of(path) not in readers:
        raise unreadable(path, "is of a kind that cannot be read.", _FORMATS)
    wanted = [groups] if groups is not None else []

    def check(known: Iterable[str]) -> None:
        for name in (*names, *numbers, *wanted):
            if name not in known:
                listed = ", ".join(map(repr, known)) or "none"
                hint = "its first line must name its columns." if header_is_secret else f"it has {listed}."
                raise DataError(f"{path} has no column {name!r}.", hint)

    read = readers[kind_of(path)](path, names, numbers, wanted, check)
    return Columns(read[0], read[1], read[2].to_series() if wanted else None)


def _read_csv(path: Path, names: list[str], numbers: list[str], groups: list[str], check: Check) -> Frames:
    import polars as pl

    error = unreadable(path, "cannot be read.", _FORMATS)
    header = shielded(lambda: read_header(path), error)
    check_names(path, header.names)
    check(header.names)
    measured, texts = shielded(lambda: read_records(path, header, numbers, list(dict.fromkeys(names + groups))), error)
    return texts.select(pl.col(names).str.replace(WHOLE, "$1")), measured, texts.select(groups)


def _read_parquet(path: Path, names: list[str], numbers: list[str], groups: list[str], check: Check) -> Frames:
    import polars as pl

    schema = parquet_schema(path, _FORMATS)
    check(schema)
    named = {name: _name_cell(path, name, schema[name]) for name in names}
    measured = {name: _number_cell(path, name, schema[name]) for name in numbers}
    for name in groups:
        check_groups(path, name, schema[name])
    grouped = {name: pl.col(name) for name in groups}
    frames = [read_parquet(path, schema, cells, _FORMATS) for cells in (named, measured, grouped)]
    return frames[0], frames[1], frames[2]


def _name_cell(path: Path, name: str, dtype: Any) -> pl.Expr:
    """Return how a column of names is read, which depends on its type alone."""
    import polars as pl

    cell = None if dtype in (pl.Date, pl.Datetime) else name_cell(name, dtype)
    if cell is None:
        raise DataError(f"{path}: column {name!r} does not hold names.", "name a column of texts or whole numbers.")
    return cell


def _number_cell(path: Path, name: str, dtype: Any) -> pl.Expr:
    """Return how a column of numbers is read, which depends on its type alone."""
    import polars as pl

    if is_text(dtype):
        return as_numbers(pl.col(name).cast(pl.String))
    if not (dtype.is_numeric() or dtype == pl.Null):
        raise DataError(f"{path}: column {name!r} does not hold numbers.", "write it as numbers.")
    return pl.col(name).cast(pl.Float64, strict=False)


def _line(path: Path, row: Any) -> str:
    """Return where a row of a public file is."""
    return f"{path} line {int(row) + 2}" if path.suffix.lower() == ".csv" else f"{path} row {int(row) + 1}"


def _filled_rows(read: Columns) -> tuple[Columns, NDArray[np.int64]]:
    """Leave out rows without any cell, such as blank lines; return also the number of each row that is left."""
    import polars as pl

    frames = [frame for frame in (read.names, read.numbers) if frame.width]
    filled = np.logical_or.reduce([frame.select(pl.any_horizontal(pl.all().is_not_null())).to_series() for frame in frames])
    names, numbers = (frame.filter(pl.Series(filled)) if frame.width else frame for frame in (read.names, read.numbers))
    return Columns(names, numbers), np.flatnonzero(filled)


def _check_named(path: Path, names: pl.DataFrame, rows: NDArray[np.int64]) -> None:
    """Raise if a cell of a public file that should hold a name is empty."""
    for column in names.columns:
        empty = names[column].is_null().arg_true()
        if len(empty):
            raise DataError(f"{_line(path, rows[empty[0]])} has no name in column {column!r}.", "fill it in.")


def _codes(names: pl.Series, known: Iterable[str]) -> NDArray[np.int64]:
    """Return the index of each name, -1 for one that is missing or not known."""
    import polars as pl

    old = pl.Series(list(known), dtype=pl.String)
    codes = names.replace_strict(old, pl.int_range(len(old), eager=True), default=NOWHERE, return_dtype=pl.Int64)
    return codes.fill_null(NOWHERE).to_numpy().copy()


def read_edges(path: Path, largest_part: bool = False) -> Edges:
    """Return a public network from a table with the columns from, to and length.

    Points come in the order in which the file names them first. Edges count in both directions. Points that no path joins to the
    largest connected part are an error, or left out if that part alone is wanted.
    """
    import polars as pl
    from scipy.sparse import coo_array  # type: ignore[import-untyped]

    read, rows = _filled_rows(read_columns(path, ENDS, [LENGTH]))
    _check_named(path, read.names, rows)
    if not len(rows):
        raise DataError(f"{path} has no edges.", "one line each: from, to, length.")
    lengths = read.numbers[LENGTH].fill_null(np.nan).to_numpy()
    wrong = np.flatnonzero(~((lengths >= 0) & (lengths < WIDEST)))
    if len(wrong):
        raise DataError(f"{_line(path, rows[wrong[0]])} has no length.", "a length is a number of at least 0, such as 12.5.")
    ends = pl.concat([read.names["from"], read.names["to"].alias("from")])
    both = ends.gather(np.arange(len(ends)).reshape(2, -1).T.ravel())  # row by row: from, to, from, to
    names = both.unique(maintain_order=True).to_list()
    tails, heads = _codes(both, names).reshape(-1, 2).T
    again = _other_length(tails, heads, lengths)
    if again is not None:
        tail, head = names[tails[again]], names[heads[again]]
        raise DataError(
            f"{_line(path, rows[again])}: the edge between {tail!r} and {head!r} has another length in another line.",
            "an edge counts in both directions and has one length; keep one of them, such as the shorter.",
        )
    inside = _largest_part(path, names, tails, heads, largest_part)
    if inside is not None:
        place, kept = np.cumsum(inside) - 1, inside[tails]
        tails, heads, lengths = place[tails[kept]], place[heads[kept]], lengths[kept]
        names = [name for name, is_in in zip(names, inside, strict=True) if is_in]
    # Each edge in one direction: an edge that a file has both ways would look like one of a directed graph.
    graph = coo_array((lengths, (np.minimum(tails, heads), np.maximum(tails, heads))), shape=(len(names), len(names)))
    return Edges(tuple(names), graph)


def _other_length(tails: NDArray[np.int64], heads: NDArray[np.int64], lengths: NDArray[np.float64]) -> int | None:
    """Return the first row whose edge has another length in an earlier row."""
    low, high = np.minimum(tails, heads), np.maximum(tails, heads)
    order = np.lexsort((np.arange(len(low)), high, low))
    same = (np.diff(low[order]) == 0) & (np.diff(high[order]) == 0) & (low != high)[order][1:]
    apart = np.abs(np.diff(lengths[order])) > ROUNDING * np.maximum(lengths[order][1:], lengths[order][:-1])
    differs = order[1:][same & apart]
    return int(differs.min()) if len(differs) else None


def _largest_part(
    path: Path, names: list[str], tails: NDArray[np.int64], heads: NDArray[np.int64], largest_part: bool
) -> NDArray[np.bool_] | None:
    """Return which points are in the largest part of a network, None if all are; raise if others are not to be left out."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]

    links = coo_array((np.ones(len(tails)), (tails, heads)), shape=(len(names), len(names)))  # edges of length 0 link, too
    count, labels = connected_components(links, directed=False)
    if count == 1:
        return None
    sizes = np.bincount(labels)
    inside: NDArray[np.bool_] = labels == sizes.argmax()
    if not largest_part:
        outside = names[int(np.flatnonzero(~inside)[0])]
        raise DataError(
            f"{path} is not connected: it has {count} parts. The largest has {sizes.max()} of {len(names)} points; "
            f"{outside!r} is outside.",
            "add the edges that are missing, or leave the other parts out with largest_part=True.",
        )
    return inside


def read_points(path: Path, columns: list[str]) -> Points:
    """Return public points from a table with a column `name` and these columns of coordinates."""
    read, rows = _filled_rows(read_columns(path, [NAME], columns))
    _check_named(path, read.names, rows)
    if not len(rows):
        raise DataError(f"{path} has no points.", "one line each: a name and coordinates.")
    twice = np.flatnonzero(~read.names[NAME].is_first_distinct().to_numpy())
    if len(twice):
        name = read.names[NAME][int(twice[0])]
        raise DataError(f"{_line(path, rows[twice[0]])}: {name!r} is named twice.", "give every point a name of its own.")
    for column in columns:
        numbers = read.numbers[column].fill_null(np.nan).to_numpy()
        wrong = np.flatnonzero(~(np.abs(numbers) < WIDEST))
        if len(wrong):
            raise DataError(f"{_line(path, rows[wrong[0]])} has no number in column {column!r}.", "leave unknown points out.")
    found, degrees = east_first(read.numbers, read.numbers.select(columns).to_numpy(order="c"))
    return Points(tuple(read.names[NAME]), found, degrees)


def read_names(path: Path) -> list[str]:
    """Return the column `name` of a public table."""
    read, _ = _filled_rows(read_columns(path, [NAME], []))
    return read.names[NAME].to_list()


def find_places(wanted: Iterable[str], names: Iterable[str], option: str, where: str) -> NDArray[np.int64]:
    """Return the indices of public names, each once, or raise if one is not known; a message names the option and the file."""
    places = {name: place for place, name in enumerate(names)}
    found: dict[int, None] = {}
    for name in wanted:
        if name not in places:
            raise DataError(f"{option}: {name!r} is no point of {where}.", "spell names as they are spelled there.")
        found[places[name]] = None
    return np.array(list(found), dtype=np.int64)


@sealed()
def read_demand(path: Path, column: str, names: Iterable[str], groups: str | None = None, weights: str | None = None) -> Demand:
    """Return the private point of each row; a name that is missing or not known is nowhere.

    Privacy
    -------
    How a row is read depends on that row alone, and no row makes reading fail or warn. The header is public, and must not be a
    row: without the asked columns reading fails, and nothing that stands in the file is repeated.
    """
    numbers = [weights] if weights is not None else []
    read = read_columns(path, [column], numbers, groups, header_is_secret=True)
    return Demand(_codes(read.names[column], names), read.groups, None if weights is None else read.numbers[weights])
