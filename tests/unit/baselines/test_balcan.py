"""Candidates of a private grid, and the private local search over them."""

import math
from fractions import Fraction

import numpy as np
import pytest

from opening import purse_over
from spinney import Ball, Box, PrivateKMeans, PrivateKMedian
from spinney.algorithms.candidates import MOST_CELLS, SPLIT_ROWS, Candidates, ask_candidates, grid_parts
from spinney.algorithms.problem import PointProblem
from spinney.baselines import Balcan
from spinney.baselines.balcan import TRIALS
from spinney.privacy import Budget, Unit, compose
from spinney.solvers.seeding import seed_medoids
from spinney.solvers.service import Service
from spinney.solvers.weighted import total_cost


def rows_of(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return np.clip(rng.uniform(-0.8, 0.8, (4, d))[rng.integers(0, 4, n)] + rng.normal(0, 0.03, (n, d)), -1, 1)


def asked(rows, space, k, dimensions, epsilon=math.inf, seed=0) -> Candidates:
    """Ask for candidates of rows in memory."""
    problem = PointProblem(k=k, power=2, budget=Budget.of(epsilon), unit=Unit(), domain=space.domain(rows.shape[1]))
    charges = compose(problem.budget, grid_parts(Fraction(1), dimensions, problem))
    return ask_candidates(purse_over(rows, problem, charges, seed), problem, dimensions, np.random.default_rng(seed))


@pytest.mark.parametrize("space", [Box(-1, 1), Ball(1.5), Box([-3, 0], [1, 0.5])], ids=["box", "ball", "oblong"])
def test_cells_of_a_grid_are_those_that_planes_count(space):
    # Without noise the weights are exact: all rows are counted, and a heavy candidate has rows around it.
    rows = space.domain(2).clip(rows_of(500, 2))
    found = asked(rows, space, 4, 2)
    assert found.weights.sum() == len(rows)
    assert len(found.points) <= 2 * MOST_CELLS + 5
    labels = ((rows[:, None] - found.points) ** 2).sum(axis=2).argmin(axis=1)
    heavy = found.points[found.weights > SPLIT_ROWS]  # others are not cut, so they may be wide
    reach = ((found.points[labels] - rows) ** 2).sum(axis=1).max()
    assert reach < 0.1
    assert (((heavy[:, None] - rows) ** 2).sum(axis=2).min(axis=1) < 0.1).all()


def test_there_are_enough_candidates_however_few_rows_there_are():
    for n in (0, 1):
        model = PrivateKMeans(6, epsilon=math.inf, bounds=(-1, 1), algorithm=Balcan(steps=1)).fit(rows_of(n, 2))
        assert model.cluster_centers_.shape == (6, 2)


@pytest.mark.parametrize("power", [1, 2])
def test_without_noise_it_is_plain_local_search_of_its_candidates(power):
    """Steps 2 to 4 in plain NumPy: the best of all swaps, each row as its nearest candidate; the best of all steps; the means."""
    rows, k, steps = rows_of(300, 2), 3, 4
    estimator = PrivateKMeans if power == 2 else PrivateKMedian
    model = estimator(k, epsilon=math.inf, bounds=(-1, 1), algorithm=Balcan(steps=steps), random_state=0)
    problem = model.plan(2).problem
    rng = np.random.default_rng(0)
    charges = compose(problem.budget, grid_parts(Fraction(1), 4, problem))
    found = ask_candidates(purse_over(rows, problem, charges), problem, 4, rng)
    start = seed_medoids(Service.of(found.space, found.weights, power), k, rng, np.empty(0, dtype=np.int64), TRIALS)

    gaps = np.sqrt(((found.points[:, None] - found.points) ** 2).sum(axis=2)) ** power
    counts = np.bincount(((rows[:, None] - found.points) ** 2).sum(axis=2).argmin(axis=1), minlength=len(gaps))
    held = np.flatnonzero(counts)

    def cost(centers):
        return float(counts[held] @ gaps[np.ix_(held, list(centers))].min(axis=1))

    visited = [set(start.tolist())]
    for _ in range(steps):
        swaps = [visited[-1], *(visited[-1] - {out} | {new} for out in visited[-1] for new in range(len(gaps)))]
        visited.append(min((swap for swap in swaps if len(swap) == k), key=cost))
    assert cost(visited[-1]) < cost(visited[0])
    searched = found.points[sorted(min(visited, key=cost))]
    model.fit(rows)
    if power == 2:
        labels = ((rows[:, None] - searched) ** 2).sum(axis=2).argmin(axis=1)
        means = np.array([rows[labels == i].mean(axis=0) for i in range(k)])
        apart = np.sqrt(((model.cluster_centers_[:, None] - means) ** 2).sum(axis=2)).min(axis=0)
        assert apart.max() < 0.02  # the step clips offsets a little
    ours, before = (total_cost(rows, centers, power) for centers in (model.cluster_centers_, searched))
    assert ours < before
