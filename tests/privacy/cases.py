"""What users ask for: every algorithm, in a private box, in many columns, about sites, with options that ask of other views."""

import dataclasses
from itertools import cycle
from typing import Any

import numpy as np

from registered import REGISTERED
from spinney import FiniteMetric, PrivateKMeans, PrivateKMedian, PrivateKMedoids
from spinney.algorithms import HST, Cells, Coverage, SiteHST, Stable
from spinney.algorithms.local_search import STARTS, LocalSearch
from spinney.algorithms.medians import MEDIAN_STEPS
from spinney.algorithms.travel import WithTravel
from spinney.audit import demand_pairs, table_pairs
from spinney.privacy.pricing import Unit

RNG = np.random.default_rng(0)
SPACE = FiniteMetric.from_points(RNG.random((60, 2)), candidates=np.arange(0, 60, 2))
DEMAND = np.concatenate([RNG.integers(0, 20, 300), RNG.integers(30, 60, 101)])


@dataclasses.dataclass(frozen=True)
class Case:
    """What a user may ask for, and how many columns the tables of a test should have for it: none, if rows name sites."""

    algorithm: Any
    tighten: bool = False
    n_features: int = 2
    options: str = ""
    only: Any = None

    def __str__(self):
        name = self.algorithm if isinstance(self.algorithm, str) else f"{self.options} {self.algorithm.name}"
        return f"{'tightened ' if self.tighten else ''}{name}-{self.n_features}"

    @property
    def asked(self):
        return {"algorithm": self.algorithm, "tighten": self.tighten}

    def model(self, estimator=PrivateKMeans, k=3, **promise):
        """Return an estimator; sites have an objective of their own, which is that of the other estimator."""
        given = {"epsilon": 1.0, "random_state": 0, **promise}
        if self.n_features:
            return (self.only or estimator)(k, **{"bounds": (-1, 1), **self.asked, **given})
        power = 2 if estimator is PrivateKMeans else 1
        return PrivateKMedoids(k, space=SPACE, algorithm=self.algorithm, power=power, **given)

    def plan(self, model):
        return model.plan(n_features=self.n_features) if self.n_features else model.plan()

    @property
    def rows(self):
        """Two clusters."""
        if not self.n_features:
            return DEMAND
        rng, d = np.random.default_rng(2), self.n_features
        return np.concatenate([rng.normal(-0.5, 0.2, (400, d)), rng.normal(0.6, 0.1, (150, d))])

    def others(self, adjacency):
        """Return other tables by name, and the names of the neighbors of the first."""
        rows = self.rows
        far = np.resize([1.0, -1.0], (1, self.n_features)) if self.n_features else np.array([25])
        bad = far * [[np.nan], [np.inf], [1e300]] if self.n_features else np.array([np.nan, -1, 60, "x", None, 10**400], object)
        near = {"one replaced": np.concatenate([rows[:-1], far])}
        if adjacency == "add-remove":
            near = {"one fewer": rows[:-1], "one more": np.concatenate([rows, far])}
        random = np.random.default_rng(3).uniform(-1, 1, (1000, self.n_features)) if self.n_features else rows[::-3] // 2
        return near | {"no rows": rows[:0], "others": random, "broken": bad}, set(near)

    def pairs(self, adjacency, count, grouped):
        """Return made-up neighbors."""
        unit = Unit(adjacency, 2 if grouped else 1)
        if not self.n_features:
            return demand_pairs(60, unit, count, grouped=grouped)
        corner = np.ones(self.n_features)
        return table_pairs(-corner, corner, unit, count, grouped=grouped)


ASKED = {name: Case(name) for name in sorted(REGISTERED["points"])} | {"tightened": Case("tree", tighten=True)}
ASKED |= {"repaired": Case(HST(alpha=3, rounds=1, repairs=2, slack=1.0), options="repaired")}
CASES = ASKED | {
    "many columns": Case("tree", n_features=12),
    "projected": Case(HST(alpha=3, rounds=1, projection=2), n_features=3, options="projected"),
    "projected, repaired": Case(
        HST(alpha=3, rounds=1, projection=2, repairs=2, slack=1.0), n_features=3, options="projected, repaired"
    ),
}
#: Steps toward medians; the default one is that of the others.
STEPS = {f"hst, {step}": Case(HST(alpha=2, rounds=2, median_step=step), only=PrivateKMedian) for step in MEDIAN_STEPS[1:]}
for name, base, d in (("lloyd", "lloyd", 2), ("steps before", "tree", 6), ("many columns", "tree", 12)):
    STEPS |= {
        f"{name}, {step}": Case(Stable(base, steps=1, median_step=step), n_features=d, only=PrivateKMedian)
        for step in MEDIAN_STEPS[1:]
    }
SITES = {
    "cells": Cells(),
    "coverage of sites": Coverage(growth=0.9),
    "site hst": SiteHST(levels=4),
    "site hst, uniform": SiteHST(levels=3, allocation="uniform", tree="printed"),
    **{f"local-search, {start}": LocalSearch(start=start, steps=4, levels=3) for start in STARTS},
    "local-search, must swap": LocalSearch(start="random", steps=3, stay=False),
}
assert {algorithm.name for algorithm in SITES.values()} == set(REGISTERED["sites"])
SITES = {name: Case(algorithm, n_features=0) for name, algorithm in SITES.items()}
for name, inner in (("cells", Cells()), ("coverage", Coverage(growth=0.9))):
    SITES[f"{name}, travel"] = Case(WithTravel(inner), n_features=0, options="travel")
EVERY_CASE = CASES | STEPS | SITES
ESTIMATORS = [PrivateKMeans, PrivateKMedian]


def audited_cases():
    """Each algorithm once, objectives and relations in turn: all of them are measured by ``benchmarks/audit_black_box.py``.

    Their options ask the same questions, and replay looks at them all.
    """
    estimators, relations = cycle(ESTIMATORS), cycle(["add-remove", "add-remove", "replace"])
    plain = (case for case in CASES.values() if not case.options)
    yield from ((next(estimators), case, next(relations)) for case in plain)
