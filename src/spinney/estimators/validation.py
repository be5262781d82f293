"""Checks of parameters, all before any row is read, all with one message formula."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from spinney.algorithms.problem import Problem
from spinney.algorithms.registry import ALGORITHMS
from spinney.exceptions import ParameterError
from spinney.privacy.adjacency import Adjacency
from spinney.privacy.budget import Budget
from spinney.privacy.pricing import Unit
from spinney.spaces.box import Ball, Box, as_space

__all__ = ["check_count", "check_parameters", "check_random_state"]

#: Below this, noise would drown any table there is.
LEAST_EPSILON = 1e-9


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


def check_random_state(random_state: Any) -> np.random.Generator:
    """Return the generator of public randomness; a legacy RandomState gives it a seed."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)


@dataclass(frozen=True)
class Facts:
    """Checked parameters; only the number of columns is missing."""

    k: int
    power: int
    space: Box | Ball
    budget: Budget
    unit: Unit

    def problem(self, n_features: int) -> Problem:
        """Return the problem for this number of columns."""
        return Problem(self.k, self.power, self.space.domain(n_features), self.budget, self.unit)


def check_parameters(estimator: Any, power: int, has_groups: bool) -> Facts:
    """Return the public facts of a fit, or raise a ParameterError that says what to type."""
    owner = type(estimator).__name__
    p = estimator.get_params(deep=False)

    def require(holds: bool, name: str, expected: str, hint: str) -> None:
        if not holds:
            raise ParameterError.wrong(name, owner, expected, p[name], hint)

    def require_one_of(name: str, values: tuple[str, ...], hint: str) -> None:
        require(isinstance(p[name], str) and p[name] in values, name, f"one of {', '.join(map(repr, values))}", hint)

    check_count("n_clusters", owner, p["n_clusters"])
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
    require_one_of("algorithm", ("auto", *sorted(ALGORITHMS)), "leave it out for the default.")
    adjacencies = tuple(kind.value for kind in Adjacency)
    require_one_of("adjacency", adjacencies, "'add-remove' protects whether someone is in the table at all.")
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
    return Facts(
        k=int(p["n_clusters"]),
        power=power,
        space=as_space(p["bounds"], owner),
        budget=Budget.of(float(p["epsilon"]), float(p["delta"])),
        unit=Unit(Adjacency(p["adjacency"]), int(cap) if has_groups else 1),
    )
