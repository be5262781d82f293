"""From checked parameters and demand to a release of sites. Both the estimator and the command line end here."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.algorithms.plan import Plan
from spinney.algorithms.problem import Algorithm, SiteProblem
from spinney.algorithms.registry import HOMES, choose, solves_of
from spinney.curators.demand import DemandBackend
from spinney.curators.gate import Curator
from spinney.curators.seal import sealed
from spinney.estimators.charging import charged
from spinney.estimators.record import promise_fields, repeat_fields
from spinney.estimators.validation import check_count, check_promise, check_random_state
from spinney.exceptions import ParameterError
from spinney.mechanisms.source import noise_source
from spinney.privacy.ledger import FitLedger
from spinney.privacy.ledger_file import Ledger
from spinney.privacy.preparation import prepared_names
from spinney.privacy.site_release import SiteRelease
from spinney.spaces.metric import Coordinates, FiniteMetric, Matrix, Network
from spinney.spaces.naming import places_of

__all__ = ["SiteFacts", "SiteParameters", "check_sites", "fit_demand", "plan_sites"]


@dataclass(frozen=True)
class SiteParameters:
    """What a user asks for, as it was typed; `PrivateKMedoids` says what each one means."""

    n_clusters: Any
    epsilon: Any
    delta: Any
    space: Any
    algorithm: Any
    power: Any
    existing_sites: Any
    adjacency: Any
    max_rows_per_group: Any
    random_state: Any = None
    noise_seed: Any = None


@dataclass(frozen=True)
class SiteFacts:
    """Checked parameters."""

    problem: SiteProblem
    algorithm: Algorithm
    random_state: Any
    noise_seed: int | None


def _existing(sites: Any, space: FiniteMetric, owner: str) -> NDArray[np.int64]:
    """Return the existing sites as different indices of points."""
    sites = places_of(sites, space.names, "existing_sites", owner)
    try:
        places = np.asarray(sites)
    except Exception:  # whatever a table in its place raises
        places = np.empty(())
    if places.ndim == 1 and places.size == 0:
        return np.empty(0, dtype=np.int64)
    known = places.ndim == 1 and places.dtype.kind in "iu" and places.min() >= 0 and places.max() < space.n_points
    if not known or len(np.unique(places)) < len(places):
        raise ParameterError.wrong(
            "existing_sites", owner, f"different indices of points, from 0 to {space.n_points - 1}", sites,
            "leave it out if there are none.",
        )  # fmt: skip
    return places.astype(np.int64)


def check_sites(parameters: SiteParameters, owner: str, has_groups: bool) -> SiteFacts:
    """Return the public facts of a fit, or raise a ParameterError that says what to type.

    Parameters
    ----------
    parameters : SiteParameters
    owner : str
        Whose parameters they are, for the message.
    has_groups : bool
        Whether rows have groups.
    """
    p = vars(parameters)
    budget, unit = check_promise(p, owner, has_groups, HOMES["sites"])
    space = p["space"]
    # The space is asked about the rows' points, so it is no class of the caller's.
    if type(space) is not FiniteMetric or type(space.source) not in (Matrix, Coordinates, Network):
        raise ParameterError.wrong(
            "space", owner, "a FiniteMetric", space,
            "space=FiniteMetric.from_graph(edges), .from_points(points) or .from_matrix(distances); it is public.",
        )  # fmt: skip
    if solves_of(p["algorithm"]) == "points":
        raise ParameterError.wrong(
            "algorithm", owner, "an algorithm for sites", p["algorithm"], "this one clusters tables: see PrivateKMeans."
        )
    power: Any = p["power"]
    if isinstance(power, bool) or not isinstance(power, Real) or power not in (1, 2):
        raise ParameterError.wrong("power", owner, "1 or 2", power, "1 sums distances, 2 squared distances.")
    existing = _existing(p["existing_sites"], space, owner)
    k, free = int(p["n_clusters"]), int(np.count_nonzero(~np.isin(space.candidates, existing)))
    if k > free:
        raise ParameterError.wrong("n_clusters", owner, f"at most {free}, the number of free candidates", k, "ask for fewer.")
    problem = SiteProblem(k=k, power=int(p["power"]), space=space, existing=existing, budget=budget, unit=unit)
    return SiteFacts(problem, choose(p["algorithm"], problem), p["random_state"], p["noise_seed"])


def plan_sites(parameters: SiteParameters, owner: str, n_guess: int | None = None) -> Plan:
    """Return every question with its charge and noise, before any row is read.

    Parameters
    ----------
    parameters : SiteParameters
    owner : str
        Who plans, for messages.
    n_guess : int, optional
        A public guess of the number of rows.
    """
    grouped = parameters.max_rows_per_group is not None
    facts = check_sites(parameters, owner, grouped)
    if n_guess is not None:
        check_count("n_guess", f"{owner}.plan", n_guess)
    plan = Plan(facts.algorithm, facts.problem, n_guess, grouped)
    _ = plan.charges  # an algorithm may refuse the problem
    return plan


def fit_demand(
    facts: SiteFacts,
    nonprivate_rows: NDArray[Any],
    nonprivate_groups: Any = None,
    account: Ledger | None = None,
) -> SiteRelease:
    """Run the algorithm behind a curator and return what may be published.

    Privacy
    -------
    Neighbors, statement and proof are those of `PrivateKMedoids.fit`.

    Parameters
    ----------
    facts : SiteFacts
    nonprivate_rows : array of shape (n,)
        The point of each row, by its index.
    nonprivate_groups : sequence of length n, optional
        Whom each row belongs to; must be given exactly if the facts were checked with groups.
    account : Ledger, optional
        Charged for the whole plan before anything is asked.
    """
    problem, algorithm, has_groups = facts.problem, facts.algorithm, nonprivate_groups is not None
    space, budget, unit = problem.space, problem.budget, problem.unit
    charges = algorithm.plan(problem)
    rng = check_random_state(facts.random_state, facts.noise_seed)
    ledger = FitLedger(budget, charges)
    charges = ledger.planned  # checked copies
    with charged(account, charges, budget, unit, has_groups, facts.noise_seed, "kmedoids", algorithm.name) as made:
        source = noise_source(facts.noise_seed)
        with sealed():
            rows = DemandBackend(nonprivate_rows, problem.ground, unit, source.key, nonprivate_groups)
        named = {charge.name: charge for charge in charges}
        result = algorithm.run(Curator(rows, unit, ledger, source), problem, named, rng)
        order = np.argsort(result.centers)
        sites = np.concatenate([result.centers[order], problem.existing])
        return SiteRelease(
            **promise_fields(budget, unit, charges, ledger, source, has_groups),
            **repeat_fields(algorithm, facts.random_state, facts.noise_seed, made),
            preprocessing=prepared_names(
                "point of the space", "its first point", unit.adjacency.value, unit.max_rows if has_groups else None
            ),
            algorithm=algorithm.name,
            power=problem.power,
            medoids=result.centers[order],
            existing_sites=problem.existing,
            sizes=np.concatenate([result.private_sizes[order], result.private_sizes[len(order) :]]),
            sizes_margin=float(result.size_noise.quantile(0.95)),
            summary_points=result.summary_points,
            summary_weights=result.summary_weights,
            space=space.described,
            coordinates=None if space.coordinates is None else space.coordinates[sites],
            names=None if space.names is None else tuple(space.names[site] for site in sites),
        )
