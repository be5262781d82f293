"""Checks of parameters, all before any row is read, all with one message formula."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from spinney.algorithms.problem import Algorithm, PointProblem
from spinney.algorithms.registry import HOMES, choose, solves_of
from spinney.exceptions import ParameterError
from spinney.privacy.adjacency import Adjacency
from spinney.privacy.budget import Budget
from spinney.privacy.pricing import Unit
from spinney.spaces.box import Ball, Box, NamedBox, as_space

__all__ = ["Facts", "Parameters", "check_clusters", "check_count", "check_parameters", "check_promise", "check_random_state"]

#: The power of distances that each objective sums.
POWERS = {"kmeans": 2, "kmedian": 1}
#: Below this, noise would drown any table there is.
LEAST_EPSILON = 1e-9
#: More clusters would take too long: noise is drawn some thirty times a cluster, 20 to 60 microseconds each, and rows are
#: compared with all centers. At epsilon 1 so many need three million rows; with fewer, most of them would be noise.
MOST_CLUSTERS = 10_000


def _is_integer(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, Integral)


def _is_real(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return not math.isnan(value)
    except OverflowError:  # a whole number too large for a float
        return False


def check_count(name: str, owner: str, value: Any) -> None:
    """Raise unless a public number is a whole number of at least one."""
    if not _is_integer(value) or value < 1:
        raise ParameterError.wrong(name, owner, "an int in [1, inf)", value, f"for example {name}=8.")


def check_clusters(name: str, owner: str, value: Any) -> None:
    """Raise unless a public number of clusters, sites or choices is a whole number from one to MOST_CLUSTERS."""
    check_count(name, owner, value)
    if value > MOST_CLUSTERS:
        raise ParameterError.wrong(
            name, owner, f"at most {MOST_CLUSTERS}", int(value), "at epsilon 1 each needs about 300 rows, and more take too long."
        )


def check_random_state(random_state: Any, noise_seed: int | None = None) -> np.random.Generator:
    """Return the generator of public randomness; a legacy RandomState gives it a seed.

    Without a state, a seed of the noise makes this one repeatable too, as a stream of its own.
    """
    if random_state is None and noise_seed is not None:
        return np.random.default_rng([int(noise_seed), 1])
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)


@dataclass(frozen=True)
class Parameters:
    """What a user asks for, as it was typed; `PrivateKMeans` says what each one means."""

    n_clusters: Any
    epsilon: Any
    delta: Any
    bounds: Any
    algorithm: Any
    adjacency: Any
    tighten: Any
    max_rows_per_group: Any
    random_state: Any = None
    noise_seed: Any = None


@dataclass(frozen=True)
class Facts:
    """Checked parameters; only the number of columns is missing."""

    objective: str
    k: int
    space: Box | Ball
    budget: Budget
    unit: Unit
    algorithm: str | Algorithm
    tighten: bool
    random_state: Any
    noise_seed: int | None

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names of the columns to use, if the bounds are given by name; all columns else."""
        return self.space.columns if isinstance(self.space, NamedBox) else None

    def problem(self, n_features: int) -> PointProblem:
        """Return the problem for this number of columns."""
        domain = self.space.domain(n_features)
        return PointProblem(k=self.k, power=POWERS[self.objective], domain=domain, budget=self.budget, unit=self.unit)

    def algorithm_for(self, problem: PointProblem) -> Algorithm:
        """Return the algorithm that will run."""
        return choose(self.algorithm, problem, self.tighten)


def _is_algorithm(algorithm: Any, known: Iterable[str]) -> bool:
    if isinstance(algorithm, str):
        return algorithm == "auto" or algorithm in known
    return solves_of(algorithm) is not None


def check_promise(p: Mapping[str, Any], owner: str, has_groups: bool, algorithms: Iterable[str]) -> tuple[Budget, Unit]:
    """Return the budget and the protected unit, after checks of everything that all estimators have in common.

    Parameters
    ----------
    p : mapping
        Parameters as they were typed, by their names.
    owner : str
        Whose parameters they are, for the message.
    has_groups : bool
        Whether rows have groups.
    algorithms : iterable of str
        The names of the algorithms there are.
    """

    def require(holds: bool, name: str, expected: str, hint: str) -> None:
        if not holds:
            raise ParameterError.wrong(name, owner, expected, p[name], hint)

    def one_of(names: Iterable[str]) -> str:
        return f"one of {', '.join(map(repr, names))}"

    check_clusters("n_clusters", owner, p["n_clusters"])
    require(
        _is_real(p["epsilon"]) and p["epsilon"] >= LEAST_EPSILON,
        "epsilon",
        f"a float in [{LEAST_EPSILON}, inf]",
        "epsilon=1.0 is a common choice; smaller is more private. There is no default.",
    )
    require(
        _is_real(p["delta"]) and 0 <= p["delta"] < 1,
        "delta",
        "a float in [0, 1)",
        "delta=0.0 promises pure differential privacy; delta=1e-6 allows Gaussian noise.",
    )
    require(
        _is_algorithm(p["algorithm"], algorithms),
        "algorithm",
        f"{one_of(('auto', *sorted(algorithms)))}, or an algorithm",
        "leave it out for the default.",
    )
    adjacencies = tuple(kind.value for kind in Adjacency)
    require(
        isinstance(p["adjacency"], str) and p["adjacency"] in adjacencies,
        "adjacency",
        one_of(adjacencies),
        "'add-remove' protects whether someone is in the table at all.",
    )
    cap = p["max_rows_per_group"]
    require(
        (_is_integer(cap) and cap >= 1) if has_groups else cap is None,
        "max_rows_per_group",
        "an int in [1, inf) if fit gets groups, and None if it gets none",
        "max_rows_per_group=10 with fit(X, groups=table['person']) protects people; without both, single rows are protected.",
    )
    require(
        p["epsilon"] >= LEAST_EPSILON * (int(cap) if has_groups else 1),
        "max_rows_per_group",
        f"at most epsilon / {LEAST_EPSILON}",
        "a smaller cap, or a larger epsilon.",
    )
    seed = p["noise_seed"]
    require(
        seed is None or (_is_integer(seed) and seed >= 0),
        "noise_seed",
        "None or an int in [0, inf)",
        "leave it out: with a seed the result is not private.",
    )
    state = p["random_state"]
    require(
        state is None or (_is_integer(state) and state >= 0) or isinstance(state, np.random.Generator | np.random.RandomState),
        "random_state",
        "None, an int in [0, inf) or a numpy Generator",
        "random_state=0 repeats the public randomness; it never touches privacy noise.",
    )
    return (
        Budget.of(float(p["epsilon"]), float(p["delta"])),
        Unit(Adjacency(p["adjacency"]), int(cap) if has_groups else 1),
    )


def check_parameters(parameters: Parameters, objective: str, owner: str, has_groups: bool) -> Facts:
    """Return the public facts of a fit, or raise a ParameterError that says what to type.

    Parameters
    ----------
    parameters : Parameters
    objective : {"kmeans", "kmedian"}
    owner : str
        Whose parameters they are, for the message.
    has_groups : bool
        Whether rows have groups.
    """
    p = vars(parameters)
    budget, unit = check_promise(p, owner, has_groups, HOMES["points"])
    if solves_of(p["algorithm"]) == "sites":
        raise ParameterError.wrong(
            "algorithm", owner, "an algorithm for tables", p["algorithm"], "this one chooses sites: see PrivateKMedoids."
        )
    if not isinstance(p["tighten"], bool | np.bool_):
        raise ParameterError.wrong(
            "tighten", owner, "True or False", p["tighten"],
            "tighten=True looks for a private box first, for bounds that may be several times too wide.",
        )  # fmt: skip
    return Facts(
        objective=objective,
        k=int(p["n_clusters"]),
        space=as_space(p["bounds"], owner),
        budget=budget,
        unit=unit,
        algorithm=p["algorithm"],
        tighten=bool(p["tighten"]),
        random_state=p["random_state"],
        noise_seed=p["noise_seed"],
    )
