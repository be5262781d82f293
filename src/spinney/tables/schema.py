"""Which files make up a table, what their columns are, and how a Parquet column is read.

Names of columns are schema, and public, and so are the types that a Parquet file declares: a column that holds no numbers is
refused. A name is read as in a CSV file: bytes that are no UTF-8 are replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from spinney.exceptions import CuratorError, DataError, ParameterError, SpinneyError
from spinney.naming import is_path, kind_of, named
from spinney.spaces.column import Column
from spinney.spaces.plain_values import is_digits
from spinney.tables.encoding import declared_cell, is_text
from spinney.tables.records import COMMAS, SEPARATORS, Csv, Header, read_header

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "FORMATS",
    "KINDS",
    "Paths",
    "arrow_series",
    "can_be_read",
    "check_choice",
    "check_groups",
    "check_names",
    "chosen_columns",
    "csv_header",
    "holds_names",
    "holds_numbers",
    "open_parquet",
    "parquet_cell",
    "parquet_frames",
    "parquet_schema",
    "read_parquet",
    "reader_errors",
    "same_groups",
    "shielded",
    "table_files",
    "unreadable",
]

#: The kinds of files that hold tables; in folders the first ones are looked for.
KINDS = (".csv", ".npy", ".parquet", ".xlsx")
IN_FOLDERS = KINDS[:3]

#: What to give instead of a file that cannot be read.
FORMATS = "give a .csv (with a header line), .parquet, .npy or .xlsx file."
#: How to write files of other programs anew.
_SHEET = "save it as .xlsx or .csv."
_R = "in R: arrow::write_parquet({read}, 'table.parquet')."
CONVERTERS = {
    **dict.fromkeys((".xls", ".xlsb", ".xlsm", ".ods"), _SHEET),
    ".dta": "in Stata: export delimited using table.csv; " + _R.format(read="haven::read_dta('table.dta')"),
    ".rds": _R.format(read="readRDS('table.rds')"),
    **dict.fromkeys((".rda", ".rdata"), "after load('table.rda'), " + _R.format(read="table")),
    ".sas7bdat": _R.format(read="haven::read_sas('table.sas7bdat')"),
    ".sav": _R.format(read="haven::read_sav('table.sav')"),
}
#: Bytes of a Parquet column that are read at a time; a whole row group of a column would be too much.
BUFFER = 2**18
#: Rows of a Parquet file that are read at a time.
ROWS = 2**16

Paths = str | Path | Sequence[str | Path]
Found = TypeVar("Found")


def unreadable(path: Path, why: str, hint: str = FORMATS) -> DataError:
    """Return an error about a file."""
    return DataError(f"{path} {why}", hint)


def reader_errors() -> tuple[type[BaseException], ...]:
    """Return the kinds of errors of a reader; a panic of polars is no `Exception`."""
    import polars as pl

    return (Exception, pl.exceptions.PanicException)


def shielded(read: Callable[[], Found], error: DataError) -> Found:
    """Return what `read` gives, or raise `error`; a reader's own error may quote cells, so nothing refers to it."""
    failure: SpinneyError = error
    try:
        return read()
    except MemoryError:
        failure = CuratorError()
    except reader_errors():
        pass
    raise failure  # not above, where the reader's error would become its context


def table_files(paths: Paths) -> list[Path]:
    """Return the files of a table: files as they are given, and those in folders by name; all are of one kind.

    Folders in a folder are partitions of a table if they are called as such, as in ``year=2024``. What their names say is no
    column.
    """
    given = [paths] if isinstance(paths, str | Path) else paths
    if not isinstance(given, list | tuple) or not all(is_path(path) for path in given):
        raise ParameterError.wrong("paths", "a table", "a path or a list of paths", paths, FORMATS)
    files: list[Path] = []
    for path in map(Path, given):
        # What stands in a list and has nothing of a file may be a column of texts; a single name was typed.
        if given is paths and kind_of(path) not in KINDS and not path.exists():
            raise unreadable(Path("a path"), "in the list is not a file.")
        inside = [path]
        if path.is_dir():
            inside = list(_inside(path))
            if not inside:
                raise unreadable(path, "is a folder without tables.")
        for file in inside:
            if not file.is_file():
                raise unreadable(file, "is not a file.")
            if kind_of(file) not in KINDS:
                hint = CONVERTERS.get(file.suffix.lower(), FORMATS)
                raise unreadable(file, "is of a kind that cannot be read.", hint)
        files += inside
    if not files:
        raise DataError("No table is given.", "name at least one .csv, .parquet, .npy or .xlsx file.")
    if len(set(map(kind_of, files))) > 1:
        raise DataError("The files of a table must be of one kind.", "give .csv, .parquet, .npy or .xlsx files, not a mixture.")
    return files


def _inside(folder: Path) -> Iterator[Path]:
    """Yield the tables in a folder and in its partitions, by name."""
    for path in sorted(folder.iterdir()):
        if path.name[0] in "._":
            continue
        if path.is_dir() and "=" in path.name[1:]:
            yield from _inside(path)
        elif kind_of(path) in IN_FOLDERS and path.is_file():
            yield path


def check_choice(columns: Any, groups: Any) -> None:
    """Raise unless columns and groups are given by names, as far as they are given."""
    is_list = isinstance(columns, list | tuple) and all(isinstance(name, str) for name in columns)
    if not (columns is None or is_list):
        raise ParameterError.wrong("columns", "a table", "a list of names", columns, "for example columns=['age', 'bmi'].")
    if not (groups is None or isinstance(groups, str)):
        raise ParameterError.wrong("groups", "a table", "the name of a column", groups, "for example groups='person'.")


def chosen_columns(path: Path, known: Iterable[str], columns: list[str] | None, groups: str | None) -> list[str]:
    """Return the columns to cluster, or raise if one is not there; names of columns are public."""
    known = list(known)
    if columns is not None and len(columns) > len(known):
        raise DataError(f"{path} has fewer columns than are asked for.", _where_names_are(path, known))
    chosen = [name for name in known if name != groups] if columns is None else list(columns)
    missing = [name for name in (*chosen, groups) if name is not None and name not in known]
    if missing:
        where = _where_names_are(path, known)
        if any(part.startswith(f"{missing[0]}=") for part in path.parts):
            where = "it is in the names of folders, which are not read: write the column into the files."
        raise DataError(f"{path} has no column {named(missing[0])}.", where)
    if not chosen:
        raise DataError(f"{path} has no columns to cluster.", "its first line must name them.")
    repeated = [name for name in chosen if chosen.count(name) > 1]
    if repeated:
        raise DataError(f"The column {repeated[0]!r} is asked for twice.", "name it once.")
    return chosen


def _where_names_are(path: Path, known: list[str]) -> str:
    """Return how columns are called, or where that stands: without a header the first line of a CSV file is a private row."""
    if kind_of(path) in (".csv", ".xlsx"):
        return "spell columns as its first line does, which must name them."
    return f"it has {', '.join(map(repr, known))}."


def csv_header(path: Path, written: Csv = COMMAS, wanted: Iterable[str] = ()) -> Header:
    """Return the header of a CSV file, or raise if the first line does not look like names.

    If it lacks some that are wanted, and has all of them when it is cut at other marks, the error says at which.
    """
    error = unreadable(path, "cannot be read.")
    header = shielded(lambda: read_header(path, written), error)
    wanted = set(wanted)
    if not wanted <= set(header.names):
        for name, other in written.others.items():
            if wanted <= set(shielded(partial(read_header, path, other), error).names):
                raise unreadable(path, f"has a {name} between its cells, as its first line shows.", f"separator={name!r}.")
    check_names(path, header.names, written, "separator='semicolon' (or tab, or pipe) says at which.")
    return header


def check_names(
    path: Path, names: tuple[str, ...], written: Csv = COMMAS, hint: str = "write it with commas between the cells."
) -> None:
    """Raise if the first line does not look like names; without a header it would be a private row, so it is not repeated."""
    own = next(name for name, mark in SEPARATORS.items() if mark == written.separator)
    if len(names) == 1 and any(other.separator in names[0] for other in written.others.values()):
        raise DataError(f"{path} seems to be cut at other marks than {own}s.", hint)
    if any(name and not any(letter.isalpha() for letter in name) for name in names) or any(map(is_digits, names)):
        raise DataError(
            f"{path} has a number or a date where the name of a column should be.",
            "its first line must name the columns, each with a letter in it, such as age,bmi,y2020.",
        )


def open_parquet(path: Path) -> Any:
    """Open a Parquet file for reading in batches."""
    import pyarrow.parquet as pq

    return pq.ParquetFile(path, pre_buffer=False, buffer_size=BUFFER, page_checksum_verification=True)


def parquet_schema(path: Path, hint: str = FORMATS) -> dict[str, Any]:
    """Return the types of a Parquet file's columns by name; a type that no cell can be read of is unknown."""
    import polars as pl

    def arrow_columns() -> dict[str, Any]:
        with open_parquet(path) as file:
            table = file.schema_arrow.empty_table()
        return dict(zip(table.column_names, table.columns, strict=True))

    schema = shielded(lambda: dict(pl.scan_parquet(path, glob=False).collect_schema()), unreadable(path, "cannot be read.", hint))
    empty = shielded(arrow_columns, unreadable(path, "has a column of a type that cannot be read.", "write numbers of 64 bits."))
    return {name: dtype if name in empty and can_be_read(empty[name]) else pl.Unknown() for name, dtype in schema.items()}


def can_be_read(empty: Any) -> bool:
    """Whether polars takes an Arrow column of this type, which is tried without cells; decimals of 256 bits make it panic."""
    import polars as pl
    import pyarrow as pa

    if pa.types.is_decimal256(empty.type):
        return False
    try:
        pl.from_arrow(empty)
    except reader_errors():
        return False
    return True


def arrow_series(column: Any, dtype: Any) -> pl.Series:
    """Return the cells of an Arrow column of this type; bytes of a text that are no UTF-8 are replaced, in each cell alike."""
    import polars as pl
    import pyarrow as pa

    if not is_text(dtype):
        return pl.Series(pl.from_arrow(column))
    if isinstance(column, pa.ChunkedArray):
        return pl.concat([pl.Series([], dtype=pl.String), *(arrow_series(chunk, dtype) for chunk in column.chunks)])
    if pa.types.is_dictionary(column.type):
        return arrow_series(column.dictionary, dtype).gather(pl.Series(pl.from_arrow(column.indices)))
    cells = column.cast(pa.large_binary())
    try:
        return pl.Series(pl.from_arrow(cells.cast(pa.large_string())))  # all of them are checked
    except pa.ArrowInvalid:
        return pl.Series(
            [None if cell is None else cell.decode("utf-8", "replace") for cell in cells.to_pylist()], dtype=pl.String
        )


def parquet_frames(
    path: Path, schema: dict[str, Any], cells: dict[str, pl.Expr], size: int, row_groups: Iterable[int] | None = None
) -> Iterator[pl.DataFrame]:
    """Yield columns of a Parquet file of this schema, each read as its cell says, at most `size` rows at a time."""
    import polars as pl

    with open_parquet(path) as file:
        for batch in file.iter_batches(size, row_groups=row_groups, columns=list(cells), use_threads=False):
            yield pl.DataFrame({name: arrow_series(batch.column(name), schema[name]) for name in cells}).select(cells.values())


def read_parquet(path: Path, schema: dict[str, Any], cells: dict[str, pl.Expr], hint: str = FORMATS) -> pl.DataFrame:
    """Return what `parquet_frames` yields as one frame; the hint is for a file that cannot be read."""
    import polars as pl

    def read() -> pl.DataFrame:
        empty = pl.DataFrame(schema={name: pl.String() if is_text(schema[name]) else schema[name] for name in cells})
        return pl.concat(list(parquet_frames(path, schema, cells, ROWS)) or [empty.select(cells.values())])

    return shielded(read, unreadable(path, "cannot be read.", hint))


def holds_names(dtype: Any) -> bool:
    """Whether a declared type can name groups."""
    import polars as pl

    return bool(is_text(dtype) or dtype.is_numeric() or dtype == pl.Boolean or dtype == pl.Null or dtype == pl.Binary)


def check_groups(path: Path, groups: str, dtype: Any) -> None:
    """Raise if a Parquet column cannot name groups, by its type alone."""
    if not holds_names(dtype):
        raise DataError(f"{path}: column {groups!r} does not hold names.", "name a column of texts or whole numbers.")


def same_groups(files: list[Path], groups: list[pl.Series]) -> pl.Series:
    """Return the names of the groups of all files; a column of names has one type everywhere, or equal names would differ."""
    import polars as pl

    for file, names in zip(files, groups, strict=True):
        if names.dtype != groups[0].dtype:
            raise DataError(f"{file}: the groups are of another type than in {files[0]}.", "write them alike in all files.")
    return pl.concat(groups)


def parquet_cell(path: Path, name: str, dtype: Any, coded: Column | None = None) -> pl.Expr:
    """Return how a column is read, or raise if it holds no numbers, or no cells of its kind; both depend on its declared type."""
    import polars as pl

    if coded is not None:
        return declared_cell(path, coded, dtype)
    if not holds_numbers(dtype):
        raise DataError(
            f"{path}: column {name!r} does not hold numbers.",
            "leave it out: columns=['age', ...] or bounds={'age': (0, 110), ...} names the others.",
        )
    return pl.col(name).cast(pl.Float64, strict=False)


def holds_numbers(dtype: Any) -> bool:
    """Whether a declared type holds numbers."""
    import polars as pl

    return bool(dtype.is_numeric() or dtype == pl.Boolean or dtype == pl.Null)
