import itertools

import numpy as np
import pytest

from spinney.exceptions import ParameterError
from spinney.solvers import service as services
from spinney.solvers import swaps
from spinney.solvers.service import Service, nearest_two
from spinney.solvers.swaps import local_search, swap_changes
from spinney.spaces.metric import FiniteMetric


def problem(seed, n=30, power=1, candidates=None):
    """Random points with random weights, a third of them 0."""
    rng = np.random.default_rng(seed)
    space = FiniteMetric.from_points(rng.normal(size=(n, 2)), candidates=candidates)
    weights = rng.uniform(0.5, 3.0, n) * (rng.random(n) < 0.67)
    return space, weights, Service.of(space, weights, power)


def direct_cost(space, weights, centers, power):
    return float(weights @ space.distances(list(centers)).min(axis=0) ** power)


@pytest.fixture(params=["64 bits", "32 bits", "no table"])
def storage(request, monkeypatch):
    if request.param != "64 bits":
        monkeypatch.setattr(services, "EXACT_BYTES", 0)
    if request.param == "no table":
        monkeypatch.setattr(services, "TABLE_BYTES", 0)
        monkeypatch.setattr(swaps, "BLOCK_ENTRIES", 100)
    monkeypatch.setattr(swaps, "TILE", 8)
    return request.param


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("existing", [(), (4, 7)])
@pytest.mark.parametrize("candidates", [None, [0, 1, 2, 3, 5, 8, 13, 21, 28]])
def test_all_changes_are_those_of_direct_costs(storage, power, k, existing, candidates):
    space, weights, service = problem(k, power=power, candidates=candidates)
    assert (service.table is None) == (storage == "no table")
    centers = space.candidates[:k]
    costs = np.concatenate([service.from_points(centers), service.from_points(list(existing))])
    changes = swap_changes(service, costs, k)
    before = direct_cost(space, weights, [*centers, *existing], power)
    for x, y in itertools.product(range(k), range(len(space.candidates))):
        after = direct_cost(space, weights, [*np.delete(centers, x), space.candidates[y], *existing], power)
        assert changes[x, y] == pytest.approx(after - before, rel=1e-4 if storage == "32 bits" else 1e-9, abs=1e-5 * before)


def test_many_points_per_center_are_added_up_right(storage):
    space, weights, service = problem(1, n=150)
    changes = swap_changes(service, service.from_points([3, 4]), 2)
    before = direct_cost(space, weights, [3, 4], 1)
    assert changes[0, 9] == pytest.approx(direct_cost(space, weights, [9, 4], 1) - before, rel=1e-4)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_the_search_makes_the_best_swap_and_stops_where_none_is_left(storage, seed, power):
    space, weights, service = problem(seed, n=20, power=power)
    existing = (11,)
    start = [0, 1, 2]
    one = local_search(service, start, existing, alpha=0.0, steps=1)
    swapped = [
        direct_cost(space, weights, [*start[:x], y, *start[x + 1 :], 11], power)
        for x, y in itertools.product(range(3), range(20))
        if y not in (*start, 11)
    ]
    assert one.cost == pytest.approx(min(swapped), rel=1e-6)
    end = local_search(service, start, existing, alpha=0.0)
    assert end.cost == pytest.approx(direct_cost(space, weights, [*end.points, 11], power))
    for x, y in itertools.product(range(3), range(20)):
        if y not in (*end.points, 11):
            assert direct_cost(space, weights, [*np.delete(end.points, x), y, 11], power) >= end.cost * (1 - 1e-6)


def test_small_gains_do_not_pay():
    _, _, service = problem(2, n=60)
    greedy, patient = local_search(service, [0, 1, 2, 3], alpha=0.0), local_search(service, [0, 1, 2, 3], alpha=0.5)
    assert patient.swaps < greedy.swaps
    assert greedy.cost < patient.cost
    assert local_search(service, [0, 1, 2, 3], steps=0).points.tolist() == [0, 1, 2, 3]


def test_existing_sites_stay_and_need_not_be_candidates():
    space, weights, service = problem(3, candidates=[1, 2, 3, 4])
    found = local_search(service, [1], existing=[9, 2], alpha=0.0)
    assert found.points[0] in (1, 3, 4)
    best = min(direct_cost(space, weights, [y, 9, 2], 1) for y in (1, 3, 4))
    assert found.cost == pytest.approx(best)


def test_threads_do_not_change_the_result(monkeypatch):
    _, _, service = problem(4, n=200)
    alone = local_search(service, np.arange(5), alpha=0.0)
    monkeypatch.setattr(swaps, "TILE", 16)
    assert local_search(service, np.arange(5), alpha=0.0).points.tolist() == alone.points.tolist()


def test_no_demand_costs_nothing():
    space = FiniteMetric.from_points([[0.0], [1.0], [2.0]])
    assert local_search(Service.of(space, np.zeros(3)), [1]).cost == 0


def test_nearest_two_are_found():
    costs = np.array([[3.0, 1.0, 2.0], [1.0, 1.0, 5.0], [2.0, 0.5, 2.0]])
    label, first, second = nearest_two(costs)
    assert label.tolist() == [1, 2, 0]
    assert first.tolist() == [1.0, 0.5, 2.0]
    assert second.tolist() == [2.0, 1.0, 2.0]
    assert np.isinf(nearest_two(costs[:1])[2]).all()


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0, 1.0], [1.0, np.nan, 1.0], [[1.0, 1.0, 1.0]]])
def test_bad_weights_are_refused(weights):
    with pytest.raises(ParameterError, match="weights"):
        Service.of(FiniteMetric.from_points([[0.0], [1.0], [2.0]]), weights)


def test_other_bad_arguments_are_refused():
    space = FiniteMetric.from_points([[0.0], [1.0], [2.0]], candidates=[0, 1])
    with pytest.raises(ParameterError, match="power"):
        Service.of(space, np.ones(3), 3)
    for start in ([2], [0, 0]):
        with pytest.raises(ParameterError, match="start"):
            local_search(Service.of(space, np.ones(3)), start)


@pytest.mark.parametrize(("scale", "weight"), [(1e40, 1.0), (1e-40, 1.0), (1.0, 1e60), (1.0, 1e-60)])
def test_extreme_units_do_not_matter(storage, scale, weight):
    rng = np.random.default_rng(0)
    points, weights = rng.normal(size=(40, 2)), rng.random(40)
    plain = local_search(Service.of(FiniteMetric.from_points(points), weights), [0, 1, 2], alpha=0.0)
    scaled = local_search(Service.of(FiniteMetric.from_points(points * scale), weights * weight), [0, 1, 2], alpha=0.0)
    assert scaled.points.tolist() == plain.points.tolist()
    assert scaled.cost == pytest.approx(plain.cost * scale * weight)
