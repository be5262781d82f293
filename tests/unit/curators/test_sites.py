"""Without noise the curator answers what a plain loop would."""

import itertools
import math

import numpy as np
import pytest
from scipy.sparse import csr_array

import spinney.curators.demand
from opening import curator_over
from spinney.curators.demand import DemandBackend, count_points, known_points
from spinney.mechanisms.source import SeededSource
from spinney.privacy import Adjacency, Budget, Charge, Measure, Unit
from spinney.questions import Balls, Family, Labels
from spinney.questions.catalog import EVERY
from spinney.questions.choose import SITE_STEPS, Sets, Swaps, cost_steps
from spinney.questions.ground import Ground
from spinney.spaces.metric import FiniteMetric

RNG = np.random.default_rng(0)
SPACE = FiniteMetric.from_points(RNG.random((25, 2)), candidates=np.arange(1, 25, 2))
ROWS = RNG.integers(0, 25, 80)


def backend(rows, space=SPACE, unit=None):
    return DemandBackend(np.asarray(rows), Ground(None, space.n_points, space), unit or Unit(), SeededSource(0).key)


def ask(question, argument, rows=ROWS, space=SPACE, unit=None):
    charge = Charge("test", question, Measure.PURE, math.inf)
    curator = curator_over(rows, Ground(None, space.n_points, space), [charge], unit, budget=Budget.of(math.inf))
    return curator.ask(EVERY[question].question(argument), charge)


def test_counts_are_those_of_the_cells():
    labels = RNG.integers(-1, 4, 25)
    answer = ask("counts", Labels(labels, 4))
    assert answer.private_counts.tolist() == [int((labels[ROWS] == cell).sum()) for cell in range(4)]
    assert answer.noise.distribution == "none"


def steps_of(centers, power):
    """The costs of all points, in steps, from the nearest of some centers."""
    return cost_steps(SPACE, SPACE.distances(centers).min(axis=0), power).astype(np.int64)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("stay", [False, True])
@pytest.mark.parametrize(("k", "existing"), [(1, []), (1, [0]), (4, []), (3, [1, 2]), (12, []), (12, [0])])
def test_swap_costs_are_differences_of_whole_costs(k, existing, power, stay, monkeypatch):
    centers = np.setdiff1d(SPACE.candidates, existing)[:k]
    existing = np.array(existing, dtype=np.int64)
    options = Swaps(SPACE, centers, existing, power, stay)
    rows = backend(ROWS)
    costs, span = rows.exact(options)
    counts = np.bincount(ROWS, minlength=25)
    before = int(counts @ steps_of(np.concatenate([centers, existing]), power))
    after = [np.concatenate([options.after(option), existing]) for option in range(len(options))]
    expected = [int(counts @ steps_of(sites, power)) - before for sites in after]
    assert costs.tolist() == expected
    assert len(costs) == len(options)
    assert (span == SITE_STEPS) == (k + len(existing) == 1)
    if len(options):
        assert ask("choose", options) == int(np.argmin(expected))
    monkeypatch.setattr(spinney.curators.demand, "TABLE_BYTES", 0)  # costs are computed again for each question
    assert rows.exact(options)[0].tolist() == expected


@pytest.mark.parametrize("power", [1, 2])
def test_the_cheapest_set_is_chosen(power):
    sets = tuple(np.array(pair) for pair in itertools.combinations(range(8), 2))
    counts = np.bincount(ROWS, minlength=25)
    costs = [int(counts @ steps_of(one, power)) for one in sets]
    assert ask("choose", Sets(sets, power)) == int(np.argmin(costs))
    assert backend(ROWS).exact(Sets(sets, power))[0].tolist() == costs


def greedy(members, rows, steps):
    """Maximum coverage by a plain loop; ties go to the first set."""
    left, chosen = list(rows), []
    for _ in range(steps):
        best = max(range(members.shape[1]), key=lambda one: (sum(members[row, one] for row in left), -one))
        chosen.append(best)
        left = [row for row in left if not members[row, best]]
    return chosen


def test_without_noise_a_cover_is_greedy(monkeypatch):
    members = (RNG.random((25, 9)) < 0.2).astype(np.int8)
    family = Family(csr_array(members), (6,))
    assert ask("cover", family).tolist() == greedy(members, ROWS, 6)
    monkeypatch.setattr(spinney.curators.demand, "TABLE_BYTES", 9 * 4)  # by blocks of four points
    assert ask("cover", family).tolist() == greedy(members, ROWS, 6)
    assert ask("cover", family, rows=[]).tolist() == [0] * 6


def test_without_noise_balls_cover_stage_by_stage():
    radii = SPACE.diameter * np.array([0.1, 0.25, 0.5])
    chosen = ask("cover", Balls(SPACE, radii, (2, 1, 2))).tolist()
    apart, left, expected = SPACE.distances_between(np.arange(25), SPACE.candidates), ROWS.tolist(), []
    for stage in (0, 0, 1, 2, 2):
        inside = apart <= radii[stage]
        best = max(range(12), key=lambda one: (sum(inside[row, one] for row in left), -one))
        expected.append(best)
        left = [row for row in left if not inside[row, best]]
    assert chosen == expected


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_rows_that_name_no_point_are_dropped_or_go_to_the_first(adjacency):
    rows = np.array([0.0, 2.0, 2.0, 1.5, -1.0, 3.0, np.nan, np.inf, 1e300])
    counts = count_points(rows, 3, Unit(adjacency))
    assert counts.tolist() == ([7, 0, 2] if adjacency is Adjacency.REPLACE else [1, 0, 2])
    assert known_points(np.array([2**64 - 1, 2], dtype=np.uint64), 3).tolist() == [False, True]
    assert count_points(rows, 3, Unit(adjacency), np.array([0, 1] * 4 + [0], dtype=np.uint8)).sum() <= 4
