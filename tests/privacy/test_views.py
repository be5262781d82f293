"""Rules 2, 5, 7 and 9 for views: the same rows and ledger, clipped to another domain, projected, or near some centers alone."""

import dataclasses
import itertools

import numpy as np
import pytest
from asking import asking, kind_of, shares_of_charge
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covering import covering
from spinney import Ball, Box, BudgetError, ParameterError
from spinney.curators import entrance
from spinney.curators.entrance import PLACES, enter
from spinney.mechanisms.source import SecureSource, SeededSource
from spinney.privacy.adjacency import Adjacency
from spinney.questions import Blocks, ColumnBins, Cost, Counts, Grow, Levels, PlaneCells, Rings, Sums, Whole
from spinney.questions.form import form
from spinney.spaces import BLOCK, Domain, door
from spinney.trees.quadtree import Splits, TreeCells

OUTER = {"box": Box(-1, 1), "ball": Ball(1.2)}
DIRECTIONS = np.array([[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0]]) + 0.01
INNER = Domain(np.array([-0.5, -0.75]), np.array([0.75, 0.5]), np.inf)
WIDE = Domain(np.full(2, -4.0), np.full(2, 4.0), np.inf)
CENTERS = np.array([[-0.2, 0.2], [0.4, 0.15], [0.0, -0.6]])
KEPT = np.array([0, 2])
RADII = np.array([0.1, 0.3, 0.2])
SPLITS, RANDOM = Splits.of(INNER), Splits.random(INNER, 9, np.random.default_rng(0))
QUESTIONS = {
    "whole": Counts(Whole()),
    "cells": Counts(TreeCells.grid(RANDOM, 4)),
    "columns": Counts(ColumnBins()),
    "rings": Counts(Rings(CENTERS, np.array([0.05, 0.2]))),
    "planes": Counts(PlaneCells(CENTERS, np.zeros(3, np.int64), np.zeros(3), np.array([1, -1, -1]))),
    "levels": Levels(RANDOM, 0, 4, None),
    "grow": Grow(SPLITS, 2, 1),
    "mean": Sums(CENTERS, "mean", RADII),
    "median": Sums(CENTERS, "median", RADII),
    "core": Sums(CENTERS, "core", 5 * RADII),
    "second moment": Sums(CENTERS, "second-moment", RADII),
    "box": Sums(CENTERS, "box", RADII),
    "cost": Cost(CENTERS, 2),
    "blocks": Blocks(Sums(CENTERS, "mean", RADII), 2, 5),
}
ADDITIVE = [name for name in QUESTIONS if name not in ("grow", "blocks")]
VIEWS = {
    "within": lambda curator: curator.within(INNER),
    "projected": lambda curator: curator.projected(DIRECTIONS, INNER),
    "near": lambda curator: curator.projected(DIRECTIONS, INNER).near(CENTERS, KEPT),
    "near, then narrowed": lambda curator: curator.projected(DIRECTIONS, WIDE).near(CENTERS, KEPT).within(INNER),
}
#: Inside, on a face, clipped in the projection, outside the outer domain, and broken.
POINTS = np.array(
    [[0.1, 0.2, 0.3], [-0.5, 0.5, 0.9], [-0.9, -0.9, 0.0], [0.3, 0.1, 1e300], [np.nan, 0.2, 0.1], [0.3, -np.inf, 0.0]]
)
RNG = np.random.default_rng(8)
ROWS = np.concatenate([RNG.normal(0, 0.6, (400, 3)), POINTS])


def columns_of(view):
    return 2 if view == "within" else 3


def plain(rows, outer, view, adjacency):
    """Return the rows that a view shows, as the proof says."""
    if view == "within":
        return rows
    (entered,) = enter(rows, np.empty(0, np.uint8), door(outer, adjacency == "replace"), PLACES)
    places = entered.slab.transpose(0, 2, 1)[:, :BLOCK].reshape(-1, 3)[: len(rows)]
    seen, fine = np.zeros((len(rows), 2)), entered.alive.copy()
    for t, j in itertools.product(range(2), range(3)):
        seen[:, t] += DIRECTIONS[t, j] * (places[:, j] - outer.center[j])
    if view != "projected":
        clipped = (WIDE if "narrowed" in view else INNER).clip(seen)
        fine &= np.isin(((clipped[:, None] - CENTERS) ** 2).sum(axis=2).argmin(axis=1), KEPT)
    return seen[fine]


@covering("name, view, outer, adjacency", QUESTIONS, VIEWS, OUTER, ["add-remove", "replace"])
def test_a_view_answers_like_a_curator_over_the_rows_it_shows(view, name, outer, adjacency, curator, charge):
    question, d = QUESTIONS[name], columns_of(view)
    asked, rows, domain = charge(kind_of(question)), ROWS[:, :d], OUTER[outer].domain(d)
    seen = VIEWS[view](curator(rows, [asked], SeededSource(4), domain=domain, adjacency=adjacency))
    fresh = curator(plain(rows, domain, view, adjacency), [asked], SeededSource(4), domain=INNER, adjacency=adjacency)
    assert form(fresh.ground) == form(seen.ground)
    assert form(seen.ask(question, asked)) == form(fresh.ask(question, asked))


@covering("name, view, outer, adjacency", ADDITIVE, VIEWS, OUTER, list(Adjacency))
@pytest.mark.matrix
def test_no_neighbor_moves_an_answer_in_a_view_beyond_its_charge(name, view, outer, adjacency, spy, charge):
    d, ask = columns_of(view), asking(QUESTIONS[name], VIEWS[view])
    for share in shares_of_charge(spy, charge, *ask, POINTS[:, :d], adjacency, caps=(1,), domain=OUTER[outer].domain(d)):
        assert 0 < share <= 1


@given(
    seed=st.integers(0, 2**32),
    d=st.integers(1, 5),
    m=st.integers(1, 4),
    name=st.sampled_from(["whole", "columns", "rings", "mean", "median", "second moment", "box"]),
    scale=st.sampled_from([1e-300, 0.1, 1.0, 1e149]),
    adjacency=st.sampled_from(["add-remove", "replace"]),
    outer=st.sampled_from([Box(-1, 1), Ball(1.3, 0.2)]),
    is_within=st.booleans(),
)
@settings(deadline=None, derandomize=True, max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_a_row_adds_in_a_view_depends_on_that_row_alone(
    seed, d, m, name, scale, adjacency, outer, is_within, spy, charge, privacy_loss
):
    rng = np.random.default_rng(seed)
    domain, inner = outer.domain(d), Box(-2, 1.5).domain(m)
    if is_within:
        corners = np.sort(domain.sample(2, rng), axis=0)
        inner = Domain(corners[0], corners[1] + 1e-9, np.inf)
    directions, centers = rng.normal(0, scale, (m, d)), inner.sample(3, rng)
    kept, radii = rng.choice(3, rng.integers(0, 4), replace=False), rng.uniform(1e-3, 2, 3)
    counted = {"whole": Whole(), "columns": ColumnBins(), "rings": Rings(centers, np.array([0.1, 0.5]))}
    question = Counts(counted[name]) if name in counted else Sums(centers, name.replace(" ", "-"), radii)
    rows = rng.normal(0, scale if is_within else 1, (rng.integers(0, 300), d))
    added = rng.choice([np.nan, np.inf, 1e300, 0.0, 0.3, -0.7], (1, d), p=[0.05, 0.05, 0.1, 0.2, 0.3, 0.3])
    asked = charge(kind_of(question))

    def exact(table):
        def ask(c, own):
            return (c.within(inner) if is_within else c.projected(directions, inner).near(centers, kept)).ask(question, own)

        found = spy(ask, table, asked, domain=domain, adjacency=adjacency)
        return found, [np.array(values, dtype=object) for _, _, values in found]

    (before, low), (after, high), (_, own) = exact(rows), exact(np.concatenate([rows, added])), exact(added)
    assert all(np.array_equal(b - a, c) for a, b, c in zip(low, high, own, strict=True))
    assert sum(privacy_loss(before, after)) <= asked.amount


def test_a_projection_from_the_middle_of_the_rows_would_be_noticed(monkeypatch, spy, charge):
    project, asked = entrance._project, charge("counts")

    def peek(slab, count, directions, center, found):
        project(slab, count, directions, slab[0, :, :count].mean(axis=1), found)

    def counts(rows):
        found = spy(lambda c, own: VIEWS["projected"](c).ask(Counts(TreeCells.grid(RANDOM, 4)), own), rows, asked)
        return np.array(found[0][2])

    more = np.concatenate([ROWS[:50], [[1.0, 1.0, 1.0]]])
    assert np.abs(counts(more) - counts(ROWS[:50])).sum() == 1
    monkeypatch.setattr(entrance, "_project", peek)
    assert np.abs(counts(more) - counts(ROWS[:50])).sum() > 1


def test_a_charge_spent_in_a_view_is_spent_everywhere(curator, charge):
    asked = charge("counts")
    for first in range(4):
        outside = curator(ROWS, [asked], SecureSource())
        views = [outside, *(VIEWS[name](outside) for name in list(VIEWS)[1:])]
        assert all(view.ledger is outside.ledger and view.unit == outside.unit for view in views)
        views[first].ask(Counts(Whole()), asked)
        assert outside.ledger.entries == (asked,)
        for private in (*views, views[2].near(CENTERS, [1]), outside.within(OUTER["box"].domain(3))):
            with pytest.raises(BudgetError):
                private.ask(Counts(Whole()), asked)


def test_a_view_keeps_the_rows_of_each_person(curator, charge):
    people = np.arange(len(ROWS)) % 5
    asked = [dataclasses.replace(charge("counts", amount=10**6), name=name) for name in ("outside", "inside")]
    outside = curator(ROWS[:, :2], asked, SecureSource(), adjacency="replace", max_rows=3, groups=people)
    inside = outside.within(INNER)
    assert outside.ask(Counts(Whole()), asked[0]).private_counts.tolist() == [15]
    assert inside.ask(Counts(Whole()), asked[1]).private_counts.tolist() == [15]
    assert np.array_equal(inside._rows._mask, outside._rows._mask)


def test_views_remember_nothing_of_each_other(curator, charge):
    # The same centers and splits in two domains: labels and codes kept for one would be wrong in the other.
    rows, outer = ROWS[:, :2], OUTER["box"].domain(2)
    domains = [outer, INNER, Domain(INNER.lower - 0.3, INNER.upper + 0.1, np.inf), outer]
    asked = charge("counts", amount=5)
    questions = [
        (domain, QUESTIONS[name], dataclasses.replace(asked, name=f"{i} {name}", question=kind_of(QUESTIONS[name])))
        for i, domain in enumerate(domains)
        for name in ("rings", "cells", "mean", "grow", "second moment")
    ]
    charges = [own for _, _, own in questions]
    shared, source = curator(rows, charges, SeededSource(2)), SeededSource(2)
    # Views are made when others have been asked already, with the same centers and splits.
    views = [form((shared if domain is outer else shared.within(domain)).ask(ask, own)) for domain, ask, own in questions]
    assert views == [form(curator(rows, charges, source, domain=domain).ask(ask, own)) for domain, ask, own in questions]


def test_samples_with_replacement_are_refused_where_rows_may_drop_out(curator, charge):
    asked = charge("blocks")
    question = Blocks(Sums(CENTERS, "mean", RADII), 2, 5, sampling="replacement")
    for is_fenced in (False, True):
        view = curator(ROWS, [asked], SeededSource(1), adjacency="replace").projected(DIRECTIONS, INNER)
        if not is_fenced:
            view.ask(question, asked)
            continue
        with pytest.raises(ParameterError, match="with replacement"):
            view.near(CENTERS, KEPT).ask(question, asked)


@pytest.mark.parametrize(
    "make",
    [
        lambda c: c.projected(DIRECTIONS[:, :2], INNER),
        lambda c: c.projected(DIRECTIONS[:1], INNER),
        lambda c: c.projected(DIRECTIONS * np.nan, INNER),
        lambda c: c.projected(DIRECTIONS * 1e200, INNER),
        lambda c: c.projected("table", INNER),
        lambda c: c.projected(DIRECTIONS, "table"),
        lambda c: c.near(CENTERS, KEPT),
        lambda c: c.projected(DIRECTIONS, INNER).near(CENTERS, [3]),
        lambda c: c.projected(DIRECTIONS, INNER).near(CENTERS, [-1]),
        lambda c: c.projected(DIRECTIONS, INNER).near(CENTERS, [0.5]),
        lambda c: c.projected(DIRECTIONS, INNER).near(np.full((3, 2), np.inf), KEPT),
        lambda c: c.projected(DIRECTIONS, INNER).near(CENTERS[:0], []),
    ],
)
def test_wrong_views_are_refused_before_anything_is_spent(make, curator, charge):
    asked = charge("counts")
    outside = curator(ROWS, [asked], SecureSource())
    with pytest.raises(ValueError, match=r"must|are projected|arrays of numbers"):
        make(outside)
    assert outside.ledger.entries == ()
