"""Rules 2, 5 and 9 for views at points: rows of numbers seen as the nearest of public points, same ledger, same noise."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from asking import asking, shares_of_charge
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from opening import curator_over
from spinney import Ball, Box, BudgetError, FiniteMetric
from spinney.curators.backend import Backend
from spinney.curators.demand import DemandBackend
from spinney.mechanisms.source import SecureSource, SeededSource
from spinney.privacy import Adjacency, Unit
from spinney.questions import Balls, Choose, Counts, Cover, Labels, Sets, Swaps, Whole
from spinney.questions.form import form
from spinney.questions.ground import Ground

POINTS = np.array([[-0.8, -0.7], [0.1, 0.6], [0.9, -0.5], [0.85, -0.45], [-0.3, 0.2]])
SPACE = FiniteMetric.from_points(POINTS)
NONE = np.empty(0, dtype=np.int64)
QUESTIONS = {
    "labels": ("counts", lambda: Counts(Labels(np.array([0, 1, 1, -1, 2]), 3))),
    "swaps": ("choose", lambda: Choose(Swaps(SPACE, np.array([0, 2]), NONE, 2, stay=True))),
    "sets": ("choose", lambda: Choose(Sets((np.array([0, 1]), np.array([2, 4])), 1))),
    "balls": ("cover", lambda: Cover(Balls(SPACE, np.array([0.3, 0.9, 2.5]), (1, 2, 1)))),
}
#: Near each point, outside the domain, and broken.
ROWS = np.array([[-0.75, -0.7], [0.1, 0.5], [0.9, -0.52], [0.84, -0.44], [-0.2, 0.2], [50.0, -40.0], [np.nan, 0.3]])


def named(rows, domain, adjacency):
    """Return the points that rows name, as the proof says: nearest after clipping; -1 for a broken row, or the middle's."""
    fine = np.isfinite(rows).all(axis=1)
    places = domain.clip(np.where(fine[:, None], rows, domain.center))
    labels = ((places[:, None] - POINTS) ** 2).sum(axis=2).argmin(axis=1)
    return labels if adjacency == "replace" else np.where(fine, labels, -1)


@given(seed=st.integers(0, 2**32), n=st.sampled_from([0, 1, 7, 300]), name=st.sampled_from(sorted(QUESTIONS)))
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("space", [Box(-1, 1), Ball(1.1)], ids=["box", "ball"])
@settings(deadline=None, derandomize=True, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_rows_seen_at_points_answer_like_rows_that_name_them(seed, n, name, adjacency, space, curator, charge):
    rng, domain = np.random.default_rng(seed), space.domain(2)
    rows = rng.normal(0, 0.8, (n, 2))
    rows[rng.random(n) < 0.1, 0] = rng.choice([np.nan, np.inf, 1e300])
    question, make = QUESTIONS[name]
    asked = charge(question, amount=Fraction(1, 3))
    if question == "cover":
        asked = dataclasses.replace(asked, delta=Fraction(1, 10**6))
    seen = curator(rows, [asked], SeededSource(5), domain=domain, adjacency=adjacency).at(SPACE)
    unit = Unit(Adjacency(adjacency))
    theirs = curator_over(named(rows, domain, adjacency), Ground(None, 5, SPACE), [asked], unit, SeededSource(5))
    assert form(seen.ask(make(), asked)) == form(theirs.ask(make(), asked))


@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_no_neighbor_moves_counts_at_points_beyond_the_charge(adjacency, spy, charge):
    counts = asking(Counts(Labels(np.arange(5), 5)), lambda curator: curator.at(SPACE))
    for share in shares_of_charge(spy, charge, *counts, ROWS, adjacency):
        assert Fraction(99, 100) < share <= 1


class Untouchable(Backend):
    """Rows that must not be read."""

    def __init__(self):
        self.ground = Ground(Box(-1, 1).domain(2))

    def exact(self, aggregate, levels_below=0):
        raise AssertionError("rows were read")


def test_nothing_is_read_before_a_question_is_charged(charge):
    from spinney.curators.demand import SnappedBackend

    view = SnappedBackend(Untouchable(), SPACE)
    assert view.ground.given is SPACE
    with pytest.raises(AssertionError, match="rows were read"):
        view.exact(Labels(np.zeros(5, np.int64), 1))


def test_a_charge_spent_at_points_is_spent_everywhere(curator, charge):
    asked = charge("counts")
    outside = curator(ROWS, [asked], SecureSource())
    inside = outside.at(SPACE)
    assert inside.ledger is outside.ledger
    assert inside.unit == outside.unit
    inside.ask(Counts(Labels(np.zeros(5, np.int64), 1)), asked)
    for private in (inside, outside.at(SPACE)):
        with pytest.raises(BudgetError):
            private.ask(Counts(Labels(np.zeros(5, np.int64), 1)), asked)
    with pytest.raises(BudgetError):
        outside.ask(Counts(Whole()), asked)


def test_a_view_at_points_keeps_the_rows_of_each_person(curator, charge):
    people = np.arange(40) % 4
    rows = np.repeat(POINTS, 8, axis=0)
    asked = charge("counts", amount=10**6)
    seen = curator(rows, [asked], SecureSource(), adjacency="replace", max_rows=3, groups=people).at(SPACE)
    assert seen.ask(Counts(Labels(np.arange(5), 5)), asked).private_counts.sum() == 12


class OwnMetric(FiniteMetric):
    pass


@pytest.mark.parametrize(
    "space",
    [
        FiniteMetric.from_matrix(np.ones((3, 3)) - np.eye(3)),
        FiniteMetric.from_points(POINTS, "manhattan"),
        FiniteMetric.from_points(POINTS[:, :1]),
        OwnMetric(SPACE.source, 5, SPACE.candidates, None),
        POINTS,
    ],
    ids=["matrix", "manhattan", "columns", "subclass", "array"],
)
def test_spaces_without_points_of_the_rows_columns_are_refused(space, curator, charge):
    with pytest.raises(ValueError, match=r"rows are seen at|must be finite points"):
        curator(ROWS, [charge("counts")], SecureSource()).at(space)


def test_rows_that_name_points_are_not_seen_at_others():
    demand = DemandBackend(np.array([0, 1]), Ground(None, 5, SPACE), Unit(), lambda: bytes(16))
    with pytest.raises(ValueError, match="only rows of numbers"):
        demand.at(SPACE)
