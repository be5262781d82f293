"""Compiling all kernels ahead of time, by small fits of made-up rows: every kind of table, space and algorithm once."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import click
import numpy as np

from spinney.compilation import KERNELS, cache_folders
from spinney.exceptions import DataError

ROWS = np.random.default_rng(0).uniform(-1, 1, (300, 6))
#: Points on a ring of streets.
PLACES = 40


def _tables() -> None:
    import polars as pl

    from spinney.algorithms.hst import HST
    from spinney.algorithms.stable import Stable
    from spinney.estimators.description_model import describe
    from spinney.estimators.kmeans import PrivateKMeans
    from spinney.estimators.kmedian import PrivateKMedian

    for kind in (PrivateKMeans, PrivateKMedian):
        kind(3, epsilon=1.0, bounds=(-1, 1)).fit(ROWS).predict(ROWS)
        kind(3, epsilon=0.01, bounds=(-1, 1)).fit(ROWS)  # a budget that supports few centers
    columns = {"a": ROWS[:, 0], "b": ROWS[:, 1]}
    release = PrivateKMeans(3, epsilon=1.0, bounds={"a": (-1, 1)}).fit(pl.DataFrame(columns)).release_
    describe(release, pl.DataFrame(columns), bounds={"b": (-1, 1)}, epsilon=1.0)
    for algorithm in ("hst", HST(projection=2), "lsh", "balcan", "sample-aggregate"):
        PrivateKMeans(3, epsilon=1.0, bounds=(-1, 1), algorithm=algorithm).fit(ROWS)
    PrivateKMedian(3, epsilon=1.0, bounds=(-1, 1), algorithm=Stable(median_step="objective")).fit(ROWS)


def _tables_on_disk() -> None:
    """Fit rows that are read anew in every pass, and count cells below the first word of their codes."""
    from spinney.curators.kernels import count_between
    from spinney.estimators.kmeans import PrivateKMeans
    from spinney.tables.batches import scan

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        np.save(path, ROWS)
        PrivateKMeans(3, epsilon=1.0, bounds=(-1, 1)).fit(scan(path))
    codes = np.zeros((1, 2), dtype=np.uint64)
    count_between(codes, codes, codes)


def _texts() -> None:
    """Read cells of every kind, and quotes around them."""
    import polars as pl

    from spinney.spaces.column_facts import column_of
    from spinney.tables.encoding import codes
    from spinney.tables.records import COMMAS, is_plain

    for facts in ({"bounds": (0, 1), "signs": ["EUR"]}, {"dates": ("2024-01-01", "2024-12-31")}, {"boolean": True}):
        codes(pl.Series(["1"]), column_of("a", facts, "warm"))
    is_plain(b'"1"\n', COMMAS)


def _sites() -> None:
    from spinney.estimators.kmedoids import PrivateKMedoids
    from spinney.solvers.assignment import assign
    from spinney.solvers.swaps import add_changes
    from spinney.spaces.metric import FiniteMetric

    angles = np.arange(PLACES) * (2 * np.pi / PLACES)
    places = np.column_stack([np.cos(angles), np.sin(angles)])
    matrix = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2))
    streets = [(place, (place + 1) % PLACES, 1.0) for place in range(PLACES)]
    demand = np.random.default_rng(0).integers(0, PLACES, 300)
    for space in (
        FiniteMetric.from_points(places),
        FiniteMetric.from_matrix(matrix),
        FiniteMetric.from_matrix(matrix.astype(np.float32)),
        FiniteMetric.from_graph(streets),
        FiniteMetric.from_points(places, "haversine"),
    ):
        space.is_metric()
        for algorithm in ("cells", "hst", "local-search", "coverage"):
            PrivateKMedoids(3, epsilon=1.0, space=space, algorithm=algorithm).fit(demand)
    # Tables of costs are 32-bit only where they are large.
    none, one = np.zeros(0, dtype=np.int64), np.zeros(1)
    assign(one[:, None], one, one)
    add_changes(np.zeros((1, 1), np.float32), none, np.zeros(2, np.int64), one[:0], one[:0], one[:0], 0, 1, one, one[:, None])


#: What is compiled, one after the other; what one step has compiled the next ones find.
STEPS = {"tables in memory": _tables, "tables on disk": _tables_on_disk, "tables of texts": _texts, "sites": _sites}


def warm_up() -> str:
    """Compile all kernels that are not in a cache yet; return where they are kept."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what made-up rows are worth is of no interest
        for label, step in STEPS.items():
            click.echo(f"Compiling kernels for {label} ...", err=True)
            step()
    folders = cache_folders()
    if not folders:
        raise DataError(
            "No folder may be written to that could keep compiled kernels.",
            "run this as a user who may write beside the package, or set NUMBA_CACHE_DIR to a folder of your own.",
        )
    return "\n".join([f"{len(KERNELS)} kernels are compiled, for this kind of processor. They are kept in", *folders])
