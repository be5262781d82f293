"""Reading a Spark DataFrame as blocks of numbers, on its executors. Nothing here imports pyspark before a user has."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney.estimators.tables import chosen_places, no_numbers
from spinney.exceptions import DataError, ParameterError

if TYPE_CHECKING:
    from spinney.estimators.validation import Facts
    from spinney.privacy.ledger_file import Ledger
    from spinney.privacy.release import Release

__all__ = ["fit_frame", "is_spark_frame", "number_columns", "read_columns"]

#: A block has at most so many rows, which bounds partial sums, and so many values, which bounds memory.
MOST_ROWS, MOST_VALUES = 2**16, 2**20
#: Types that are read as they are, those that a 32-bit float holds exactly first.
SMALL = {"byte", "short", "float"}
PLAIN = {*SMALL, "integer", "long", "double"}
#: Types that Spark turns into 64-bit floats.
CAST = {"boolean", "decimal", "void"}
#: Where a fit keeps its blocks from question to question: a name of `pyspark.StorageLevel`, or NONE to read the table each time.
LEVEL_SETTING, LEVEL = "spark.spinney.storageLevel", "DISK_ONLY"


def is_spark_frame(X: Any) -> bool:
    """Whether this is a Spark DataFrame; if pyspark was never imported, nothing is."""
    return issubclass(type(X), getattr(sys.modules.get("pyspark.sql"), "DataFrame", ()))  # this asks nothing of X itself


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


@dataclass(frozen=True)
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


@contextmanager
def _without_pandas_warning() -> Iterator[None]:
    """Keep PySpark from warning about pandas 3 where it only declares a function: no row goes through pandas here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        yield


@contextmanager
def _kept(blocks: Any, level: str) -> Iterator[Any]:
    """Let the executors keep blocks from question to question."""
    if level == "NONE":
        yield blocks
        return
    storage = getattr(sys.modules["pyspark"].StorageLevel, level, None)
    if storage is None:
        raise ParameterError.wrong(
            LEVEL_SETTING, "the Spark session", "NONE or a name of a storage level", level, f"use {LEVEL}."
        )
    blocks.persist(storage)
    try:
        yield blocks
    finally:
        blocks.unpersist()


def fit_frame(facts: Facts, frame: Any, account: Ledger | None = None) -> Release:
    """Run the algorithm behind a curator over the rows of a Spark DataFrame and return what may be published.

    Privacy
    -------
    Neighbors, statement and proof are those of `PrivateKMeans.fit`. The driver and the executors are one trusted side.

    Parameters
    ----------
    facts : Facts
    frame : pyspark.sql.DataFrame
        Private.
    account : Ledger, optional
        Charged for the whole plan before anything is asked.
    """
    from spinney.curators.spark import MODEL, SparkCurator, quiet
    from spinney.curators.workers import check_workers
    from spinney.estimators.fitting import fit_behind

    if not hasattr(frame, "_jdf"):
        raise ParameterError(
            "A fit needs a DataFrame of a classic Spark session. Got one of Spark Connect instead.\n"
            "Hint: run the fit where the driver runs."
        )
    places = chosen_places(frame.columns, facts.columns)
    names = tuple(frame.columns[place] for place in places)
    frame = frame.toDF(*(f"c{i}" for i in range(len(frame.columns))))  # names may repeat
    numbers = frame.select(number_columns(frame, [f"c{place}" for place in places], names))
    dtype = "<f4" if all(field.dataType.typeName() in SMALL for field in numbers.schema.fields) else "<f8"
    columns = names if len(set(names)) == len(names) else None
    level = frame.sparkSession.conf.get(LEVEL_SETTING, LEVEL)
    check_workers(frame.sparkSession.sparkContext)
    with _without_pandas_warning():
        packed = numbers.mapInArrow(Packer(dtype, len(names)), "block binary")
    rows = None
    try:
        with quiet():
            rows = packed.rdd  # computes what comes before a shuffle, if there is one
    except Exception:
        pass  # Spark's own message may quote what a user's function said about a row, so it stays in Spark's log
    if rows is None:
        raise DataError("Spark could not compute the table. Nothing was charged.\nHint: Spark's log says why.")
    with _kept(rows, level) as blocks:
        maker = partial(SparkCurator, blocks, dtype)
        return fit_behind(facts, maker, "spark", len(names), False, columns, account, MODEL)
