import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spinney import Box
from spinney.solvers.dynamic_program import place_centers
from spinney.trees.quadtree import Quadtree, Splits

SPLITS = Splits.of(Box(-1, 1).domain(2))


def random_tree(seed, depth, share=0.75):
    rng = np.random.default_rng(seed)
    return Quadtree.visit(SPLITS, 0, lambda cells, level: (rng.random(len(cells)) < share) & (level < depth))


def leaves_below(tree, cell):
    first = tree.first_child[cell]
    return [cell] if first < 0 else leaves_below(tree, first) + leaves_below(tree, first + 1)


def cost_of(tree, costs, cell, chosen):
    """What a choice of leaves costs: every highest cell without one of them, its own cost."""
    if not chosen.intersection(leaves_below(tree, cell)):
        return costs[cell]
    first = tree.first_child[cell]
    return 0.0 if first < 0 else cost_of(tree, costs, first, chosen) + cost_of(tree, costs, first + 1, chosen)


@given(seed=st.integers(0, 2**32), depth=st.integers(0, 4), k=st.integers(1, 20))
@settings(deadline=None, max_examples=25)
def test_no_choice_of_k_leaves_costs_less(seed, depth, k):
    tree = random_tree(seed, depth)
    costs = np.random.default_rng(seed).exponential(1.0, len(tree.parent)) / 2.0**tree.cells.depths
    leaves = leaves_below(tree, 0)
    size = min(k, len(leaves))
    assume(math.comb(len(leaves), size) <= 150)
    chosen, cost = place_centers(tree.first_child, costs, k)
    assert cost == pytest.approx(min(cost_of(tree, costs, 0, set(some)) for some in itertools.combinations(leaves, size)))
    assert cost == pytest.approx(cost_of(tree, costs, 0, set(chosen.tolist())))
    assert len(chosen) == size
    assert set(chosen.tolist()) <= set(leaves)
