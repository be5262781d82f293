import numpy as np
import pytest

from spinney.exceptions import ParameterError
from spinney.solvers.seeding import seed_medoids
from spinney.solvers.service import Service
from spinney.spaces.metric import FiniteMetric

LINE = FiniteMetric.from_points([[0.0], [1.0], [3.0], [10.0]])


def draw(service, k, seed, **options):
    return seed_medoids(service, k, np.random.default_rng(seed), **options)


@pytest.mark.parametrize("power", [1, 2])
def test_second_centers_are_drawn_by_weight_and_cost(power):
    weights = np.array([1.0, 4.0, 0.0, 2.0])
    service = Service.of(LINE, weights, power)
    drawn = np.bincount([draw(service, 1, seed, existing=[0])[0] for seed in range(4000)], minlength=4) / 4000
    shares = weights * LINE.distances([0])[0] ** power
    np.testing.assert_allclose(drawn, shares / shares.sum(), atol=0.03)


def test_first_centers_are_drawn_by_weight():
    service = Service.of(LINE, [1.0, 2.0, 0.0, 1.0])
    drawn = np.bincount([draw(service, 1, seed)[0] for seed in range(4000)], minlength=4) / 4000
    np.testing.assert_allclose(drawn, [0.25, 0.5, 0, 0.25], atol=0.03)


@pytest.mark.parametrize("tabulated", [False, True])
def test_centers_are_different_candidates(tabulated):
    rng = np.random.default_rng(0)
    space = FiniteMetric.from_points(rng.normal(size=(40, 2)), candidates=np.arange(0, 40, 3))
    service = Service.of(space, rng.random(40))
    if tabulated:
        service.tabulate()
    for seed in range(20):
        points = draw(service, 8, seed, existing=[3, 4], trials=3)
        assert len(set(points)) == 8
        assert set(points) <= set(space.candidates) - {3}


def test_demand_that_is_no_candidate_goes_to_the_nearest():
    space = FiniteMetric.from_points([[0.0], [1.0], [3.0], [10.0]], candidates=[0, 3])
    service = Service.of(space, [0.0, 0.0, 1.0, 0.0])
    assert draw(service, 1, 0).tolist() == [0]


def test_more_centers_than_demand_are_filled_up():
    service = Service.of(LINE, [0.0, 1.0, 0.0, 0.0])
    assert sorted(draw(service, 4, 0)) == [0, 1, 2, 3]
    assert len(set(draw(Service.of(LINE, np.zeros(4)), 3, 0))) == 3


def test_trials_lower_the_cost():
    space = FiniteMetric.from_points(np.random.default_rng(1).normal(size=(200, 2)))
    service = Service.of(space, np.ones(200))
    single, several = (np.mean([service.cost(draw(service, 10, seed, trials=t)) for seed in range(20)]) for t in (1, 8))
    assert several < single


@pytest.mark.parametrize("k", [0, 4])
def test_too_many_centers_are_refused(k):
    with pytest.raises(ParameterError, match="n_clusters"):
        draw(Service.of(LINE, np.ones(4)), k, 0, existing=[1])
