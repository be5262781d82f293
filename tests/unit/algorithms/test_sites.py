"""Without noise, each algorithm for sites is the plain one; with noise it keeps what it promises of its steps."""

import math

import numpy as np
import pytest

from covering import covering
from spinney import FiniteMetric, PrivateKMedoids
from spinney.algorithms import Coverage, LocalSearch, SiteHST
from spinney.algorithms.cells import leaning, spread
from spinney.algorithms.local_search import STARTS
from spinney.solvers.medoids import solve_medoids
from spinney.solvers.seeding import seed_medoids
from spinney.solvers.service import Service
from spinney.solvers.swaps import local_search
from spinney.solvers.tree_search import search_medoids
from spinney.trees.metric_hst import MetricHST
from spinney.trees.nested_cells import NestedCells

RNG = np.random.default_rng(0)
SPACE = FiniteMetric.from_points(RNG.random((50, 2)), candidates=np.arange(0, 50, 2))
ROWS = RNG.integers(0, 40, 200)
COUNTS = np.bincount(ROWS, minlength=50)
POWER, EXISTING = [1, 2], [np.empty(0, dtype=np.int64), np.array([2, 8])]


def fit(algorithm, power=1, existing=EXISTING[0], epsilon=math.inf, k=4):
    asked = {"epsilon": epsilon, "space": SPACE, "algorithm": algorithm, "power": power, "existing_sites": existing}
    return PrivateKMedoids(k, random_state=5, **asked).fit(ROWS)


def rng():
    return np.random.default_rng(5)


def costs_of(model, power=1, existing=EXISTING[0]):
    return Service.of(SPACE, COUNTS, power).cost(np.concatenate([model.medoid_indices_, existing]))


@covering("power, existing", POWER, EXISTING)
def test_cells_are_plain_local_search_on_the_rows(power, existing):
    model = fit("cells", power, existing)
    plain = solve_medoids(SPACE, COUNTS, 4, power, rng(), existing=existing)
    assert model.medoid_indices_.tolist() == np.sort(plain.points).tolist()
    assert model.release_.charges[0].name == "fine"


def test_a_cells_weight_stays_in_it_and_leans_to_full_neighbors():
    cells, weights = NestedCells(np.arange(120) // 20, np.arange(6) * 20 + 10), np.array([0.0, 0.0, 50.0, 80.0, 0.0, 0.0])
    space = FiniteMetric.from_points(np.arange(120.0)[:, None])
    problem = PrivateKMedoids(2, epsilon=1.0, space=space).plan().problem
    demand = spread(problem, cells, weights, leaning(space, cells, weights > 0), rng())
    np.testing.assert_allclose(np.bincount(cells.labels, demand), weights)
    assert demand[59] > 1.2 * demand[40]  # its full neighbor is to the right
    assert demand[60] > 1.2 * demand[79]


@covering("kind, levels, power, existing", ["frt", "printed"], [1, 5, 12], POWER, EXISTING)
def test_hst_is_tree_search_on_exact_counts(kind, levels, power, existing):
    model = fit(SiteHST(levels, tree=kind), power, existing)
    tree = (MetricHST.build if kind == "frt" else MetricHST.printed)(SPACE, rng(), levels)
    found = search_medoids(SPACE, tree, tree.counts(COUNTS), 4, power, existing)
    assert model.medoid_indices_.tolist() == sorted(found.tolist())
    sites = np.concatenate([model.medoid_indices_, existing])
    labels = SPACE.distances(sites).argmin(axis=0)[ROWS]
    assert model.release_.sizes.tolist() == np.bincount(labels, minlength=len(sites)).tolist()


@covering("steps, existing, power", [1, 3, 15], EXISTING, POWER)
def test_swaps_are_plain_local_search(steps, existing, power):
    service = Service.of(SPACE, COUNTS, power)
    start = seed_medoids(Service.of(SPACE, np.ones(50), power), 4, rng(), existing)
    plain = local_search(service, start, existing, alpha=0.0, steps=steps)
    cost = costs_of(fit(LocalSearch("kmedian++", steps), power, existing), power, existing)
    assert cost == pytest.approx(plain.cost, rel=1e-5)  # costs in steps may break ties otherwise
    assert plain.cost < service.cost(np.concatenate([start, existing]))


@covering("start, stay", STARTS, [False, True])
def test_the_best_visited_set_is_kept(start, stay):
    few, more = (costs_of(fit(LocalSearch(start, steps, stay, levels=3))) for steps in (5, 9))
    assert more <= few * (1 + 1e-6)


@covering("stay, epsilon", [False, True], [1.0, math.inf])
def test_every_candidate_may_be_a_site(stay, epsilon):
    model = fit(LocalSearch("random", 2, stay), epsilon=epsilon, k=25)
    assert model.medoid_indices_.tolist() == SPACE.candidates.tolist()
    spent = {charge.name for charge in model.release_.charges}
    assert ("swap 1" in spent) == stay  # without options there is nothing to ask


def test_a_cover_is_greedy_and_its_weights_are_exact():
    algorithm = Coverage(0.9)
    balls = algorithm.balls(PrivateKMedoids(3, epsilon=1.0, space=SPACE).plan().problem)
    apart, left, chosen = SPACE.distances_between(np.arange(50), SPACE.candidates), ROWS.tolist(), set()
    for radius, steps in zip(balls.radii, balls.steps, strict=True):
        inside = apart <= radius
        for _ in range(steps):
            best = int(inside[left].sum(axis=0).argmax())
            chosen.add(int(SPACE.candidates[best]))
            left = [row for row in left if not inside[row, best]]
    chosen = np.array(sorted(chosen))
    mass = np.zeros(50)
    np.add.at(mass, chosen[SPACE.distances(chosen).argmin(axis=0)[ROWS]], 1)
    model = fit(algorithm, k=3)
    assert model.medoid_indices_.tolist() == solve_medoids(SPACE, mass, 3, 1, rng()).points.tolist()
    summary = dict(zip(model.release_.summary_points.tolist(), model.release_.summary_weights.tolist(), strict=True))
    assert summary == {int(point): mass[point] for point in np.flatnonzero(mass)}


@covering("growth, power", [0.05, 0.5, 0.95], POWER)
def test_radii_of_a_cover_grow_up_to_the_diameter(growth, power):
    balls = Coverage(growth).balls(PrivateKMedoids(3, epsilon=1.0, space=SPACE, power=power).plan().problem)
    costs = balls.radii**power
    assert np.allclose(costs[1:] / costs[:-1], 1 + growth)
    assert balls.radii[-1] == SPACE.diameter
    assert costs[0] <= SPACE.diameter**power / 50 or len(costs) == 200
    assert len(balls.radii) < 255
    assert set(balls.steps) == {max(1, math.ceil(6 * math.log(1 / growth)))}


@covering("power, existing", POWER, EXISTING)
def test_a_solver_of_the_users_gets_released_values_alone(power, existing):
    seen = []

    def own(*given):
        seen.extend(given)
        return np.array([40, 10, 20, 30])

    release = fit(Coverage(solver=own), power, existing).release_
    space, weights, k, asked, sites, _ = seen
    assert (space, k, asked, sites.tolist()) == (SPACE, 4, power, existing.tolist())
    assert np.flatnonzero(weights).tolist() == release.summary_points.tolist()
    assert weights[release.summary_points].tolist() == release.summary_weights.tolist()
    assert release.medoids.tolist() == [10, 20, 30, 40]
    assert release.parameters == {"growth": 0.5, "solver": "a function"}


@pytest.mark.parametrize(
    "returned", [[0, 4, 6], [0, 4, 6, 6], [0, 4, 6, 7], [0, 4, 6, 50], [0, 2, 4, 6], [[0, 4, 6, 10]], [0, 4, 6, np.nan]]
)
def test_what_a_solver_returns_is_looked_at(returned):
    with pytest.raises(ValueError, match="as many different candidates"):
        fit(Coverage(solver=lambda *given: returned), existing=EXISTING[1])


def test_the_default_solver_given_by_hand_gives_the_same_sites():
    def own(space, weights, k, power, existing, rng):
        return solve_medoids(space, weights, k, power, rng, existing=existing).points

    for existing in EXISTING:
        ours, theirs = (fit(Coverage(solver=solver), existing=existing) for solver in (None, own))
        assert ours.medoid_indices_.tolist() == theirs.medoid_indices_.tolist()
    assert "solver" not in ours.release_.parameters
