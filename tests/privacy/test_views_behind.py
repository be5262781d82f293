"""Rules 2, 5, 7 and 9 for views behind a door: rows in a public projection, and the rows near some public centers alone."""

import dataclasses
import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from covering import covering
from spinney import Ball, Box, BudgetError, ParameterError
from spinney.curators import entrance
from spinney.curators.entrance import PLACES, enter
from spinney.mechanisms.source import SecureSource, SeededSource
from spinney.privacy.adjacency import Adjacency
from spinney.questions.blocks import Blocks
from spinney.questions.cost import Cost
from spinney.questions.counts import Counts
from spinney.questions.form import form
from spinney.questions.grow import Grow
from spinney.questions.levels import Levels
from spinney.questions.partitions import ColumnBins, PlaneCells, Rings, Whole
from spinney.questions.sums import Sums
from spinney.spaces.box import Domain
from spinney.spaces.grid import door
from spinney.spaces.nearest import BLOCK
from spinney.trees.quadtree import Splits, TreeCells

OUTER = {"box": Box(-1, 1).domain(3), "ball": Ball(1.2).domain(3)}
DIRECTIONS = np.array([[0.6, 0.8, 0.0], [-0.8, 0.6, 0.0]]) + 0.01
INNER = Domain(np.array([-0.9, -0.75]), np.array([1.1, 0.8]), np.inf)
CENTERS = np.array([[-0.2, 0.2], [0.4, 0.15], [0.0, -0.6]])
KEPT = np.array([0, 2])
RADII = np.array([0.1, 0.3, 0.2])
SPLITS, RANDOM = Splits.of(INNER), Splits.random(INNER, 9, np.random.default_rng(0))
QUESTIONS = {
    "whole": ("counts", lambda: Counts(Whole())),
    "cells": ("counts", lambda: Counts(TreeCells.grid(RANDOM, 4))),
    "columns": ("counts", lambda: Counts(ColumnBins())),
    "rings": ("counts", lambda: Counts(Rings(CENTERS, np.array([0.05, 0.2])))),
    "planes": ("counts", lambda: Counts(PlaneCells(CENTERS, np.zeros(3, np.int64), np.zeros(3), np.array([1, -1, -1])))),
    "levels": ("levels", lambda: Levels(RANDOM, 0, 4, 2.0)),
    "grow": ("grow", lambda: Grow(SPLITS, 2, 1)),
    "mean": ("sums", lambda: Sums(CENTERS, "mean", RADII)),
    "median": ("sums", lambda: Sums(CENTERS, "median", RADII)),
    "core": ("sums", lambda: Sums(CENTERS, "core", 5 * RADII)),
    "box": ("sums", lambda: Sums(CENTERS, "box", RADII)),
    "cost": ("cost", lambda: Cost(CENTERS, 2)),
    "blocks": ("blocks", lambda: Blocks(Sums(CENTERS, "mean", RADII), 2, 5)),
}
ADDITIVE = [name for name in QUESTIONS if name not in ("grow", "blocks", "levels")]
VIEWS = {
    "projected": lambda curator: curator.projected(DIRECTIONS, INNER),
    "near": lambda curator: curator.projected(DIRECTIONS, INNER).near(CENTERS, KEPT),
    "near, then narrowed": lambda curator: curator.projected(DIRECTIONS, wide()).near(CENTERS, KEPT).within(INNER),
}
#: Inside, clipped in the projection, outside the outer domain, and broken.
POINTS = np.array(
    [[0.1, 0.2, 0.3], [0.4, -0.1, 0.9], [-0.9, -0.9, 0.0], [0.3, 0.1, 1e300], [np.nan, 0.2, 0.1], [0.3, 0.0, -np.inf]]
)
RNG = np.random.default_rng(8)
ROWS = np.concatenate([RNG.normal(0, 0.6, (400, 3)), POINTS])


def wide():
    """Return a box around all projections."""
    return Domain(np.full(2, -4.0), np.full(2, 4.0), np.inf)


def plain(rows, outer, view, adjacency):
    """Return the rows that a view shows, as the proof says."""
    (entered,) = enter(rows, np.empty(0, np.uint8), door(outer, adjacency == "replace"), PLACES)
    places = entered.slab.transpose(0, 2, 1)[:, :BLOCK].reshape(-1, 3)[: len(rows)]
    seen, fine = np.zeros((len(rows), 2)), entered.alive.copy()
    for t, j in itertools.product(range(2), range(3)):
        seen[:, t] += DIRECTIONS[t, j] * (places[:, j] - outer.center[j])
    if view != "projected":
        clipped = (wide() if "narrowed" in view else INNER).clip(seen)
        fine &= np.isin(((clipped[:, None] - CENTERS) ** 2).sum(axis=2).argmin(axis=1), KEPT)
    return seen[fine]


@covering("name, view, outer, adjacency", QUESTIONS, VIEWS, OUTER, ["add-remove", "replace"])
def test_a_view_answers_like_a_curator_over_the_rows_it_shows(view, name, outer, adjacency, curator, charge):
    question, make = QUESTIONS[name]
    asked = charge(question)
    seen = VIEWS[view](curator(ROWS, [asked], SeededSource(4), domain=OUTER[outer], adjacency=adjacency))
    shown = plain(ROWS, OUTER[outer], view, adjacency)
    fresh = curator(shown, [asked], SeededSource(4), domain=INNER, adjacency=adjacency)
    assert form(fresh.ground) == form(seen.ground)
    assert form(seen.ask(make(), asked)) == form(fresh.ask(make(), asked))


@covering("name, view, adjacency, measure", ADDITIVE, VIEWS, list(Adjacency), ["epsilon", "rho"])
@pytest.mark.matrix
def test_no_neighbor_moves_an_answer_behind_a_door_beyond_its_charge(name, view, adjacency, measure, spy, charge, privacy_loss):
    question, make = QUESTIONS[name]
    asked = charge(question, measure, Fraction(3, 7))

    def draws(rows):
        table = POINTS[list(rows)].reshape(-1, 3)
        return spy(lambda c, own: VIEWS[view](c).ask(make(), own), table, asked, domain=OUTER["box"], adjacency=adjacency)

    exact = {rows: draws(rows) for n in range(3) for rows in itertools.combinations_with_replacement(range(len(POINTS)), n)}
    worst = Fraction(0)
    for rows, row in itertools.product([(), (0,), (2,), (4,)], range(len(POINTS))):
        for other in range(len(POINTS)) if adjacency is Adjacency.REPLACE else [None]:
            pair = [rows if extra is None else tuple(sorted((*rows, extra))) for extra in (row, other)]
            worst = max(worst, sum(privacy_loss(*(exact[one] for one in pair))))
    assert worst <= asked.amount
    assert worst > 0 or (view, name, adjacency) == ("projected", "whole", Adjacency.REPLACE)


@given(
    seed=st.integers(0, 2**32),
    d=st.integers(1, 5),
    m=st.integers(1, 4),
    name=st.sampled_from(["whole", "columns", "rings", "mean", "median"]),
    scale=st.sampled_from([1e-300, 0.1, 1.0, 1e149]),
    adjacency=st.sampled_from(["add-remove", "replace"]),
    outer=st.sampled_from([Box(-1, 1), Ball(1.3, 0.2)]),
)
@settings(deadline=None, derandomize=True, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_a_row_adds_behind_a_door_depends_on_that_row_alone(
    seed, d, m, name, scale, adjacency, outer, spy, charge, privacy_loss
):
    rng = np.random.default_rng(seed)
    domain, inner = outer.domain(d), Box(-2, 1.5).domain(m)
    directions, centers = rng.normal(0, scale, (m, d)), inner.sample(3, rng)
    kept, radii = rng.choice(3, rng.integers(0, 4), replace=False), rng.uniform(1e-3, 2, 3)
    asks = {
        "whole": Counts(Whole()),
        "columns": Counts(ColumnBins()),
        "rings": Counts(Rings(centers, np.array([0.1, 0.5]))),
        "mean": Sums(centers, "mean", radii),
        "median": Sums(centers, "median", radii),
    }
    rows = rng.normal(0, 1, (rng.integers(0, 300), d))
    added = rng.choice([np.nan, np.inf, 1e300, 0.0, 0.3, -0.7], (1, d), p=[0.05, 0.05, 0.1, 0.2, 0.3, 0.3])
    asked = charge("sums" if name in ("mean", "median") else "counts")

    def exact(table):
        def ask(c, own):
            return c.projected(directions, inner).near(centers, kept).ask(asks[name], own)

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


def test_cells_of_kept_centers_keep_all_their_rows_and_others_none(curator, charge):
    names = ("all", "near", "none")
    asked = [dataclasses.replace(charge("counts", amount=10**6), name=name) for name in names]
    outside = curator(ROWS, asked, SecureSource()).projected(DIRECTIONS, INNER)
    views = (outside, outside.near(CENTERS, KEPT), outside.near(CENTERS, []))
    everything, near, none = (
        view.ask(Counts(Rings(CENTERS)), own).private_counts.tolist() for view, own in zip(views, asked, strict=True)
    )
    assert near == [everything[0], 0, everything[2]]
    assert min(everything) > 0
    assert none == [0, 0, 0]


def test_a_charge_spent_behind_a_door_is_spent_everywhere(curator, charge):
    asked = charge("counts")
    outside = curator(ROWS, [asked], SecureSource())
    views = [make(outside) for make in VIEWS.values()]
    assert all(view.ledger is outside.ledger and view.unit == outside.unit for view in views)
    views[1].ask(Counts(Whole()), asked)
    for private in (outside, *views, views[1].near(CENTERS, [1])):
        with pytest.raises(BudgetError):
            private.ask(Counts(Whole()), asked)


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


def test_later_changes_of_the_arrays_change_no_view(curator, charge):
    directions, centers, kept = DIRECTIONS.copy(), CENTERS.copy(), KEPT.copy()
    asked = charge("counts")

    def counts(spoil):
        view = curator(ROWS, [asked], SeededSource(1)).projected(directions, INNER).near(centers, kept)
        if spoil:
            directions[:], centers[:], kept[:] = 0, 0, 1
        return form(view.ask(Counts(Rings(CENTERS)), asked))

    assert counts(False) == counts(True)
