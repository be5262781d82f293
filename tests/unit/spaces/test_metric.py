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
from spinney.spaces.metric import FiniteMetric, Network, nearest_site


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
    assert isinstance(space.source, Network) or (found == found.T).all()  # to the last bit


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


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 25), extra=st.integers(0, 60), whole=st.booleans())
def test_networks_agree_with_scipy(seed, n, extra, whole):
    """In whatever form an edge is given, in one direction, in both, or twice, also of length 0, and with loops."""
    graph = random_graph(seed, n, extra)
    if whole:
        graph.data = np.floor(graph.data * 2)
    (tails, heads), lengths = graph.coords, graph.data
    twice = sp.coo_array((np.tile(lengths, 2), (np.r_[tails, heads], np.r_[heads, tails])), shape=(n, n))
    loop = sp.coo_array((np.r_[lengths, 7.0], (np.r_[tails, 1], np.r_[heads, 1])), shape=(n, n))
    expected = dijkstra(twice.tocsr(), directed=True)
    for form in (graph, graph.T, graph.tocsr(), sp.csc_matrix(graph), twice, loop):
        space = FiniteMetric.from_graph(form)
        np.testing.assert_allclose(space.distances(np.arange(n)), expected, rtol=1e-12)
    assert space.is_metric()


@given(seed=st.integers(0, 10**6), n=st.integers(2, 60), extra=st.integers(0, 90), spread=st.sampled_from([0, 1, 8, 150, 600]))
def test_a_distance_is_the_least_sum_of_lengths_to_the_last_bit(seed, n, extra, spread):
    """However different lengths are, however a search orders its nodes, and wherever it ends."""
    rng = np.random.default_rng(seed)
    graph = random_graph(seed, n, extra)
    graph.data = np.maximum(graph.data * 10.0 ** rng.uniform(-spread / 2, 0, graph.nnz), 1e-320) * (rng.random(graph.nnz) < 0.9)
    space = FiniteMetric.from_graph(graph)
    (tails, heads), lengths = graph.coords, graph.data
    tails, heads, lengths = np.r_[tails, heads], np.r_[heads, tails], np.r_[lengths, lengths]
    expected = np.full((n, n), np.inf)
    np.fill_diagonal(expected, 0.0)
    for _ in range(n):
        for tail, head, length in zip(tails, heads, lengths, strict=True):
            expected[:, head] = np.minimum(expected[:, head], expected[:, tail] + length)
    np.testing.assert_array_equal(space.distances(np.arange(n)), expected)
    within = float(rng.choice(expected.ravel()))
    found = space.distances_between(np.arange(n), np.arange(n), within=within)
    np.testing.assert_array_equal(found[expected < within], expected[expected < within])
    assert (found[expected >= within] >= within).all()


@given(seed=st.integers(0, 10**6), n=st.integers(1, 40), sites=st.integers(1, 9), block=st.sampled_from([1, 30, 2**22]))
def test_the_nearest_site_is_the_first_of_the_nearest(seed, n, sites, block):
    rng = np.random.default_rng(seed)
    space = FiniteMetric.from_points(rng.integers(0, 3, (n, 2)).astype(float))
    places, points = rng.integers(0, n, sites), rng.permutation(n)[: n // 2]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spinney.spaces.metric.BLOCK_ENTRIES", block)
        found, some = nearest_site(space, places), nearest_site(space, places, points)
    np.testing.assert_array_equal(found, space.distances(places).argmin(axis=0))
    np.testing.assert_array_equal(some, found[points])


def test_rounding_is_taken_out_of_a_matrix(monkeypatch):
    monkeypatch.setattr("spinney.spaces.distances.BLOCK_ENTRIES", 20)
    rng = np.random.default_rng(0)
    points = rng.normal(size=(11, 2))
    matrix = cdist(points, points) + rng.uniform(0, 1e-12, (11, 11))
    found = FiniteMetric.from_matrix(matrix).distances(np.arange(11))
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(np.triu(found, 1), np.triu(matrix, 1))
    assert (found.diagonal() == 0).all()


def test_a_space_keeps_what_it_was_given():
    names = [f"p{i}" for i in range(40)]
    space = FiniteMetric.from_graph(random_graph(0), candidates=[9, 2], coordinates=np.zeros((40, 2)), names=names)
    assert space.candidates.tolist() == [2, 9]
    assert space.coordinates.shape == (40, 2)
    assert repr(space) == "FiniteMetric(from a network: 40 points, 2 candidates)"
    small = FiniteMetric.from_matrix(np.ones((4, 4), dtype=np.float32) - np.eye(4, dtype=np.float32))
    assert small.source.values.dtype == np.float32
    assert small.distances([1]).dtype == np.float64
    matrix, points = np.ones((3, 3)) - np.eye(3), np.arange(6.0).reshape(3, 2)
    spaces = FiniteMetric.from_matrix(matrix), FiniteMetric.from_points(points)
    before = [space.distances([0]) for space in spaces]
    matrix[:] = points[:] = 9
    for space, distances in zip(spaces, before, strict=True):
        np.testing.assert_array_equal(space.distances([0]), distances)
        assert not space.candidates.flags.writeable


def test_a_broken_triangle_is_seen_and_allowed():
    broken = np.array([[0, 1, 5], [1, 0, 1], [5, 1, 0.0]])
    assert not FiniteMetric.from_matrix(broken).is_metric()
    broken[0, 2] = broken[2, 0] = 2
    assert FiniteMetric.from_matrix(broken).is_metric()
    assert FiniteMetric.from_matrix([[0, 0, 1], [0, 0, 1], [1, 1, 0]]).is_metric()  # two points in one place
    points = np.random.default_rng(0).random((20, 3))
    assert FiniteMetric.from_matrix(cdist(points, points).astype(np.float32)).is_metric()


def network(lengths=(), tails=(), heads=(), shape=(2, 2)):
    return sp.coo_array((np.array(lengths, float), (np.array(tails, int), np.array(heads, int))), shape=shape)


POINTS = np.zeros((3, 1))
WRONG = [
    *[(FiniteMetric.from_matrix, (given,), message) for given, message in [
        (np.zeros((2, 3)), "square"), (np.zeros((0, 0)), "at least one row"), (np.zeros(4), "at least one row"),
        ([["a"]], "at least one row"), ([[0, np.nan], [np.nan, 0]], "finite"), ([[0, np.inf], [np.inf, 0]], "finite"),
        ([[0, -1], [-1, 0]], "not negative"), ([[1, 2], [2, 0]], "diagonal"), ([[0, 2], [3, 0]], "symmetric"),
    ]],
    *[(FiniteMetric.from_graph, (given,), message) for given, message in [
        (np.ones((2, 2)), "sparse"), (network(shape=(2, 3)), "square"), (network(shape=(0, 0)), "at least one point"),
        (network(shape=(5, 5)), "several parts"), (network([1, 1], [0, 2], [1, 3], (4, 4)), "largest component"),
        (network([-1], [0], [1]), "not negative"), (network([np.inf], [0], [1]), "finite"),
        (network([1, 2], [0, 1], [1, 0]), "one length per edge"), (network([1, 2], [0, 0], [1, 1]), "one length per edge"),
    ]],
    *[(FiniteMetric.from_points, (given,), "points") for given in ([[np.nan]], [[np.inf]], [], [[]], "x", [1.0, 2.0], [[1e200]])],
    *[(FiniteMetric.from_points, (POINTS, "euclidean", some), "candidates")
      for some in ([], [0, 0], [-1], [3], [0.5], [[1]], [True, False, True])],
    (FiniteMetric.from_points, (POINTS, "cosine"), "metric"),
    (FiniteMetric.from_matrix, ([[0.0]], None, POINTS), "coordinates"),
    *[(FiniteMetric.from_points(POINTS).distances, (sources,), "sources") for sources in ([3], [-1], [0.5], [[0]])],
]  # fmt: skip


@pytest.mark.parametrize(("make", "given", "message"), WRONG)
def test_what_is_no_space_is_refused(make, given, message):
    with pytest.raises(ParameterError, match=message):
        make(*given)


def test_the_module_loads_nothing_heavy():
    code = "import sys, spinney.spaces.metric; assert not {'scipy', 'numba'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
