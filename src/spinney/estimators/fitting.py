"""From checked parameters and rows to a release. Both the estimators and the command line end here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.algorithms.plan import Plan, planned
from spinney.curators.backend import Backend
from spinney.curators.gate import Curator
from spinney.curators.memory import MemoryBackend
from spinney.curators.parquet import Batches, FileBackend, chosen_batches
from spinney.curators.seal import sealed
from spinney.estimators.charging import charged
from spinney.estimators.record import promise_fields, repeat_fields
from spinney.estimators.validation import Facts, Parameters, check_count, check_parameters, check_random_state
from spinney.exceptions import ParameterError
from spinney.mechanisms.source import noise_source
from spinney.privacy.ledger import FitLedger
from spinney.privacy.ledger_file import Ledger
from spinney.privacy.preparation import prepared_rows
from spinney.privacy.pricing import Unit
from spinney.privacy.release import Release
from spinney.spaces.box import Domain, FloatArray, domain_to_dict

__all__ = ["CuratorMaker", "finite_points", "fit_behind", "fit_rows", "plan_fit"]

#: Makes a curator over some rows.
CuratorMaker = Callable[[Domain, Unit, Callable[[], bytes]], Backend]


def plan_fit(parameters: Parameters, objective: str, owner: str, n_features: int | None, n_guess: int | None = None) -> Plan:
    """Return every question with its charge and noise, before any row is read.

    Parameters
    ----------
    parameters : Parameters
    objective : {"kmeans", "kmedian"}
    owner : str
        Who plans, for messages.
    n_features : int or None
        The number of columns; public. None if the bounds name them.
    n_guess : int, optional
        A public guess of the number of rows.
    """
    grouped = parameters.max_rows_per_group is not None
    facts = check_parameters(parameters, objective, owner, grouped)
    if n_features is None and facts.columns is not None:
        n_features = len(facts.columns)
    check_count("n_features", f"{owner}.plan", n_features)
    if n_guess is not None:
        check_count("n_guess", f"{owner}.plan", n_guess)
    assert n_features is not None
    problem = facts.problem(n_features)
    return Plan(facts.algorithm_for(problem), problem, n_guess, grouped)


def fit_rows(
    facts: Facts,
    nonprivate_rows: NDArray[Any] | Batches,
    nonprivate_groups: Any = None,
    columns: tuple[str, ...] | None = None,
    account: Ledger | None = None,
) -> Release:
    """Run the algorithm behind a curator over rows in memory or on disk and return what may be published.

    Privacy
    -------
    Neighbors, statement and proof are those of `PrivateKMeans.fit`.

    Parameters
    ----------
    facts : Facts
    nonprivate_rows : array of shape (n, d), or Batches
        Batches stay on disk, and bring their own groups and names of columns.
    nonprivate_groups : sequence of length n, optional
        Whom each row belongs to; must be given exactly if the facts were checked with groups.
    columns : tuple of str, optional
        Names of the columns; public.
    account : Ledger, optional
        Charged for the whole plan before anything is asked.
    """
    rows = nonprivate_rows
    if isinstance(rows, Batches):
        rows = rows if facts.columns is None else chosen_batches(rows, facts.columns)
        maker: CuratorMaker = partial(FileBackend, rows)
        return fit_behind(facts, maker, "parquet", rows.n_features, rows.has_groups, rows.columns, account)
    maker = partial(MemoryBackend, rows, groups=nonprivate_groups)
    return fit_behind(facts, maker, "memory", rows.shape[1], nonprivate_groups is not None, columns, account)


def fit_behind(
    facts: Facts,
    maker: CuratorMaker,
    backend: str,
    n_features: int,
    has_groups: bool,
    columns: tuple[str, ...] | None = None,
    account: Ledger | None = None,
    model: str = Release.model,
) -> Release:
    """Run the algorithm behind a curator and return what may be published.

    Privacy
    -------
    Neighbors, statement and proof are those of `PrivateKMeans.fit`.

    Parameters
    ----------
    facts : Facts
    maker : callable
        ``maker(domain, unit, ledger, source)`` returns the curator.
    backend : str
        Its name; the algorithm must run on it.
    n_features : int
    has_groups : bool
        Whether rows have groups; the facts must have been checked with the same.
    columns : tuple of str, optional
        Names of the columns; public.
    account : Ledger, optional
        Charged for the whole plan before anything is asked.
    model : str
        Who held the rows and who added the noise, for the release.
    """
    problem = facts.problem(n_features)
    algorithm = facts.algorithm_for(problem)
    backends = getattr(algorithm, "backends", ("memory",))
    if backend not in backends:
        raise ParameterError(
            f"The algorithm {algorithm.name!r} does not run on rows of the kind {backend!r}.\n"
            f"Hint: it runs on {', '.join(map(repr, backends))}."
        )
    charges = planned(algorithm, problem)
    budget, unit, seed = problem.budget, problem.unit, facts.noise_seed
    rng = check_random_state(facts.random_state, seed)
    ledger = FitLedger(budget, charges)
    charges = ledger.planned  # checked copies
    with charged(account, charges, budget, unit, has_groups, seed, facts.objective, algorithm.name) as made:
        source = noise_source(seed)
        with sealed():
            rows = maker(problem.domain, unit, source.key)
        curator = Curator(rows, unit, ledger, source)
        result = algorithm.run(curator, problem, {charge.name: charge for charge in charges}, rng)
        return Release(
            objective=facts.objective,
            algorithm=algorithm.name,
            centers=result.centers,
            sizes=result.private_sizes.astype(np.float64),
            sizes_margin=float(result.size_noise.quantile(0.95)),
            summary_points=result.summary_points,
            summary_weights=result.summary_weights,
            **promise_fields(budget, unit, charges, ledger, source, has_groups, model),
            **repeat_fields(algorithm, facts.random_state, seed, made),
            preprocessing=prepared_rows(unit.adjacency.value, unit.max_rows if has_groups else None),
            domain=domain_to_dict(problem.domain) | ({} if facts.columns is None else {"columns": list(facts.columns)}),
            tightened=None if result.box is None else domain_to_dict(result.box),
            feature_names=columns,
        )


@sealed()
def finite_points(rows: NDArray[Any], domain: Domain) -> FloatArray:
    """Return a copy of new points in 64 bits; a missing or infinite value puts a point in the middle of the domain."""
    with np.errstate(all="ignore"):
        points = np.array(rows, dtype=np.float64, order="C")
    points[~np.isfinite(points).all(axis=1)] = domain.center
    return points
