import numpy as np
import pytest

from spinney import Box
from spinney.questions import Counts, Levels
from spinney.trees.quadtree import Splits, TreeCells

PLANE = Box(-1, 1).domain(2)
SPLITS = Splits.of(PLANE)
ROWS = np.random.default_rng(0).normal(0, 0.2, (300, 2))


@pytest.mark.parametrize(("start", "depth"), [(0, 0), (0, 6), (3, 3), (2, 7)])
def test_without_a_threshold_every_cell_is_counted(open_curator, start, depth):
    curator, ask, *more = open_curator(ROWS, PLANE, "levels", *["counts"] * (depth - start + 1))
    answer = curator.ask(Levels(SPLITS, start, depth, None), ask)
    whole = [
        curator.ask(Counts(TreeCells.grid(SPLITS, level)), more[level - start]).private_counts
        for level in range(start, depth + 1)
    ]
    assert answer.private_counts.tolist() == np.concatenate(whole).tolist()
    assert np.array_equal(np.bincount(answer.tree.cells.depths)[start:], 2 ** np.arange(start, depth + 1))


@pytest.mark.parametrize("threshold", [-1, 0, 20, 10**6])
def test_children_are_visited_above_the_threshold(open_curator, threshold):
    curator, ask = open_curator(ROWS, PLANE, "levels")
    answer = curator.ask(Levels(SPLITS, 1, 9, threshold), ask)
    tree, counts = answer.tree, answer.private_counts
    assert np.array_equal(tree.first_child >= 0, (counts > threshold) & (tree.cells.depths < 9))
    inner = np.flatnonzero(tree.first_child >= 0)
    assert np.array_equal(counts[inner], counts[tree.first_child[inner]] + counts[tree.first_child[inner] + 1])
    assert counts[:2].sum() == len(ROWS)
    assert len(tree.leaves) == len(counts) - len(inner)


def test_the_largest_cells_are_split_where_not_all_may_be(open_curator):
    """At every limit of the number of cells."""
    for most in range(1, 130):
        curator, ask = open_curator(ROWS, PLANE, "levels")
        answer = curator.ask(Levels(SPLITS, 1, 9, 2, most), ask)
        tree, counts, visited = answer.tree, answer.private_counts, 0
        assert len(counts) <= max(most, 2)
        for level in range(1, int(tree.cells.depths.max()) + 1):
            here = tree.cells.depths == level
            visited += int(here.sum())
            wanted = np.sort(counts[here & (counts > 2) & (level < 9)])[::-1]
            fits = wanted[: max(most - visited, 0) // 2]
            assert np.sort(counts[here & (tree.first_child >= 0)])[::-1].tolist() == fits.tolist()
