"""Without noise the curator answers what a plain loop would."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

import spinney.curators.items
import spinney.curators.sites
from spinney.curators.items import ItemCurator, count_points, known_points
from spinney.curators.options import NEVER, Balls, Family, Sets, Swaps
from spinney.curators.partitions import Labels
from spinney.curators.sites import COST_STEPS, SiteCurator, cost_steps, swap_range
from spinney.mechanisms.source import SeededSource
from spinney.privacy.adjacency import Adjacency
from spinney.privacy.budget import Budget
from spinney.privacy.charges import Charge, Measure
from spinney.privacy.ledger import FitLedger
from spinney.privacy.pricing import Unit
from spinney.spaces.metric import FiniteMetric

RNG = np.random.default_rng(0)
SPACE = FiniteMetric.from_points(RNG.random((25, 2)), candidates=np.arange(1, 25, 2))
ROWS = RNG.integers(0, 25, 80)
NONE = np.empty(0, dtype=np.int64)


def ask(question, argument, rows=ROWS, space=SPACE, unit=None):
    charge = Charge("test", question, Measure.PURE, math.inf)
    ledger = FitLedger(Budget.of(math.inf), (charge,))
    return getattr(SiteCurator(np.asarray(rows), space, unit or Unit(), ledger, SeededSource(0)), question)(argument, charge)


def test_counts_are_those_of_the_cells():
    labels = RNG.integers(-1, 4, 25)
    answer = ask("counts", Labels(labels, 4))
    assert answer.private_counts.tolist() == [int((labels[ROWS] == cell).sum()) for cell in range(4)]
    assert answer.noise.distribution == "none"


@pytest.mark.parametrize("labels", [np.zeros(24), np.full(25, 3), np.full(25, -2), np.zeros((25, 1))])
def test_labels_must_fit_the_points(labels):
    with pytest.raises(ValueError, match="labels"):
        ask("counts", Labels(labels.astype(np.int64), 3))


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
    curator = SiteCurator(ROWS, SPACE, Unit(), None, SeededSource(0))
    costs, span = curator._swap_costs(options)
    counts = np.bincount(ROWS, minlength=25)
    before = int(counts @ steps_of(np.concatenate([centers, existing]), power))
    after = [np.concatenate([options.after(option), existing]) for option in range(len(options))]
    expected = [int(counts @ steps_of(sites, power)) - before for sites in after]
    assert costs.tolist() == expected
    assert len(costs) == len(options)
    assert (span == COST_STEPS) == (k + len(existing) == 1)
    if len(options):
        assert ask("choose", options) == int(np.argmin(expected))
    monkeypatch.setattr(spinney.curators.sites, "TABLE_BYTES", 0)  # costs are computed again for each question
    assert curator._swap_costs(options)[0].tolist() == expected


def test_options_list_every_swap_once():
    options = Swaps(SPACE, SPACE.candidates[:3], np.array([5, 0]), 1, True)
    sets = [tuple(sorted(options.after(option).tolist())) for option in range(len(options))]
    assert sets[0] == (1, 3, 5)
    assert len(set(sets)) == len(sets)
    assert not any({0} & set(one) for one in sets)
    assert all(len(set(one)) == 3 for one in sets)


@pytest.mark.parametrize("power", [1, 2])
def test_the_cheapest_set_is_chosen(power):
    sets = tuple(np.array(pair) for pair in itertools.combinations(range(8), 2))
    counts = np.bincount(ROWS, minlength=25)
    costs = [int(counts @ steps_of(one, power)) for one in sets]
    assert ask("choose", Sets(sets, power)) == int(np.argmin(costs))
    assert SiteCurator(ROWS, SPACE, Unit(), None, SeededSource(0))._set_costs(Sets(sets, power))[0].tolist() == costs


def test_cost_steps_are_whole_numbers_up_to_the_diameter():
    steps = cost_steps(SPACE, np.array([0.0, SPACE.diameter, 2 * SPACE.diameter]), 1)
    assert steps.tolist() == [0, COST_STEPS, COST_STEPS]
    one_place = FiniteMetric.from_matrix(np.zeros((3, 3)))
    assert cost_steps(one_place, np.zeros(3), 2).tolist() == [0, 0, 0]
    assert swap_range(np.array([[3, 9], [5, 1], [7, 4]], dtype=np.int32)) == 5


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
    monkeypatch.setattr(spinney.curators.items, "TABLE_BYTES", 9 * 4)  # by blocks of four points
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


def test_first_stages_are_those_of_the_radii():
    radii = SPACE.diameter * np.array([0.1, 0.3])
    stages = Balls(SPACE, radii, (1, 1)).first_stages(np.arange(25))
    apart = SPACE.distances_between(np.arange(25), SPACE.candidates)
    assert np.array_equal(stages == 0, apart <= radii[0])
    assert np.array_equal(stages <= 1, apart <= radii[1])
    assert np.array_equal(stages == NEVER, apart > radii[1])
    family = Family(csr_array(np.array([[1, 0], [0, 0]])), (1,))
    assert family.first_stages(np.array([1, 0])).tolist() == [[NEVER, NEVER], [0, NEVER]]


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_rows_that_name_no_point_are_dropped_or_go_to_the_first(adjacency):
    rows = np.array([0.0, 2.0, 2.0, 1.5, -1.0, 3.0, np.nan, np.inf, 1e300])
    counts = count_points(rows, 3, Unit(adjacency))
    assert counts.tolist() == ([7, 0, 2] if adjacency is Adjacency.REPLACE else [1, 0, 2])
    assert known_points(np.array([2**64 - 1, 2], dtype=np.uint64), 3).tolist() == [False, True]
    assert count_points(rows, 3, Unit(adjacency), np.array([0, 1] * 4 + [0], dtype=np.uint8)).sum() <= 4


def test_counts_are_cut_off_at_a_public_number(monkeypatch):
    monkeypatch.setattr(spinney.curators.items, "LARGEST_COUNT", 6)
    assert ItemCurator(np.array([0, 0, 0, 1]), 2, Unit(), None, SeededSource(0))._counts.tolist() == [3, 1]
    assert ItemCurator(np.array([0, 0, 0, 0]), 2, Unit(), None, SeededSource(0))._counts.tolist() == [3, 0]


def test_swaps_of_another_space_are_refused_before_anything_is_charged():
    here, there = (FiniteMetric.from_points(np.arange(float(n))[:, None]) for n in (4, 6))
    charge = Charge("swap 1", "choose", Measure.PURE, Fraction(1))
    ledger = FitLedger(Budget.of(1.0), (charge,))
    curator = SiteCurator(np.array([0, 1]), here, Unit(), ledger, SeededSource(0))
    with pytest.raises(ValueError, match="own space"):
        curator.choose(Swaps(there, np.array([0]), np.empty(0, dtype=np.int64)), charge)
    assert ledger.entries == ()
