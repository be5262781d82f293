"""Releases of every estimator and algorithm, made once, as their files have them."""

import json
import math

import numpy as np
import polars as pl
import pytest

from spinney import FiniteMetric, PrivateKMeans, PrivateKMedian, PrivateKMedoids, describe, max_coverage, one_cluster
from spinney.algorithms import HST, Stable
from spinney.baselines import PEMeans, SampleAggregate

ROWS = np.random.default_rng(0).normal(0, 0.3, (400, 2)) + np.random.default_rng(1).choice([[-1, -1], [1, 1]], 400)
WIDE = np.random.default_rng(2).uniform(-1, 1, (300, 14))
DEMAND = np.random.default_rng(3).integers(0, 12, 300)
NAMES = [f"p{i}" for i in np.random.default_rng(4).integers(0, 150, 400)]
SPACE = FiniteMetric.from_points(np.random.default_rng(5).uniform(0, 9, (12, 2)))
SETS = [[0, 1, 2], [3, 4], [5, 6, 7, 8], [9, 10, 11]]


def points(kind, rows, groups=None, **asked):
    model = kind(3, **{"epsilon": 1.0, "bounds": (-2, 2), "random_state": 0, **asked})
    return lambda **more: model.fit(rows, groups=groups, **more).release_


def sites(groups=None, **asked):
    model = PrivateKMedoids(2, **{"epsilon": 1.0, "space": SPACE, "random_state": 0, **asked})
    return lambda **more: model.fit(DEMAND, groups=groups, **more).release_


def cover(**asked):
    return lambda **more: max_coverage(DEMAND, SETS, 3, n_items=12, **{"epsilon": 1.0, **asked}, **more)


def description(groups=None, **asked):
    unit = {name: asked[name] for name in ("adjacency", "max_rows_per_group") if name in asked}
    table = pl.DataFrame({"x": ROWS[:, 0], "y": ROWS[:, 1], "z": ["a", "b", "a", None] * 100})
    bounds = {"y": (-2, 2), "z": ["a", "b"]}

    def make(**more):
        model = PrivateKMeans(3, epsilon=1.0, bounds={"x": (-2, 2)}, **unit).fit(table, groups=groups)
        told = {"bounds": bounds, "epsilon": 1.0, "delta": asked.get("delta", 0.0), "bins": 4}
        return describe(model.release_, table, groups=groups, **told, **more)

    return make


def ball(**asked):
    return lambda **more: one_cluster(ROWS, 100, **{"epsilon": 1.0, "bounds": (-2, 2)}, **asked, **more).release


SMALL, REPLACE = {"delta": 1e-6}, {"adjacency": "replace"}
PERSONS = {"groups": NAMES, "max_rows_per_group": 3}
#: Every question, mechanism, relation and unit is here; `tools/guard.py` has all of their combinations.
MAKERS = {
    "tree": points(PrivateKMeans, ROWS),
    "tree, replace": points(PrivateKMedian, ROWS, **REPLACE),
    "tree, zcdp, wide": points(PrivateKMeans, WIDE, **SMALL),
    "tree, zcdp, persons, replace": points(PrivateKMedian, np.repeat(ROWS, 7, axis=1), **PERSONS, **SMALL, **REPLACE),
    "tree, one center": points(PrivateKMeans, WIDE, epsilon=0.05),
    "tree, one center, zcdp": points(PrivateKMeans, WIDE, epsilon=0.05, **SMALL),
    "tree, zcdp, wide, replace": points(PrivateKMedian, WIDE, epsilon=9.0, **SMALL, **REPLACE),
    "hst": points(PrivateKMeans, ROWS, algorithm="hst"),
    "hst, zcdp": points(PrivateKMedian, WIDE, algorithm="hst", **SMALL),
    "lloyd, tightened, persons": points(PrivateKMeans, ROWS, algorithm="lloyd", tighten=True, **PERSONS),
    "sample-aggregate": points(PrivateKMeans, ROWS, algorithm="sample-aggregate"),
    "sample-aggregate, zcdp, persons": points(PrivateKMedian, ROWS, algorithm="sample-aggregate", **PERSONS, **SMALL),
    "sample-aggregate, replace": points(PrivateKMeans, ROWS, algorithm="sample-aggregate", **REPLACE),
    "samples with replacement": points(PrivateKMeans, ROWS, algorithm=SampleAggregate(40, "replacement"), **REPLACE),
    "samples with replacement, zcdp": points(
        PrivateKMeans, ROWS, algorithm=SampleAggregate(40, "replacement"), **SMALL, **REPLACE
    ),
    "stable": points(PrivateKMeans, ROWS, algorithm="stable"),
    "stable, zcdp, persons, replace": points(
        PrivateKMedian, np.repeat(ROWS, 7, axis=1), algorithm="stable", **PERSONS, **SMALL, **REPLACE
    ),
    "minimize": points(PrivateKMedian, ROWS, algorithm=Stable("lloyd", median_step="objective")),
    "minimize, zcdp, persons, replace": points(
        PrivateKMedian, ROWS, algorithm=Stable("lloyd", median_step="objective"), **PERSONS, **SMALL, **REPLACE
    ),
    "moments": points(PrivateKMedian, WIDE, algorithm="moments", epsilon=9.0),
    "hst, repaired, zcdp": points(PrivateKMeans, WIDE, algorithm=HST(projection=3, repairs=2), **SMALL),
    "lloyd, descent": points(PrivateKMedian, ROWS, algorithm=Stable("lloyd", median_step="gradient"), **SMALL),
    "lsh, zcdp, replace": points(PrivateKMeans, ROWS, algorithm="lsh", **SMALL, **REPLACE),
    "balcan": points(PrivateKMedian, ROWS, algorithm="balcan"),
    "k-variates, persons": points(PrivateKMeans, ROWS, algorithm="k-variates", **PERSONS),
    "pe-means, zcdp": points(PrivateKMeans, ROWS, algorithm=PEMeans(5), **SMALL),
    "coverage of rows": points(PrivateKMeans, ROWS, algorithm="coverage"),
    "coverage of rows, delta": points(PrivateKMeans, ROWS, algorithm="coverage", **SMALL),
    "one cluster, replace": ball(**REPLACE),
    "description": description(),
    "description, zcdp, persons, replace": description(**PERSONS, **SMALL, **REPLACE),
    "local": points(PrivateKMeans, ROWS, model="local", **REPLACE),
    "local, stable": points(PrivateKMedian, ROWS, model="local", algorithm="stable", **SMALL, **REPLACE),
    "cells": sites(),
    "cells, travel, persons": sites(groups=NAMES[:300], max_rows_per_group=3, travel=True),
    "coverage, travel, delta, replace": sites(algorithm="coverage", travel=True, **SMALL, **REPLACE),
    "site hst, replace": sites(algorithm="hst", **REPLACE),
    "local search": sites(algorithm="local-search"),
    "local search, zcdp, replace": sites(algorithm="local-search", **SMALL, **REPLACE),
    "coverage, delta, persons": sites(algorithm="coverage", groups=NAMES[:300], max_rows_per_group=3, **SMALL),
    "cover": cover(),
    "cover, replace": cover(**REPLACE),
    "cover, delta": cover(epsilon=0.5, **SMALL),
    "cover, delta, persons, replace": cover(groups=NAMES[:300], max_rows_per_group=2, **SMALL, **REPLACE),
}
NOT_PRIVATE = {
    "no noise": points(PrivateKMeans, ROWS, epsilon=math.inf),
    "no noise, sites": sites(epsilon=math.inf, algorithm="local-search"),
    "no noise, cover": cover(epsilon=math.inf),
    "seeded": points(PrivateKMeans, ROWS, noise_seed=0),
}


@pytest.fixture(scope="session")
def releases():
    """All releases by name; the noise of the private ones is secure."""
    return {name: make() for name, make in (MAKERS | NOT_PRIVATE).items()}


@pytest.fixture(scope="session")
def records(releases):
    """Their records, as read from a file."""
    return {name: json.loads(release.to_json()) for name, release in releases.items()}
