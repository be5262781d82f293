"""Checks of parameters, all before any row is read, all with one message formula."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from spinney.algorithms.problem import Problem
from spinney.algorithms.registry import ALGORITHMS
from spinney.exceptions import ParameterError
from spinney.privacy.adjacency import Adjacency
from spinney.privacy.budget import Budget
from spinney.privacy.pricing import Unit
from spinney.spaces.box import as_space

__all__ = ["check_parameters"]


def _is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not math.isnan(value)


def check_parameters(estimator: Any, power: int, n_features: int, has_groups: bool) -> Problem:
    """Return the public facts of a fit, or raise a ParameterError that says what to type."""
    owner = type(estimator).__name__
    p = estimator.get_params(deep=False)

    def require(holds: bool, name: str, expected: str, hint: str) -> None:
        if not holds:
            raise ParameterError.wrong(name, owner, expected, p[name], hint)

    require(
        _is_integer(p["n_clusters"]) and p["n_clusters"] >= 1, "n_clusters", "an int in [1, inf)", "for example n_clusters=8."
    )
    require(
        _is_real(p["epsilon"]) and p["epsilon"] > 0, "epsilon", "a float in (0, inf]",
        "epsilon=1.0 is a common choice; smaller is more private. There is no default.",
    )  # fmt: skip
    require(
        _is_real(p["delta"]) and 0 <= p["delta"] < 1, "delta", "a float in [0, 1)",
        "delta=0.0 promises pure differential privacy; delta=1e-6 allows Gaussian noise.",
    )  # fmt: skip
    names = ("auto", *sorted(ALGORITHMS))
    require(
        isinstance(p["algorithm"], str) and p["algorithm"] in names, "algorithm", f"one of {', '.join(map(repr, names))}",
        "leave it out for the default.",
    )  # fmt: skip
    kinds = tuple(kind.value for kind in Adjacency)
    require(
        isinstance(p["adjacency"], str) and p["adjacency"] in kinds, "adjacency", f"one of {', '.join(map(repr, kinds))}",
        "'add-remove' protects whether someone is in the table at all.",
    )  # fmt: skip
    cap = p["max_rows_per_group"]
    require(
        cap is None or (_is_integer(cap) and cap >= 1), "max_rows_per_group", "None or an int in [1, inf)",
        "the most rows of one group that may count.",
    )  # fmt: skip
    require(
        has_groups == (cap is not None) if has_groups else True, "max_rows_per_group", "an int in [1, inf) when groups are given",
        "max_rows_per_group=10 counts at most ten rows of each group.",
    )  # fmt: skip
    seed = p["noise_seed"]
    require(
        seed is None or (_is_integer(seed) and seed >= 0), "noise_seed", "None or an int in [0, inf)",
        "leave it out: with a seed the result is not private.",
    )  # fmt: skip
    space = as_space(p["bounds"], owner)
    return Problem(
        k=int(p["n_clusters"]),
        power=power,
        domain=space.domain(n_features),
        budget=Budget.of(float(p["epsilon"]), float(p["delta"])),
        unit=Unit(Adjacency(p["adjacency"]), 1 if cap is None or not has_groups else int(cap)),
    )
