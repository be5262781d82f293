import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra
from scipy.spatial.distance import cdist

from spinney.exceptions import ParameterError
from spinney.spaces.metric import FiniteMetric


def random_graph(seed, n=40, extra=60):
    """A random spanning tree and a few more edges, each in one direction."""
    rng = np.random.default_rng(seed)
    tails = np.concatenate([np.arange(1, n), rng.integers(0, n, extra)])
    heads = np.concatenate([[rng.integers(0, i) for i in range(1, n)], rng.integers(0, n, extra)])
    low, high = np.minimum(tails, heads), np.maximum(tails, heads)
    _, once = np.unique(low * n + high, return_index=True)
    once = once[low[once] < high[once]]
    return sp.coo_array((rng.uniform(0.1, 2.0, len(once)), (high[once], low[once])), shape=(n, n))


@pytest.fixture(params=["matrix", "euclidean", "manhattan", "graph"])
def space_and_matrix(request):
    points = np.random.default_rng(3).normal(size=(30, 3))
    if request.param == "graph":
        graph = random_graph(1)
        return FiniteMetric.from_graph(graph), dijkstra(graph, directed=False)
    matrix = cdist(points, points, "cityblock" if request.param == "manhattan" else "euclidean")
    if request.param == "matrix":
        return FiniteMetric.from_matrix(matrix), matrix
    return FiniteMetric.from_points(points, request.param), matrix


def test_distances_are_right(space_and_matrix):
    space, matrix = space_and_matrix
    everything = np.arange(space.n_points)
    found = space.distances(everything)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, matrix, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(space.distances_between([5, 2], [1, 2, 3]), matrix[[5, 2]][:, [1, 2, 3]], atol=1e-12)
    np.testing.assert_allclose(space.distances_between(everything, [7]), matrix[:, [7]], atol=1e-12)
    assert (found.diagonal() == 0).all()


def test_blocks_cover_all_rows(space_and_matrix):
    space, matrix = space_and_matrix
    whole = np.full_like(matrix, np.nan)
    for part, block in space.blocks(entries=7 * space.n_points):
        assert len(block) <= 7
        whole[part] = block
    np.testing.assert_allclose(whole, matrix, atol=1e-12)
    sizes = [block.shape for _, block in space.blocks([3, 1], [0, 5, 6])]
    assert sizes == [(2, 3)]


def test_the_diameter_bounds_every_distance(space_and_matrix):
    space, matrix = space_and_matrix
    assert space.distances(np.arange(space.n_points)).max() <= space.diameter <= 1.05 * matrix.max()


@given(
    seed=st.integers(0, 2**32), n=st.integers(1, 300), d=st.integers(1, 5), kind=st.sampled_from(["even", "tail", "tree", "ring"])
)
@settings(deadline=None, max_examples=40, derandomize=True)
def test_the_diameter_is_near_the_largest_distance(seed, n, d, kind):
    rng = np.random.default_rng(seed)
    if kind in ("even", "tail"):
        points = rng.random((n, d)) if kind == "even" else rng.standard_cauchy((n, d)) * 1e-3
        space = FiniteMetric.from_points(points)
    else:
        ends = np.arange(1, n) if kind == "ring" else np.array([rng.integers(0, i) for i in range(1, n)], dtype=np.int64)
        pairs = np.column_stack([np.arange(1, n), ends - 1 if kind == "ring" else ends])
        closing = [[0, n - 1]] if kind == "ring" and n > 2 else np.empty((0, 2))
        edges = np.concatenate([pairs, closing]) if n > 1 else np.array([[0.0, 0.0]])
        space = FiniteMetric.from_graph(np.column_stack([edges, rng.uniform(0.1, 1, len(edges))]))
    largest = space.distances(np.arange(space.n_points)).max()
    assert largest <= space.diameter <= 1.25 * largest


def test_threads_do_not_change_distances(monkeypatch, space_and_matrix):
    space, _ = space_and_matrix
    everything = np.arange(space.n_points)
    alone = space.distances(everything)
    monkeypatch.setattr("spinney.spaces.metric.BLOCK_ENTRIES", 1)
    np.testing.assert_array_equal(space.distances(everything), alone)


def test_coordinate_distances_are_symmetric_to_the_last_bit():
    space = FiniteMetric.from_points(np.random.default_rng(0).normal(size=(50, 37)))
    found = space.distances(np.arange(50))
    np.testing.assert_array_equal(found, found.T)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 25), extra=st.integers(0, 60), whole=st.booleans())
def test_networks_agree_with_scipy(seed, n, extra, whole):
    graph = random_graph(seed, n, extra)
    if whole:
        graph.data = np.ceil(graph.data * 3)
    space = FiniteMetric.from_graph(graph)
    np.testing.assert_allclose(space.distances(np.arange(n)), dijkstra(graph, directed=False), rtol=1e-12)


def test_an_edge_counts_both_ways_and_may_be_given_twice():
    once = sp.coo_array(([1.0, 2.0], ([0, 1], [1, 2])), shape=(3, 3))
    twice = sp.coo_array(([1.0, 2.0, 1.0, 2.0], ([0, 1, 1, 2], [1, 2, 0, 1])), shape=(3, 3))
    for graph in (once, once.T, twice, once.tocsr(), sp.csr_matrix(once)):
        np.testing.assert_array_equal(FiniteMetric.from_graph(graph).distances([0]), [[0, 1, 3]])


def test_edges_of_length_zero_and_loops():
    graph = sp.coo_array(([0.0, 2.0, 7.0], ([0, 1, 1], [1, 2, 1])), shape=(3, 3))
    for stored in (graph, graph.tocsr(), graph.tocsc()):
        np.testing.assert_array_equal(FiniteMetric.from_graph(stored).distances([0, 2]), [[0, 0, 2], [2, 2, 0]])


def test_points_at_distance_zero_are_allowed():
    space = FiniteMetric.from_matrix([[0, 0, 1], [0, 0, 1], [1, 1, 0]])
    assert space.n_points == 3
    assert space.is_metric()
    assert FiniteMetric.from_points([[1.0], [1.0]]).diameter == 0


def test_one_point_is_a_space():
    for space in (
        FiniteMetric.from_matrix([[0.0]]),
        FiniteMetric.from_points([[3.0, 4.0]]),
        FiniteMetric.from_graph(sp.coo_array((1, 1))),
    ):
        assert (space.n_points, space.diameter, space.distances([0]).tolist()) == (1, 0.0, [[0.0]])


def test_a_32_bit_matrix_stays_so():
    matrix = np.ones((4, 4), dtype=np.float32) - np.eye(4, dtype=np.float32)
    space = FiniteMetric.from_matrix(matrix)
    assert space.source.values.dtype == np.float32
    assert space.distances([1]).dtype == np.float64


def test_rounding_is_taken_out_of_a_matrix(monkeypatch):
    monkeypatch.setattr("spinney.spaces.distances.BLOCK_ENTRIES", 20)
    rng = np.random.default_rng(0)
    points = rng.normal(size=(11, 2))
    matrix = cdist(points, points) + rng.uniform(0, 1e-12, (11, 11))
    found = FiniteMetric.from_matrix(matrix).distances(np.arange(11))
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(np.triu(found, 1), np.triu(matrix, 1))
    assert (found.diagonal() == 0).all()


def test_a_space_does_not_change_with_its_input():
    matrix, points = np.ones((3, 3)) - np.eye(3), np.arange(6.0).reshape(3, 2)
    spaces = FiniteMetric.from_matrix(matrix), FiniteMetric.from_points(points)
    before = [space.distances([0]) for space in spaces]
    matrix[:] = points[:] = 9
    for space, distances in zip(spaces, before, strict=True):
        np.testing.assert_array_equal(space.distances([0]), distances)
        assert not space.candidates.flags.writeable


def test_candidates_are_sorted_and_coordinates_kept():
    space = FiniteMetric.from_graph(random_graph(0), candidates=[9, 2], coordinates=np.zeros((40, 2)))
    assert space.candidates.tolist() == [2, 9]
    assert space.candidates.dtype == np.int64
    assert space.coordinates.shape == (40, 2)
    assert repr(space) == "FiniteMetric(from a network: 40 points, 2 candidates)"


def test_a_broken_triangle_is_seen_and_allowed():
    broken = np.array([[0, 1, 5], [1, 0, 1], [5, 1, 0.0]])
    assert not FiniteMetric.from_matrix(broken).is_metric()
    broken[0, 2] = broken[2, 0] = 2
    assert FiniteMetric.from_matrix(broken).is_metric()
    assert FiniteMetric.from_points([[0.0], [2.0]]).is_metric()


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.zeros((2, 3)), "square"),
        (np.zeros((0, 0)), "at least one row"),
        (np.zeros(4), "at least one row"),
        ([["a"]], "at least one row"),
        ([[0, np.nan], [np.nan, 0]], "finite"),
        ([[0, np.inf], [np.inf, 0]], "finite"),
        ([[0, -1], [-1, 0]], "not negative"),
        ([[1, 2], [2, 0]], "diagonal"),
        ([[0, 2], [3, 0]], "symmetric"),
    ],
)
def test_bad_matrices_are_refused(matrix, message):
    with pytest.raises(ParameterError, match=message):
        FiniteMetric.from_matrix(matrix)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (np.ones((2, 2)), "sparse"),
        (sp.coo_array((2, 3)), "square"),
        (sp.coo_array((0, 0)), "at least one point"),
        (sp.coo_array((5, 5)), "several parts"),
        (sp.coo_array(([1.0, 1.0], ([0, 2], [1, 3])), shape=(4, 4)), "largest component"),
        (sp.coo_array(([-1.0], ([0], [1])), shape=(2, 2)), "not negative"),
        (sp.coo_array(([np.inf], ([0], [1])), shape=(2, 2)), "finite"),
        (sp.coo_array(([1.0, 2.0], ([0, 1], [1, 0])), shape=(2, 2)), "one length per edge"),
        (sp.coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(2, 2)), "one length per edge"),
    ],
)
def test_bad_graphs_are_refused(graph, message):
    with pytest.raises(ParameterError, match=message):
        FiniteMetric.from_graph(graph)


def test_the_hint_on_components_works():
    graph = sp.coo_array(([1.0, 1.0, 0.0], ([0, 1, 3], [1, 2, 4])), shape=(5, 5))
    labels = sp.csgraph.connected_components(graph, directed=False)[1]
    keep = np.flatnonzero(labels == np.bincount(labels).argmax())
    assert FiniteMetric.from_graph(graph.tocsr()[keep][:, keep]).n_points == 3


@pytest.mark.parametrize("candidates", [[], [0, 0], [-1], [3], [0.5], [[1]], [True, False, True]])
def test_bad_candidates_are_refused(candidates):
    with pytest.raises(ParameterError, match="candidates"):
        FiniteMetric.from_points(np.zeros((3, 1)), candidates=candidates)


@pytest.mark.parametrize("bad", [[[np.nan]], [[np.inf]], [], [[]], "x", [1.0, 2.0], [[1e200]]])
def test_bad_points_are_refused(bad):
    with pytest.raises(ParameterError, match="points"):
        FiniteMetric.from_points(bad)


def test_other_bad_arguments_are_refused():
    with pytest.raises(ParameterError, match="metric"):
        FiniteMetric.from_points([[0.0]], metric="cosine")
    with pytest.raises(ParameterError, match="coordinates"):
        FiniteMetric.from_matrix([[0.0]], coordinates=[[0.0], [1.0]])
    space = FiniteMetric.from_points([[0.0], [1.0]])
    for sources in ([2], [-1], [0.5], [[0]]):
        with pytest.raises(ParameterError, match="sources"):
            space.distances(sources)
    assert space.distances_between([], [0]).shape == (0, 1)


def test_the_module_loads_nothing_heavy():
    code = "import sys, spinney.spaces.metric; assert not {'scipy', 'numba'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
