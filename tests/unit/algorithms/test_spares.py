import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spinney.algorithms.polish import Moved, RingHistogram
from spinney.algorithms.spares import EMPTY_STDS, SURE, resettled
from spinney.mechanisms.additive import Noise
from spinney.solvers.nearest import nearest
from spinney.spaces.box import Domain

EDGES = 2.0 ** (np.arange(24) / 2 - 8)


def settle(rows, centers, rng, std=1.0, least=1.0, ring_std=1.0, distance=1.0):
    """Resettle centers of rows that are told with next to no noise, as if there were some."""
    squares, labels = nearest(rows, centers)
    counts = np.zeros((len(centers), len(EDGES) + 1))
    np.add.at(counts, (labels, np.searchsorted(EDGES, np.sqrt(squares))), 1)
    rings = RingHistogram(EDGES, counts, Noise("gaussian", ring_std))
    moved = Moved(centers, np.maximum(np.bincount(labels, minlength=len(centers)), 0.1), np.zeros_like(centers), std)
    spread = rows.std(axis=0)
    domain = Domain(np.full(rows.shape[1], -2.0), np.full(rows.shape[1], 2.0), math.inf)
    return resettled(domain, centers, moved, rings, least, spread, distance, rng)


@settings(max_examples=60, deadline=None)
@given(d=st.integers(1, 40), k=st.integers(3, 12), seed=st.integers(0, 10_000))
def test_a_center_without_rows_parts_two_clusters_that_share_one(d, k, seed):
    rng = np.random.default_rng(seed)
    middles = rng.uniform(-1, 1, (k, d))
    middles[:2] = np.array([[-1.0], [1.0]]) * rng.choice([-1, 1], d)
    rows = middles.repeat(200, axis=0) + rng.normal(0, 1e-5, (200 * k, d))  # or a direction across could part none
    centers = np.vstack([middles[:2].mean(axis=0), np.full(d, 1.99) * rng.choice([-1, 1], d), middles[2:]])
    before = nearest(rows, centers)[1]
    assume(set(before[:400]) == {0} and 1 not in before)  # no other center lies nearer to these clusters
    found, sources = settle(rows, centers, rng)
    assert sources.tolist() == [0, 0, *range(2, k)]
    labels = nearest(rows, found)[1]
    np.testing.assert_array_equal(found[2:], centers[2:])
    assert len(set(labels[:200])) == len(set(labels[200:400])) == 1
    assert labels[0] != labels[200]


@pytest.mark.parametrize(
    "changes",
    [
        {"std": 2 * SURE * 150 / EMPTY_STDS},  # noise that could hide a small cluster
        {"least": 300.0},  # too few rows for two steps
        {"distance": 4.0},  # a cluster that is wide, not two
        {"ring_std": 1e5},  # no center seems to have rows
    ],
)
def test_without_being_sure_no_center_is_moved(changes):
    rng = np.random.default_rng(0)
    middles = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]])
    rows = middles.repeat(200, axis=0) + rng.normal(0, 1e-3, (600, 2))
    centers = np.array([[-1.0, 0.0], [1.9, -1.9], [1.0, 1.0], [1.9, 1.9]])
    assert settle(rows, centers, rng)[1].tolist() == [0, 0, 2, 3]
    found, sources = settle(rows, centers, rng, **changes)
    np.testing.assert_array_equal(found, centers)
    assert sources.tolist() == [0, 1, 2, 3]
    near = np.vstack([rows[:200], rows[400:]])  # rows that lie near their centers want no second one
    assert settle(near, np.array([[-1.0, -1.0], [1.9, -1.9], [1.0, 1.0]]), rng)[1].tolist() == [0, 1, 2]
