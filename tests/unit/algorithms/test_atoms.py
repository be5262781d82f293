"""Demand at few points: the default counts points one by one where cells would hide where rows are."""

import numpy as np
import pytest

from spinney import FiniteMetric, PrivateKMedoids
from spinney.algorithms.cells import are_points_counted, read_points
from spinney.algorithms.problem import SiteProblem
from spinney.mechanisms.additive import Noise
from spinney.privacy import Budget, Unit
from spinney.questions.counts import CountAnswer
from spinney.trees.nested_cells import NestedCells

EQUAL = FiniteMetric.from_matrix(1.0 - np.eye(200))
STREET = FiniteMetric.from_points(np.arange(200.0)[:, None])


def fitted(space, demand, epsilon=1.0, seed=0):
    return PrivateKMedoids(4, epsilon=epsilon, space=space, random_state=seed, noise_seed=seed).fit(demand)


@pytest.mark.parametrize("seed", range(5))
def test_points_with_rows_are_found_where_all_are_equally_far_apart(seed):
    atoms = np.random.default_rng(seed).choice(200, 4, replace=False)
    found = fitted(EQUAL, np.repeat(atoms, 40), seed=seed)
    assert set(found.medoid_indices_) == set(atoms)
    assert set(atoms) <= set(found.release_.summary_points)


@pytest.mark.parametrize(("space", "rows", "is_so"), [(STREET, 15, False), (STREET, 1_000, True), (EQUAL, 15, True)])
def test_points_are_counted_where_cells_hide_more_than_noise(space, rows, is_so):
    rng = np.random.default_rng(0)
    coarse = NestedCells.carve(space, 20, rng)
    fine = coarse.cut(space, [2] * len(coarse), rng)
    demand = np.repeat([20, 70, 130, 190], rows)
    counts = np.bincount(coarse.labels[demand], minlength=len(coarse)).astype(float)
    assert are_points_counted(problem_of(space), fine, coarse, counts, 2.0) == is_so


def problem_of(space):
    return SiteProblem(k=4, power=1, budget=Budget.of(1.0), unit=Unit(), space=space, existing=np.empty(0, np.int64))


def answers(counts, space, scale=2.0):
    coarse = NestedCells(np.arange(200) // 50, np.arange(4) * 50 + 25)
    fine = NestedCells(np.arange(200) // 10, np.arange(20) * 10 + 5)
    noise, counts = Noise("laplace", scale), np.asarray(counts)
    given = CountAnswer(counts, noise), CountAnswer(np.bincount(coarse.labels, counts), Noise("laplace", 3 * scale))
    return read_points(problem_of(space), (fine, coarse), given, np.full(200, 0.9), np.random.default_rng(0))


def test_rows_too_few_to_be_seen_at_a_point_are_seen_together():
    rng = np.random.default_rng(1)
    truth = np.where(np.arange(200) < 40, 4, 0)
    weights = answers(truth + np.round(rng.laplace(0, 2, 200)).astype(int), STREET)
    assert (weights[:40] > 0).mean() > 0.8
    assert weights[60:].sum() < 20
    np.testing.assert_allclose(weights[:40].sum(), truth.sum(), rtol=0.3)


def test_sites_that_nobody_needs_go_where_rows_are_likeliest():
    counts = np.zeros(200, dtype=int)
    counts[[3, 77, 120, 180]] = [300, 8, 7, 6]
    weights = answers(counts, EQUAL)
    assert weights[3] == pytest.approx(300, abs=5)
    assert set(np.argsort(-weights)[:4]) == {3, 77, 120, 180}


@pytest.mark.parametrize("counts", [np.zeros(200, int), np.full(200, -9), np.full(200, 2**60), np.arange(200) * 10**9])
@pytest.mark.parametrize("scale", [1e-9, 2.0, 1e9])
def test_every_answer_is_served(counts, scale):
    weights = answers(counts, STREET, scale)
    assert np.isfinite(weights).all()
    assert weights.min() >= 0
