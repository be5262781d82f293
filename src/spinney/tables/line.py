"""How a schema reads one line that somebody made up: to try it before a table is read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from spinney.exceptions import ParameterError
from spinney.spaces.column import Column
from spinney.spaces.column_facts import column_of
from spinney.spaces.plain_values import short
from spinney.spaces.schema import Schema
from spinney.tables.records import Csv
from spinney.tables.sources import read_source


def _words(column: Column, value: float) -> str:
    """Return a number of a column as people write it."""
    if column.kind == "category":
        return column.categories[int(value)]
    if column.kind == "boolean":
        return "true" if value else "false"
    return column.day(value) if column.kind == "date" else short(value, 15)


def _told(column: Column, cell: float) -> str:
    """Return what a cell is read as, its number being given; missing if it is none."""
    known = float(replace(column, fill=None).known(np.array([cell]))[0])
    if not np.isfinite(known):
        filled = float(column.known(np.array([cell]))[0])
        left = "the row is left out" if column.fill is None else f"read as {_words(column, filled)}"
        return f"missing: {left}"
    if column.kind in ("number", "date") and not column.lower <= known <= column.upper:
        return f"{_words(column, known)}, moved to the bound {_words(column, min(max(known, column.lower), column.upper))}"
    return _words(column, known)


def line_as_read(facts: dict[str, Any], line: str, written: Csv, owner: str) -> list[str]:
    """Return a line of text for each column of a schema: what it makes of its cell in a made-up line.

    Parameters
    ----------
    facts : dict
        Public facts by column, as bounds take them.
    line : str
        Cells in the order of the schema.
    written : Csv
        What parts the cells.
    owner : str
        Whose parameter the schema is.
    """
    import polars as pl

    schema = Schema(tuple(column_of(name, given, owner) for name, given in facts.items()))
    typed = line.encode("utf-8", "replace").decode()  # half a letter is none, as in a file
    cells: list[str] = next(written.records([typed]), [])
    if len(cells) != len(facts):
        hint = "type its cells in the order of the schema; separator='semicolon' (or tab, or pipe) if they are parted so."
        raise ParameterError(f"The line has {len(cells)} cells, and the schema {len(facts)} columns.", hint)
    texts = pl.DataFrame({name: [cell] for name, cell in zip(facts, cells, strict=True)}, schema=dict.fromkeys(facts, pl.String))
    row = read_source(texts, tuple(facts), schema=schema).nonprivate_rows[0]
    width = max(map(len, facts))
    return [f"{column.name!s:<{width}}  {_told(column, float(cell))}" for column, cell in zip(schema.columns, row, strict=True)]
