"""One-way streets and tables of costs: what is known is the way from demand to sites."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney import FiniteMetric, ParameterError, PrivateKMedoids
from spinney.solvers.service import Service

networkx = pytest.importorskip("networkx")


def one_way(seed, n):
    """Return a strong random graph with parallel edges, and its space."""
    rng = np.random.default_rng(seed)
    graph = networkx.MultiDiGraph()
    ring = rng.permutation(n)
    for u, v in [*zip(ring, np.roll(ring, 1), strict=True), *rng.integers(0, n, (2 * n, 2))]:
        graph.add_edge(int(u), int(v), minutes=float(rng.integers(1, 20)))
    return graph, FiniteMetric.from_graph(networkx.MultiDiGraph(graph), weight="minutes")


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 12), few=st.integers(1, 4))
def test_demand_travels_with_the_traffic_whatever_is_asked(seed, n, few):
    graph, space = one_way(seed, n)
    names = list(range(n)) if space.names is None else [int(name) for name in space.names]
    lengths = dict(networkx.all_pairs_dijkstra_path_length(graph, weight="minutes"))
    ways = np.array([[lengths[u][v] for v in names] for u in names])  # from demand u to site v
    everything, some = np.arange(n), np.random.default_rng(seed).integers(0, n, few)
    assert space.is_one_sided
    assert not space.is_metric()
    np.testing.assert_array_equal(space.distances(some), ways[:, some].T)
    np.testing.assert_array_equal(space.distances_between(everything, some), ways[np.ix_(some, everything)].T)
    for oriented, of_demand in ((True, False), (False, True)):
        asked = {"oriented": oriented, "of_demand": of_demand}
        np.testing.assert_array_equal(space.distances_between(everything, some, **asked), ways[:, some])
        blocks = [block for _, block in space.blocks(everything, some, entries=2 * few, **asked)]
        np.testing.assert_array_equal(np.concatenate(blocks), ways[:, some])
    service = Service.of(space, np.ones(n))
    np.testing.assert_array_equal(service.table, ways)
    np.testing.assert_array_equal(service.from_points(some), ways[:, some].T)
    assert ways.max() <= space.diameter <= 2 * ways.max() * (1 + 1e-8) or space.diameter <= 4 * ways.max()


def test_sites_are_chosen_by_the_way_to_them():
    """In a ring of one-way streets the best site lies downstream of demand, and turned around upstream."""
    ring = networkx.DiGraph()
    for i in range(60):
        ring.add_edge(i, (i + 1) % 60, length=1.0)
    demand = np.repeat([10, 11, 12], 50)
    for graph, best in ((ring, 12), (ring.reverse(), 10)):
        found = PrivateKMedoids(1, epsilon=np.inf, space=FiniteMetric.from_graph(graph), random_state=0).fit(demand)
        assert found.medoid_indices_.tolist() == [best]


@pytest.mark.parametrize("algorithm", ["auto", "coverage"])
def test_algorithms_that_run_say_that_no_bound_is_left(algorithm):
    _, space = one_way(0, 40)
    model = PrivateKMedoids(2, epsilon=2.0, delta=1e-6, space=space, algorithm=algorithm, noise_seed=0)
    assert "No bound" in model.plan().guarantee
    assert len(model.fit(np.arange(40)).medoid_indices_) == 2
    for refused in ("hst", "local-search"):
        with pytest.raises(ParameterError, match="alike there and back"):
            PrivateKMedoids(2, epsilon=2.0, space=space, algorithm=refused).plan()


def test_a_directed_graph_must_be_strong():
    with pytest.raises(ParameterError, match=r"(?s)connected.*strongly_connected_components"):
        FiniteMetric.from_graph(networkx.path_graph(4, create_using=networkx.DiGraph))


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 9), m=st.integers(1, 5), kind=st.sampled_from(["f4", "f8"]))
def test_costs_are_those_of_the_table_and_rows_that_move_change_none_by_more(seed, n, m, kind):
    table = np.random.default_rng(seed).integers(0, 50, (n, m)).astype(kind)
    space = FiniteMetric.from_costs(table)
    demand, sites = np.arange(n), np.arange(n, n + m)
    assert space.candidates.tolist() == sites.tolist()
    assert space.diameter == table.max()
    np.testing.assert_array_equal(space.distances_between(demand, sites), table)
    np.testing.assert_array_equal(space.distances_between(sites, demand), table.T)
    whole = space.distances(np.arange(n + m))
    np.testing.assert_array_equal(whole, whole.T)
    assert (np.abs(table[:, None] - table[None]).max(axis=2) == whole[:n, :n]).all()
    assert space.is_metric() == FiniteMetric.from_matrix(whole).is_metric()


def test_costs_of_a_metric_could_be_distances():
    rng = np.random.default_rng(0)
    demand, sites = rng.random((30, 2)), rng.random((6, 2))
    space = FiniteMetric.from_costs(np.linalg.norm(demand[:, None] - sites, axis=2))
    assert space.is_one_sided
    assert space.is_metric()


def test_candidates_of_a_table_of_costs_have_names_and_are_chosen():
    costs = [[9, 1], [8, 2], [1, 9], [7, 3]]
    space = FiniteMetric.from_costs(costs, names=["a", "b", "c", "d"], candidate_names=["north", "south"])
    model = PrivateKMedoids(1, epsilon=np.inf, space=space).fit(["a", "b", "d", "nowhere"])
    assert model.release_.names == ("south",)
    for wrong in ({"names": ["a"] * 4}, {"names": ["a", "b", "c", "d"], "candidate_names": ["a", "e"]}):
        with pytest.raises(ParameterError, match="names"):
            FiniteMetric.from_costs(costs, **wrong)
    with pytest.raises(ParameterError, match="costs"):
        FiniteMetric.from_costs([[1, -1]])
