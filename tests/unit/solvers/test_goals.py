import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney import FiniteMetric, ParameterError
from spinney.solvers import capacities
from spinney.solvers.assignment import assign
from spinney.solvers.exact import solve_exactly
from spinney.solvers.goals import (
    GOALS,
    Capacities,
    Farthest,
    OpeningCosts,
    Travel,
    WithinReach,
    check_goal,
    described,
    solve_goal,
    value_of,
)
from spinney.solvers.task import SiteChoice, SiteTask


def instance(seed, n=30, candidates=10, existing=0):
    rng = np.random.default_rng(seed)
    space = FiniteMetric.from_points(rng.uniform(0, 10, (n, 2)), candidates=np.sort(rng.choice(n, candidates, replace=False)))
    stay = rng.choice(n, existing, replace=False)
    return space, rng.integers(1, 50, n).astype(float), stay


GIVEN = {
    "travel": lambda total: (Travel(), 3, False),
    "counted": lambda total: (Travel(0.1), 10, True),
    "capacities": lambda total: (Capacities(0.45 * total), 3, False),
    "reach": lambda total: (WithinReach(2.5), 3, False),
    "fewest": lambda total: (WithinReach(6.0, 0.9), 10, True),
    "farthest": lambda total: (Farthest(0.1), 3, False),
    "opening": lambda total: (OpeningCosts(np.linspace(0.1, 0.3, 30) * total), 10, True),
}


@pytest.mark.parametrize("existing", [0, 2])
@pytest.mark.parametrize("name", GIVEN)
def test_goals_are_within_a_percent_of_the_exact_program(name, existing):
    for seed in range(3):
        space, loads, stay = instance(seed, existing=existing)
        goal, k, is_counted = GIVEN[name](loads.sum())
        weights = np.random.default_rng(seed).uniform(0.5, 2, len(loads)) if seed else None
        task = SiteTask(space=space, loads=loads, k=k, is_counted=is_counted, existing=stay, weights=weights)
        chosen = solve_goal(goal, task, np.random.default_rng(seed))
        if name == "counted":  # as many as each save a share of the first: opening costs of this size
            first = SiteTask(space=space, loads=loads, k=1, existing=stay, weights=weights)
            one = SiteChoice(np.empty(0, np.int64)) if existing else solve_goal(Travel(), first, np.random.default_rng(0))
            goal = OpeningCosts(0.1 * value_of(Travel(), first, one))
        best = solve_exactly(goal, task)
        found, total = value_of(goal, task, chosen), float(task.demand.sum())
        assert found >= best.bound * (1 - 1e-6) - 1e-6
        scale = {"reach": total, "fewest": 100}.get(name, best.value)  # there is at least one site, if existing ones do
        assert found - best.value <= 0.01 * scale + 1e-6
        assert value_of(goal, task, SiteChoice(best.points)) == pytest.approx(best.value, rel=0.02, abs=1e-6)
        assert np.isin(chosen.points, np.setdiff1d(space.candidates, stay)).all()
        assert (np.diff(chosen.points) > 0).all()
        assert 1 <= len(chosen.points) <= k


@given(st.data())
def test_nobody_is_sent_to_a_full_center_if_there_is_room(data):
    seed, n, k = data.draw(st.integers(0, 10**6)), data.draw(st.integers(1, 12)), data.draw(st.integers(1, 3))
    rng = np.random.default_rng(seed)
    costs, weights = rng.uniform(0, 1, (k, n)), rng.integers(0, 5, n).astype(float)
    limits = rng.uniform(0, 1.2, k) * max(weights.sum(), 1)
    found = assign(costs, weights, limits, 20, rng)
    loads = np.bincount(found.labels, weights, k)
    assert found.overload == pytest.approx(np.maximum(loads - limits, 0).sum())
    options = np.stack(np.meshgrid(*[np.arange(k)] * min(n, 6), indexing="ij"), -1).reshape(-1, min(n, 6))
    if n <= 6:
        each = [np.bincount(row, weights, k) for row in options]
        least = min(np.maximum(load - limits, 0).sum() for load in each)
        assert found.overload <= least + weights.max()
        fits = [
            float(weights @ costs[row, np.arange(n)]) for row, load in zip(options, each, strict=False) if (load <= limits).all()
        ]
        if fits and not found.overload:
            assert found.bound - 1e-9 <= min(fits) <= found.cost + 1e-9


def test_demand_that_no_center_takes_passes_limits_by_as_little_as_it_must():
    space, loads, stay = instance(5, existing=1)
    task = SiteTask(space=space, loads=loads, k=2, existing=stay)
    chosen = solve_goal(Capacities(0.2 * loads.sum()), task, np.random.default_rng(0))
    filled = np.bincount(chosen.labels, loads, 3)
    assert np.maximum(filled - 0.2 * loads.sum(), 0).sum() == pytest.approx(0.4 * loads.sum())
    assert (filled >= 0.2 * loads.sum() - 1e-9).all()


@pytest.mark.parametrize("existing", [0, 2])
def test_limits_among_some_of_many_candidates_are_nearly_as_good(existing, monkeypatch):
    for seed in range(3):
        space, loads, stay = instance(seed, 120, 100, existing)
        task = SiteTask(space=space, loads=loads, k=4, existing=stay)
        goal, values = Capacities(1.1 * loads.sum() / (4 + existing)), []
        for ranked in (capacities.RANKED, 0):
            monkeypatch.setattr(capacities, "RANKED", ranked)
            values.append(value_of(goal, task, solve_goal(goal, task, np.random.default_rng(seed))))
        assert values[1] <= 1.05 * values[0]


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("loads", [np.zeros(30), np.eye(30)[4] * 1e9])
def test_every_demand_is_served(name, loads):
    space, _, stay = instance(1, existing=1)
    goal, k, is_counted = GIVEN[name](100.0)
    task = SiteTask(space=space, loads=loads, k=k, is_counted=is_counted, existing=stay)
    chosen = solve_goal(goal, task, np.random.default_rng(0))
    assert 1 <= len(chosen.points) <= k
    assert chosen.labels is None or (chosen.labels.shape == (30,) and chosen.labels.max() <= len(chosen.points))


def test_points_beyond_reach_go_to_nobody_and_all_others_to_the_nearest_site():
    space, loads, _ = instance(2)
    chosen = solve_goal(WithinReach(2.0), SiteTask(space=space, loads=loads, k=2), np.random.default_rng(0))
    apart = space.distances(chosen.points)
    assert (chosen.labels == np.where(apart.min(axis=0) <= 2.0, apart.argmin(axis=0), -1)).all()


def test_goals_say_what_they_must_be():
    for make in (lambda: WithinReach(0.0), lambda: WithinReach(1.0, 1.5), lambda: Farthest(0), lambda: OpeningCosts([1.0])):
        with pytest.raises(ParameterError, match="must be"):
            make()
    with pytest.raises(ParameterError, match="one for each point"):
        check_goal(Capacities(np.ones(3)), "PrivateKMedoids", 30)
    assert {goal.kind for goal in GOALS} == {"travel", "capacities", "reach", "farthest", "opening-costs"}
    assert described(Capacities(np.arange(1.0, 31)), np.array([2, 4])) == {"kind": "capacities", "limit": [3.0, 5.0]}
    space, loads, _ = instance(0)
    with pytest.raises(ParameterError, match="No sites"):
        solve_exactly(Capacities(1.0), SiteTask(space=space, loads=loads, k=2))
