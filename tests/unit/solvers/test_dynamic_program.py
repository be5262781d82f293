import itertools

import numpy as np
import pytest

from spinney import Box
from spinney.solvers.dynamic_program import place_centers
from spinney.trees.quadtree import Quadtree, Splits

SPLITS = Splits.of(Box(-1, 1).domain(2))


def random_tree(seed, depth=9, share=0.75):
    rng = np.random.default_rng(seed)
    return Quadtree.visit(SPLITS, 0, lambda cells, level: (rng.random(len(cells)) < share) & (level < depth) | (level == 0))


def leaves_below(tree, cell):
    first = tree.first_child[cell]
    return [cell] if first < 0 else leaves_below(tree, first) + leaves_below(tree, first + 1)


def cost_of(tree, costs, cell, chosen):
    """What a choice of leaves costs: every highest cell without one of them, its own cost."""
    if not chosen.intersection(leaves_below(tree, cell)):
        return costs[cell]
    first = tree.first_child[cell]
    return 0.0 if first < 0 else cost_of(tree, costs, first, chosen) + cost_of(tree, costs, first + 1, chosen)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.matrix
def test_no_choice_of_k_leaves_costs_less(seed, k):
    tree = random_tree(seed, depth=5)
    costs = np.random.default_rng(seed).exponential(1.0, len(tree.parent)) / 2.0**tree.cells.depths
    leaves = leaves_below(tree, 0)
    chosen, cost = place_centers(tree.first_child, costs, k)
    size = min(k, len(leaves))
    assert cost == pytest.approx(min(cost_of(tree, costs, 0, set(some)) for some in itertools.combinations(leaves, size)))
    assert cost == pytest.approx(cost_of(tree, costs, 0, set(chosen.tolist())))
    assert len(chosen) == size
    assert set(chosen.tolist()) <= set(leaves)


@pytest.mark.parametrize("seed", range(3))
def test_more_centers_than_leaves_cost_nothing_and_take_all_leaves(seed):
    tree = random_tree(seed, depth=6)
    costs = np.random.default_rng(seed).random(len(tree.parent))
    chosen, cost = place_centers(tree.first_child, costs, len(tree.parent) + 5)
    assert cost == 0.0
    assert chosen.tolist() == np.flatnonzero(tree.first_child < 0).tolist()


def test_a_tree_of_one_cell_has_one_center():
    chosen, cost = place_centers(np.array([-1]), np.array([7.0]), 3)
    assert chosen.tolist() == [0]
    assert cost == 0.0


def test_the_cost_falls_with_k_if_a_cell_costs_at_least_its_children():
    tree = random_tree(5, depth=12)
    costs = np.random.default_rng(5).random(len(tree.parent))
    for cell in range(len(costs) - 1, -1, -1):
        first = tree.first_child[cell]
        if first >= 0:
            costs[cell] = 1.5 * (costs[first] + costs[first + 1])
    values = [place_centers(tree.first_child, costs, k)[1] for k in (1, 2, 5, 20, 100)]
    assert values == sorted(values, reverse=True)
    assert values[0] < costs[0]
