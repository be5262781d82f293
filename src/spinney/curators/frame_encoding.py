"""Rows of a Spark DataFrame whose cells have to be read: its executors encode them, by the code that serves rows in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from spinney.exceptions import ParameterError
from spinney.spaces.described import Encoding
from spinney.spaces.schema import Schema
from spinney.tables.sources import read_source

#: What the column of groups is called on the way.
GROUP = "group"


def check_types(frame: Any, columns: Sequence[Any], schema: Schema) -> None:
    """Raise unless the declared types of columns, which are public, can hold what a schema says; no row is read."""
    empty = None
    try:
        named = [column.alias(str(name)) for column, name in zip(columns, schema.names or (), strict=True)]
        empty = frame.select(named).limit(0).toArrow()
    except Exception:
        pass  # Spark's own words stay out
    if empty is None:
        raise ParameterError("A column is of a type that cannot be described.", "describe texts, numbers, dates or booleans.")
    read_source(empty, schema.names, schema=schema)


@dataclass(frozen=True, repr=False)
class Encoder:
    """What an executor does with a partition's Arrow batches: cells become encoded rows, behind the group if there is one."""

    encoding: Encoding
    cells: Schema
    is_grouped: bool

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield batches of numbers."""
        import pyarrow as pa

        first = int(self.is_grouped)
        names = [*([GROUP] * first), *(f"n{i}" for i in range(self.encoding.width))]
        for batch in batches:
            table = pa.Table.from_arrays(list(batch.columns[first:]), names=list(self.encoding.table))
            rows = self.encoding.encode(read_source(table, self.encoding.table, schema=self.cells).nonprivate_rows)
            yield pa.RecordBatch.from_arrays([*batch.columns[:first], *(pa.array(column) for column in rows.T)], names)


def encoded_frame(frame: Any, owner: Any, columns: Sequence[Any], encoding: Encoding, cells: Schema) -> Any:
    """Return a frame of encoded rows, behind the column of groups if there is one.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        Private.
    owner : Column or None
        Of the names of groups.
    columns : sequence of Column
        Columns of the table, in the order of the schemas.
    encoding : Schema or DescribedSchema
    cells : Schema
        How cells are read.
    """
    first = [] if owner is None else [owner.alias(GROUP)]
    chosen = frame.select(*first, *(column.alias(f"c{i}") for i, column in enumerate(columns)))
    groups = [f"{GROUP} {field.dataType.simpleString()}" for field in chosen.schema.fields[: len(first)]]
    names = ", ".join([*groups, *(f"n{i} double" for i in range(encoding.width))])
    return chosen.mapInArrow(Encoder(encoding, cells, bool(first)), names)
