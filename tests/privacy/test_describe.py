"""Descriptions of clusters: what one row, or one person, moves; what neighbors lose; and that nothing else tells of rows."""

import itertools
import json
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from asking import asking, shares_of_charge
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from outliers import shown_epsilons

from spinney import PrivateKMeans, describe
from spinney.audit import NoiselessSource, compare, record, replay_pairs, table_pairs
from spinney.estimators.description_model import DescriptionModel
from spinney.privacy import Adjacency, Unit
from spinney.questions import ClusterBins, Clusters, Counts, Persons, Totals
from spinney.questions.sums import RADIUS_STEPS
from spinney.spaces import ABSENT, Domain

#: One column that decides the cluster, and two behind it. Rows at the bounds, one outside, one without an answer, one missing.
DOMAIN = Domain(np.array([-1.0, 0.0, 0.0]), np.array([1.0, ABSENT, ABSENT]), math.inf)
POINTS = np.array([[-0.9, 0.0, 1.0], [-0.1, 1.0, 0.0], [0.9, 1.0, 0.0], [0.1, 0.3, ABSENT], [40.0, 0.5, 0.7], [np.nan, 0.2, 0.9]])
CLUSTERS = Clusters(np.array([[-0.5], [0.5]]))
QUESTIONS = {
    "rows": Counts(CLUSTERS),
    "bins": Counts(ClusterBins(CLUSTERS, np.array([3, 2]))),
    "totals": Totals(CLUSTERS, np.array([0, 1])),
    "one total": Totals(CLUSTERS, np.array([1])),
}


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.matrix
def test_no_neighbor_of_a_tiny_table_moves_an_answer_beyond_its_charge(name, adjacency, spy, charge):
    # Noise of few steps is rounded up, and so are scales: what is left of the charge is small.
    for share in shares_of_charge(spy, charge, *asking(QUESTIONS[name]), POINTS, adjacency, domain=DOMAIN):
        assert Fraction(99, 100) < share <= 1


@given(data=st.data())
@settings(deadline=None, max_examples=80, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_one_row_moves_one_bin_of_each_column_and_a_half_width_of_each_total(data, spy, charge):
    d, m = data.draw(st.integers(1, 3)), data.draw(st.integers(1, 4))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    bins = rng.integers(1, 70, m)
    radius = data.draw(st.sampled_from([math.inf, 1.0]))
    clusters = Clusters(rng.uniform(-1, 1, (data.draw(st.integers(1, 3)), d)), radius)
    domain = Domain(np.concatenate([np.full(d, -1.0), np.zeros(m)]), np.concatenate([np.ones(d), np.full(m, ABSENT)]), math.inf)
    cells = st.sampled_from([0.0, 1.0, 0.5, ABSENT, 1 - 1e-12, 1e-12, 1.5, -3.0, 7.0, math.nan, math.inf, 1e300])
    row = np.array([data.draw(cells | st.floats(-2, 2)) for _ in range(d + m)])
    rows = rng.uniform(-1, 2, (data.draw(st.sampled_from([0, 1, 255, 256, 300])), d + m))
    adjacency = data.draw(st.sampled_from(list(Adjacency)))

    def moved(question, kind):
        answers = [
            np.array(spy(lambda c, a: c.ask(question, a), table, charge(kind), domain=domain, adjacency=adjacency)[0][2])
            for table in (rows, np.concatenate([rows, row[None]]), row[None])
        ]
        assert np.array_equal(answers[1] - answers[0], answers[2])  # what a row adds depends on that row alone
        return np.abs(answers[2])

    counts = moved(Counts(ClusterBins(clusters, bins)), "counts").reshape(len(clusters), -1)
    ends = np.cumsum(bins + 1)[:-1]
    for own in np.split(counts, ends, axis=1):
        assert own.sum() <= 1
    assert counts.any(axis=1).sum() <= 1
    totals = moved(Totals(clusters, np.arange(m)), "totals").reshape(len(clusters), m)
    assert totals.max() <= RADIUS_STEPS
    assert totals.any(axis=1).sum() <= 1
    assert moved(Counts(clusters), "counts").sum() <= 1


def person_counts(table, spy, charge, adjacency="add-remove", cap=2):
    """Return the exact numbers of persons in both clusters; a table is a list of places in POINTS and names."""
    rows = POINTS[[place for place, _ in table]].reshape(-1, 3)
    names = np.array([name for _, name in table], dtype=object)
    ask = spy(
        lambda c, a: c.ask(Persons(CLUSTERS), a), rows, charge("persons"), domain=DOMAIN, adjacency=adjacency, max_rows=cap,
        groups=names,
    )  # fmt: skip
    return np.array(ask[0][2])


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_one_person_counts_once_and_moves_nobody_else(adjacency, spy, charge):
    kinds = list(itertools.product((0, 2, 5), ("ann", "bob", None)))
    tables = [table for n in range(4) for table in itertools.combinations_with_replacement(kinds, n)]
    counts = {table: person_counts(table, spy, charge, adjacency) for table in tables}
    for table, found in counts.items():
        present = {name for place, name in table if name is not None and (place != 5 or adjacency is Adjacency.REPLACE)}
        assert found.sum() == len(present)
        for name in ("ann", "bob"):
            without = tuple(row for row in table if row[1] != name)
            assert np.abs(found - counts[without]).sum() <= 1
        assert np.array_equal(found, person_counts(table[::-1], spy, charge, adjacency))  # in any order
    by_others = {}
    for table in tables:  # ann's rows replaced by others
        by_others.setdefault(tuple(row for row in table if row[1] != "ann"), []).append(counts[table])
    for found in by_others.values():
        assert max(np.abs(one - other).sum() for one in found for other in found) <= 2


@pytest.mark.parametrize(("adjacency", "measure"), list(itertools.product(Adjacency, ("epsilon", "rho"))))
def test_the_noise_of_persons_is_that_of_one_row_whatever_the_cap(adjacency, measure, spy, charge):
    asked = charge("persons", measure, Fraction(1, 2))

    def ask(curator, one):
        curator.ask(Persons(CLUSTERS), one)

    scales = [spy(ask, POINTS, asked, domain=DOMAIN, adjacency=adjacency, max_rows=cap)[0][1] for cap in (1, 7)]
    moved = 2 if adjacency is Adjacency.REPLACE else 1
    least = moved * 2 if measure == "epsilon" else math.sqrt(moved)
    assert scales[0] == scales[1] >= least


NAMES = ("x", "number", "letter")


class Framed:
    """A description of made-up rows of three columns, of which the last is read as letters; bad cells stay bad."""

    def __init__(self, model):
        self._model = model

    def table(self, rows):
        letters = [None if not math.isfinite(cell) else "high" if cell > 0 else "low" for cell in rows[:, 2].tolist()]
        return pl.DataFrame(dict(zip(NAMES, (rows[:, 0], rows[:, 1], letters), strict=True)), strict=False)

    def prepare(self, rows, groups=None):
        return self._model.prepare(self.table(rows), groups)


def described(adjacency="add-remove", cap=None, delta=0.0, **more):
    """Return the model of a description of three clusters."""
    rng = np.random.default_rng(0)
    groups = None if cap is None else rng.integers(0, 50, 200)
    model = PrivateKMeans(3, epsilon=5.0, bounds={"x": (-1, 1)}, adjacency=adjacency, max_rows_per_group=cap)
    release = model.fit(pl.DataFrame({"x": rng.uniform(-1, 1, 200)}), groups=groups).release_
    bounds = {"number": (-1, 1), "letter": ["low", "high"]}
    return Framed(DescriptionModel(release, None, bounds, epsilon=1.0, delta=delta, bins=4, **more))


@pytest.mark.parametrize("cap", [None, 2])
@pytest.mark.parametrize(("adjacency", "delta"), [("add-remove", 0.0), ("add-remove", 1e-2), ("replace", 1e-2)])
@pytest.mark.matrix
def test_neighbors_lose_no_more_than_epsilon_and_half_the_noise_is_seen(adjacency, delta, cap):
    model, unit = described(adjacency, cap, delta), Unit(adjacency, cap or 1)
    corners, grouped = (np.full(3, -1.0), np.full(3, 1.0)), cap is not None
    finding = replay_pairs(model, table_pairs(*corners, unit, 9 if grouped else 7, grouped=grouped))
    assert finding.faults == ()
    assert 0.1 < finding.bound <= 1.0
    for question in ("counts", "totals", *(["persons"] if grouped else [])):
        halved = replay_pairs(model, table_pairs(*corners, unit, 1, grouped=grouped), factor={question: 0.5})
        assert any("less than its charge pays for" in fault for fault in halved.faults)


def test_what_is_asked_and_made_follows_the_rows_through_answers_alone():
    model, rng = described(), np.random.default_rng(3)
    rows = rng.uniform(-1, 1, (300, 3))
    bad = np.array([[np.nan, 0.1, 0.2], [0.1, np.inf, 0.2], [0.1, 0.2, np.nan], [1e300, -1e300, 0.0]])
    first = record(model, rows)
    assert first.seen["error"] is None
    for other in (rows[:-1], rows[:0], bad, np.concatenate([rows, bad]), rng.uniform(-1, 1, (999, 3))):
        source = first.frozen()
        found = compare(first, record(model, other, source=source))
        assert source.left == 0
        assert found.visible == ()
    neighbor = compare(first, record(model, rows[:-1], source=first.frozen()))
    assert neighbor.faults == ()
    assert {one.charge.name for one in first.questions} == {"rows", "totals", "bins"}


@pytest.mark.parametrize("epsilon", [1e-6, 0.5, math.inf])
@pytest.mark.parametrize("n", [0, 1, 7, 300])
def test_no_table_and_no_noise_raises_and_all_of_it_can_be_written(n, epsilon):
    model = described()._model
    rows = np.random.default_rng(n).normal(0, 1, (n, 3))
    found = describe(model.release, described().table(rows), bounds=model.bounds, epsilon=epsilon)
    text = found.to_json()  # JSON has no NaN and no infinity
    assert type(found).from_dict(json.loads(text)).to_json() == text


def test_cells_that_say_nothing_are_counted_as_such_in_silence():
    release = described()._model.release
    numbers, letters = ["1", "bad", None, "0.5", "inf", "nan"], ["low", "LOW", "", None, "x", "high"]
    table = pl.DataFrame({"x": [0.0] * 6, "number": numbers, "letter": letters})
    found = describe(release, table, bounds={"number": (-1, 1), "letter": ["low", "high"]}, epsilon=math.inf)
    assert found.rows.sum() == 6
    assert found.histogram("number")[:, -1].sum() == 4
    assert found.histogram("letter").sum(axis=0).tolist() == [1, 1, 4]
    filled = {"number": {"bounds": (-1, 1), "fill": 0}, "letter": {"categories": ["low", "high"], "fill": "low"}}
    found = describe(release, table, bounds=filled, epsilon=math.inf)
    assert found.histogram("number")[:, -1].sum() == 0
    assert found.histogram("letter").sum(axis=0).tolist() == [5, 1, 0]


@pytest.mark.slow
@pytest.mark.parametrize("cap", [None, 2])
def test_a_lonely_outlier_shows_no_more_than_epsilon(cap, alarm):
    model = described(cap=cap)._model
    crowd, outlier = np.full((40, 3), -0.9), np.full((2 if cap else 1, 3), 0.95)
    framed = described().table

    def run(rows, seed):
        groups = None if cap is None else [f"p{i}" for i in range(40)] + ["outlier"] * (len(rows) - 40)
        found = describe(model.release, framed(rows), bounds=model.bounds, epsilon=1.0, bins=4, groups=groups)
        there = int(np.argmax(model.release.centers[:, 0]))
        return {
            "rows": found.rows[there],
            "persons": found.rows[there] if found.persons is None else found.persons[there],
            "bin": found.histogram("number")[there, 3],
            "letter": found.histogram("letter")[there, 1],
            "mean": np.nan_to_num(found.means[there, 0]),
            "quantile": np.nan_to_num(found.quantiles[there, 0, 2]),
            "score": np.nan_to_num(found.scores[there]).sum(),
        }

    measured = shown_epsilons(run, (np.concatenate([crowd, outlier]), crowd), 1 - alarm / 7)
    assert max(measured.values()) <= 1.0, measured


def test_which_row_of_a_person_is_drawn_depends_on_a_secret():
    rows = np.array([[-0.9, 0.0, 0.0], [0.9, 0.0, 0.0]] * 200)
    table = pl.DataFrame({"x": rows[:, 0], "number": rows[:, 1], "person": np.repeat(np.arange(200), 2)})
    model = PrivateKMeans(2, epsilon=50.0, bounds={"x": (-1, 1)}, max_rows_per_group=2).fit(table, groups="person")
    seen = Counter(
        tuple(describe(model.release_, table, bounds={"number": (-1, 1)}, epsilon=math.inf, groups="person").persons.tolist())
        for _ in range(4)
    )
    assert len(seen) > 1
    assert all(sum(counts) == 200 and 50 < counts[0] < 150 for counts in seen)


def test_totals_are_told_in_half_widths_of_columns(curator, charge):
    """With hardly any noise: the sum of what rows say, from the middle of each column's bounds."""
    paid = charge("totals", amount=10**5)
    told = (
        curator(POINTS[:3], [paid], NoiselessSource(), domain=DOMAIN).ask(Totals(CLUSTERS, np.array([0, 1])), paid).private_totals
    )
    expected = (POINTS[:3, 1:] - 0.5).sum(axis=0) * 2
    assert np.abs(told.reshape(2, 2).sum(axis=0) - expected).max() < 1e-3
