"""Which files make up a table, and what their columns are. Names and types of columns are schema, and public."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spinney.exceptions import DataError
from spinney.io.records import Header, as_numbers, read_header

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "KINDS",
    "Paths",
    "check_groups",
    "check_names",
    "chosen_columns",
    "csv_header",
    "parquet_cell",
    "parquet_schema",
    "same_groups",
    "table_files",
    "unreadable",
]

#: The kinds of files that hold tables.
KINDS = (".csv", ".npy", ".parquet")

Paths = str | Path | Sequence[str | Path]


def unreadable(path: Path, why: str) -> DataError:
    """Return an error about a file."""
    return DataError(f"{path} {why}\nHint: give a .csv (with a header line), .parquet or .npy file.")


def table_files(paths: Paths) -> list[Path]:
    """Return the files of a table: files as they are given, and those in folders by name; all are of one kind."""
    files: list[Path] = []
    for path in map(Path, [paths] if isinstance(paths, str | Path) else paths):
        inside = [path]
        if path.is_dir():
            inside = sorted(f for f in path.iterdir() if f.suffix.lower() in KINDS and f.is_file() and f.name[0] not in "._")
            if not inside:
                raise unreadable(path, "is a folder without tables.")
        for file in inside:
            if not file.is_file():
                raise unreadable(file, "is not a file.")
            if file.suffix.lower() not in KINDS:
                raise unreadable(file, "is of a kind that cannot be read.")
        files += inside
    if not files:
        raise DataError("No table is given.\nHint: name at least one .csv, .parquet or .npy file.")
    if len({file.suffix.lower() for file in files}) > 1:
        raise DataError("The files of a table must be of one kind.\nHint: give .csv, .parquet or .npy files, not a mixture.")
    return files


def chosen_columns(path: Path, known: Iterable[str], columns: list[str] | None, groups: str | None) -> list[str]:
    """Return the columns to cluster, or raise if one is not there; names of columns are public."""
    known = list(known)
    chosen = [name for name in known if name != groups] if columns is None else columns
    missing = [name for name in (*chosen, groups) if name is not None and name not in known]
    if missing:
        raise DataError(f"{path} has no column {missing[0]!r}.\nHint: it has {', '.join(map(repr, known))}.")
    if not chosen:
        raise DataError(f"{path} has no columns to cluster.\nHint: its first line must name them.")
    repeated = [name for name in chosen if chosen.count(name) > 1]
    if repeated:
        raise DataError(f"The column {repeated[0]!r} is asked for twice.\nHint: name it once.")
    return chosen


def csv_header(path: Path) -> Header:
    """Return the header of a CSV file, or raise if the first line does not look like names."""
    try:
        header = read_header(path)
    except (OSError, csv.Error):
        raise unreadable(path, "cannot be read.") from None
    check_names(path, header.names)
    return header


def check_names(path: Path, names: tuple[str, ...]) -> None:
    """Raise if the first line does not look like names; without a header it would be a private row, so it is not repeated."""
    if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
        raise DataError(f"{path} seems to be cut at other marks than commas.\nHint: write it with commas between the cells.")
    for name in names:
        try:
            float(name)
        except ValueError:
            continue
        raise DataError(
            f"{path} has a number where the name of a column should be.\n"
            "Hint: its first line must name the columns, each with a letter in it, such as age,bmi,y2020."
        )


def parquet_schema(path: Path) -> dict[str, Any]:
    """Return the types of a Parquet file's columns by name."""
    import polars as pl

    try:
        return dict(pl.scan_parquet(path, glob=False).collect_schema())
    except (pl.exceptions.PolarsError, OSError):
        raise unreadable(path, "cannot be read.") from None


def check_groups(path: Path, groups: str, dtype: Any) -> None:
    """Raise if a Parquet column cannot name groups, by its type alone."""
    if dtype.is_temporal() or dtype.is_nested():
        raise DataError(f"{path}: column {groups!r} does not hold names.\nHint: name a column of texts or whole numbers.")


def same_groups(files: list[Path], groups: list[pl.Series]) -> pl.Series:
    """Return the names of the groups of all files; a column of names has one type everywhere, or equal names would differ."""
    import polars as pl

    for file, names in zip(files, groups, strict=True):
        if names.dtype != groups[0].dtype:
            raise DataError(f"{file}: the groups are of another type than in {files[0]}.\nHint: write them alike in all files.")
    return pl.concat(groups)


def parquet_cell(path: Path, name: str, dtype: Any) -> pl.Expr:
    """Return how a column is read, which depends on its type alone."""
    import polars as pl

    if dtype == pl.String or dtype == pl.Categorical or dtype == pl.Enum:
        return as_numbers(pl.col(name).cast(pl.String))
    if not (dtype.is_numeric() or dtype == pl.Boolean or dtype == pl.Null):
        raise DataError(f"{path}: column {name!r} does not hold numbers.\nHint: leave it out with --columns.")
    return pl.col(name).cast(pl.Float64, strict=False)
