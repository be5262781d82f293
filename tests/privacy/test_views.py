"""Rules 2, 5, 7 and 9 for views: the same rows, ledger and noise, clipped to another public domain."""

import dataclasses
import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spinney import Ball, Box, BudgetError
from spinney.mechanisms.source import SecureSource, SeededSource
from spinney.privacy.adjacency import Adjacency
from spinney.questions.cost import Cost
from spinney.questions.counts import Counts
from spinney.questions.form import form
from spinney.questions.grow import Grow
from spinney.questions.levels import Levels
from spinney.questions.partitions import ColumnBins, Rings, Whole
from spinney.questions.sums import Sums
from spinney.spaces.box import Domain
from spinney.trees.quadtree import Splits, TreeCells

OUTER = {"box": Box(-1, 1).domain(2), "ball": Ball(1.2).domain(2)}
INNER = Domain(np.array([-0.25, 0.125]), np.array([0.5, 0.25]), np.inf)
CENTERS = np.array([[-0.2, 0.2], [0.4, 0.15]])
RADII = np.array([0.1, 0.3])
SPLITS = Splits.of(INNER)
QUESTIONS = {
    "whole": ("counts", lambda view, charge: view.ask(Counts(Whole()), charge)),
    "cells": ("counts", lambda view, charge: view.ask(Counts(TreeCells.grid(SPLITS, 4)), charge)),
    "columns": ("counts", lambda view, charge: view.ask(Counts(ColumnBins()), charge)),
    "rings": ("counts", lambda view, charge: view.ask(Counts(Rings(CENTERS, np.array([0.05, 0.2]))), charge)),
    "levels": ("levels", lambda view, charge: view.ask(Levels(SPLITS, 0, 3, None), charge)),
    "grow": ("grow", lambda view, charge: view.ask(Grow(SPLITS, 2, 1), charge)),
    "mean": ("sums", lambda view, charge: view.ask(Sums(CENTERS, "mean", RADII), charge)),
    "median": ("sums", lambda view, charge: view.ask(Sums(CENTERS, "median", RADII), charge)),
    "second moment": ("sums", lambda view, charge: view.ask(Sums(CENTERS, "second-moment", RADII), charge)),
    "box": ("sums", lambda view, charge: view.ask(Sums(CENTERS, "box", RADII), charge)),
    "cost": ("cost", lambda view, charge: view.ask(Cost(CENTERS, 2), charge)),
}
ADDITIVE = [name for name in QUESTIONS if name != "grow"]
#: Inside the inner box, on its faces, outside it, outside the outer domain, and broken.
POINTS = np.array([[0.1, 0.2], [-0.25, 0.25], [0.9, -0.9], [1e300, 0.2], [np.nan, 0.2], [0.3, -np.inf]])
RNG = np.random.default_rng(8)
ROWS = np.concatenate([RNG.uniform(-1.5, 1.5, (300, 2)), RNG.uniform(INNER.lower, INNER.upper, (100, 2)), POINTS])


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("outer", OUTER)
@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_a_view_answers_like_a_curator_over_its_domain(name, outer, adjacency, curator, charge):
    question, ask = QUESTIONS[name]
    asked = charge(question)
    fresh = curator(ROWS, [asked], SeededSource(4), domain=INNER, adjacency=adjacency)
    view = curator(ROWS, [asked], SeededSource(4), domain=OUTER[outer], adjacency=adjacency).within(INNER)
    assert form(fresh.ground) == form(view.ground)
    assert form(ask(fresh, asked)) == form(ask(view, asked))


@pytest.mark.parametrize("name", ADDITIVE)
@pytest.mark.parametrize("outer", OUTER)
@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.matrix
def test_no_neighbor_moves_an_answer_in_a_view_beyond_its_charge(name, outer, adjacency, spy, charge, privacy_loss):
    question, ask = QUESTIONS[name]
    for measure in ("epsilon", "rho"):
        asked = charge(question, measure, Fraction(3, 7))

        def draws(rows, asked=asked):
            rows = POINTS[list(rows)].reshape(-1, 2)
            return spy(lambda c, own: ask(c.within(INNER), own), rows, asked, domain=OUTER[outer], adjacency=adjacency)

        exact = {rows: draws(rows) for n in range(3) for rows in itertools.combinations_with_replacement(range(len(POINTS)), n)}
        worst = Fraction(0)
        for rows, row in itertools.product([(), (0,), (2,), (4,)], range(len(POINTS))):
            for other in range(len(POINTS)) if adjacency is Adjacency.REPLACE else [None]:
                pair = [rows if extra is None else tuple(sorted((*rows, extra))) for extra in (row, other)]
                worst = max(worst, sum(privacy_loss(*(exact[one] for one in pair))))
        assert worst <= asked.amount
        assert worst > 0 or (name, adjacency) == ("whole", Adjacency.REPLACE)


@given(
    seed=st.integers(0, 2**32),
    d=st.integers(1, 4),
    name=st.sampled_from(["whole", "columns", "rings", "mean", "median", "second moment"]),
    outer=st.sampled_from([Box(-1, 1), Ball(1.3, 0.2)]),
    adjacency=st.sampled_from(["add-remove", "replace"]),
    scale=st.sampled_from([1e-300, 0.1, 1.0, 1e300]),
)
@settings(deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_a_row_adds_in_a_view_depends_on_that_row_alone(seed, d, name, outer, adjacency, scale, spy, charge, privacy_loss):
    question, _ = QUESTIONS[name]
    rng = np.random.default_rng(seed)
    domain = outer.domain(d)
    corners = np.sort(domain.sample(2, rng), axis=0)
    inner = Domain(corners[0], corners[1] + 1e-9, np.inf)
    centers, radii = inner.sample(2, rng), rng.uniform(1e-3, 2, 2)
    asks = {
        "whole": lambda view, asked: view.ask(Counts(Whole()), asked),
        "columns": lambda view, asked: view.ask(Counts(ColumnBins()), asked),
        "rings": lambda view, asked: view.ask(Counts(Rings(centers, np.array([0.1, 0.5]))), asked),
        "mean": lambda view, asked: view.ask(Sums(centers, "mean", radii), asked),
        "median": lambda view, asked: view.ask(Sums(centers, "median", radii), asked),
        "second moment": lambda view, asked: view.ask(Sums(centers, "second-moment", radii), asked),
        "box": lambda view, asked: view.ask(Sums(centers, "box", radii), asked),
    }
    rows = rng.normal(0, scale, (rng.integers(0, 300), d))
    added = rng.choice([np.nan, np.inf, 1e300, 0.0, 0.3, -0.7], (1, d), p=[0.05, 0.05, 0.1, 0.2, 0.3, 0.3])

    def exact(table):
        asked = charge(question)
        found = spy(lambda c, own: asks[name](c.within(inner), own), table, asked, domain=domain, adjacency=adjacency)
        return found, [np.array(values, dtype=object) for _, _, values in found]

    (before, low), (after, high), (_, own) = exact(rows), exact(np.concatenate([rows, added])), exact(added)
    assert all(np.array_equal(b - a, c) for a, b, c in zip(low, high, own, strict=True))
    assert sum(privacy_loss(before, after)) <= charge(question).amount


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("outer", OUTER)
@pytest.mark.parametrize("broken", POINTS[4:], ids=["nan", "infinity"])
def test_a_broken_row_is_the_middle_of_the_view_or_no_row(name, outer, broken, curator, charge):
    question, ask = QUESTIONS[name]
    asked = charge(question)
    tables = {
        "replace": [np.concatenate([ROWS, [broken]]), np.concatenate([ROWS, [INNER.center]])],
        "add-remove": [np.concatenate([ROWS, [broken]]), ROWS],
    }
    for adjacency, pair in tables.items():
        one, other = (
            ask(curator(rows, [asked], SeededSource(1), domain=OUTER[outer], adjacency=adjacency).within(INNER), asked)
            for rows in pair
        )
        assert form(one) == form(other)


def test_a_row_outside_a_view_counts_as_the_nearest_point_of_its_box(curator, charge):
    asked = charge("counts")
    clipped = np.clip(ROWS, INNER.lower, INNER.upper)
    clipped[~np.isfinite(ROWS).all(axis=1)] = np.nan
    one, other = (
        curator(rows, [asked], SeededSource(1)).within(INNER).ask(Counts(ColumnBins()), asked) for rows in (ROWS, clipped)
    )
    assert form(one) == form(other)


@pytest.mark.parametrize("first", ["inside", "outside"])
def test_a_charge_spent_in_a_view_is_spent_everywhere(first, curator, charge):
    asked = charge("counts")
    outside = curator(ROWS, [asked], SecureSource())
    inside = outside.within(INNER)
    assert inside.ledger is outside.ledger
    assert inside.unit == outside.unit
    (inside if first == "inside" else outside).ask(Counts(Whole()), asked)
    assert outside.ledger.entries == (asked,)
    for private in (inside, outside, outside.within(OUTER["box"]), inside.within(INNER)):
        with pytest.raises(BudgetError):
            private.ask(Counts(Whole()), asked)


def test_a_view_keeps_the_rows_of_each_person(curator, charge):
    people = np.arange(len(ROWS)) % 5
    asked = [dataclasses.replace(charge("counts", amount=10**6), name=name) for name in ("outside", "inside")]
    outside = curator(ROWS, asked, SecureSource(), adjacency="replace", max_rows=3, groups=people)
    inside = outside.within(INNER)
    assert outside.ask(Counts(Whole()), asked[0]).private_counts.tolist() == [15]
    assert inside.ask(Counts(Whole()), asked[1]).private_counts.tolist() == [15]
    assert np.array_equal(inside._rows._mask, outside._rows._mask)


def test_views_remember_nothing_of_each_other(curator, charge):
    # The same centers and splits in two domains: labels and codes kept for one would be wrong in the other.
    names = ["rings", "cells", "mean", "grow", "second moment"]
    domains = [OUTER["box"], INNER, Domain(INNER.lower - 0.3, INNER.upper + 0.1, np.inf), OUTER["box"]]
    asked = charge("counts", amount=5)
    questions = [
        (domain, QUESTIONS[name][1], dataclasses.replace(asked, name=f"{i} {name}", question=QUESTIONS[name][0]))
        for i, domain in enumerate(domains)
        for name in names
    ]
    charges = [own for _, _, own in questions]
    shared, source = curator(ROWS, charges, SeededSource(2)), SeededSource(2)
    # Views are made when others have been asked already, with the same centers and splits.
    views = [form(ask(shared if domain is OUTER["box"] else shared.within(domain), own)) for domain, ask, own in questions]
    assert views == [form(ask(curator(ROWS, charges, source, domain=domain), own)) for domain, ask, own in questions]
