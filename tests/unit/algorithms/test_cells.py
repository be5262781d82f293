import math

import numpy as np
import pytest

from spinney import FiniteMetric, PrivateKMedoids
from spinney.algorithms import cells as module
from spinney.algorithms.cells import leaning, spread
from spinney.algorithms.problem import SiteProblem
from spinney.privacy.budget import Budget
from spinney.privacy.pricing import Unit
from spinney.solvers.medoids import solve_medoids
from spinney.trees.nested_cells import NestedCells

RNG = np.random.default_rng(0)
SPACE = FiniteMetric.from_points(RNG.uniform(0, 1, (120, 2)))
ROWS = RNG.choice(40, 300)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("existing", [(), (3, 100)])
def test_without_noise_it_is_plain_local_search(power, existing):
    model = PrivateKMedoids(5, epsilon=math.inf, space=SPACE, power=power, existing_sites=existing, random_state=7).fit(ROWS)
    plain = solve_medoids(
        SPACE, np.bincount(ROWS, minlength=120), 5, power, np.random.default_rng(7), existing=np.array(existing, dtype=np.int64)
    )
    assert model.medoid_indices_.tolist() == np.sort(plain.points).tolist()
    assert model.release_.charges[0].name == "fine"


def spread_over(line, weights, cells):
    space = FiniteMetric.from_points(line)
    nothing = np.empty(0, dtype=np.int64)
    problem = SiteProblem(k=2, power=1, space=space, existing=nothing, budget=Budget.of(1.0), unit=Unit("add-remove"))
    full = weights > 0 if weights.any() else np.ones(len(weights), dtype=bool)
    return spread(problem, cells, weights, leaning(space, cells, full), np.random.default_rng(0))


def cells_of_a_line(n_cells=6, size=20):
    line = np.arange(n_cells * size, dtype=float)[:, None]
    return line, NestedCells(np.arange(n_cells * size) // size, np.arange(n_cells) * size + size // 2)


def test_a_cells_weight_stays_in_it_and_leans_to_full_neighbors():
    line, cells = cells_of_a_line()
    weights = np.array([0.0, 0.0, 50.0, 80.0, 0.0, 0.0])
    demand = spread_over(line, weights, cells)
    np.testing.assert_allclose(np.bincount(cells.labels, demand), weights)
    assert demand[59] > 1.2 * demand[40]  # its full neighbor is to the right
    assert demand[60] > 1.2 * demand[79]


@pytest.mark.parametrize("weight", [0.0, 7.0])
def test_where_all_cells_are_alike_weights_are_spread_evenly(weight):
    line, cells = cells_of_a_line()
    demand = spread_over(line, np.full(6, weight), cells)
    np.testing.assert_allclose(demand, demand[0])


def test_in_large_spaces_weights_are_spread_evenly(monkeypatch):
    monkeypatch.setattr(module, "MOVE_POINTS", 119)
    line, cells = cells_of_a_line()
    demand = spread_over(line, np.array([0.0, 0.0, 50.0, 80.0, 0.0, 0.0]), cells)
    np.testing.assert_allclose(demand[40:60], demand[40])
