"""Rows of a Spark DataFrame: what a fit is given, on a classic session or on Spark Connect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from spinney.curators.rows import SPARK, Rows
from spinney.curators.spark.backend import SparkBackend
from spinney.curators.spark.blocks import BlockTask, Placer
from spinney.curators.spark.groups import Capper, counted, name_column
from spinney.curators.spark.messages import MESSAGES
from spinney.curators.spark.packing import NARROW, PACKED, SMALL, WIDE, Packer, Reader, check_types, number_columns, row_column
from spinney.curators.spark.session import answered, ignore_pandas_warning, kept, storage_of
from spinney.curators.spark.workers import check_workers
from spinney.exceptions import ParameterError
from spinney.privacy.pricing import Unit
from spinney.questions.ground import Ground
from spinney.spaces.described import DescribedSchema, Encoding
from spinney.spaces.schema import Schema
from spinney.tables.cells import chosen_places


@dataclass(frozen=True, eq=False, repr=False)
class SparkRows(Rows):
    """Rows of a Spark DataFrame. The driver and the executors are one trusted side."""

    #: The columns of the table, behind that of the groups if there is one.
    nonprivate_frame: Any
    read: Reader
    columns: tuple[str, ...] | None
    has_groups: bool = False

    place = "spark"
    model = SPARK

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_features", self.read.width)

    def encoded(self, schema: Encoding) -> SparkRows:
        """Return the same rows in scaled numbers: executors read them so."""
        read = replace(self.read, width=schema.width, dtype=WIDE, encoding=schema)
        if isinstance(schema, DescribedSchema):  # what is described stands behind the columns that decide a cluster
            return replace(self, read=read)
        if schema.is_plain:
            return replace(self, read=replace(read, cells=None))
        return replace(self, read=read, columns=schema.titles)

    @contextmanager
    def opened(self, ground: Ground, unit: Unit, key: Callable[[], bytes]) -> Iterator[SparkBackend]:
        """Open a backend over packed rows, which the executors keep meanwhile."""
        frame, read = self.nonprivate_frame, self.read
        if not self.has_groups:
            with kept(frame.mapInArrow(Packer(read), PACKED)) as packed:
                yield SparkBackend(packed, read.dtype, ground, unit, key)
            return
        secret = key()  # decides which rows of a group count, and which block is its
        count = partial(counted, frame, read, unit, secret)

        def capped(most: int) -> Any:
            return count(Capper(most, read.width))

        def placed(task: BlockTask) -> Any:
            return count(Placer(unit.max_rows, read.width, task), MESSAGES)

        with kept(capped(unit.max_rows)) as packed:
            yield SparkBackend(packed, read.dtype, ground, unit, partial(bytes, secret), placed, partial(capped, 1))


def spark_rows(frame: Any, columns: tuple[str, ...] | None = None, groups: Any = None, schema: Schema | None = None) -> SparkRows:
    """Return the rows of a private Spark DataFrame, after checks of its schema and of the cluster; no row is read.

    Columns are by default all but the one that names groups; without a schema they hold numbers.
    """
    unresolved = ParameterError("Spark cannot say which columns the table has.", "see frame.printSchema().")
    names = tuple(answered(lambda: frame.columns, unresolved))  # Spark Connect looks at a table when it has to, and here first
    frame = frame.toDF(*(f"c{i}" for i in range(len(names))))  # names may repeat
    owner = [] if groups is None else [name_column(frame, names, groups).alias("group")]
    places = chosen_places(names, columns, groups)
    names = tuple(names[place] for place in places)
    if schema is None:
        chosen = number_columns(frame, [f"c{place}" for place in places], names)
    else:
        chosen = [frame[f"c{place}"] for place in places]
        check_types(frame, chosen, schema)
    table = frame.select(*owner, *(column.alias(f"n{i}") for i, column in enumerate(chosen)))
    kinds = {field.dataType.typeName() for field in table.schema.fields[len(owner) :]}
    dtype = NARROW if SMALL.issuperset(kinds) else WIDE
    if schema is None:
        table = table.selectExpr(*(["group"] if owner else []), row_column(table.columns[len(owner) :], dtype))
    storage_of(frame.sparkSession)  # refuses what Spark does not know
    ignore_pandas_warning()
    check_workers(frame.sparkSession)
    read = Reader(len(chosen), len(chosen), dtype, cells=schema)
    return SparkRows(table, read, names if len(set(names)) == len(names) else None, bool(owner))
