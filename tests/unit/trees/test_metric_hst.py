import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from spinney.spaces.metric import FiniteMetric
from spinney.trees.least_elements import least_elements
from spinney.trees.metric_hst import MetricHST


def grid_graph(side, seed=0):
    """A square of streets of whole lengths, so that sums are exact."""
    rng = np.random.default_rng(seed)
    node = np.arange(side * side).reshape(side, side)
    tails, heads = (
        np.concatenate([node[:, :-1].ravel(), node[:-1].ravel()]),
        np.concatenate([node[:, 1:].ravel(), node[1:].ravel()]),
    )
    return sp.coo_array((rng.integers(1, 5, len(tails)).astype(float), (tails, heads)), shape=(side * side,) * 2)


def points_space(metric="euclidean"):
    return FiniteMetric.from_points(np.random.default_rng(5).normal(size=(80, 3)), metric)


SPACES = {
    "graph": lambda: FiniteMetric.from_graph(grid_graph(9)),
    "matrix": lambda: FiniteMetric.from_matrix(dijkstra(grid_graph(9), directed=False)),
    "euclidean": points_space,
    "manhattan": lambda: points_space("manhattan"),
    "one place": lambda: FiniteMetric.from_points(np.zeros((5, 2))),
    "twins": lambda: FiniteMetric.from_points(np.random.default_rng(5).integers(0, 3, (60, 2)).astype(float)),
}


@pytest.fixture(params=SPACES)
def space(request):
    return SPACES[request.param]()


def first_within(matrix, order, radius):
    """The rank of the first point of the order within a radius of each point."""
    return (matrix[order] <= radius).argmax(axis=0)


def test_lists_hold_the_first_point_within_every_radius(space):
    n = space.n_points
    matrix, order = space.distances(np.arange(n)), np.random.default_rng(2).permutation(n)
    lists = least_elements(space, order)
    for radius in np.quantile(matrix, [0.0, 0.02, 0.1, 0.3, 0.7, 1.0]) + 1e-6:
        found = np.full(n, n)
        within = lists.distances <= radius
        np.minimum.at(found, lists.points[within], lists.ranks[within])
        np.testing.assert_array_equal(found, first_within(matrix, order, radius))
    assert len(lists.points) < n * (2 + 2 * np.log(n))


BUILDERS = pytest.mark.parametrize("build", [MetricHST.build, MetricHST.printed], ids=["build", "printed"])


@BUILDERS
@pytest.mark.parametrize("levels", [0, 1, 3, 6, None])
def test_every_depth_is_a_nested_partition_into_small_cells(space, levels, build):
    tree = build(space, np.random.default_rng(7), levels)
    matrix = space.distances(np.arange(space.n_points))
    above = np.zeros(space.n_points, dtype=int)
    for depth in range(tree.levels + 1):
        cells = tree.cells(depth)
        label = np.full(space.n_points, -1)
        for cell in cells:
            assert (label[tree.points(cell)] == -1).all()
            label[tree.points(cell)] = cell
            assert matrix[np.ix_(tree.points(cell), tree.points(cell))].max() <= 2 * tree.radii[depth] * (1 + 1e-12)
            assert tree.representative[cell] in tree.points(cell)
            if tree.depth[cell] == depth and depth:
                assert set(tree.points(cell)) <= set(tree.points(tree.parent[cell]))
            if tree.n_children[cell] == 0:
                alike = matrix[np.ix_(tree.points(cell), tree.points(cell))].max() == 0
                assert alike or depth == tree.levels != 64
                assert (tree.leaf_of()[tree.points(cell)] == cell).all()
        assert (label >= 0).all()
        assert len(np.unique(np.stack([above, label]), axis=1).T) == len(cells)
        above = label
    assert tree.heights[0] == tree.levels == (tree.levels if levels is None else levels)
    assert sorted(tree.order) == list(range(space.n_points))
    weights = np.random.default_rng(1).random(space.n_points)
    for node, count in enumerate(tree.counts(weights)):
        assert count == pytest.approx(weights[tree.points(node)].sum())
        first, number = tree.first_child[node], tree.n_children[node]
        assert np.flatnonzero(tree.parent == node).tolist() == list(range(first, first + number))
    np.testing.assert_array_equal(build(space, np.random.default_rng(7), levels).representative, tree.representative)


def test_the_printed_tree_carves_each_cell_around_its_own_points(space):
    # Algorithm 3 as printed: radius D / 2^l, and of the centers of one cell each is beyond the radius of those before it.
    tree = MetricHST.printed(space, np.random.default_rng(3), 5)
    matrix = space.distances(np.arange(space.n_points))
    np.testing.assert_allclose(tree.radii[1:], space.diameter / 2.0 ** np.arange(1, 6))
    for node in range(1, len(tree)):
        radius, center = tree.radii[tree.depth[node]], tree.representative[node]
        assert matrix[center, tree.points(node)].max() <= radius * (1 + 1e-12)
        before = range(int(tree.first_child[tree.parent[node]]), node)
        for other in before:
            assert matrix[tree.representative[other], tree.points(node)].min() > radius * (1 - 1e-12)
    orders = {tuple(MetricHST.printed(space, np.random.default_rng(seed), 5).representative.tolist()) for seed in range(4)}
    assert len(orders) > 1
