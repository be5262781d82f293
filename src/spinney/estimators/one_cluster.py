"""A small ball that holds many private rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from spinney.algorithms.one_cluster import BallProblem, OneClusterSearch
from spinney.algorithms.problem import PointProblem
from spinney.curators.rows import Rows
from spinney.exceptions import ParameterError
from spinney.fits.fit import Fit
from spinney.fits.parameters import check_clusters, check_number
from spinney.fits.run import prepared, run
from spinney.ledgers.ledger import Ledger
from spinney.releases.ball import OneCluster
from spinney.spaces.degrees import refuse_degrees

OWNER = "one_cluster"


@dataclass(frozen=True, eq=False)
class BallModel:
    """What `one_cluster` runs, before there are rows: for audits. Parameters as for `one_cluster`."""

    t: int
    epsilon: float | None = None
    delta: float = 0.0
    bounds: Any = None
    candidates: int = 12
    adjacency: str = "add-remove"
    max_rows_per_group: int | None = None
    random_state: Any = None
    noise_seed: int | None = None

    def prepare(self, X: Any, groups: Any = None) -> tuple[Fit, Rows]:
        """Return what `one_cluster` would run, and where the rows are. Nothing is asked or charged."""
        check_number("t", OWNER, self.t)
        check_clusters("candidates", OWNER, self.candidates)
        typed = {name: value for name, value in vars(self).items() if name not in ("t", "candidates")}
        typed |= {"n_clusters": 1, "algorithm": OneClusterSearch(int(self.candidates)), "scale": 1, "tighten": False}
        facts, rows = prepared(X, groups, typed, "kmeans", OWNER)
        fit = facts.fit(rows.n_features)
        refuse_degrees(rows.columns, OWNER, "and give their bounds.")
        asked = fit.problem
        assert isinstance(asked, PointProblem)
        if asked.schema is not None:
            raise ParameterError("A ball is round in columns of numbers as they are.", "bounds={'age': (0, 110), ...} alone.")
        problem = BallProblem(
            k=1, power=2, budget=asked.budget, unit=asked.unit, domain=asked.domain, names=asked.names, wanted=int(self.t)
        )
        return replace(fit, problem=problem), rows


def one_cluster(
    X: Any,
    t: int,
    *,
    epsilon: float | None = None,
    delta: float = 0.0,
    bounds: Any = None,
    candidates: int = 12,
    adjacency: str = "add-remove",
    groups: Any = None,
    max_rows_per_group: int | None = None,
    random_state: Any = None,
    noise_seed: int | None = None,
    ledger: Ledger | None = None,
) -> OneCluster:
    """Find a small ball that holds at least about t of the private rows.

    Privacy
    -------
    Neighbors: tables that differ by one row added or removed (or replaced, as `adjacency` says); by one group's rows if `groups`
    is given. Statement: what is returned is (epsilon, delta)-differentially private. Proof: ``proofs/one_cluster.md``.
    Outside the promise: running time and memory use, and whether the ball is small or holds t rows.

    Parameters
    ----------
    X : array-like, path, frame or scan
        Private rows, as `PrivateKMeans.fit` takes them.
    t : int
        How many rows the ball should hold; public, so not a share of the number of rows, which is private.
    epsilon, delta, bounds, adjacency, groups, max_rows_per_group, random_state, noise_seed, ledger
        As for `PrivateKMeans`.
    candidates : int, default 12
        Public: about how many clusters the rows may have, at most 10,000.

    Returns
    -------
    OneCluster
        ``center``, ``radius``, the noisy ``count`` inside, and the ``release`` with its promise.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney import one_cluster
    >>> rng = np.random.default_rng(0)
    >>> rows = np.concatenate([rng.normal(3, 0.1, (4000, 2)), rng.uniform(-5, 5, (4000, 2))])
    >>> ball = one_cluster(rows, 3000, epsilon=1.0, bounds=(-5, 5))
    >>> bool(np.abs(ball.center - 3).max() < 0.2 and ball.radius < 1)
    True
    """
    model = BallModel(t, epsilon, delta, bounds, candidates, adjacency, max_rows_per_group, random_state, noise_seed)
    found: OneCluster = run(*model.prepare(X, groups), ledger)
    return found
