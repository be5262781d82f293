import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

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


@given(seed=st.integers(0, 2**32), start=st.integers(0, 2), depth=st.integers(0, 9), share=st.floats(0.5, 1.0))
@settings(deadline=None, max_examples=25)
def test_consistent_counts_are_the_least_squares_fit(seed, start, depth, share):
    rng = np.random.default_rng(seed)
    tree = random_tree(seed, start, start + min(depth, 6 if share > 0.8 else 9), share)
    noisy = rng.normal(50, 30, len(tree.parent))
    below, before = leaves_below(tree), noisy.copy()
    counts = consistent_counts(tree, noisy)
    np.testing.assert_allclose(counts, below @ np.linalg.lstsq(below, noisy, rcond=None)[0], atol=1e-8)
    np.testing.assert_allclose(consistent_counts(tree, counts), counts, atol=1e-8)  # they stay as they are
    assert np.array_equal(noisy, before)
