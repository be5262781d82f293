"""Checks of parameters, all before any row is read, all with one message formula."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.algorithms.problem import PointProblem
from spinney.algorithms.registry import choose, find, names, solves_of
from spinney.constraints import Constraint, boolean, check, integer, is_integer, one_of, real
from spinney.exceptions import ParameterError, UnitsWarning
from spinney.fits.fit import Fit
from spinney.privacy.adjacency import Adjacency
from spinney.privacy.budget import Budget
from spinney.privacy.pricing import Unit
from spinney.releases.objectives import POWERS
from spinney.spaces.box import Ball, Box, NamedBox, as_space
from spinney.spaces.column_facts import SCALE_HINT
from spinney.spaces.degrees import refuse_degrees
from spinney.spaces.schema import Schema
from spinney.spaces.units import nameless_schema, schema_of, uneven

#: Below this, noise would drown any table there is.
LEAST_EPSILON = 1e-9
#: More clusters, sites or choices take too long: noise alone is drawn some thirty times a cluster.
MOST_CLUSTERS = 10_000
#: The most clusters that k may be found among: each is tried.
MOST_COUNTED = 200
#: The most clusters that are found, if nothing is said.
MOST_FOUND = 20
#: What is typed for a number of clusters that is to be found.
AUTO = "auto"
_STATES = np.random.Generator | np.random.RandomState

#: What all fits have in common.
COMMON: dict[str, Constraint] = {
    "epsilon": real(
        lambda value: value >= LEAST_EPSILON, f"[{LEAST_EPSILON}, inf]",
        "epsilon=1.0 is a common choice; smaller is more private. There is no default.",
    ),
    "delta": real(
        lambda value: 0 <= value < 1, "[0, 1)",
        "delta=0.0 promises pure differential privacy; delta=1e-6 allows Gaussian noise.",
    ),
    "adjacency": one_of((kind.value for kind in Adjacency), "'add-remove' protects whether someone is in the table at all."),
    "noise_seed": Constraint(
        lambda value: value is None or (is_integer(value) and value >= 0), "an int in [0, inf), or left out",
        "leave it out: with a seed the result is not private.",
    ),
    "random_state": Constraint(
        lambda value: value is None or (is_integer(value) and value >= 0) or isinstance(value, _STATES),
        "None, an int in [0, inf) or a numpy Generator",
        "random_state=0 repeats the public randomness; it never touches privacy noise.",
    ),
}  # fmt: skip
LOCAL: dict[str, Constraint] = {
    "epsilon": real(lambda value: value < math.inf, "[1e-9, inf) if model is 'local'", "devices have no mode without noise."),
    "adjacency": one_of(
        ("replace",), "model='local' with adjacency='replace': a report protects what a user says, not that one does."
    ),
    "max_rows_per_group": Constraint(lambda cap: cap is None, "None if model is 'local'", "each row is a user of its own."),
    "device": one_of(("auto",), "devices of users answer for themselves: leave it out if model is 'local'."),
    "tighten": Constraint(lambda value: value is False, "False if model is 'local'", "cells are refined where users are anyway."),
}
DEVICE = one_of(("auto", "cuda"), "'cuda' sends rows to a GPU; 'auto' works where they are.")
JOBS = Constraint(
    lambda value: value is None or (is_integer(value) and value != 0),
    "None or an int other than 0",
    "n_jobs=2 uses two cores, -1 all that the process may use; leave it out for all.",
)
MODEL = one_of(("central", "local"), "'central' trusts who runs the fit; 'local' simulates devices that trust nobody.")
POINTS = {"tighten": boolean("tighten=True looks for a private box first, for bounds that may be several times too wide.")}
WITHOUT_AUTO = Constraint(
    lambda value: value is None,
    "left out if the number of clusters is not 'auto'",
    "n_clusters='auto' looks for a number up to it.",
)


def check_number(name: str, owner: str, value: Any) -> None:
    """Raise unless a public number is a whole number of at least one."""
    check(owner, {name: value}, {name: integer(1, f"for example {name}=8.")})


def check_clusters(name: str, owner: str, value: Any) -> None:
    """Raise unless a public number of clusters, sites or choices is a whole number from one to MOST_CLUSTERS."""
    check_number(name, owner, value)
    hint = "at epsilon 1 each needs about 300 rows, and more take too long."
    check(owner, {name: int(value)}, {name: Constraint(lambda k: k <= MOST_CLUSTERS, f"at most {MOST_CLUSTERS}", hint)})


def check_count(typed: Mapping[str, Any], owner: str) -> None:
    """Raise unless the number of clusters is a number, or to be found up to one."""
    if isinstance(typed["n_clusters"], str) and typed["n_clusters"] == AUTO:
        if typed["max_clusters"] is not None:
            check(owner, typed, {"max_clusters": integer(1, "max_clusters=20; each number up to it is tried.", MOST_COUNTED)})
        return
    if isinstance(typed["n_clusters"], str):
        raise ParameterError.wrong("n_clusters", owner, f"an int, or {AUTO!r}", typed["n_clusters"], f"n_clusters={AUTO!r}.")
    check_clusters("n_clusters", owner, typed["n_clusters"])
    check(owner, typed, {"max_clusters": WITHOUT_AUTO})


def cap_of(has_groups: bool) -> Constraint:
    """Return what a cap on rows per group must be, given whether there are groups."""
    return Constraint(
        lambda cap: (is_integer(cap) and cap >= 1) if has_groups else cap is None,
        "an int in [1, inf)" if has_groups else "None, because fit gets no groups",
        "max_rows_per_group=10 with groups protects people; without both, single rows are protected.",
    )


def check_promise(typed: Mapping[str, Any], owner: str, has_groups: bool, solves: str) -> tuple[Budget, Unit]:
    """Return the budget and the protected unit, after checks of what all fits have in common: `typed`, of `owner`."""
    check(owner, typed, {name: COMMON[name] for name in ("epsilon", "delta")})
    check(owner, typed, {"algorithm": _algorithm(solves)})
    check(owner, typed, {"adjacency": COMMON["adjacency"], "max_rows_per_group": cap_of(has_groups)})
    cap = int(typed["max_rows_per_group"]) if has_groups else 1
    least = Constraint(
        lambda _: typed["epsilon"] >= LEAST_EPSILON * cap,
        f"at most epsilon / {LEAST_EPSILON}",
        "a smaller cap, or a larger epsilon.",
    )
    check(owner, typed, {"max_rows_per_group": least})
    check(owner, typed, {name: COMMON[name] for name in ("noise_seed", "random_state")})
    return Budget.of(float(typed["epsilon"]), float(typed["delta"])), Unit(Adjacency(typed["adjacency"]), cap)


def _algorithm(solves: str) -> Constraint:
    """Return what an algorithm must be: a name that is known, or an algorithm of the problem's kind."""
    listed = ", ".join(map(repr, names(solves)))

    def holds(value: Any) -> bool:
        if isinstance(value, str):
            return value in names(solves) or find(value, solves) is not None
        return solves_of(value) == solves

    expected = f"one of {listed}, a registered name, or an algorithm for {'tables' if solves == 'points' else solves}"
    hint = "leave it out for the default; each algorithm is for tables, for sites or for users."
    return Constraint(holds, expected, hint)


@dataclass(frozen=True)
class PointFacts:
    """Checked parameters of a fit of points; only the number of columns is missing."""

    typed: Mapping[str, Any]
    objective: str
    owner: str
    space: Box | Ball | Schema
    budget: Budget
    unit: Unit
    grouped: bool

    @property
    def is_local(self) -> bool:
        """Whether rows play users of the local model."""
        return bool(self.typed["model"] == "local")

    @property
    def columns(self) -> tuple[str, ...] | None:
        """Names of the columns to use, if the bounds are given by name; all columns else."""
        if isinstance(self.space, Schema):
            return self.space.names
        return self.space.columns if isinstance(self.space, NamedBox) else None

    @property
    def width(self) -> int | None:
        """The number of columns, if the bounds give each its own."""
        if isinstance(self.space, Schema):
            return len(self.space.columns)
        given = (self.space.center,) if isinstance(self.space, Ball) else (self.space.lower, self.space.upper)
        most = max(map(np.size, given))
        return most if most > 1 else None

    @property
    def schema(self) -> Schema | None:
        """The public schema, if there is more to say than bounds and columns have names."""
        return self.space if isinstance(self.space, Schema) else None

    @property
    def uneven(self) -> UnitsWarning | None:
        """What to type about the units of columns, if their public widths differ much and nothing was said."""
        return uneven(self.space) if self.typed["scale"] is None else None

    def schema_of(self, n_features: int) -> Schema | None:
        """Return the public schema of `n_features` columns, if there is more to say than bounds."""
        if self.schema is not None or self.typed["scale"] in (None, 1) or self.columns is not None:
            return self.schema
        return nameless_schema(self.space.domain(n_features), self.typed["scale"], self.owner)

    def check_columns(self, names: Sequence[str] | None) -> None:
        """Raise if columns without units are degrees by their public names."""
        measured = names if self.schema is None else [one.name for one in self.schema.columns if not one.stated]
        if self.typed["scale"] is None:
            refuse_degrees(measured, self.owner)

    @property
    def is_counted(self) -> bool:
        """Whether the number of clusters is to be found."""
        return isinstance(self.typed["n_clusters"], str)

    def fit(self, n_features: int, n_guess: Any = None) -> Fit:
        """Return the fit for this number of encoded columns, of which a category has several, and so many expected rows."""
        schema = self.schema_of(n_features)
        problem = PointProblem(
            k=int(self.typed["max_clusters"] or MOST_FOUND) if self.is_counted else int(self.typed["n_clusters"]),
            is_counted=self.is_counted,
            power=POWERS[self.objective],
            domain=self.space.domain(n_features) if schema is None else schema.domain(n_features),
            names=self.columns if schema is None else schema.titles,
            schema=schema,
            budget=self.budget,
            unit=self.unit,
        )
        solves = "users" if self.is_local else "points"
        algorithm = choose(self.typed["algorithm"], solves, bool(self.typed["tighten"]))
        if self.is_counted and not algorithm.counts(problem):
            hint = "n_clusters=8, or algorithm='tree': others ask with k before there is a summary, or make none."
            raise ParameterError.wrong("n_clusters", self.owner, f"an int with algorithm {algorithm.name!r}", AUTO, hint)
        expected = None if n_guess is None else int(n_guess)
        return Fit(problem, algorithm, self.grouped, self.typed["random_state"], self.typed["noise_seed"], expected)

    def planned(self, n_features: Any) -> Fit:
        """Return the fit for a number of columns that a user typed; None if the bounds name them."""
        if n_features is None and self.columns is not None:
            n_features = len(self.columns)
        check_number("n_features", f"{self.owner}.plan", n_features)
        if self.schema is not None and n_features == len(self.schema.columns):
            n_features = self.schema.width
        return self.fit(int(n_features))


def check_points(typed: Mapping[str, Any], objective: str, owner: str, has_groups: bool) -> PointFacts:
    """Return the public facts of a fit of points from what was typed, or raise a ParameterError that says what to type."""
    typed = {"random_state": None, "noise_seed": None, "model": "central", "scale": None, "max_clusters": None, **typed}
    typed = {"device": "auto", "n_jobs": None, **typed}
    check_count(typed, owner)
    check(owner, typed, {"model": MODEL, "device": DEVICE, "n_jobs": JOBS})
    is_local = typed["model"] == "local"
    budget, unit = check_promise(typed, owner, has_groups, "users" if is_local else "points")
    check(owner, typed, POINTS | (LOCAL if is_local else {}))
    facts = PointFacts(typed, objective, owner, _space(typed["bounds"], typed["scale"], owner), budget, unit, has_groups)
    facts.check_columns(facts.columns)
    return facts


def _space(bounds: Any, scale: Any, owner: str) -> Box | Ball | Schema:
    """Return where rows lie; a ball has one unit, because it is as wide in every column."""
    schema = schema_of(bounds, scale, owner)
    space = as_space(bounds, owner) if schema is None else schema
    if isinstance(space, Ball) and scale not in (None, 1):
        raise ParameterError.wrong("scale", owner, "None or 1 for a Ball, which is as wide in every column", scale, SCALE_HINT)
    return space
