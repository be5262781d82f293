"""Sample and aggregate: near the true centers where clusters are apart, and public numbers of blocks."""

from itertools import pairwise

import numpy as np
import pytest

from spinney import Box, ParameterError, PrivateKMeans, PrivateKMedian
from spinney.algorithms.problem import PointProblem
from spinney.algorithms.stable import NEAR, radii
from spinney.baselines import SampleAggregate
from spinney.baselines.sample_aggregate import LEAST_BLOCKS, MOST_DEFAULT
from spinney.privacy.budget import Budget
from spinney.privacy.pricing import Unit
from spinney.solvers.small_sets import ATTEMPTS, RESTARTS, cluster_blocks
from spinney.solvers.weighted import total_cost

PLACES = np.array([[-0.6, -0.6], [0.6, -0.6], [0.0, 0.6], [0.7, 0.7]])


def rows_of(n=20_000, seed=0):
    rng = np.random.default_rng(seed)
    return PLACES[rng.integers(0, 4, n)] + rng.normal(0, 0.04, (n, 2))


@pytest.mark.filterwarnings("ignore::spinney.exceptions.SeededNoiseWarning")
@pytest.mark.parametrize("sampling", ["disjoint", "replacement"])
@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
def test_clusters_that_are_apart_are_found(estimator, sampling):
    rows, power = rows_of(), 2 if estimator is PrivateKMeans else 1
    for seed in range(3):
        model = estimator(
            4, epsilon=1.0, bounds=(-1, 1), adjacency="replace", algorithm=SampleAggregate(sampling=sampling), noise_seed=seed
        ).fit(rows)
        assert total_cost(rows, model.cluster_centers_, power) < 1.02 * total_cost(rows, PLACES, power)
        assert model.release_.supported_centers == 4


def test_without_noise_the_true_centers_are_found_and_no_cap_is_passed():
    model = PrivateKMeans(4, epsilon=np.inf, bounds=(-1, 1), algorithm=SampleAggregate(50), random_state=0).fit(rows_of())
    assert total_cost(rows_of(), model.cluster_centers_, 2) < 1.01 * total_cost(rows_of(), PLACES, 2)


def test_the_number_of_blocks_follows_from_public_facts():
    assert SampleAggregate().blocks_of(3, 0.0) == LEAST_BLOCKS
    assert SampleAggregate().blocks_of(3, 1e9) == MOST_DEFAULT
    assert SampleAggregate(77).blocks_of(3, 1e9) == 77
    assert SampleAggregate(2**16).blocks_of(10_000, 1.0) * 10_000 <= 2**24


@pytest.mark.parametrize(
    "wrong", [{"n_blocks": 0}, {"n_blocks": 2.5}, {"n_blocks": 2**17}, {"sampling": "both"}, {"sampling": None}]
)
def test_wrong_parameters_are_refused_with_a_hint(wrong):
    with pytest.raises(ParameterError, match="Hint:"):
        SampleAggregate(**wrong)


def test_radii_are_a_third_of_the_way_to_the_next_center_and_never_nothing():
    domain = Box(-1, 1).domain(2)
    problem = PointProblem(k=3, power=2, domain=domain, budget=Budget.of(1.0), unit=Unit())
    centers = np.array([[0.0, 0.0], [0.3, 0.0], [0.0, 0.9]])
    np.testing.assert_allclose(radii(problem, centers, NEAR), [0.1, 0.1, 0.3])
    assert (radii(problem, np.zeros((3, 2)), NEAR) > 0).all()
    assert radii(problem, np.zeros((1, 2)), NEAR).tolist() == [domain.half_diagonal]


@pytest.mark.parametrize("power", [1, 2])
def test_plain_centers_of_blocks_are_those_of_each_block_alone(power):
    rng = np.random.default_rng(1)
    sizes = [0, 1, 2, 5, 40, 300]
    points, weights = rng.uniform(-1, 1, (sum(sizes), 2)), rng.integers(1, 4, sum(sizes)).astype(float)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    uniforms, fillers = rng.random((RESTARTS, 3, ATTEMPTS)), rng.uniform(-1, 1, (len(sizes), 3, 2))
    whole = cluster_blocks(points, weights, starts, power, 1e-4, uniforms, fillers)
    np.testing.assert_array_equal(whole[0], fillers[0])
    for b, (first, last) in enumerate(pairwise(starts)):
        own = slice(first, last)
        alone = cluster_blocks(points[own], weights[own], np.array([0, last - first]), power, 1e-4, uniforms, fillers[b : b + 1])
        np.testing.assert_array_equal(whole[b], alone[0])
        if last - first >= 40:
            one = points[own].mean(axis=0)[None, :]
            assert total_cost(points[own], whole[b], power) < 0.8 * total_cost(points[own], one, power)
    assert np.abs(whole[2][:, None] - points[1:3]).sum(axis=2).min(axis=1).max() < 1e-12  # two points serve as three centers
