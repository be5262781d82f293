"""Between steps, a center without rows goes beside one that two clusters share; nothing else moves."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney import PrivateKMeans
from spinney.algorithms.exchange import exchanged
from spinney.algorithms.step import Distances, Moved, ring_edges
from spinney.spaces.nearest import nearest


def edges_of(d):
    return ring_edges(PrivateKMeans(2, epsilon=1.0, bounds=(-10, 10)).plan(d).problem)


def facts(rows, centers):
    """Return what a step and rings without noise tell of centers."""
    squares, labels = nearest(rows, centers)
    edges = edges_of(rows.shape[1])
    counts = np.zeros((len(centers), len(edges)))
    np.add.at(counts, (labels, np.searchsorted(edges, np.sqrt(squares))), 1)
    weights = np.maximum(counts.sum(axis=1), 1)
    return Moved(centers, weights, np.zeros_like(centers), 1.0), Distances(edges, counts, counts)


def offered(rows, centers, noise=0.0, seed=0):
    moved, distances = facts(rows, centers)
    return exchanged(centers, moved, distances, noise, np.ones(rows.shape[1]), np.random.default_rng(seed))


@pytest.mark.parametrize("d", [1, 2, 5, 60])
@pytest.mark.parametrize("seed", range(5))
def test_a_center_without_rows_parts_two_clusters_that_share_one(d, seed):
    rng = np.random.default_rng(seed)
    middles = np.zeros((4, d))
    middles[:, 0] = [-7, -5, 3, 8]
    rows = np.repeat(middles, 500, axis=0) + rng.normal(0, 0.02 / math.sqrt(d), (2000, d))
    empty = middles[2] + 1.5 * np.eye(d)[0]
    centers = np.vstack([(middles[0] + middles[1]) / 2, middles[2], middles[3], empty])
    found, distances, are_new = offered(rows, centers, seed=seed)
    np.testing.assert_array_equal(found[1:3], centers[1:3])
    sides = nearest(rows, found)[1]
    assert {sides[0], sides[500]} == {0, 3}
    assert distances.counts[0].sum() == distances.counts[3].sum() == 500
    np.testing.assert_array_equal(are_new, [True, False, False, True])


@pytest.mark.parametrize("n_merged", [2, 3, 6])
def test_many_clusters_that_share_one_get_many_centers(n_merged):
    rng = np.random.default_rng(0)
    middles = rng.normal(0, 1, (n_merged, 40))
    middles = np.vstack([middles, np.full(40, 8.0), np.full(40, -8.0)])
    rows = np.repeat(middles, 500, axis=0) + rng.normal(0, 0.01, (500 * len(middles), 40))
    empty = rng.uniform(-9, 9, (n_merged - 1, 40))
    found, distances, are_new = offered(rows, np.vstack([middles[:n_merged].mean(axis=0), middles[n_merged:], empty]))
    assert are_new.sum() == n_merged
    np.testing.assert_allclose(distances.counts[are_new].sum(axis=1), 500)
    assert len(set(nearest(middles, found)[1])) > len(middles) - n_merged  # which the next step goes on from


def test_what_is_expected_of_centers_without_rows_is_no_measure():
    rng = np.random.default_rng(0)
    rows = rng.normal(0, 1, (5000, 3))
    centers = np.array([[0.0, 0, 0], [9, 9, 9], [-9, 9, 9]])
    moved, distances = facts(rows, centers)
    expected = distances.counts.mean(axis=0)  # of a center whose rings are all noise
    told = replace(distances, counts=np.vstack([distances.counts[0], expected, expected]))
    found, _, are_new = exchanged(centers, moved, told, 0.0, np.ones(3), rng)
    assert are_new.all()
    assert np.bincount(nearest(rows, found)[1], minlength=3).min() > 300


@settings(deadline=None, max_examples=200)
@given(st.integers(1, 12), st.integers(1, 6), st.integers(0, 300), st.floats(0, 1e9), st.integers(0, 2**32 - 1))
def test_whatever_is_told_centers_stay_finite_and_no_ring_counts_more(k, d, n, noise, seed):
    rng = np.random.default_rng(seed)
    rows, centers = rng.uniform(-10, 10, (n, d)), rng.uniform(-10, 10, (k, d))
    before = facts(rows, centers)[1] if n else Distances(edges_of(d), np.zeros((k, 24)), np.zeros((k, 24)))
    moved = Moved(centers, rng.uniform(1, 99, k), np.zeros_like(centers), 1.0)
    found, after, are_new = exchanged(centers, moved, before, noise, np.ones(d), rng)
    assert np.isfinite(found).all()
    assert found.shape == centers.shape
    changed = (found != centers).any(axis=1)
    assert not (changed & ~are_new).any()
    assert are_new.sum() != 1
    assert after.counts.sum() <= before.counts.sum() * (1 + 1e-9)
    np.testing.assert_array_equal(after.counts[~changed], before.counts[~changed])
    if k == 1:
        assert not changed.any()
