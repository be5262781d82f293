"""What is asked of a Spark session: to run a question and to keep a table. What it says about rows stays in its log."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from spinney.exceptions import DataError, ParameterError

#: Where a fit keeps its rows from question to question: a name of `pyspark.StorageLevel`, or NONE to read the table each time.
LEVEL_SETTING, LEVEL = "spark.spinney.storageLevel", "MEMORY_AND_DISK_DESER"
#: What is said of a job that failed: its own error may quote rows.
FAILURE = "A Spark job failed.", "Spark's log says why. Another fit spends its own budget, on top of this."
#: Loggers of PySpark that write to the driver what an expression said about a cell.
LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")


@contextmanager
def muted_loggers() -> Iterator[None]:
    """Keep cells that a failed job quotes out of the driver's output: PySpark's loggers say nothing about this thread's jobs."""
    from pyspark.logger import PySparkLogger

    here = threading.get_ident()

    def is_elsewhere(record: Any) -> bool:
        return bool(record.thread != here)

    loggers = [PySparkLogger.getLogger(name) for name in LOGGERS]  # made by PySpark, which gives them more than names
    for logger in loggers:
        logger.addFilter(is_elsewhere)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(is_elsewhere)


def answered(ask: Callable[[], Any], error: Exception | None = None) -> Any:
    """Return what Spark answers, or raise an error that reveals nothing about rows: a `DataError` if no other is given."""
    try:
        with muted_loggers():
            return ask()
    except Exception:
        pass  # Spark's own message may quote what a user's function said about a row, so it stays in Spark's log
    raise error or DataError(*FAILURE)  # not above, where Spark's error would become its context


def ignore_pandas_warning() -> None:
    """Keep PySpark from warning about pandas 3 where it only declares a function: no row goes through pandas here.

    The filter stays: to remove it would change what other threads see meanwhile.
    """
    warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)


def storage_of(session: Any) -> Any:
    """Return how executors keep rows between questions, or None if they keep none."""
    level = LEVEL
    with suppress(Exception):  # serverless clusters show no settings but their own
        level = session.conf.get(LEVEL_SETTING, LEVEL)
    storage = None if level == "NONE" else getattr(sys.modules["pyspark"].StorageLevel, level, None)
    if storage is None and level != "NONE":
        raise ParameterError.wrong(
            LEVEL_SETTING, "the Spark session", "NONE or a name of a storage level", level, f"use {LEVEL}."
        )
    return storage


@contextmanager
def kept(frame: Any) -> Iterator[Any]:
    """Let the executors keep a frame from question to question, where Spark does that; else it is made for each."""
    storage = storage_of(frame.sparkSession)
    with suppress(Exception), muted_loggers():  # serverless clusters refuse it, whatever the rows are
        if storage is not None:
            frame.persist(storage)
    try:
        yield frame
    finally:
        with suppress(Exception):  # of a session that has ended
            if storage is not None:
                frame.unpersist()
