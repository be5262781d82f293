"""Reading a Spark DataFrame as blocks of numbers, on its executors. Nothing here imports pyspark before a user has."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.curators.rows import SPARK, Rows
from spinney.exceptions import DataError, ParameterError
from spinney.privacy.pricing import Unit
from spinney.questions.ground import Ground
from spinney.spaces.described import DescribedSchema, Encoding
from spinney.spaces.schema import Schema
from spinney.tables.cells import chosen_places, no_numbers

#: Most rows of a block, which bounds partial sums, and most values, which bounds memory.
MOST_ROWS, MOST_VALUES = 2**16, 2**20
#: Types that are read as they are, those that a 32-bit float holds exactly first.
SMALL = {"byte", "short", "float"}
PLAIN = {*SMALL, "integer", "long", "double"}
#: Numbers of 64 bits.
WIDE = "<f8"
#: Types that Spark turns into 64-bit floats.
CAST = {"boolean", "decimal", "void"}
#: Where a fit keeps its blocks from question to question: a name of `pyspark.StorageLevel`, or NONE to read the table each time.
LEVEL_SETTING, LEVEL = "spark.spinney.storageLevel", "DISK_ONLY"


def number_columns(frame: Any, names: Iterable[str], titles: Iterable[str] | None = None) -> list[Any]:
    """Return columns of a Spark DataFrame as types that `read_columns` takes.

    Columns and their types are schema, declared and so public: types that hold no numbers, such as texts and dates, are refused.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
    names : iterable of str
    titles : iterable of str, optional
        What a message calls the columns; their names by default.
    """
    names = list(names)
    columns = [frame[f"`{name.replace('`', '``')}`"] for name in names]
    kinds = [field.dataType.typeName() for field in frame.select(columns).schema.fields]
    for title, kind in zip(names if titles is None else titles, kinds, strict=True):
        if kind not in PLAIN | CAST:
            raise no_numbers(title, kind)
    if not kinds:
        raise ValueError("Found array with 0 feature(s) while a minimum of 1 is required.")
    return [column.cast("double") if kind in CAST else column for column, kind in zip(columns, kinds, strict=True)]


def read_columns(columns: Iterable[Any], dtype: str = "<f8") -> NDArray[Any]:
    """Return Arrow columns of numbers as an F-ordered array of rows."""
    with np.errstate(all="ignore"):
        arrays = [column.to_numpy(zero_copy_only=False) for column in columns]
        rows = np.empty((len(arrays), len(arrays[0])), dtype=dtype)
        for i, array in enumerate(arrays):
            rows[i] = array
    return rows.T


@dataclass(frozen=True, repr=False)
class Packer:
    """What an executor does with a partition's Arrow batches: blocks of rows, column by column and as bytes."""

    dtype: str
    n_features: int

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield blocks as Arrow batches of one binary cell."""
        import pyarrow

        def pack(rows: NDArray[Any]) -> Any:
            return pyarrow.RecordBatch.from_pydict({"block": pyarrow.array([rows.T.tobytes()], pyarrow.binary())})

        most = max(min(MOST_ROWS, MOST_VALUES // self.n_features), 1)
        waiting: list[NDArray[Any]] = []
        count = 0
        for batch in batches:
            rows = read_columns(batch.columns, self.dtype)
            while count + len(rows) >= most:
                yield pack(np.concatenate([*waiting, rows[: most - count]]))
                rows, waiting, count = rows[most - count :], [], 0
            waiting.append(rows)
            count += len(rows)
        if count:
            yield pack(np.concatenate(waiting))


def ignore_pandas_warning() -> None:
    """Keep PySpark from warning about pandas 3 where it only declares a function: no row goes through pandas here.

    The filter stays: to remove it would change what other threads see meanwhile.
    """
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)


def _storage(session: Any) -> Any:
    """Return how the executors keep blocks, or None if they keep none."""
    level = session.conf.get(LEVEL_SETTING, LEVEL)
    if level == "NONE":
        return None
    storage = getattr(sys.modules["pyspark"].StorageLevel, level, None)
    if storage is None:
        raise ParameterError.wrong(
            LEVEL_SETTING, "the Spark session", "NONE or a name of a storage level", level, f"use {LEVEL}."
        )
    return storage


@contextmanager
def _kept(blocks: Any, storage: Any) -> Iterator[Any]:
    """Let the executors keep blocks from question to question."""
    if storage is None:
        yield blocks
        return
    blocks.persist(storage)
    try:
        yield blocks
    finally:
        blocks.unpersist()


def _computed(plan: Callable[[], Any], message: str) -> Any:
    """Return an RDD, which computes what comes before a shuffle, or raise an error that reveals nothing about rows."""
    from spinney.curators.spark import muted_loggers

    rows = None
    try:
        with muted_loggers():
            rows = plan()
    except Exception:
        pass  # Spark's own message may quote what a user's function said about a row, so it stays in Spark's log
    if rows is None:
        raise DataError(f"{message}", "Spark's log says why.")
    return rows


def _placed(gather: Callable[..., Any], facts: tuple[int, str, int], task: Any) -> Any:
    """Return the rows of groups that count as an RDD of messages, each group's in one block."""
    from spinney.curators.frame_blocks import Placer

    return gather(Placer(*facts, task))


def _packed(frame: Any, numbers: list[Any], dtype: str) -> Any:
    """Return the rows as an RDD of packed blocks."""
    packed = frame.select(numbers).mapInArrow(Packer(dtype, len(numbers)), "block binary")
    return _computed(lambda: packed.rdd, "Spark could not compute the table. Nothing was charged.")


@dataclass(frozen=True, eq=False, repr=False)
class SparkRows(Rows):
    """Rows of a Spark DataFrame. The driver and the executors are one trusted side."""

    nonprivate_frame: Any
    nonprivate_blocks: Any
    numbers: list[Any]
    owner: Any
    dtype: str
    columns: tuple[str, ...] | None
    #: How cells are read; None if they are numbers.
    cells: Schema | None = None

    place = "spark"
    model = SPARK

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_features", len(self.numbers))
        object.__setattr__(self, "has_groups", self.owner is not None)

    def encoded(self, schema: Encoding) -> SparkRows:
        """Return the same rows, each column divided by its public unit, on the executors."""
        if isinstance(schema, DescribedSchema):
            return self._read(schema)
        if not schema.is_plain:
            return replace(self._read(schema), columns=schema.titles)
        each = enumerate(zip(self.numbers, schema.units.tolist(), strict=True))
        numbers = [(column.cast("double") / unit).alias(f"n{i}") for i, (column, unit) in each]
        blocks = None if self.owner is not None else _packed(self.nonprivate_frame, numbers, WIDE)
        return replace(self, numbers=numbers, nonprivate_blocks=blocks, dtype=WIDE)

    def _read(self, schema: Encoding) -> SparkRows:
        """Return rows whose cells executors read; columns that are described stand behind those that decide a cluster."""
        from spinney.curators.frame_encoding import GROUP, encoded_frame

        assert self.cells is not None
        frame = encoded_frame(self.nonprivate_frame, self.owner, self.numbers, schema, self.cells)
        numbers = [frame[f"n{i}"] for i in range(schema.width)]
        owner, blocks = (None, _packed(frame, numbers, WIDE)) if self.owner is None else (frame[GROUP], None)
        return replace(self, nonprivate_frame=frame, numbers=numbers, owner=owner, nonprivate_blocks=blocks, dtype=WIDE)

    @contextmanager
    def opened(self, ground: Ground, unit: Unit, key: Callable[[], bytes]) -> Iterator[Any]:
        """Open a backend over packed blocks of rows, which the executors keep meanwhile."""
        from spinney.curators.frame_groups import pack_groups
        from spinney.curators.spark import SparkBackend

        frame, blocks, place, one_each = self.nonprivate_frame, self.nonprivate_blocks, None, None
        if self.owner is not None:
            most, secret = unit.max_rows, key()
            key = partial(bytes, secret)  # which rows of a group count, and which block is its, are decided by one secret
            gather = partial(pack_groups, frame, self.owner, self.numbers, self.dtype, most, unit.replaces, secret)
            blocks = _computed(gather, "Spark could not bring the rows of each group together. Nothing was asked.")
            place = partial(_placed, gather, (most, self.dtype, self.n_features))
            one = partial(pack_groups, frame, self.owner, self.numbers, self.dtype, 1, unit.replaces, secret)
            one_each = partial(_computed, one, "Spark could not bring the rows of each group together.")
        with _kept(blocks, _storage(frame.sparkSession)) as kept:
            yield SparkBackend(kept, self.dtype, ground, unit, key, place, one_each)


def spark_rows(frame: Any, columns: tuple[str, ...] | None = None, groups: Any = None, schema: Schema | None = None) -> SparkRows:
    """Return the rows of a Spark DataFrame, after checks of its schema and of the cluster; no row is read.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        Private.
    columns : tuple of str, optional
        The columns to use; all but the groups by default.
    groups : str, optional
        The column that names the group of each row; it is not clustered.
    schema : Schema, optional
        How cells are read; without one, columns hold numbers.
    """
    from spinney.curators.frame_groups import name_column
    from spinney.curators.workers import check_workers

    if not hasattr(frame, "_jdf"):
        raise ParameterError(
            "A fit needs a DataFrame of a classic Spark session. Got one of Spark Connect instead.",
            "run the fit where the driver runs.",
        )
    names = tuple(frame.columns)
    frame = frame.toDF(*(f"c{i}" for i in range(len(names))))  # names may repeat
    owner = None if groups is None else name_column(frame, names, groups)
    places = chosen_places(names, columns, groups)
    names = tuple(names[place] for place in places)
    if schema is None:
        numbers = number_columns(frame, [f"c{place}" for place in places], names)
    else:
        from spinney.curators.frame_encoding import check_types

        numbers = [frame[f"c{place}"] for place in places]
        check_types(frame, numbers, schema)
    kinds = [field.dataType.typeName() for field in frame.select(numbers).schema.fields]
    dtype = "<f4" if SMALL.issuperset(kinds) else WIDE
    _storage(frame.sparkSession)  # refuses what Spark does not know
    ignore_pandas_warning()
    check_workers(frame.sparkSession.sparkContext)
    blocks = (
        None if owner is not None or schema is not None else _packed(frame, numbers, dtype)
    )  # described rows are encoded first
    return SparkRows(frame, blocks, numbers, owner, dtype, names if len(set(names)) == len(names) else None, schema)
