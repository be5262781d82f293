"""Coverage of a private candidate set, with a solver that may be the user's own."""

import math

import numpy as np
import pytest

from spinney import PrivateKMeans, PrivateKMedian
from spinney.baselines import PointCoverage

PLACES = np.array([[-0.6, -0.6], [0.6, -0.6], [0.0, 0.6]])


def rows_of(n, seed=0):
    rng = np.random.default_rng(seed)
    return PLACES[rng.integers(0, 3, n)] + rng.normal(0, 0.04, (n, 2))


def test_a_solver_of_the_users_gets_released_values_alone():
    seen = {}

    def own(points, weights, k, power, rng):
        seen.update(points=points, weights=weights, k=k, power=power, rng=rng)
        return np.full((k, 2), 5.0)

    model = PrivateKMedian(2, epsilon=math.inf, bounds=(-1, 1), algorithm=PointCoverage(solver=own)).fit(rows_of(300))
    release = model.release_
    np.testing.assert_array_equal(model.cluster_centers_, np.ones((2, 2)))  # in the domain, whatever it returns
    assert (seen["k"], seen["power"]) == (2, 1)
    np.testing.assert_array_equal(seen["points"], release.summary_points)
    np.testing.assert_array_equal(seen["weights"], release.summary_weights)
    assert release.parameters == {"growth": 0.5, "solver": "a function"}


@pytest.mark.parametrize("returned", [np.zeros((1, 2)), np.full((2, 2), np.nan), np.zeros(2)])
def test_what_a_solver_returns_is_looked_at(returned):
    algorithm = PointCoverage(solver=lambda *given: returned)
    with pytest.raises(ValueError, match="as many finite centers"):
        PrivateKMeans(2, epsilon=math.inf, bounds=(-1, 1), algorithm=algorithm).fit(rows_of(50))
