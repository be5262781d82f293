import numpy as np
import pytest

from spinney import Box
from spinney.trees.consistent import consistent_counts
from spinney.trees.quadtree import Quadtree, Splits

SPLITS = Splits.of(Box(-1, 1).domain(2))


def random_tree(seed, start, depth, share):
    """A tree in which each cell is split with this probability."""
    rng = np.random.default_rng(seed)
    return Quadtree.visit(SPLITS, start, lambda cells, level: (rng.random(len(cells)) < share) & (level < depth))


def leaves_below(tree):
    """A matrix: which leaf lies below which node."""
    below = np.eye(len(tree.parent))
    for node in range(len(tree.parent) - 1, -1, -1):
        if tree.parent[node] >= 0:
            below[tree.parent[node]] += below[node]
    return below[:, tree.first_child < 0]


@pytest.mark.parametrize("start", [0, 2])
@pytest.mark.parametrize(("depth", "share"), [(0, 1.0), (5, 1.0), (7, 0.7), (12, 0.55)])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.matrix
def test_consistent_counts_are_the_least_squares_fit(start, depth, share, seed):
    tree = random_tree(seed, start, start + depth, share)
    noisy = np.random.default_rng(seed).normal(50, 30, len(tree.parent))
    below = leaves_below(tree)
    expected = below @ np.linalg.lstsq(below, noisy, rcond=None)[0]
    np.testing.assert_allclose(consistent_counts(tree, noisy), expected, atol=1e-9)
    stds = np.random.default_rng(seed + 9).uniform(0.3, 3, len(noisy))
    expected = below @ np.linalg.lstsq(below / stds[:, None], noisy / stds, rcond=None)[0]
    np.testing.assert_allclose(consistent_counts(tree, noisy, stds**2), expected, atol=1e-9)


def test_consistent_counts_stay_as_they_are():
    tree = random_tree(1, 1, 9, 0.8)
    below = leaves_below(tree)
    exact = below @ np.random.default_rng(0).integers(0, 9, below.shape[1]).astype(float)
    np.testing.assert_allclose(consistent_counts(tree, exact), exact, atol=1e-9)


def test_every_parent_is_the_sum_of_its_children_and_the_noisy_counts_are_not_changed():
    tree = random_tree(4, 0, 11, 0.8)
    noisy = np.random.default_rng(1).integers(-20, 90, len(tree.parent))
    before = noisy.copy()
    counts = consistent_counts(tree, noisy)
    inner = tree.first_child >= 0
    children = tree.first_child[inner]
    np.testing.assert_allclose(counts[inner], counts[children] + counts[children + 1])
    assert np.array_equal(noisy, before)
