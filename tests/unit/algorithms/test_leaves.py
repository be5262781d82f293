import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spinney import Box
from spinney.algorithms.leaves import DEEPER, MAX_LEVELS, MOST_CELLS, Leaf, chances, place_halves, remoteness, staged_leaves
from spinney.mechanisms.additive import Noise
from spinney.trees.quadtree import Splits, TreeCells

DOMAIN = Box(-1, 1).domain(6)


def leaves_of(open_curator, rows, epsilon=math.inf, n=None, seed=0, k=None):
    stages = 2 if k is None else 3
    curator, *charges = open_curator(rows, DOMAIN, *["counts"] * stages, epsilon=epsilon, seed=seed)
    third = () if k is None else (charges.pop(), k)
    return staged_leaves(curator, Splits.of(DOMAIN), float(len(rows) if n is None else n), *charges, *third)


def test_without_noise_leaves_hold_all_rows_and_follow_the_close_ones(open_curator):
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.uniform(-1, 1, (3000, 6)), rng.normal(0.3, 0.01, (3000, 6))])
    found = leaves_of(open_curator, rows)
    assert sum(leaf.weights.sum() for leaf in found) == len(rows)
    assert sum(len(leaf.weights) for leaf in found) <= MOST_CELLS
    assert max(int(leaf.cells.depths.max(initial=0)) for leaf in found) <= MAX_LEVELS + DEEPER


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    n=st.integers(0, 300),
    claimed=st.floats(1, 1e12),
    seed=st.integers(0, 100),
    epsilon=st.sampled_from([0.01, 1.0, 100.0]),
    k=st.sampled_from([None, 1, 3, 1000]),
)
def test_any_noise_gives_positive_weights_in_bounded_number(open_curator, n, claimed, seed, epsilon, k):
    rows = np.random.default_rng(seed).normal(0, 0.1, (n, 6))
    found = leaves_of(open_curator, rows, epsilon, claimed, seed, k)
    assert all((leaf.weights > 0).all() and len(leaf.weights) == len(leaf.cells) for leaf in found)
    assert sum(len(leaf.weights) for leaf in found) <= 2 * 2**MAX_LEVELS


@pytest.mark.parametrize("epsilon", [math.inf, 3.0])
def test_rows_of_columns_that_go_together_are_followed_into_small_cells(open_curator, epsilon):
    rng = np.random.default_rng(0)
    rows = np.repeat(rng.uniform(-1, 1, (40_000, 1)), 6, axis=1)
    gaps = []
    for k in (None, 2):
        found = leaves_of(open_curator, rows, epsilon, k=k)
        assert sum(leaf.weights.sum() for leaf in found) == pytest.approx(len(rows), rel=1e-9 if epsilon == math.inf else 0.05)
        points = np.concatenate([leaf.cells.middles() for leaf in found])
        assert len(points) <= 3 * MOST_CELLS
        gaps.append(np.abs(rows[:2000, :1] - points.mean(axis=1)).min(axis=1).mean())
    assert gaps[1] < 0.3 * gaps[0]


def test_a_cluster_that_stands_out_is_kept_whatever_the_sum_of_all_cells_says(open_curator):
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(0.4, 0.01, (40_000, 6)), rng.normal(-0.4, 0.01, (600, 6))])
    for seed in range(20):
        found = leaves_of(open_curator, rows, epsilon=0.25, seed=seed)
        near = [(leaf.cells.middles() < 0).all(axis=1) for leaf in found]
        assert sum(leaf.weights[which].sum() for leaf, which in zip(found, near, strict=True)) > 300


@pytest.mark.parametrize("distribution", ["laplace", "gaussian"])
def test_a_doubtful_leaf_weighs_less_among_empty_leaves_than_among_full_ones(distribution):
    rng, noise = np.random.default_rng(0), Noise(distribution, 10.0)
    quiet, loud = rng.integers(-12, 13, 60), np.r_[rng.integers(100, 400, 45), rng.integers(-12, 13, 15)]
    quiet[0] = loud[0] = 35
    found = chances(np.r_[quiet, loud], np.repeat([2, 9], 60), noise)
    assert found[0] < found[60]
    assert (found[61:105] > 0.99).all()


@given(st.lists(st.tuples(st.integers(-200, 5000), st.integers(-1, 40)), min_size=1, max_size=300))
def test_chances_are_probabilities_whatever_the_leaves(leaves):
    counts, levels = np.array(leaves).T
    found = chances(counts, levels, Noise("laplace", 10.0))
    assert ((found >= 0) & (found <= 1)).all()
    assert (chances(counts, levels, Noise("none", 0.0)) == 1).all()


def test_leaves_far_from_all_that_surely_have_rows_are_remote_for_their_width():
    noise, points = Noise("laplace", 10.0), np.array([[0.0, 0.0], [0.1, 0.0], [0.9, 0.0], [0.9, 0.0]])
    near, far, wide = remoteness(points, np.array([0.1, 0.1, 0.1, 0.3]), np.array([500, 3, 3, 3]), noise)[1:]
    assert near < wide < far
    np.testing.assert_array_equal(remoteness(points, np.ones(4), np.array([1, -3, 2, 0]), noise), np.zeros(4))


@given(st.lists(st.tuples(st.integers(-200, 5000), st.floats(0, 10), st.floats(-1, 1)), max_size=100))
def test_every_leaf_has_a_remoteness(leaves):
    counts, spreads, points = (np.array([leaf[i] for leaf in leaves]) for i in range(3))
    found = remoteness(points.reshape(-1, 1), spreads, counts, Noise("gaussian", 10.0))
    assert found.shape == counts.shape
    assert found.dtype == np.int64


def halved(weights, box, levels=2):
    """Return the leaf of all cells of a box, and their points."""
    cells = TreeCells.grid(Splits.of(box), levels)
    return Leaf(cells, np.asarray(weights, dtype=np.float64)), cells.representatives()


@pytest.mark.parametrize("share", [0.1, 0.5, 0.8])
def test_points_of_halves_are_where_the_rows_of_two_values_are(share):
    """A column of two values spreads as far as its ends; halves that are told apart by the share alone find both."""
    domain, n = Box(-1, 1).domain(2), 10_000
    mean = np.array([2 * share - 1, 0.0])
    reach = np.array([2 * math.sqrt(share * (1 - share)), 0.25])  # all of the first column's spread lies between its values
    leaf, points = halved(np.outer([1 - share, share], [0.5, 0.5]).ravel() * n, Box([-1, -0.8], [1, 0.8]).domain(2))
    before = points.copy()
    place_halves([points], [leaf], domain, mean, reach, 2, 0.0)
    first = leaf.cells.splits.route.axes[0]
    assert first == 0
    np.testing.assert_allclose(points[:, 0], np.where(leaf.cells.are_upper(0), 1.0, -1.0), atol=1e-9)
    np.testing.assert_array_equal(points[:, 1], before[:, 1])  # this column's box is whole


def test_a_column_that_is_cut_twice_and_a_share_of_noise_change_nothing():
    domain = Box(-1, 1).domain(1)
    leaf, points = halved([1, 2, 3, 4], domain, levels=2)
    before = points.copy()
    place_halves([points], [leaf], domain, np.zeros(1), np.ones(1), 2, 0.0)
    np.testing.assert_array_equal(points, before)
    leaf, points = halved([40, 60], domain, levels=1)
    place_halves([points], [leaf], domain, np.zeros(1), np.full(1, 0.5), 1, variance=0.1)
    np.testing.assert_array_equal(points[:, 0], [-0.5, 0.5])


@given(
    st.lists(st.floats(0, 1e9), min_size=16, max_size=16),
    st.floats(-1, 1),
    st.floats(1e-6, 2),
    st.floats(0, 1e6),
    st.floats(0.1, 1),
)
def test_points_of_halves_stay_in_the_domain_and_on_their_side(weights, mean, reach, variance, width):
    domain, box = Box(-1, 1).domain(3), Box([-1, -width, -1], [1, 1, width]).domain(3)
    leaf, points = halved(weights, box, levels=4)
    place_halves([points], [leaf], domain, np.full(3, mean), np.full(3, reach), 4, variance)
    assert (np.abs(points) <= 1).all()
    for level, axis in enumerate(leaf.cells.splits.route.axes[:4]):
        upper, middle = leaf.cells.are_upper(level), box.center[axis]
        if level == np.argmax(leaf.cells.splits.route.axes == axis):
            assert (points[upper, axis] >= middle).all()
            assert (points[~upper, axis] <= middle).all()
