import contextlib
import math
import warnings

import numpy as np
import pandas as pd
import pytest

from covering import covering
from spinney import (
    Ball,
    Box,
    FewRowsWarning,
    LoosePromiseWarning,
    ParameterError,
    PrivateKMeans,
    PrivateKMedian,
    SeededNoiseWarning,
)

RNG = np.random.default_rng(0)
NORMAL = RNG.normal(size=(300, 3))
HOLES = NORMAL.copy()
HOLES[::3, 0] = np.nan
HOLES[1::7, 1] = np.inf
HOLES[2::11, 2] = -np.inf
FROZEN = NORMAL.copy()
FROZEN.flags.writeable = False
ROWS = {
    "ordinary": NORMAL,
    "outside the box": NORMAL * 100 + 50,
    "some missing": HOLES,
    "all missing": np.full((20, 3), np.nan),
    "all infinite": np.full((20, 3), -np.inf),
    "no rows": np.empty((0, 3)),
    "one row": NORMAL[:1],
    "fewer rows than clusters": NORMAL[:3],
    "all equal": np.full((200, 3), 0.123),
    "all on a corner": np.full((200, 3), 2.0),
    "two places": np.repeat([[-1.0, 0, 1], [1, 1, 1]], 100, axis=0),
    "constant columns": NORMAL * [1, 0, 0],
    "enormous": NORMAL * 1e300,
    "tiny": NORMAL * 1e-300,
    "the largest floats": np.full((9, 3), np.finfo(float).max) * [1, -1, 1],
    "denormal": np.full((9, 3), 5e-324),
    "int64": (NORMAL * 3).astype(np.int64),
    "int64 at its limits": np.array([[2**63 - 1, -(2**63), 0]] * 5),
    "uint8": RNG.integers(0, 256, (100, 3), dtype=np.uint8),
    "bool": NORMAL > 0,
    "float32": NORMAL.astype(np.float32),
    "float16": NORMAL.astype(np.float16),
    "columns first": np.asfortranarray(NORMAL),
    "read-only": FROZEN,
    "strided": np.repeat(NORMAL, 2, axis=0)[::2],
    "lists": NORMAL[:50].tolist(),
    "text cells": np.array([["1", "x", ""], ["0.5", "1e3", "nan"], ["-1", "2", "0"]], dtype=object),
    "mixed cells": [[1, None, "a"], [0.5, 10**400, 1j], [1, 2, 0], [True, b"1", {}]],
    "frame": pd.DataFrame({"a": [1, None, 3], "b": ["x", "2", None], "c": pd.array([1, None, 2], dtype="Int64")}),
}


def check(model, k, d, domain):
    centers = model.cluster_centers_
    assert centers.shape == (k, d)
    assert np.isfinite(centers).all()
    np.testing.assert_allclose(centers, domain.clip(centers), rtol=1e-12, atol=0)
    assert (centers >= domain.lower).all()
    assert (centers <= domain.upper).all()
    assert model.cluster_sizes_.shape == (k,)
    assert (model.cluster_sizes_ >= 0).all()
    assert np.isfinite(model.cluster_sizes_).all()
    release = model.release_
    assert np.isfinite(release.summary_points).all()
    assert (release.summary_weights >= 0).all()
    assert len(release.summary_points) == len(release.summary_weights)
    release.to_json()


def fit_silently(model, rows, **arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", SeededNoiseWarning)
        warnings.simplefilter("ignore", FewRowsWarning)  # follows from the release
        warnings.simplefilter("ignore", LoosePromiseWarning)  # follows from what is typed
        return model.fit(rows, **arguments)


@covering(
    "name, estimator, algorithm, adjacency", ROWS, [PrivateKMeans, PrivateKMedian], ["tree", "lloyd"], ["add-remove", "replace"]
)
def test_any_rows_give_exactly_k_finite_centers_inside(name, estimator, algorithm, adjacency):
    model = estimator(5, epsilon=1.0, bounds=(-2, 2), algorithm=algorithm, adjacency=adjacency, random_state=0, noise_seed=0)
    check(fit_silently(model, ROWS[name]), 5, 3, Box(-2, 2).domain(3))


@covering("name, estimator, algorithm", ROWS, [PrivateKMeans, PrivateKMedian], ["tree", "lloyd"])
@pytest.mark.matrix
def test_any_rows_do_without_noise(name, estimator, algorithm):
    model = estimator(5, epsilon=math.inf, bounds=Ball(2.0, [0, 0, 0.5]), algorithm=algorithm, random_state=0)
    check(fit_silently(model, ROWS[name]), 5, 3, Ball(2.0, [0, 0, 0.5]).domain(3))
    assert model.release_.noise == "none: not private"
    assert model.release_.epsilon == math.inf


@pytest.mark.parametrize("rows", [ROWS["no rows"], ROWS["all missing"], ROWS["all equal"]], ids=["no rows", "missing", "equal"])
def test_secure_noise_does_as_well(rows):
    check(fit_silently(PrivateKMeans(4, epsilon=0.5, delta=1e-6, bounds=(-2, 2)), rows), 4, 3, Box(-2, 2).domain(3))


def check_domain(space, estimator, d=2, **changes):
    domain = space.domain(d)
    rows = domain.sample(200, np.random.default_rng(0))
    model = estimator(3, bounds=space, scale=1, random_state=0, noise_seed=0, **changes)
    check(fit_silently(model, rows), 3, d, domain)


@pytest.mark.parametrize(
    "space", [Box(0, 1e-95), Box(-4e99, 4e99), Box(1e15, 1e15 + 1), Box([-1e50, 0], [1e50, 1e-50]), Ball(4e99), Ball(1e-95)]
)
@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
@pytest.mark.parametrize("epsilon", [1.0, math.inf])
def test_narrow_wide_and_far_domains(space, estimator, epsilon):
    check_domain(space, estimator, epsilon=epsilon)


EXTREME = {
    "narrow, tree means": (Box(0, 2e-100), PrivateKMeans, 2, "tree"),
    "narrow, tree medians": (Box(0, 2e-100), PrivateKMedian, 2, "tree"),
    "narrow, Lloyd medians": (Box(0, 2e-100), PrivateKMedian, 2, "lloyd"),
    "wide, tree medians": (Box(-4e99, 4e99), PrivateKMedian, 100, "tree"),
    "wide, Lloyd means": (Box(-4e99, 4e99), PrivateKMeans, 100, "lloyd"),
}


@pytest.mark.parametrize(("space", "estimator", "d", "algorithm"), EXTREME.values(), ids=EXTREME.keys())
def test_the_narrowest_and_widest_domains(space, estimator, d, algorithm):
    check_domain(space, estimator, d, epsilon=1.0, algorithm=algorithm)


@pytest.mark.parametrize("algorithm", ["tree", "lloyd"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_least_epsilon_is_drowned_in_noise(algorithm, delta):
    model = PrivateKMeans(3, epsilon=1e-9, delta=delta, bounds=(-2, 2), algorithm=algorithm)
    check(fit_silently(model, NORMAL), 3, 3, Box(-2, 2).domain(3))
    assert model.release_.sizes_margin > 1e6


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_the_least_epsilon_does_for_many_columns(delta):
    rows = np.random.default_rng(0).normal(size=(100, 40))
    check(fit_silently(PrivateKMeans(3, epsilon=1e-9, delta=delta, bounds=(-2, 2)), rows), 3, 40, Box(-2, 2).domain(40))


def test_the_least_epsilon_for_large_groups_is_served_or_refused():
    model = PrivateKMeans(2, epsilon=1e-9, bounds=(-2, 2), max_rows_per_group=10_000)
    with contextlib.suppress(ParameterError):
        check(fit_silently(model, NORMAL, groups=np.arange(300)), 2, 3, Box(-2, 2).domain(3))


@pytest.mark.parametrize("d", [1, 2, 5, 40])
@pytest.mark.parametrize("k", [1, 30])
@pytest.mark.parametrize("epsilon", [0.01, 100.0])
def test_columns_clusters_and_budgets_of_all_sizes(d, k, epsilon):
    rows = np.random.default_rng(d).normal(size=(200, d))
    model = PrivateKMeans(k, epsilon=epsilon, delta=0.0, bounds=(-2, 2), random_state=0, noise_seed=0)
    check(fit_silently(model, rows), k, d, Box(-2, 2).domain(d))


@pytest.mark.parametrize(
    "groups", [np.zeros(300), np.arange(300), [None] * 300, ["a", "b", "c"] * 100], ids=["one", "each", "none", "text"]
)
@pytest.mark.parametrize("cap", [1, 1000])
def test_any_groups(groups, cap):
    model = PrivateKMeans(5, epsilon=1.0, bounds=(-2, 2), max_rows_per_group=cap, noise_seed=0, random_state=0)
    check(fit_silently(model, NORMAL, groups=groups), 5, 3, Box(-2, 2).domain(3))
    assert model.release_.max_rows_per_group == cap


def test_long_doubles_beyond_the_range_are_silent():
    rows = np.array([["1e4000", "1"], ["0.5", "0.5"]], dtype=np.longdouble)
    fit_silently(PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), noise_seed=0), rows)


@pytest.mark.parametrize("model", [PrivateKMeans, PrivateKMedian])
def test_strange_new_points_are_served_silently(model):
    fitted = model(3, epsilon=1.0, bounds=(-2, 2), noise_seed=0, random_state=0).fit(NORMAL)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rows in (rows for name, rows in ROWS.items() if name != "frame"):
            labels = fitted.predict(rows)
            assert labels.shape == (len(rows),)
            assert ((labels >= 0) & (labels < 3)).all()
            assert not np.isnan(fitted.transform(rows)).any()
            assert not math.isnan(fitted.score(rows))
