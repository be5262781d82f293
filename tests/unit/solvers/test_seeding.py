import numpy as np
import pytest

from spinney import FiniteMetric, ParameterError
from spinney.solvers.seeding import seed_medoids
from spinney.solvers.service import Service

LINE = FiniteMetric.from_points([[0.0], [1.0], [3.0], [10.0]])


def draw(service, k, seed, **options):
    return seed_medoids(service, k, np.random.default_rng(seed), **options)


class Grid:
    """A generator whose uniforms are an even grid, one after the other, so that a share of draws is a share of [0, 1)."""

    def __init__(self, size):
        self.left = iter((np.arange(size) + 0.5) / size)

    def random(self, count):
        return np.array([next(self.left) for _ in range(count)])


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("existing", [[], [0]])
def test_centers_are_drawn_by_weight_and_cost_and_a_point_that_is_no_candidate_sends_its_center_to_the_nearest(power, existing):
    weights, grid = np.array([1.0, 4.0, 0.0, 2.0]), Grid(700)
    shares = weights * (LINE.distances([0])[0] ** power if existing else 1.0)
    for candidates, place in ([0, 1, 2, 3], [0, 1, 2, 3]), ([0, 2, 3], [0, 0, 2, 3]):
        space = FiniteMetric.from_points(LINE.source.points, candidates=candidates)
        service, grid = Service.of(space, weights, power), Grid(700)
        drawn = np.bincount([seed_medoids(service, 1, grid, existing)[0] for _ in range(700)], minlength=4) / 700
        free = [2 if one in existing else one for one in place]  # the nearest that is free
        np.testing.assert_allclose(drawn, np.bincount(free, shares / shares.sum(), 4), atol=0.01)


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
    service = Service.of(LINE, [0.0, 1.0, 0.0, 0.0])  # more centers than demand are filled up
    assert sorted(draw(service, 4, 0)) == [0, 1, 2, 3]
    assert len(set(draw(Service.of(LINE, np.zeros(4)), 3, 0))) == 3


@pytest.mark.parametrize("k", [0, 4])
def test_too_many_centers_are_refused(k):
    with pytest.raises(ParameterError, match="n_clusters"):
        draw(Service.of(LINE, np.ones(4)), k, 0, existing=[1])
