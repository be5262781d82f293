"""Reading a Spark DataFrame as blocks of numbers, on its executors. Nothing here imports pyspark before a user has."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spinney.estimators.tables import chosen_places, no_numbers
from spinney.exceptions import DataError, ParameterError

if TYPE_CHECKING:
    from spinney.curators.spark import SparkCurator
    from spinney.estimators.validation import Facts
    from spinney.mechanisms.source import NoiseSource
    from spinney.privacy.ledger import FitLedger
    from spinney.privacy.ledger_file import Ledger
    from spinney.privacy.pricing import Unit
    from spinney.privacy.release import Release
    from spinney.spaces.box import Domain

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


def ignore_pandas_warning() -> None:
    """Keep PySpark from warning about pandas 3 where it only declares a function: no row goes through pandas here.

    The filter stays: to put it back would change what other threads are told meanwhile.
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
    """Return an RDD, which computes what comes before a shuffle, or raise an error that tells nothing about rows."""
    from spinney.curators.spark import quiet

    rows = None
    try:
        with quiet():
            rows = plan()
    except Exception:
        pass  # Spark's own message may quote what a user's function said about a row, so it stays in Spark's log
    if rows is None:
        raise DataError(f"{message}\nHint: Spark's log says why.")
    return rows


def fit_frame(facts: Facts, frame: Any, account: Ledger | None = None, groups: Any = None) -> Release:
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
    groups : str, optional
        The column that names the group of each row; it is not clustered.
    """
    from spinney.curators.spark import MODEL, SparkCurator
    from spinney.curators.workers import check_workers
    from spinney.estimators.fitting import fit_behind
    from spinney.estimators.frame_groups import name_column, pack_groups

    if not hasattr(frame, "_jdf"):
        raise ParameterError(
            "A fit needs a DataFrame of a classic Spark session. Got one of Spark Connect instead.\n"
            "Hint: run the fit where the driver runs."
        )
    names = tuple(frame.columns)
    frame = frame.toDF(*(f"c{i}" for i in range(len(names))))  # names may repeat
    owner = None if groups is None else name_column(frame, names, groups)
    places = chosen_places(names, facts.columns, groups)
    names = tuple(names[place] for place in places)
    numbers = number_columns(frame, [f"c{place}" for place in places], names)
    kinds = [field.dataType.typeName() for field in frame.select(numbers).schema.fields]
    dtype = "<f4" if SMALL.issuperset(kinds) else "<f8"
    columns = names if len(set(names)) == len(names) else None
    storage = _storage(frame.sparkSession)
    ignore_pandas_warning()
    check_workers(frame.sparkSession.sparkContext)
    with ExitStack() as stack:
        if owner is None:
            packed = frame.select(numbers).mapInArrow(Packer(dtype, len(names)), "block binary")
            rows = _computed(lambda: packed.rdd, "Spark could not compute the table. Nothing was charged.")
            maker: Any = partial(SparkCurator, stack.enter_context(_kept(rows, storage)), dtype)
        else:

            def maker(domain: Domain, unit: Unit, ledger: FitLedger, source: NoiseSource) -> SparkCurator:
                key, most = source.key(), unit.max_rows
                rows = _computed(
                    lambda: pack_groups(frame, owner, numbers, dtype, most, unit.replaces, key),
                    "Spark could not bring the rows of each group together. Nothing was asked.",
                )
                return SparkCurator(stack.enter_context(_kept(rows, storage)), dtype, domain, unit, ledger, source)

        return fit_behind(facts, maker, "spark", len(names), owner is not None, columns, account, MODEL)
