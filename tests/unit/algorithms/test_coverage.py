import math

import numpy as np
import pytest

from spinney import FiniteMetric, ParameterError, PrivateKMedoids
from spinney.algorithms.coverage import Coverage
from spinney.algorithms.problem import SiteProblem, planned
from spinney.privacy.budget import Budget
from spinney.privacy.charges import Measure
from spinney.privacy.pricing import Unit
from spinney.solvers.medoids import solve_medoids

RNG = np.random.default_rng(0)
SPACE = FiniteMetric.from_points(RNG.random((30, 2)), candidates=np.arange(0, 30, 2))
ROWS = RNG.integers(0, 20, 200)


def problem(epsilon, delta=0.0, k=3, power=1, space=SPACE):
    return SiteProblem(
        k=k, power=power, space=space, existing=np.empty(0, dtype=np.int64), budget=Budget.of(epsilon, delta), unit=Unit()
    )


def test_without_noise_the_cover_is_greedy_and_its_weights_are_exact():
    algorithm = Coverage(0.9)
    balls = algorithm.balls(problem(math.inf))
    apart, left, chosen = SPACE.distances_between(np.arange(30), SPACE.candidates), ROWS.tolist(), set()
    for radius, steps in zip(balls.radii, balls.steps, strict=True):
        inside = apart <= radius
        for _ in range(steps):
            best = max(range(15), key=lambda one, inside=inside: (sum(inside[row, one] for row in left), -one))
            chosen.add(int(SPACE.candidates[best]))
            left = [row for row in left if not inside[row, best]]
    chosen = np.array(sorted(chosen))
    mass = np.zeros(30)
    np.add.at(mass, chosen[SPACE.distances(chosen).argmin(axis=0)[ROWS]], 1)
    model = PrivateKMedoids(3, epsilon=math.inf, space=SPACE, algorithm=algorithm, random_state=1).fit(ROWS)
    expected = solve_medoids(SPACE, mass, 3, 1, np.random.default_rng(1)).points
    assert model.medoid_indices_.tolist() == expected.tolist()
    summary = dict(zip(model.release_.summary_points.tolist(), model.release_.summary_weights.tolist(), strict=True))
    assert summary == {int(point): mass[point] for point in np.flatnonzero(mass)}


@pytest.mark.parametrize("growth", [0.05, 0.5, 0.95])
@pytest.mark.parametrize("power", [1, 2])
def test_radii_grow_up_to_the_diameter(growth, power):
    balls = Coverage(growth).balls(problem(1.0, power=power))
    costs = balls.radii**power
    assert np.allclose(costs[1:] / costs[:-1], 1 + growth)
    assert balls.radii[-1] == SPACE.diameter
    assert costs[0] <= SPACE.diameter**power / 30 or len(costs) == 200
    assert len(balls.radii) < 255
    assert set(balls.steps) == {max(1, math.ceil(6 * math.log(1 / growth)))}


def test_the_cover_has_a_delta_of_its_own_and_the_rest_is_left_to_the_others():
    charges = planned(Coverage(), problem(1.0, 1e-6))
    assert charges[0].delta == problem(1.0, 1e-6).budget.delta / 2
    assert charges[0].measure is Measure.PURE
    assert [charge.name for charge in charges] == ["cover", "weights", "sizes"]
    assert all(not charge.delta for charge in planned(Coverage(), problem(1.0)))
    assert sum(charge.amount for charge in planned(Coverage(), problem(1.0))) == 1
    assert all(charge.amount == math.inf for charge in planned(Coverage(), problem(math.inf)))


@pytest.mark.parametrize("growth", [0.0, 0.04, 0.96, 2.0])
def test_parameters_are_checked(growth):
    with pytest.raises(ParameterError, match="growth"):
        Coverage(growth)


def test_noise_alone_still_gives_sites():
    model = PrivateKMedoids(3, epsilon=0.01, space=SPACE, algorithm="coverage").fit([])
    assert len(set(model.medoid_indices_.tolist())) == 3
