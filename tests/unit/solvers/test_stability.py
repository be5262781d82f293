"""The notions of stability against brute force on sets so small that every partition and every set of centers can be tried."""

import functools
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.solvers.separation import separate
from spinney.solvers.stability import Clustered, wasserstein

POWERS = pytest.mark.parametrize("power", [1, 2])


def best_center(points, weights, power):
    """Return the best center of few points and its cost; partitions and tests share most of their clusters."""
    return known_center(points.tobytes(), weights.tobytes(), power, points.shape[1])


@functools.cache
def known_center(points, weights, power, d):
    """Return the mean, or the median by many Weiszfeld steps, and its cost."""
    points, weights = np.frombuffer(points).reshape(-1, d), np.frombuffer(weights)
    if power == 2:
        center = np.average(points, axis=0, weights=weights)
        return center, float(weights @ ((points - center) ** 2).sum(axis=1))
    center = np.average(points, axis=0, weights=weights)
    for _ in range(100):
        shares = weights / np.maximum(np.linalg.norm(points - center, axis=1), 1e-12)
        center = shares @ points / shares.sum()
    found = [(float(weights @ np.linalg.norm(points - one, axis=1)), one) for one in (center, *points)]
    cost, center = min(found, key=lambda pair: pair[0])
    return center, cost


@functools.cache
def partitions(n, k):
    """Return all ways to put n points into k clusters, none empty."""
    every = itertools.product(range(k), repeat=n)
    return [np.array(labels) for labels in every if len(set(labels)) == k and list(dict.fromkeys(labels)) == list(range(k))]


def optimum(points, weights, k, power):
    """Return the best centers and their cost, by all partitions."""
    found = []
    for labels in partitions(len(points), k):
        parts = [best_center(points[labels == j], weights[labels == j], power) for j in range(k)]
        found.append((sum(cost for _, cost in parts), np.array([center for center, _ in parts])))
    return min(found, key=lambda pair: pair[0])


def costs_at(points, centers, power):
    return np.linalg.norm(points[:, None] - centers, axis=2) ** power


def cost_of(points, weights, centers, power):
    return float(weights @ costs_at(points, centers, power).min(axis=1))


def instance(seed, n=6, d=2, k=2, power=2):
    rng = np.random.default_rng(seed)
    middles = rng.uniform(-1, 1, (k, d)) * 2
    points = middles[np.arange(n) % k] + rng.normal(0, 0.25, (n, d))
    weights = rng.integers(1, 4, n).astype(float)
    least, centers = optimum(points, weights, k, power)
    return Clustered(points, weights, centers, power), least


CASES = pytest.mark.parametrize("seed", range(4))


@POWERS
@CASES
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.matrix
def test_phi_is_the_quotient_of_the_least_costs(power, seed, k):
    clustered, least = instance(seed, k=k, power=power)
    points, weights = clustered.points, clustered.weights
    found, centers = separate(points, weights, k, power, np.random.default_rng(0), np.zeros((k + 1, 2)))
    assert found.cost == pytest.approx(least, rel=1e-3)
    best_of_more = optimum(points, weights, k + 1, power)[0]
    assert (
        best_of_more * (1 - 1e-6) <= found.more_cost <= min(1.1 * best_of_more, found.cost)
    )  # nothing to find: restarts may miss it
    if k == 1:
        assert (found.phi, found.fewer_cost) == (0, math.inf)
    else:
        assert found.fewer_cost == pytest.approx(optimum(points, weights, k - 1, power)[0], rel=1e-3)
        assert found.phi**power == pytest.approx(least / found.fewer_cost, rel=2e-3)
    assert power == 1 or wasserstein(centers, clustered.centers) < 0.05  # medians need not be unique


@POWERS
@CASES
def test_deletion_separation_and_proximity_by_their_letter(power, seed):
    clustered, least = instance(seed, k=3, power=power)
    table, weights = costs_at(clustered.points, clustered.centers, power), clustered.weights
    labels, every = table.argmin(axis=1), np.arange(len(table))
    options = [weights @ table[every, np.where(labels == i, j, labels)] for i, j in itertools.permutations(range(3), 2)]
    assert clustered.cost == pytest.approx(least)
    assert clustered.deletion() == pytest.approx(min(options) / least)
    gaps = np.linalg.norm(clustered.centers[:, None] - clustered.centers, axis=2) + np.diag([np.inf] * 3)
    expected = min(weights[labels == i].sum() * gaps[i].min() ** power for i in range(3)) / least
    assert clustered.center_separation() == pytest.approx(expected)
    # Lemma 3.7: deletion by beta makes a separation of beta - 1, for p = 2 with centers that are means.
    assert clustered.center_separation() >= clustered.deletion() - 1 - 1e-9
    lengths = np.sort(table ** (1 / power), axis=1)
    lengths = lengths[lengths[:, 0] > 0]  # a median may be a point
    assert clustered.proximity() == pytest.approx((lengths[:, 1] / lengths[:, 0]).min())


@POWERS
@CASES
def test_moved_centers_cost_no_more_than_the_bound(power, seed):
    clustered, least = instance(seed, k=3, power=power)
    rng = np.random.default_rng(seed)
    for alpha in (0.0, 0.01, 0.3, 2.0):
        bound = clustered.center_perturbation(alpha)
        for _ in range(50):
            way = rng.normal(size=(3, 2))
            moved = clustered.centers + alpha * way / np.linalg.norm(way, axis=1, keepdims=True)
            assert cost_of(clustered.points, clustered.weights, moved, power) <= (1 + bound) * least * (1 + 1e-9)
    if power == 2:  # a cluster of one center reaches it
        alone = Clustered(clustered.points, clustered.weights, best_center(clustered.points, clustered.weights, 2)[0][None], 2)
        cost = cost_of(alone.points, alone.weights, alone.centers - [[0.6, 0.8]], 2)
        assert cost == pytest.approx((1 + alone.center_perturbation(1.0)) * alone.cost)


def difference(one, other, weights, k):
    """Return by what share two clusterings differ, under the best names."""
    return min(
        2 * weights[np.array([names[label] for label in other]) != one].sum() / weights.sum()
        for names in itertools.permutations(range(k))
    )


@POWERS
@CASES
@pytest.mark.parametrize("k", [2, 3])
def test_misassigned_points_cost_no_more_than_the_bound_and_some_clustering_differs_so_much(power, seed, k):
    clustered, least = instance(seed, k=k, power=power)
    points, weights = clustered.points, clustered.weights
    labels = costs_at(points, clustered.centers, power).argmin(axis=1)
    every = []
    for other in partitions(len(points), k):
        cost = sum(best_center(points[other == j], weights[other == j], power)[1] for j in range(k))
        every.append((difference(labels, other, weights, k), cost / least))
    for beta in (0.0, 0.1, 0.3, 0.5):
        bound = clustered.misassigned_cost(beta)
        assert max(cost for share, cost in every if share <= beta + 1e-9) <= bound * (1 + 1e-6)
        assert bound >= 1
    for alpha in (1.0, 1.5, 2.0, 5.0):
        assert clustered.misassigned_share(alpha) <= max(share for share, cost in every if cost <= alpha * (1 + 1e-6)) + 1e-9
    assert clustered.misassigned_share(1.0) == pytest.approx(0.0)
    assert clustered.misassigned_share(1e6) > 0.2


@CASES
def test_the_proximity_condition_by_its_letter(seed):
    clustered, _ = instance(seed, n=8, k=2)
    points, weights, centers = clustered.points, clustered.weights, clustered.centers
    labels = costs_at(points, centers, 2).argmin(axis=1)
    rows = np.repeat(points - centers[labels], weights.astype(int), axis=0)
    norm = np.linalg.norm(rows, 2)
    sizes = [weights[labels == i].sum() for i in range(2)]
    for constant in (0.0, 0.1, 0.3, 1.0):
        good = 0.0
        for point, weight, i in zip(points, weights, labels, strict=True):
            line = centers[1 - i] - centers[i]
            projected = centers[i] + line * ((point - centers[i]) @ line) / (line @ line)
            margin = np.linalg.norm(projected - centers[1 - i]) - np.linalg.norm(projected - centers[i])
            good += weight * (margin >= constant * 2 * (sizes[0] ** -0.5 + sizes[1] ** -0.5) * norm)
        assert clustered.proximity_share(constant) == pytest.approx(good / weights.sum())
    assert clustered.proximity_share(0.0) == 1.0


@given(k=st.integers(1, 6), d=st.integers(1, 4), seed=st.integers(0, 2**32))
@settings(max_examples=40)
def test_the_matching_is_the_best_of_all(k, d, seed):
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(2, k, d))
    best = min(float(np.linalg.norm(first - second[list(order)])) for order in itertools.permutations(range(k)))
    assert wasserstein(first, second) == pytest.approx(best)
    assert wasserstein(first, first[rng.permutation(k)]) == 0
    assert wasserstein(first, second) == pytest.approx(wasserstein(second, first))


@POWERS
@pytest.mark.parametrize("centers", [[[0, 0], [1, 0]], [[0, 0], [0, 0]], [[0, 0], [1, 0], [1, 0]], [[0, 0]]])
def test_points_that_cost_nothing_and_clusters_without_points_raise_nothing(power, centers):
    one = Clustered(np.array([[0.0, 0.0], [1.0, 0.0]]), np.ones(2), np.array(centers, float), power)
    numbers = [one.deletion(), one.center_separation(), one.approximation_stability(), one.proximity(), one.proximity_share()]
    numbers += [one.center_perturbation(0.1), one.misassigned_cost(0.1), one.misassigned_share(2.0)]
    assert not any(map(math.isnan, numbers))
    assert len(centers) < 3 or one.proximity() == 1
