"""Rules 2, 5 and 13 for sites: exact counts and costs never move apart by more than what is paid for, whatever the rounding."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array

import spinney.curators.demand
from spinney.audit.sources import NoiselessSource
from spinney.audit.tiny import data_sets, demand_curator, neighbors
from spinney.mechanisms.additive import SATURATION
from spinney.privacy import Adjacency, Charge, Measure, Unit
from spinney.questions import Balls, Counts, Labels, Lengths
from spinney.questions.choose import SITE_STEPS, Choose, Sets, Swaps, cost_steps, swap_range
from spinney.questions.sums import RADIUS_STEPS as LONGEST
from spinney.spaces.metric import FiniteMetric
from spinney.spaces.one_sided import OneWay

NONE = np.empty(0, dtype=np.int64)


def graph(edges, n, **more):
    tails, heads, lengths = zip(*edges, strict=True)
    return FiniteMetric.from_graph(coo_array((lengths, (tails, heads)), shape=(n, n)), **more)


def one_way(network):
    """Return a network whose edges are ten times as long against the numbers of their ends, as Dijkstra sees it both ways."""
    tails = np.repeat(np.arange(4), np.diff(network.starts))
    there = network.lengths * np.where(tails < network.ends, 1, 10)
    back = network.lengths * np.where(tails > network.ends, 1, 10)
    return OneWay(network.starts, network.ends, there, network.starts, network.ends, back)


SPACE_OF_EDGES = graph([(0, 1, 0.1), (1, 2, 0.2), (2, 3, 0.7), (0, 3, 1.1)], 4)
SPACES = {
    "points": FiniteMetric.from_points([[0.0, 0.0], [0.3, 0.1], [1.0, 1.0], [0.2, 0.9]]),
    "matrix": FiniteMetric.from_matrix([[0, 1, 9, 2], [1, 0, 1, 7], [9, 1, 0, 3], [2, 7, 3, 0]]),  # no triangle inequality
    "graph": SPACE_OF_EDGES,
    "few candidates": graph([(0, 1, 0.1), (1, 2, 0.2), (2, 3, 0.7)], 4, candidates=[0, 2, 3]),
    "one place": FiniteMetric.from_matrix(np.zeros((4, 4))),
    "globe": FiniteMetric.from_points([[0.0, 0.0], [0.3, 80.1], [179.0, 1.0], [-170.2, -0.9]], "haversine"),
    "costs": replace(FiniteMetric.from_costs([[0.1, 7], [3, 0.2]]), candidates=np.arange(4)),
    "one way": replace(SPACE_OF_EDGES, source=one_way(SPACE_OF_EDGES.source)),
}
DATA = data_sets(4, 3)


def swaps(centers, existing=(), power=1, stay=True):
    return lambda space: Swaps(space, np.array(centers), np.array(existing, dtype=np.int64), power, stay)


QUESTIONS = {
    "counts": ("counts", lambda space: Labels(np.array([0, 1, 1, -1]), 2)),
    "one cell": ("counts", lambda space: Labels(np.zeros(4, dtype=np.int64), 1)),
    "lengths": ("lengths", lambda space: (Labels(np.array([0, 1, 1, -1]), 2), LONGEST * np.array([-1, 1, -1, 1]))),
    "lengths of one cell": ("lengths", lambda space: (Labels(np.zeros(4, dtype=np.int64), 1), LONGEST * np.array([-1, 0, 1, 1]))),
    "swaps of one center": ("choose", swaps([2])),
    "swaps of one center, squared": ("choose", swaps([3], power=2, stay=False)),
    "swaps of two centers": ("choose", swaps([0, 3])),
    "swaps beside existing sites": ("choose", swaps([2], existing=[1])),
    "swaps beside existing sites, squared": ("choose", swaps([0], existing=[1, 3], power=2)),
    "sets": ("choose", lambda space: Sets((np.array([0]), np.array([2]), np.array([0, 3])))),
    "sets, squared": ("choose", lambda space: Sets((np.array([3]), np.array([2, 1])), 2)),
    "one set": ("choose", lambda space: Sets((np.array([3]),))),
}


def asked(question, argument, space, rows, charge, unit, groups=None):
    """Return what noise of which scale was asked for, around which exact values."""
    source = NoiselessSource()
    curator = demand_curator(np.asarray(rows, dtype=np.int64), space, unit, source, groups=groups)
    made = Lengths(*argument) if question == "lengths" else {"counts": Counts, "choose": Choose}[question](argument)
    curator.ask(made, charge)
    (draw,) = source.draws
    return draw


def spent(kind, scale, move, measure):
    """Return the pure epsilon or the rho of a move from one exact answer to another."""
    gaps = [int(gap) for gap in move]
    if kind == "gumbel":
        epsilon = Fraction(max(gaps) - min(gaps)) / Fraction(scale)
        return epsilon if measure is Measure.PURE else epsilon**2 / 8
    if kind == "laplace":
        return Fraction(sum(map(abs, gaps))) / Fraction(scale)
    return Fraction(sum(gap * gap for gap in gaps)) / (2 * Fraction(scale) ** 2)


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.matrix
def test_no_neighbor_moves_an_answer_beyond_its_charge(name, adjacency):
    question, make = QUESTIONS[name]
    reached = Fraction(0)
    for space in SPACES.values():
        argument = make(space)
        whole = Charge("test", question, Measure.PURE, Fraction(1))
        exact = [asked(question, argument, space, rows, whole, Unit(adjacency))[2] for rows in DATA]
        for max_rows in (1, 2):
            gaps = np.array([exact[a] - exact[b] for a, b in neighbors(DATA, adjacency, max_rows) if a < b])
            gaps = np.unique(gaps, axis=0)
            for measure in Measure:
                charge, unit = Charge("test", question, measure, Fraction(3, 7)), Unit(adjacency, max_rows)
                draws = [asked(question, argument, space, rows, charge, unit) for rows in ([], [0, 3, 3])]
                kind, scale, _ = draws[0]
                assert draws[1][:2] == (kind, scale)  # how much noise there is does not depend on the rows
                worst = max(spent(kind, scale, gap, measure) for gap in gaps)
                assert worst <= charge.amount
                reached = max(reached, worst / charge.amount)
    # One cell holds every row, and one option is no choice.
    loose = {"one set": 0, "one cell": 1 if adjacency is Adjacency.ADD_REMOVE else Fraction(1, 8)}
    assert reached >= loose.get(name, Fraction(1, 4)) * Fraction(999_999, 1_000_000)


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("cap", [1, 3])
@pytest.mark.parametrize("name", ["counts", "lengths", "swaps of two centers", "sets, squared"])
@pytest.mark.matrix
def test_moving_all_rows_of_a_person_stays_within_the_charge(name, cap, adjacency):
    question, make = QUESTIONS[name]
    rng = np.random.default_rng(5)
    people, rows = rng.integers(0, 6, 40), rng.integers(0, 4, 40)
    for space, measure in itertools.product(SPACES.values(), Measure):
        charge, unit = Charge("test", question, measure, Fraction(2, 3)), Unit(adjacency, cap)
        kind, scale, before = asked(question, make(space), space, rows, charge, unit, people)
        for person in range(6):
            if adjacency is Adjacency.REPLACE:
                after = asked(question, make(space), space, np.where(people == person, 2, rows), charge, unit, people)[2]
            else:
                kept = people != person
                after = asked(question, make(space), space, rows[kept], charge, unit, people[kept])[2]
            assert spent(kind, scale, before - after, measure) <= charge.amount


def random_space(rng, kind, n):
    """Return a space whose lengths add up to different last bits in different orders."""
    candidates = None if rng.random() < 0.3 else np.sort(rng.choice(n, rng.integers(3, n), replace=False))
    if kind == "points":
        return FiniteMetric.from_points(rng.random((n, 3)), candidates=candidates)
    if kind == "matrix":
        upper = np.triu(rng.random((n, n)).astype(np.float32), 1)
        return FiniteMetric.from_matrix(upper + upper.T, candidates=candidates)
    ring = [(i, (i + 1) % n, 0.1 * rng.integers(1, 9)) for i in range(n)]
    chords = {tuple(sorted(rng.choice(n, 2, replace=False).tolist())) for _ in range(n)}
    more = [(i, j, 0.1 * rng.integers(1, 30)) for i, j in chords if abs(i - j) not in (1, n - 1)]
    return graph([*ring, *more], n, candidates=candidates)


@pytest.mark.parametrize("kind", ["graph", "points", "matrix"])
@given(seed=st.integers(0, 2**32))
@settings(deadline=None, derandomize=True, max_examples=25)
def test_one_row_adds_costs_of_its_own_whatever_the_others_are(kind, seed):
    rng = np.random.default_rng(seed)
    n, power = int(rng.integers(6, 40)), int(rng.integers(1, 3))
    space = random_space(rng, kind, n)
    k = int(rng.integers(1, len(space.candidates)))
    centers = rng.choice(space.candidates, k, replace=False)
    others = np.setdiff1d(np.arange(n), centers)
    existing = rng.choice(others, min(len(others), int(rng.integers(0, 3))), replace=False)
    options = [
        Swaps(space, centers, existing, power, bool(rng.integers(2))),
        Sets(tuple(rng.choice(n, rng.integers(1, 4), replace=False) for _ in range(4)), power),
    ]
    # Few rows and many: shortest paths could be searched from either side.
    rows = rng.integers(0, n, int(rng.choice([0, 1, 3, 60])))
    row = int(rng.integers(n))
    charge, unit = Charge("test", "choose", Measure.PURE, Fraction(1)), Unit()
    for option in options:
        if len(option) == 0:
            continue
        _, scale, without = asked("choose", option, space, rows, charge, unit)
        _, same, with_row = asked("choose", option, space, [*rows, row], charge, unit)
        _, _, alone = asked("choose", option, space, [row], charge, unit)
        assert scale == same
        assert (with_row - without).tolist() == alone.tolist()
        assert int(alone.max()) - int(alone.min()) <= scale


@given(data=st.data())
@settings(deadline=None, derandomize=True, max_examples=60)
def test_one_row_moves_the_length_of_one_cell_by_its_own_whatever_the_others_are(data):
    n, cells = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 4))
    ends = st.sampled_from([-LONGEST, LONGEST, 0, 1, -1])
    steps = np.array(data.draw(st.lists(ends | st.integers(-LONGEST, LONGEST), min_size=n, max_size=n)))
    labels = np.array(data.draw(st.lists(st.integers(-1, cells - 1), min_size=n, max_size=n)))
    names = st.sampled_from([-1.0, 0.5, np.nan, np.inf, float(n), 2.0**62]) | st.integers(0, n - 1)
    rows, row = np.array(data.draw(st.lists(names, max_size=40)), dtype=float), data.draw(names)
    adjacency = data.draw(st.sampled_from(list(Adjacency)))
    space = FiniteMetric.from_points(np.arange(float(n))[:, None])
    found = []
    for table in (rows, np.append(rows, row), np.array([row], dtype=float)):
        source = NoiselessSource()
        charge, unit = Charge("test", "lengths", Measure.PURE, Fraction(1)), Unit(adjacency)
        demand_curator(table, space, unit, source).ask(Lengths(Labels(labels, cells), steps), charge)
        found.append(source.draws[0][2])
    assert np.array_equal(found[1] - found[0], found[2])
    assert np.abs(found[2]).sum() <= LONGEST
    is_one = row == np.floor(row) and 0 <= row < n
    place = int(row) if is_one else 0
    counts = is_one or adjacency is Adjacency.REPLACE
    expected = np.where(np.arange(cells) == labels[place], steps[place] * counts, 0)
    assert found[2].tolist() == expected.tolist()


def test_every_point_is_within_the_range_of_swaps_and_some_point_reaches_it():
    rng = np.random.default_rng(1)
    charge, reached = Charge("test", "choose", Measure.PURE, Fraction(1)), 0.0
    for _ in range(40):
        space = random_space(rng, "points", 12)
        centers = rng.choice(space.candidates, min(2, len(space.candidates) - 1), replace=False)
        for row in range(12):
            _, scale, alone = asked("choose", Swaps(space, centers, NONE), space, [row], charge, Unit())
            assert alone.max() - alone.min() <= scale
            reached = max(reached, (alone.max() - alone.min()) / scale)
    assert reached > 0.9


@pytest.mark.parametrize("power", [1, 2])
def test_distances_next_to_a_step_stay_within_the_range(power):
    # Costs that lie a last bit below, on and above whole steps; the range comes from the steps, so no bit can leave it.
    rng = np.random.default_rng(0)
    n = 10
    charge = Charge("test", "choose", Measure.PURE, Fraction(1))
    for _ in range(30):
        steps = rng.integers(0, SITE_STEPS, (n, n)) / SITE_STEPS
        lengths = np.nextafter(steps ** (1 / power), rng.choice([-1.0, 2.0], (n, n)))
        upper = np.triu(np.maximum(lengths, 0.0), 1)
        upper[0, 1] = 1.0
        space = FiniteMetric.from_matrix(upper + upper.T)
        option = Swaps(space, np.array([2, 5]), NONE, power, True)
        span = swap_range(cost_steps(space, space.distances([2, 5]), power))
        for row in range(n):
            _, scale, alone = asked("choose", option, space, [row], charge, Unit())
            assert scale == span
            assert alone.max() - alone.min() <= span
            assert alone.max() <= SITE_STEPS


def test_counts_are_cut_off_where_no_sum_of_costs_overflows(monkeypatch):
    space = random_space(np.random.default_rng(3), "graph", 9)
    charge = Charge("test", "choose", Measure.PURE, Fraction(1))
    source = NoiselessSource()
    with monkeypatch.context() as crowd:
        crowd.setattr(spinney.curators.demand, "count_points", lambda *_: np.full(9, 2**62))
        curator = demand_curator(np.arange(9), space, Unit(), source)
    full = int(curator._rows._counts[0])
    options = Swaps(space, space.candidates[:2], NONE, 1, True)
    curator.ask(Choose(options), charge)
    single = [asked("choose", options, space, [row], charge, Unit())[2] for row in range(9)]
    expected = [sum(full * int(one[i]) for one in single) for i in range(len(options))]
    assert [int(score) for score in source.draws[0][2]] == expected
    assert max(map(abs, expected)) < 2**63
    # The longest lengths of as many rows fit as well, and are not cut off once more.
    everywhere = Lengths(Labels(np.zeros(9, np.int64), 1), np.full(9, -LONGEST))
    curator = demand_curator(np.arange(9), space, Unit(), source)
    vars(curator._rows)["_counts"] = np.full(9, full)
    curator.ask(everywhere, Charge("test", "lengths", Measure.PURE, Fraction(1)))
    assert int(source.draws[-1][2][0]) == -9 * full * LONGEST >= -SATURATION
    # With a low cut, one row more moves the counts by one, or by nothing.
    monkeypatch.setattr(spinney.curators.demand, "LARGEST_SUM", 2 * SITE_STEPS * 9)
    for rows, gain in (([4], 1), ([4, 4], 0), ([4, 4, 4], 0)):
        low, high = (demand_curator(np.array(r), space, Unit(), source)._rows._counts for r in (rows, [*rows, 4]))
        assert (high - low).sum() == gain


def last_bits(space, distances, power):
    """Costs that show every bit of a distance."""
    return (np.ascontiguousarray(distances).view(np.int64) & (2**20 - 1)).astype(np.int32)


def test_not_even_the_last_bit_of_a_distance_depends_on_other_rows(monkeypatch):
    monkeypatch.setattr(spinney.curators.demand, "cost_steps", last_bits)
    charge = Charge("test", "choose", Measure.PURE, Fraction(1))
    rng = np.random.default_rng(7)
    for _ in range(20):
        space = random_space(rng, "graph", 30)
        options = Swaps(space, space.candidates[:2], NONE, 1, True)
        rows = rng.integers(0, 30, 50)
        scores = [asked("choose", options, space, r, charge, Unit())[2] for r in (rows, [*rows, 11], [11])]
        assert (scores[1] - scores[0]).tolist() == scores[2].tolist()


def test_a_ball_that_ends_at_a_point_holds_it_or_not_whatever_the_other_rows_are():
    rng = np.random.default_rng(8)
    for _ in range(20):
        space = random_space(rng, "graph", 30)
        radii = np.unique(space.distances_between(np.arange(30), space.candidates, oriented=True).ravel())[:200]
        balls = Balls(space, radii, (1,) * len(radii))
        whole = balls.first_stages(np.arange(30))
        for size in (1, 2, 15):
            some = np.sort(rng.choice(30, size, replace=False))
            assert np.array_equal(balls.first_stages(some), whole[some])
