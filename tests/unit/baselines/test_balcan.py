"""Candidates of a private grid, and the private local search over them."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney import Ball, Box, ParameterError, PrivateKMeans, PrivateKMedian
from spinney.algorithms.candidates import MOST_CELLS, SPLIT_ROWS, Candidates, ask_candidates, grid_parts, subspace_of
from spinney.algorithms.problem import PointProblem
from spinney.baselines import Balcan
from spinney.curators.gate import Curator
from spinney.curators.memory import MemoryBackend
from spinney.curators.purse import Purse
from spinney.mechanisms.source import SeededSource
from spinney.privacy.budget import Budget
from spinney.privacy.composition import compose
from spinney.privacy.fit_ledger import FitLedger
from spinney.privacy.pricing import Unit


def rows_of(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return np.clip(rng.uniform(-0.8, 0.8, (4, d))[rng.integers(0, 4, n)] + rng.normal(0, 0.03, (n, d)), -1, 1)


def asked(rows, space, k, dimensions, epsilon=math.inf, seed=0) -> Candidates:
    """Ask for candidates of rows in memory."""
    problem = PointProblem(k=k, power=2, budget=Budget.of(epsilon), unit=Unit(), domain=space.domain(rows.shape[1]))
    charges = compose(problem.budget, grid_parts(Fraction(1), dimensions, problem))
    backend = MemoryBackend(rows, problem.ground, problem.unit, lambda: bytes(16))
    curator = Curator(backend, problem.unit, FitLedger(problem.budget, charges), SeededSource(seed))
    return ask_candidates(Purse(curator), problem, dimensions, np.random.default_rng(seed))


@given(seed=st.integers(0, 2**32), d=st.integers(1, 6), m=st.integers(1, 6))
@settings(deadline=None, max_examples=50, derandomize=True)
def test_the_nearest_lifted_candidate_is_the_nearest_in_the_subspace(seed, d, m):
    rng = np.random.default_rng(seed)
    basis, center = subspace_of(d, m, rng), rng.normal(size=d)
    np.testing.assert_allclose(basis @ basis.T, np.eye(len(basis)), atol=1e-12)
    rows, places = rng.normal(size=(20, d)), rng.normal(size=(7, len(basis)))
    lifted = ((rows[:, None] - center - places @ basis) ** 2).sum(axis=2).argmin(axis=1)
    inside = (((rows - center) @ basis.T)[:, None] - places) ** 2
    np.testing.assert_array_equal(lifted, inside.sum(axis=2).argmin(axis=1))


@pytest.mark.parametrize("space", [Box(-1, 1), Ball(1.5), Box([-3, 0], [1, 0.5])], ids=["box", "ball", "oblong"])
def test_cells_of_a_grid_are_those_that_planes_count(space):
    # Without noise the weights are exact: all rows are counted, and a heavy candidate has rows around it.
    rows = space.domain(2).clip(rows_of(500, 2))
    found = asked(rows, space, 4, 2)
    assert found.weights.sum() == len(rows)
    assert len(found.points) <= 2 * MOST_CELLS + 5
    labels = ((rows[:, None] - found.points) ** 2).sum(axis=2).argmin(axis=1)
    heavy = found.points[found.weights > SPLIT_ROWS]  # others are not cut, so they may be wide
    reach = ((found.points[labels] - rows) ** 2).sum(axis=1).max()
    assert reach < 0.1
    assert (((heavy[:, None] - rows) ** 2).sum(axis=2).min(axis=1) < 0.1).all()


@pytest.mark.filterwarnings("ignore::spinney.exceptions.SeededNoiseWarning")
@pytest.mark.parametrize(("estimator", "d"), [(PrivateKMeans, 2), (PrivateKMedian, 2), (PrivateKMeans, 9)])
def test_clusters_that_are_apart_are_found(estimator, d):
    rows = rows_of(8000, d)
    best = -estimator(4, epsilon=math.inf, bounds=(-1, 1), random_state=0).fit(rows).score(rows)
    costs = [-estimator(4, epsilon=2.0, bounds=(-1, 1), algorithm="balcan", noise_seed=s).fit(rows).score(rows) for s in range(5)]
    assert min(costs) < 2 * best


def test_there_are_enough_candidates_however_few_rows_there_are():
    for n in (0, 1):
        model = PrivateKMeans(6, epsilon=math.inf, bounds=(-1, 1), algorithm=Balcan(steps=1)).fit(rows_of(n, 2))
        assert model.cluster_centers_.shape == (6, 2)


@pytest.mark.parametrize("wrong", [{"steps": 0}, {"steps": 1.5}, {"steps": True}, {"dimensions": 0}, {"dimensions": "two"}])
def test_wrong_parameters_are_refused_with_a_hint(wrong):
    with pytest.raises(ParameterError, match="Hint:"):
        Balcan(**wrong)
