"""Public schemas in files: JSON or TOML, by the names of columns; files of bounds alone are schemas too.

A file says of each column what bounds in Python do: a pair of numbers, a list of categories, or facts by name. A template is made
of the names of a table's columns, and of nothing else in it.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spinney.exceptions import DataError, ParameterError, check_path
from spinney.naming import kind_of, named, type_of
from spinney.spaces.column_facts import column_of
from spinney.tables.batches import opened
from spinney.tables.records import COMMAS, Csv
from spinney.tables.schema import csv_header, parquet_schema, shielded, table_files, unreadable

__all__ = ["read_schema", "schema_template", "table_columns"]

#: What to write, by the kind of file.
HINT = (
    'write JSON such as {"age": [0, 110], "region": ["north", "south"], "day": {"dates": ["2020-01-01", "2025-12-31"]}, '
    '"smoker": {"boolean": true}, "income": {"bounds": [0, 200000], "unit": 20000, "fill": 0, "source": "tax tables"}}.'
)
TOML_HINT = (
    'write TOML such as age = [0, 110] or region = ["north", "south"]; more facts of a column stand below its name, '
    '[income], line by line: bounds = [0, 200000], unit = 20000, fill = 0, source = "tax tables"; or, in place of bounds, '
    "dates = [2020-01-01, 2025-12-31] or boolean = true."
)
_TOML_HEAD = """\
# Public facts about columns, from public knowledge alone: never from the rows. Delete the columns that are not to be used.
# bounds = [0, 110]            lower and upper; or, in its place,
# dates = [2020-01-01, 2025-12-31], categories = ["north", "south"] or boolean = true
# unit = 10                    this much counts as one; weight = 1 for categories and truth values: how far two of them are apart
# fill = 40                    what a missing cell is read as; without it the row is left out
# missing = [999]              numbers, or dates, that only mean that nothing is known
# formats = ["1,234.5"]        how numbers are written, by an example, or dates: ["DD.MM.YYYY", "MM/DD/YY"]; the first that fits
# signs = ["EUR", "kg"]        what may stand beside a number
# aliases = {north = ["N"]}    other names of categories, or of true and false; ignore_case = true reads letters alike
# source = "life tables"       where the facts come from
"""
#: What stands below the name of a column: nothing but its name is known, so that no kind is taken for granted.
_BLANK = "bounds = []  # or dates = [], categories = [], boolean = true; or delete the column, such as a person's name"


def read_schema(path: Path) -> dict[str, Any]:
    """Return the public facts of columns by name, as `bounds` takes them, from a JSON file, or from TOML if its name ends so."""
    check_path(path, "read_schema")
    path = Path(path)
    is_toml = path.suffix.lower() == ".toml"
    hint = TOML_HINT if is_toml else HINT
    if not path.exists():
        raise DataError(
            f"There is no file {path}.", "'spinney schema' writes one to fill in, from the names of a table's columns."
        )
    content = shielded(path.read_bytes, DataError(f"{path} cannot be read.", hint))
    wrong_line = ""

    def parse() -> Any:
        nonlocal wrong_line
        text = content.decode("utf-8")
        try:
            return tomllib.loads(text) if is_toml else json.loads(text)
        except tomllib.TOMLDecodeError as error:  # its line may be told, for no table is TOML
            wrong_line = "".join(re.findall(r" \(at (line [0-9]+)", str(error)))

    kind = "TOML" if is_toml else "JSON"
    record = shielded(parse, DataError(f"{path} does not hold bounds, or is no {kind}.", hint))
    if wrong_line:
        raise DataError(f"{path} is no {kind}: {wrong_line} cannot be read.", hint)
    if not isinstance(record, dict) or not record:
        raise DataError(f"{path} does not hold bounds.", hint)
    facts = {name: _pair(given) for name, given in record.items()}
    for name, given in facts.items():
        _check_column(path, name, given, is_toml)
    return facts


def _pair(given: Any) -> Any:
    """Return two numbers that are written as texts, which files of bounds may have, as numbers; all else as it is."""
    if not (isinstance(given, list) and len(given) == 2 and all(isinstance(end, str) for end in given)):
        return given
    try:
        return [float(end) for end in given]
    except ValueError:
        return given


def _check_column(path: Path, name: str, given: Any, is_toml: bool) -> None:
    """Raise unless a file's facts of a column are lawful, in words about the file."""
    hint = TOML_HINT if is_toml else HINT
    pair = given.get("bounds") if isinstance(given, dict) else given
    if pair in ([], [None, None]):
        raise DataError(
            f"{path}: nothing is filled in for column {named(name)}.",
            "write its bounds, dates, categories or boolean, or delete the column; what to write is public knowledge.",
        )
    numbers = isinstance(pair, list) and len(pair) == 2 and all(type(end) in (int, float) for end in pair)
    if numbers and not pair[0] < pair[1]:  # type: ignore[index]
        raise DataError(f"{path}: the lower bound of {named(name)} is not below its upper bound.", hint)
    wrong = ""
    try:
        # What is there is not repeated where the file may be a table; none is TOML.
        column_of(name, given, "a schema", named if is_toml else type_of, is_no_table=is_toml)
    except ParameterError as error:
        wrong = error.must
    if wrong:
        raise DataError(f"{path}: there must be {wrong}", hint)


def table_columns(path: Path, written: Csv = COMMAS) -> list[str]:
    """Return the names of a table's columns, which are schema and public; no row is read."""
    file = table_files(path)[0]
    if file.suffix.lower() == ".npy":
        raise unreadable(file, "has no column names.", "use CSV or Parquet, or give bounds for all columns.")
    if kind_of(file) == ".xlsx":
        return list(opened(file).columns or ())
    return list(csv_header(file, written).names if kind_of(file) == ".csv" else parquet_schema(file))


def schema_template(columns: Sequence[str], kind: str = ".json") -> str:
    """Return a schema to fill in for these names of columns, as JSON or TOML."""
    if kind == ".toml":  # a JSON text is a TOML text, but for letters written as two halves
        return _TOML_HEAD + "".join(f'\n[{json.dumps(name, ensure_ascii=False)}]\n{_BLANK}\nsource = ""\n' for name in columns)
    empty = {"bounds": [None, None], "unit": None, "fill": None, "source": ""}
    return json.dumps(dict.fromkeys(columns, empty), indent=1, ensure_ascii=False) + "\n"
