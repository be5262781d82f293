"""Sample and aggregate: near the true centers where clusters are apart, and public numbers of blocks."""

from itertools import pairwise

import numpy as np
import pytest

from spinney import PrivateKMeans
from spinney.baselines import SampleAggregate
from spinney.baselines.sample_aggregate import LEAST_BLOCKS, MOST_DEFAULT
from spinney.solvers.small_sets import ATTEMPTS, RESTARTS, cluster_blocks
from spinney.solvers.weighted import solve, total_cost

PLACES = np.array([[-0.6, -0.6], [0.6, -0.6], [0.0, 0.6], [0.7, 0.7]])


def rows_of(n=20_000, seed=0):
    rng = np.random.default_rng(seed)
    return PLACES[rng.integers(0, 4, n)] + rng.normal(0, 0.04, (n, 2))


def test_without_noise_the_true_centers_are_found_and_no_cap_is_passed():
    model = PrivateKMeans(4, epsilon=np.inf, bounds=(-1, 1), algorithm=SampleAggregate(50), random_state=0).fit(rows_of())
    assert total_cost(rows_of(), model.cluster_centers_, 2) < 1.01 * total_cost(rows_of(), PLACES, 2)


def test_the_number_of_blocks_follows_from_public_facts():
    assert SampleAggregate().blocks_of(3, 0.0) == LEAST_BLOCKS
    assert SampleAggregate().blocks_of(3, 1e9) == MOST_DEFAULT
    assert SampleAggregate(77).blocks_of(3, 1e9) == 77
    assert SampleAggregate(2**16).blocks_of(10_000, 1.0) * 10_000 <= 2**24


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


def printed(rows, k, blocks, power, rng):
    """SampleAggregate-k-Means of Shechner, Sheffet and Stemmer without noise: samples, their centers, k balls, one step."""
    samples = (rows[rng.integers(0, len(rows), len(rows) // (2 * blocks))] for _ in range(blocks))
    every = np.concatenate([solve(some, np.ones(len(some)), k, power, rng, some[:k]).centers for some in samples])
    left, balls = every, []
    for _ in range(k):  # the smallest ball around a point that holds most of what a cluster has, and what it holds leaves
        gaps = np.sqrt(((left[:, None] - left) ** 2).sum(axis=2))
        first = int(np.sort(gaps, axis=1)[:, int(0.8 * blocks) - 1].argmin())
        near = np.argsort(gaps[first])[: int(0.8 * blocks)]
        balls.append(left[near].mean(axis=0))
        left = left[gaps[first] > 3 * gaps[first][near].max()]
    balls = np.array(balls)
    apart = np.sqrt(((balls[:, None] - balls) ** 2).sum(axis=2)) + np.diag([np.inf] * k)
    gaps = np.sqrt(((rows[:, None] - balls) ** 2).sum(axis=2))
    near = gaps.min(axis=1) <= apart.min(axis=1)[gaps.argmin(axis=1)] / 3
    return np.array([rows[near & (gaps.argmin(axis=1) == i)].mean(axis=0) for i in range(k)])


@pytest.mark.parametrize("sampling", ["disjoint", "replacement"])
def test_without_noise_it_ends_where_the_printed_algorithm_does(sampling):
    rng = np.random.default_rng(0)
    places = PLACES[:3]
    rows = places[rng.integers(0, 3, 12_000)] + np.minimum(rng.exponential(0.04, (12_000, 2)), 0.12)
    algorithm = SampleAggregate(40, sampling)
    adjacency = "replace" if sampling == "replacement" else "add-remove"
    model = PrivateKMeans(3, epsilon=np.inf, bounds=(-1, 1), algorithm=algorithm, adjacency=adjacency, random_state=0).fit(rows)
    wanted = printed(rows, 3, 40, 2, rng)
    apart = np.sqrt(((model.cluster_centers_[:, None] - wanted) ** 2).sum(axis=2)).min(axis=0)
    assert apart.max() < 1e-4
    assert (
        np.sqrt(((wanted[:, None] - places) ** 2).sum(axis=2)).min(axis=0).min() > 0.03
    )  # means, not where rows were drawn from
