import itertools

import numpy as np
import pytest
import scipy.sparse as sp

from spinney import FiniteMetric, ParameterError
from spinney.solvers import medoids
from spinney.solvers.medoids import solve_medoids
from spinney.solvers.service import Service


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("existing", [(), (5,)])
def test_small_problems_are_solved_to_the_optimum(power, k, existing):
    rng = np.random.default_rng(k)
    tails = np.concatenate([np.arange(24), rng.integers(0, 25, 20)])
    heads = np.concatenate([np.arange(1, 25), rng.integers(0, 25, 20)])
    edges = {(min(u, v), max(u, v)): rng.uniform(1, 2) for u, v in zip(tails, heads, strict=True) if u != v}
    pairs = np.array(list(edges))
    graph = sp.coo_array((list(edges.values()), (pairs[:, 0], pairs[:, 1])), shape=(25, 25))
    space = FiniteMetric.from_graph(graph, candidates=np.arange(0, 25, 2))
    weights = rng.integers(0, 4, 25)
    found = solve_medoids(space, weights, k, power, existing=existing)
    matrix = space.distances(np.arange(25)) ** power
    best = min(weights @ matrix[[*some, *existing]].min(axis=0) for some in itertools.combinations(space.candidates, k))
    assert found.cost == pytest.approx(best)
    assert found.cost == pytest.approx(weights @ matrix[[*found.points, *existing]].min(axis=0))
    assert set(found.points) <= set(space.candidates)


def test_as_many_centers_as_demand_cost_nothing():
    space = FiniteMetric.from_points(np.arange(20.0)[:, None])
    assert solve_medoids(space, np.arange(20) < 4, 6).cost == 0
    assert solve_medoids(space, np.zeros(20), 2).cost == 0
    with pytest.raises(ParameterError, match="n_clusters"):
        solve_medoids(space, np.ones(20), 20, existing=[3])


def test_samples_stand_for_a_table_that_does_not_fit(monkeypatch):
    rng = np.random.default_rng(0)
    centers = rng.uniform(-10, 10, (8, 2))
    space = FiniteMetric.from_points(centers[rng.integers(0, 8, 3000)] + rng.normal(0, 0.5, (3000, 2)))
    weights = rng.integers(1, 4, 3000).astype(float)
    whole = solve_medoids(space, weights, 8, existing=[0])
    monkeypatch.setattr(medoids, "TABLE_BYTES", 0)
    monkeypatch.setattr(medoids, "SAMPLE", 400)
    sampled = solve_medoids(space, weights, 8, existing=[0])
    assert sampled.cost == pytest.approx(Service.of(space, weights).cost([*sampled.points, 0]))
    assert whole.cost <= sampled.cost < 1.05 * whole.cost
    monkeypatch.setattr(medoids, "TABLE_BYTES", 2**30)
    monkeypatch.setattr(medoids, "MANY", 1000)
    some = solve_medoids(space, weights, 8, existing=[0])  # of the candidates, for all of the demand
    assert some.cost == pytest.approx(Service.of(space, weights).cost([*some.points, 0]))
    assert whole.cost <= some.cost < 1.002 * whole.cost
