"""From checked parameters and rows to a release. Both the estimators and the command line end here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney._version import __version__
from spinney.algorithms.plan import Plan
from spinney.curators.memory import MemoryCurator
from spinney.estimators.validation import Facts, Parameters, check_count, check_parameters, check_random_state
from spinney.mechanisms.source import NoiseSource, noise_source
from spinney.privacy.budget import Budget, round_up
from spinney.privacy.charges import Charge, Measure
from spinney.privacy.ledger import FitLedger
from spinney.privacy.pricing import Unit
from spinney.privacy.release import Release
from spinney.spaces.box import Domain, FloatArray, domain_to_dict

__all__ = ["finite_points", "fit_rows", "plan_fit", "promise_fields"]


def plan_fit(parameters: Parameters, objective: str, owner: str, n_features: int, n_guess: int | None = None) -> Plan:
    """Return every question with its charge and noise, before any row is read.

    Parameters
    ----------
    parameters : Parameters
    objective : {"kmeans", "kmedian"}
    owner : str
        Who plans, for messages.
    n_features : int
        The number of columns; public.
    n_guess : int, optional
        A public guess of the number of rows.
    """
    grouped = parameters.max_rows_per_group is not None
    facts = check_parameters(parameters, objective, owner, grouped)
    check_count("n_features", f"{owner}.plan", n_features)
    if n_guess is not None:
        check_count("n_guess", f"{owner}.plan", n_guess)
    problem = facts.problem(n_features)
    return Plan(facts.algorithm_for(problem), problem, n_guess, grouped)


def fit_rows(
    facts: Facts, nonprivate_rows: NDArray[Any], nonprivate_groups: Any = None, columns: tuple[str, ...] | None = None
) -> Release:
    """Run the algorithm behind a curator and return what may be published.

    Privacy
    -------
    Neighbors, statement and proof are those of `PrivateKMeans.fit`.

    Parameters
    ----------
    facts : Facts
    nonprivate_rows : array of shape (n, d)
    nonprivate_groups : sequence of length n, optional
        Whom each row belongs to; must be given exactly if the facts were checked with groups.
    columns : tuple of str, optional
        Names of the columns; public.
    """
    problem = facts.problem(nonprivate_rows.shape[1])
    algorithm = facts.algorithm_for(problem)
    charges = algorithm.plan(problem)
    rng = check_random_state(facts.random_state)
    ledger = FitLedger(problem.budget, charges)
    source = noise_source(facts.noise_seed)
    curator = MemoryCurator(nonprivate_rows, problem.domain, problem.unit, ledger, source, nonprivate_groups)
    result = algorithm.run(curator, problem, charges, rng)
    return Release(
        objective=facts.objective,
        algorithm=algorithm.name,
        centers=result.centers,
        sizes=result.private_sizes.astype(np.float64),
        sizes_margin=float(result.size_noise.quantile(0.95)),
        summary_points=result.summary_points,
        summary_weights=result.summary_weights,
        **promise_fields(problem.budget, problem.unit, charges, ledger, source, nonprivate_groups is not None),
        domain=domain_to_dict(problem.domain),
        tightened=None if result.box is None else domain_to_dict(result.box),
        feature_names=columns,
    )


def promise_fields(
    budget: Budget, unit: Unit, charges: tuple[Charge, ...], ledger: FitLedger, source: NoiseSource, grouped: bool
) -> dict[str, Any]:
    """Return the fields that every release has, from the plan and from what was spent of it."""
    uses_delta = any(charge.measure is Measure.ZCDP or charge.delta for charge in charges)
    return {
        "epsilon": min(round_up(ledger.epsilon), float(budget.epsilon)),
        "promised_epsilon": float(budget.epsilon),
        "delta": float(budget.delta) if uses_delta else 0.0,
        "adjacency": unit.adjacency.value,
        "max_rows_per_group": unit.max_rows if grouped else None,
        "noise": "none: not private" if budget.is_infinite else source.statement,
        "charges": ledger.entries,
        "version": __version__,
    }


def finite_points(rows: NDArray[Any], domain: Domain) -> FloatArray:
    """Return a copy of new points in 64 bits; a missing or infinite value puts a point in the middle of the domain."""
    with np.errstate(all="ignore"):
        points = np.array(rows, dtype=np.float64, order="C")
    points[~np.isfinite(points).all(axis=1)] = domain.center
    return points
