import numpy as np
import pytest

from spinney.solvers.exchanges import Exchanges
from spinney.solvers.weighted import total_cost


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("k", [2, 3, 7])
def test_the_center_that_goes_is_the_one_whose_loss_costs_least(power, k):
    for seed in range(30):
        rng = np.random.default_rng(seed)
        points, weights, centers = rng.normal(size=(40, 2)), rng.integers(0, 4, 40).astype(float), rng.normal(size=(k, 2))
        repeated = np.repeat(points, weights.astype(int), axis=0)
        uniforms, exchanges = rng.random(3), Exchanges(points, weights, centers, power)
        found = exchanges.exchanged(uniforms[:1])
        (gone,) = np.flatnonzero((found != centers).any(axis=1))
        come = found[gone]
        assert (points == come).all(axis=1).any()
        costs = [total_cost(repeated, np.vstack([np.delete(centers, j, axis=0), come]), power) for j in range(k)]
        assert costs[gone] == pytest.approx(min(costs))
        each = [total_cost(repeated, exchanges.exchanged(one[None]), power) for one in uniforms]
        assert total_cost(repeated, exchanges.exchanged(uniforms), power) == pytest.approx(min(each))
