"""Fitting without an estimator: a table and public parameters in, a release out. scikit-learn is not imported."""

from __future__ import annotations

import warnings
from typing import Any

from spinney.constraints import check, one_of
from spinney.exceptions import FewRowsWarning, UnitsWarning
from spinney.fits.fit import Fit, check_guess
from spinney.fits.run import prepared, run
from spinney.ledgers.ledger import Ledger
from spinney.releases.centers import Release
from spinney.releases.objectives import POWERS
from spinney.threads import asked_threads, limited

OWNER = "fit"


def fit(
    X: Any,
    n_clusters: int | str = 8,
    *,
    objective: str = "kmeans",
    max_clusters: int | None = None,
    bounds: Any = None,
    epsilon: float | None = None,
    delta: float = 0.0,
    algorithm: Any = "auto",
    adjacency: str = "add-remove",
    tighten: bool = False,
    model: str = "central",
    groups: Any = None,
    max_rows_per_group: int | None = None,
    random_state: Any = None,
    noise_seed: int | None = None,
    scale: Any = None,
    device: str = "auto",
    n_jobs: int | None = None,
    ledger: Ledger | None = None,
    n_guess: int | None = None,
) -> Release:
    """Cluster private rows, as `PrivateKMeans` and `PrivateKMedian` do, without scikit-learn.

    Privacy
    -------
    Neighbors: tables that differ by one row added or removed (or replaced, as `adjacency` says); by one group's rows if `groups`
    is given. Statement: the release is (epsilon, delta)-differentially private. Proof: the algorithm's page, such as
    ``proofs/tree.md``, and the pages it names. Outside the promise: running time and memory use.

    Parameters
    ----------
    X : array-like, frame, Arrow table, lazy frame, path, table on disk, stream or Spark DataFrame
        Private rows, as `PrivateKMeans.fit` takes them.
    n_clusters : int or "auto", default 8
    objective : {"kmeans", "kmedian"}, default "kmeans"
        Whether centers minimize squared distances, or distances.
    max_clusters, bounds, epsilon, delta, algorithm, adjacency, tighten, model, groups, max_rows_per_group, random_state, \
    noise_seed, scale, device, n_jobs, ledger, n_guess
        As for `PrivateKMeans` and its ``fit``.

    Returns
    -------
    Release
        ``centers``, ``sizes`` and the promise; ``PrivateKMeans.from_release`` makes an estimator of it.

    Examples
    --------
    >>> import numpy as np
    >>> import spinney
    >>> rows = np.random.default_rng(0).normal(size=(5000, 2)) + np.repeat([[0, 0], [6, 6]], 2500, axis=0)
    >>> spinney.fit(rows, 2, epsilon=1.0, bounds=(-5, 11)).centers.shape
    (2, 2)
    """
    typed = {
        "n_clusters": n_clusters, "max_clusters": max_clusters, "bounds": bounds, "epsilon": epsilon, "delta": delta,
        "algorithm": algorithm, "adjacency": adjacency, "tighten": tighten, "model": model, "scale": scale,
        "max_rows_per_group": max_rows_per_group, "random_state": random_state, "noise_seed": noise_seed,
        "device": device, "n_jobs": n_jobs,
    }  # fmt: skip
    check(OWNER, {"objective": objective}, {"objective": one_of(POWERS, "'kmeans'.")})
    check_guess(n_guess, OWNER)
    facts, rows = prepared(X, groups, typed, objective, OWNER)
    if facts.is_local:
        from spinney.local.desk import users_of

        rows = users_of(rows)
    if facts.uneven is not None:
        warnings.warn(facts.uneven, UnitsWarning, stacklevel=2)
    asked: Fit = facts.fit(rows.n_features, n_guess)
    with limited(asked_threads(n_jobs)):
        release: Release = run(asked, rows, ledger)
    for doubt in release.doubts.values():
        warnings.warn(doubt, UnitsWarning if doubt == release.single else FewRowsWarning, stacklevel=2)
    return release
