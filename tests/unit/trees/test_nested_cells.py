import numpy as np
import pytest
import scipy.sparse as sp

from spinney.spaces.metric import FiniteMetric
from spinney.trees.nested_cells import NestedCells


def streets(side, seed=0):
    """A square of streets of random lengths."""
    rng = np.random.default_rng(seed)
    node = np.arange(side * side).reshape(side, side)
    tails = np.concatenate([node[:, :-1].ravel(), node[:-1].ravel()])
    heads = np.concatenate([node[:, 1:].ravel(), node[1:].ravel()])
    return FiniteMetric.from_graph(sp.coo_array((rng.uniform(1, 3, len(tails)), (tails, heads)), shape=(side * side,) * 2))


SPACES = {
    "graph": lambda: streets(12),
    "euclidean": lambda: FiniteMetric.from_points(np.random.default_rng(5).normal(size=(150, 3))),
    "matrix": lambda: FiniteMetric.from_matrix(streets(9).distances(np.arange(81)).astype(np.float32)),
}


@pytest.fixture(params=SPACES)
def space(request):
    return SPACES[request.param]()


def assert_partition(cells, inside, n_points):
    """Every point inside has a cell, no other has, no cell is empty, and a seed lies in its own cell."""
    outside = np.setdiff1d(np.arange(n_points), inside)
    assert (cells.labels[outside] == -1).all()
    np.testing.assert_array_equal(np.unique(cells.labels[inside]), np.arange(len(cells)))
    np.testing.assert_array_equal(cells.labels[cells.seeds], np.arange(len(cells)))
    np.testing.assert_array_equal(cells.sizes, np.bincount(cells.labels[inside]))


@pytest.mark.parametrize("n_cells", [1, 2, 7, 30, 10**6])
@pytest.mark.parametrize("part", [False, True])
def test_cells_partition_the_points_by_the_nearest_seed(space, n_cells, part):
    inside = np.random.default_rng(0).permutation(space.n_points)[: 40 if part else None]
    cells, again = (NestedCells.carve(space, n_cells, np.random.default_rng(1), inside) for _ in range(2))
    assert_partition(cells, inside, space.n_points)
    assert len(cells) == min(n_cells, len(inside))
    rows = space.distances(cells.seeds)[:, inside]
    np.testing.assert_allclose(rows[cells.labels[inside], np.arange(len(inside))], rows.min(axis=0))
    np.testing.assert_array_equal(cells.labels, again.labels)


@pytest.mark.parametrize("most", [1, 3, 1000])
def test_up_to_so_many_points_of_each_cell_are_drawn(space, most):
    cells = NestedCells.carve(space, 6, np.random.default_rng(1), np.arange(0, space.n_points, 2))
    drawn = cells.sample(most, np.random.default_rng(3))
    assert len(np.unique(drawn)) == len(drawn)
    np.testing.assert_array_equal(cells.labels[drawn], np.repeat(np.arange(6), np.minimum(cells.sizes, most)))


def test_fine_cells_lie_in_their_coarse_cell(space):
    coarse = NestedCells.carve(space, 5, np.random.default_rng(1))
    numbers = np.array([1, 3, 1000, 2, 1])
    fine = coarse.cut(space, numbers, np.random.default_rng(2))
    assert_partition(fine, np.arange(space.n_points), space.n_points)
    owner = coarse.labels[fine.seeds]
    np.testing.assert_array_equal(owner[fine.labels], coarse.labels)
    np.testing.assert_array_equal(np.bincount(owner), np.minimum(numbers, coarse.sizes))
    assert (np.diff(owner) >= 0).all()
