import itertools

import numpy as np
import pytest

from spinney import FiniteMetric, ParameterError
from spinney.solvers import service as services
from spinney.solvers import swaps
from spinney.solvers.service import Service
from spinney.solvers.swaps import local_search, swap_changes
from tests.covering import covering


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


FORMS = {
    "storage": ["64 bits", "32 bits", "no table"],
    "n": [30, 60],
    "power": [1, 2],
    "k": [1, 2, 5],
    "existing": [(), (4, 7), (2, 11)],
    "candidates": [None, [0, 1, 2, 3, 5, 8, 13, 21, 28]],
}


@covering(", ".join(FORMS), *FORMS.values(), indirect=["storage"])
def test_all_changes_are_those_of_direct_costs_and_the_search_makes_the_best(storage, n, power, k, existing, candidates):
    space, weights, service = problem(k, n, power, candidates)
    assert (service.table is None) == (storage == "no table")
    free = np.setdiff1d(space.candidates, existing)
    centers, near = free[:k], 1e-4 if storage == "32 bits" else 1e-9
    changes = swap_changes(service, np.concatenate([service.from_points(centers), service.from_points(list(existing))]), k)
    before = direct_cost(space, weights, [*centers, *existing], power)
    after = {
        (x, y): direct_cost(space, weights, [*np.delete(centers, x), y, *existing], power)
        for x, y in itertools.product(range(k), space.candidates)
    }
    for (x, y), cost in after.items():
        assert changes[x, np.searchsorted(space.candidates, y)] == pytest.approx(cost - before, rel=near, abs=1e-5 * before)
    one = local_search(service, centers, existing, alpha=0.0, steps=1)
    assert one.cost == pytest.approx(min(before, *(cost for (_, y), cost in after.items() if y in free)), rel=1e-5)
    end = local_search(service, centers, existing, alpha=0.0)
    assert set(end.points) <= set(free)
    assert end.cost == pytest.approx(direct_cost(space, weights, [*end.points, *existing], power))
    for x, y in itertools.product(range(k), np.setdiff1d(free, end.points)):
        assert direct_cost(space, weights, [*np.delete(end.points, x), y, *existing], power) >= end.cost * (1 - 1e-6)
    assert local_search(service, centers, existing, steps=0).points.tolist() == centers.tolist()
    assert local_search(service, centers, existing, alpha=0.5).swaps <= end.swaps  # small gains do not pay


@pytest.mark.parametrize("weights", [[1], [1, -1, 1], [1, np.nan, 1], [[1, 1, 1]]])
def test_bad_weights_are_refused(weights):
    with pytest.raises(ParameterError, match="weights"):
        Service.of(FiniteMetric.from_points([[0.0], [1.0], [2.0]]), weights)


@pytest.mark.parametrize(("scale", "weight"), [(1e40, 1.0), (1e-40, 1.0), (1.0, 1e60), (1.0, 1e-60)])
def test_extreme_units_do_not_matter(storage, scale, weight):
    rng = np.random.default_rng(0)
    points, weights = rng.normal(size=(40, 2)), rng.random(40)
    plain = local_search(Service.of(FiniteMetric.from_points(points), weights), [0, 1, 2], alpha=0.0)
    scaled = local_search(Service.of(FiniteMetric.from_points(points * scale), weights * weight), [0, 1, 2], alpha=0.0)
    assert scaled.points.tolist() == plain.points.tolist()
    assert scaled.cost == pytest.approx(plain.cost * scale * weight)
