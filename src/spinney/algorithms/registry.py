"""Which algorithms there are, what "auto" means, and how others join.

An algorithm written elsewhere is passed as `algorithm=`, or registered by its package under the entry point group
``spinney.algorithms``; its name then works like the others. So do the baselines of `spinney.baselines`.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np

from spinney.algorithms.algorithm import Algorithm
from spinney.curators.purse import Purse
from spinney.privacy import Part

#: The entry point group that other packages register algorithms under.
GROUP = "spinney.algorithms"
#: Where the algorithms live, by what they solve and by name; each is imported when it is asked for.
HOMES = {
    "points": {
        "hst": "spinney.algorithms.hst:HST",
        "moments": "spinney.algorithms.default:Tree",
        "stable": "spinney.algorithms.stable:Stable",
        "tree": "spinney.algorithms.default:Tree",
    },
    "sites": {
        "cells": "spinney.algorithms.cells:Cells",
        "coverage": "spinney.algorithms.coverage:Coverage",
        "hst": "spinney.algorithms.site_hst:SiteHST",
        "local-search": "spinney.algorithms.local_search:LocalSearch",
    },
    "cover": {"coverage": "spinney.algorithms.max_coverage:MaxCoverage"},
    "description": {"histograms": "spinney.algorithms.histograms:Histograms"},
    "users": {"refined": "spinney.local.refined:Refined", "stable": "spinney.local.stable:StableLocal"},
}
#: What "auto" means; users are asked about points in the local model.
AUTO = {"points": "tree", "sites": "cells", "cover": "coverage", "description": "histograms", "users": "refined"}
#: What an algorithm of someone else's may lack.
OPTIONAL = ("solves", "backends", "plan", "counts", "forecast", "guarantee", "memory", "typical_radius")
#: What packages registered, by name, once it was found: looking through all that is installed takes as long as a small fit.
_REGISTERED: dict[str, list[Any]] = {}


@dataclass(frozen=True)
class Adapted(Algorithm):
    """An algorithm with the defaults of what it lacks; its `run` may take ``(curator, problem, charges, rng)``."""

    inner: Any

    backends = ("memory",)

    def __post_init__(self) -> None:
        for name in ("name", *OPTIONAL):
            if hasattr(self.inner, name):
                object.__setattr__(self, name, getattr(self.inner, name))

    def parts(self, problem: Any) -> tuple[Part, ...]:
        return tuple(self.inner.parts(problem))

    def run(self, purse: Purse, problem: Any, rng: np.random.Generator) -> Any:
        if _takes_charges(self.inner):
            return self.inner.run(purse.curator, problem, purse.charges, rng)
        return self.inner.run(purse, problem, rng)


def _takes_charges(algorithm: Any) -> bool:
    arguments = signature(algorithm.run).parameters.values()
    return sum(one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) for one in arguments) == 4


def adapted(algorithm: Any) -> Algorithm:
    """Return an algorithm with all methods of `Algorithm`: itself if it has them."""
    return algorithm if isinstance(algorithm, Algorithm) and not _takes_charges(algorithm) else Adapted(algorithm)


def solves_of(algorithm: Any) -> str | None:
    """Return what an algorithm solves, "points" if it does not say, or None if it is no algorithm."""
    calls = (getattr(algorithm, name, None) for name in ("parts", "run"))
    is_one = not isinstance(algorithm, type) and isinstance(getattr(algorithm, "name", None), str) and all(map(callable, calls))
    solves = getattr(algorithm, "solves", "points")
    return solves if is_one and isinstance(solves, str) else None


def find(name: str, solves: str) -> Any:
    """Return the algorithm of this name, or None if there is none."""
    home = HOMES[solves].get(name)
    if home is not None:
        module, attribute = home.split(":")
        return getattr(import_module(module), attribute)()
    if not _REGISTERED.get(name):
        from importlib.metadata import entry_points

        _REGISTERED[name] = [point.load() for point in entry_points(group=GROUP, name=name)]
    for made in _REGISTERED[name]:
        algorithm = made() if isinstance(made, type) else made
        if solves_of(algorithm) == solves:
            return algorithm
    return None


def names(solves: str) -> tuple[str, ...]:
    """Return what users may type, beside the names that packages registered."""
    return ("auto", *sorted(HOMES[solves]))


def choose(algorithm: Any, solves: str, tighten: bool = False) -> Algorithm:
    """Return the algorithm of this name, or itself, for a kind of problem of `HOMES`; in a private box, if that is asked for."""
    if isinstance(algorithm, str) and algorithm == "auto":
        algorithm = AUTO[solves]
    chosen = adapted(find(algorithm, solves) if isinstance(algorithm, str) else algorithm)
    if not tighten:
        return chosen
    from spinney.algorithms.tighten import Tightened

    return Tightened(chosen)
