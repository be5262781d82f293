"""From files to a release, and from a release to labels."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np

from spinney.estimators.clusterer import PrivateClusterer
from spinney.estimators.kmeans import PrivateKMeans
from spinney.estimators.kmedian import PrivateKMedian
from spinney.exceptions import DataError, ParameterError
from spinney.io.tables import read_bounds, read_names, read_table
from spinney.privacy.release import Release

__all__ = ["fit_table", "label_table"]


@contextmanager
def _progress(steps: int) -> Iterator[None]:
    """Show a bar on a terminal that moves with each question; questions are public."""
    logger = logging.getLogger("spinney")
    with click.progressbar(length=steps, label="asking", file=sys.stderr, hidden=not sys.stderr.isatty()) as bar:

        class Handler(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                bar.update(1)

        handler, level = Handler(), logger.level
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        try:
            yield
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)


def fit_table(
    table: Path,
    estimator: PrivateClusterer,
    bounds: tuple[float, float] | None,
    bounds_file: Path | None,
    columns: str | None,
    groups: str | None,
) -> Release:
    """Read a table, fit, and return the release; parameters are checked before rows are read."""
    if (bounds is None) == (bounds_file is None):
        raise ParameterError("Bounds are missing, or given twice.\nHint: --bounds LO HI for all columns, or --bounds-file FILE.")
    names = [name.strip() for name in columns.split(",")] if columns else None
    lower_upper: Any = bounds
    if bounds_file is not None:
        by_column = read_bounds(bounds_file)
        names = list(by_column) if names is None else names
        missing = [name for name in names if name not in by_column]
        if missing:
            raise DataError(f"{bounds_file} has no bounds for {missing[0]!r}.\nHint: add them, or leave the column out.")
        lower_upper = tuple(zip(*(by_column[name] for name in names), strict=True))
    if (groups is None) != (estimator.max_rows_per_group is None):
        raise ParameterError("--groups and --max-rows-per-group need each other.\nHint: --groups person --max-rows-per-group 10.")
    estimator.set_params(bounds=lower_upper)
    charges = estimator.plan(n_features=len(names) if names else 1).charges
    rows = read_table(table, names, leave_out=groups)
    people = None if groups is None else read_names(table, groups)
    with _progress(len(charges)):
        release: Release = estimator.fit(rows, groups=people).release_
    return release


def label_table(release: Path, table: Path, out: Path) -> None:
    """Write the nearest center of each row of a table."""
    loaded = Release.from_json(release)
    estimator = (PrivateKMeans if loaded.objective == "kmeans" else PrivateKMedian).from_release(loaded)
    rows = read_table(table, None if loaded.feature_names is None else list(loaded.feature_names))
    if rows.shape[1] != estimator.n_features_in_:
        raise DataError(
            f"{table} has {rows.shape[1]} columns and the release {estimator.n_features_in_}.\nHint: use the same columns."
        )
    np.savetxt(out, estimator.predict(rows), fmt="%d", header="label", comments="")
