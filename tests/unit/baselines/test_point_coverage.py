"""Coverage of a private candidate set, with a solver that may be the user's own."""

import math
from fractions import Fraction

import numpy as np
import pytest

from opening import purse_over
from spinney import PrivateKMeans, PrivateKMedian
from spinney.algorithms.candidates import ask_leaves
from spinney.baselines import PointCoverage
from spinney.privacy import compose
from spinney.questions import Counting, Splitting

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


@pytest.mark.parametrize(("growth", "power"), [(0.5, 1), (0.5, 2), (0.9, 1)])
def test_without_noise_it_is_greedy_coverage_of_the_leaves(growth, power):
    """Algorithm 1 of Jones, Nguyen and Nguyen: radii from small to large, at each the balls with most uncovered rows."""
    seen = {}

    def own(points, weights, k, power, rng):
        seen.update(points=points, weights=weights)
        return points[:k]

    rows, k, n = rows_of(200), 2, 2048
    estimator = PrivateKMeans if power == 2 else PrivateKMedian
    algorithm = PointCoverage(growth, own)
    model = estimator(k, epsilon=math.inf, bounds=(-1, 1), algorithm=algorithm, random_state=0).fit(rows)
    leaves = leaves_of(model.plan(2).problem, rows)
    gaps = np.sqrt(((leaves[:, None] - leaves) ** 2).sum(axis=2))
    counts = np.bincount(((rows[:, None] - leaves) ** 2).sum(axis=2).argmin(axis=1), minlength=len(leaves))
    left, chosen = counts.astype(float), []
    radii = math.ceil(math.log(n) / math.log1p(growth)) + 1
    for place in reversed(range(radii)):
        inside = gaps <= gaps.max() * (1 + growth) ** (-place / power) * (1 + 1e-12)
        for _ in range(math.ceil(2 * k * math.log(1 / growth))):
            chosen.append(int((inside @ left).argmax()))
            left[inside[chosen[-1]]] = 0
    chosen = np.unique(chosen)
    weights = np.bincount(((rows[:, None] - leaves[chosen]) ** 2).sum(axis=2).argmin(axis=1), minlength=len(chosen))
    order = np.lexsort(seen["points"].T)
    wanted = leaves[chosen][weights > 0]
    np.testing.assert_allclose(seen["points"][order], wanted[np.lexsort(wanted.T)])
    np.testing.assert_array_equal(seen["weights"][order], weights[weights > 0][np.lexsort(wanted.T)])
    np.testing.assert_allclose(model.cluster_centers_, seen["points"][:k])


def leaves_of(problem, rows):
    """Return the middles of the leaves of a private tree of these rows, without noise."""
    parts = [Counting().part("rows", Fraction(1, 2)), Splitting().part("splits", Fraction(1, 2))]
    return ask_leaves(purse_over(rows, problem, compose(problem.budget, parts)), problem).middles()
