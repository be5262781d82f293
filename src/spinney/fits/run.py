"""The one run: from a problem and rows to a release. Every estimator, the command line and Spark end here."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._shown import offered
from spinney.algorithms.problem import planned
from spinney.curators.files import FileRows
from spinney.curators.gpu.rows import array_rows, is_of_device, on_device
from spinney.curators.memory import ArrayRows
from spinney.curators.purse import Purse
from spinney.curators.rows import Rows
from spinney.curators.spark.rows import spark_rows
from spinney.exceptions import ParameterError
from spinney.fits.cautions import caution
from spinney.fits.charging import charged
from spinney.fits.fit import Fit
from spinney.fits.parameters import PointFacts, check_points
from spinney.fits.record import promise_fields, repeat_fields
from spinney.ledgers.ledger import Ledger
from spinney.mechanisms.drawing import NoiseSource
from spinney.mechanisms.source import noise_source
from spinney.privacy.fit_ledger import FitLedger
from spinney.privacy.seal import sealed
from spinney.spaces.schema import Schema
from spinney.tables.arrow_streams import ArrowStream
from spinney.tables.cells import check_groups
from spinney.tables.sources import Source, is_path, is_spark_frame, is_stream, open_path, read_source
from spinney.tables.streams import Batches, chosen_batches


def generator(random_state: Any, noise_seed: int | None = None) -> np.random.Generator:
    """Return the generator of public randomness; a legacy RandomState gives it a seed.

    Without a state, a seed of the noise makes this one repeatable too, as a stream of its own.
    """
    if random_state is None and noise_seed is not None:
        return np.random.default_rng([int(noise_seed), 1])
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)


def given_groups(X: Any, groups: Any) -> bool:
    """Return whether rows have groups; asks nothing of X."""
    if not issubclass(type(X), Batches | ArrowStream):
        return groups is not None
    if groups is not None:
        raise ParameterError(
            "A table on disk, or a stream, brings its own groups.",
            "name their column, as in scan('stays.parquet', groups='person').",
        )
    return bool(X.has_groups)


def rows_of(
    X: Any,
    groups: Any,
    columns: tuple[str, ...] | None,
    checked: Callable[[Source], tuple[NDArray[Any], Any]],
    *,
    schema: Schema | None = None,
    spark_schema: Schema | None = None,
    width: int | None = None,
    whole: bool = False,
) -> Rows:
    """Return where the private rows of a table are, one number for each of these columns.

    `checked` checks the schema of a table in memory; it returns its numbers, and the names of its columns. The schema says how
    cells are read, in Spark if it is given for it too; `width` is the number of columns, and `whole` rows are in memory.
    """
    if issubclass(type(X), Batches):
        return FileRows(X if columns is None else chosen_batches(X, columns, schema))
    if is_spark_frame(X):
        return spark_rows(X, columns, groups, spark_schema)
    if is_of_device(type(X)):
        return array_rows(X, columns, groups)
    if is_path(X) and not is_stream(X):
        return opened_rows(open_path(X, columns, groups, schema, whole))
    if type(X) is ArrowStream and X.spool is not None:
        named = X.groups
        return FileRows(X.spooled(columns, lambda table, used: read_source(table, used, named, schema=schema).nonprivate_rows))
    source = read_source(X, columns, groups, must_have_names=True, schema=schema, width=width)
    array, names = checked(source)
    check_groups(source.nonprivate_groups, len(array))
    return ArrayRows(array, source.nonprivate_groups, None if names is None else tuple(map(str, names)))


def opened_rows(found: Any) -> Rows:
    """Return the rows of a table that was opened by its path, in memory or on disk."""
    return FileRows(found) if isinstance(found, Batches) else ArrayRows.of(found)


def scaled_rows(rows: Rows, facts: PointFacts) -> Rows:
    """Return rows in scaled numbers, if there are units, after a check of their names."""
    facts.check_columns(rows.columns)
    schema = facts.schema_of(rows.n_features)
    return rows if schema is None else rows.encoded(schema)


def _watched(count: Callable[[], int]) -> AbstractContextManager[Any]:
    """Return what shows a bar of questions, if this is a notebook, where `count` counts them; nothing is imported to find out."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None) is None:  # a kernel draws for a notebook; a terminal has none
        return nullcontext()
    bar: AbstractContextManager[Any] = offered("bar")(count())
    return bar


def _checked(source: Source, owner: str) -> tuple[NDArray[Any], list[str] | None]:
    """Return the numbers of a table, and the names of its columns if all of them are texts."""
    rows = source.nonprivate_rows
    if not isinstance(rows, np.ndarray):
        raise ParameterError.wrong("X", owner, "a table of numbers", rows, "an array, a frame, or the path of a table.")
    schema = source.plain_schema
    return np.asarray(rows), None if schema is None else schema[0]


def prepared(
    X: Any, groups: Any, typed: dict[str, Any], objective: str, owner: str, checked: Callable[[Source], Any] | None = None
) -> tuple[PointFacts, Rows]:
    """Return checked parameters of `fit`, and where the rows are. Nothing is asked or charged; `owner` is named in messages."""
    facts = check_points(typed, objective, owner, given_groups(X, groups))  # all before anything is asked of X
    # Users are asked one by one, so that their rows are in memory.
    schema = facts.schema
    read = None if schema is None or schema.is_plain else schema  # Spark's executors take plain numbers as they are
    width, whole = facts.width, facts.is_local
    checked = checked or partial(_checked, owner=owner)
    rows = rows_of(X, groups, facts.columns, checked, schema=schema, spark_schema=read, width=width, whole=whole)
    rows = scaled_rows(rows, facts)
    return facts, on_device(rows) if facts.typed["device"] == "cuda" else rows


def run(fit: Fit, rows: Rows, ledger: Ledger | None = None) -> Any:
    """Charge the plan to the ledger, if there is one, let the algorithm ask, and return what may be published.

    Privacy
    -------
    Neighbors, statement and proof depend on the algorithm that runs.
    """
    budget = fit.problem.budget
    caution(budget.loose, is_uncounted=ledger is None and fit.noise_seed is None and not budget.is_infinite)
    with _watched(lambda: len(planned(fit.algorithm, fit.problem))):
        return run_with(lambda: noise_source(fit.noise_seed), fit, rows, ledger)


def run_with(make_source: Callable[[], NoiseSource], fit: Fit, rows: Rows, ledger: Ledger | None = None) -> Any:
    """Run with another source of noise: for audits, on made-up rows. Their releases say that they are not private."""
    problem, algorithm, seed = fit.problem, fit.algorithm, fit.noise_seed
    if rows.place not in algorithm.backends:
        raise ParameterError(
            f"The algorithm {algorithm.name!r} does not run on rows of the kind {rows.place!r}.",
            f"it runs on {', '.join(map(repr, algorithm.backends))}. Arrays and frames are in memory; a path of any size is not.",
        )
    spent = FitLedger(problem.budget, planned(algorithm, problem))
    rng = generator(fit.random_state, seed)
    with charged(ledger, spent.planned, fit) as made:
        source = make_source()
        with ExitStack() as stack:
            with sealed():
                backend = stack.enter_context(rows.opened(problem.ground, problem.unit, source.key))
            if ledger is not None and made["entry"] is not None:
                ledger.begin(made["entry"])
            curator = rows.gate(backend, problem.unit, spent, source)
            result = algorithm.run(Purse(curator), problem.shown, rng)
        promise = promise_fields(problem, spent, source, fit.cap, rows.model)
        promise |= repeat_fields(algorithm, fit.random_state, seed, made)
        release = problem.release(result, algorithm.name, rows.columns, promise)
        release = release if fit.n_guess is None else replace(release, n_guess=fit.n_guess)
        if ledger is not None and made["entry"] is not None:
            ledger.keep_digest(made["entry"], release.digest)
        return release
