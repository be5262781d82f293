"""Simulated users answer as devices do: the same slots, and the same law of the noise."""

import json
import os
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2

from reports import policy_for, question_of, stream_of
from spinney import Ball, Box, BudgetError
from spinney.local import aggregate, device
from spinney.local.cells import CellTree, Grid, leaves_of
from spinney.local.desk import Desk, Till
from spinney.local.device import _Entropy, _leaf, place, read_domain, respond
from spinney.local.users import Users, _binned, _regions, _sums
from spinney.mechanisms import SeededSource, Watched, randomizers
from spinney.mechanisms.randomizers import binomials
from spinney.privacy import Adjacency, Budget, Charge, FitLedger, Measure, Unit
from spinney.questions.ground import Ground

REPLACE = Unit(Adjacency.REPLACE)
#: A box whose grid is read_domain's of (4, 2) steps, but finer.
DOMAIN = Box([0, 0], [4, 2]).domain(2)
ROWS = np.random.default_rng(0).uniform([0, 0], [4, 2], (40, 2))
SHAPES = ("0", "100", "11000", "1110000", "111010000")


def asked_of(kind, **fields):
    grid = Grid.of(DOMAIN)
    scale = 2**18
    points = [[scale // 2, scale], [3 * scale, scale // 3]]
    wide = {
        "cells": {},
        "regions": {"centers": points, "radii": [scale, 2 * scale]},
        "offsets": {"centers": points, "radii": [scale, 2 * scale], "reaches": [scale // 2, scale]},
        "cost": {"first": points[:1], "second": points, "range": scale**2},
        "sums": {"centers": points, "radii": [scale, 2 * scale], "reaches": [scale // 2, scale], "anchors": points},
    }[kind]
    return question_of(kind, grid.record, **(wide | fields))


@given(st.lists(st.lists(st.floats(width=64), min_size=2, max_size=2), min_size=1, max_size=5))
def test_rows_are_placed_as_devices_place_them(rows):
    grid = Grid.of(Box([-1, 0.1], [1, 0.7]).domain(2))
    with np.errstate(over="ignore", invalid="ignore"):
        places = grid.places(np.array(rows, dtype=np.float64))
    assert places.tolist() == [place(row, *read_domain(grid.record)) for row in rows]


@pytest.mark.parametrize("shape", SHAPES)
def test_cells_are_found_as_devices_find_them(shape):
    asked = json.loads(asked_of("cells", shape=shape))
    grid = Grid.of(DOMAIN)
    places = grid.places(ROWS)
    assert leaves_of(places, asked, grid).tolist() == [_leaf(one, asked) for one in places.tolist()]


@given(st.lists(st.integers(0, 3), min_size=8, max_size=8))
def test_refined_cells_lie_in_the_cells_they_came_from(levels):
    grid = Grid.of(DOMAIN)
    tree, _ = CellTree(grid).refined(np.array([3]))
    finer, origins = tree.refined(np.array(levels))
    assert len(finer) == len(origins) == sum(2**level for level in levels)
    assert (np.abs(finer.middles - tree.middles[origins]) <= tree.widths[origins] / 2 + grid.step).all()
    assert np.prod(finer.widths, axis=1).sum() == pytest.approx(8)


@pytest.mark.parametrize("kind", ["regions", "offsets", "sums"])
@pytest.mark.parametrize("fields", [{}, {"kernel": "median", "bins": 2}, {"kernel": "mean", "bins": 5}])
def test_exact_answers_are_those_of_devices(kind, fields):
    fields = fields if kind == "offsets" else {}
    asked, places = json.loads(asked_of(kind, **fields)), Grid.of(DOMAIN).places(ROWS)
    region, square = _regions(places, np.asarray(asked["centers"]))
    slot = np.where(square <= np.asarray(asked["radii"])[region] ** 2, region, -1)
    if kind == "sums":
        told = [_truth(one, asked, stream_of("x")) for one in places.tolist()]
        assert _sums(places, slot, asked).ravel().tolist() == np.sum(told, axis=0).tolist()
        return
    if kind == "regions":
        assert slot.tolist() == [_truth(one, asked, None) for one in places.tolist()]
        return
    rng = np.random.default_rng(1)
    column, words = rng.integers(0, 2, len(places)), rng.integers(0, 2**32, len(places)).astype(np.uint64)
    found = _binned(places, slot, column, asked, words)
    assert found.tolist() == [
        _truth(p, asked, None, int(c), int(w)) for p, c, w in zip(places.tolist(), column, words, strict=True)
    ]


def _truth(point, asked, entropy, column=None, word=None):
    """Return what a device says without noise: its own slot, or its numbers."""
    region = device._region(point, asked)
    if asked["kind"] == "regions":
        return region
    if asked["kind"] == "sums":
        far = asked | {"radii": [0, 0], "centers": [[9, 9], [8, 8]]}
        noisy, noise = device.reply_of(point, asked, _Entropy(entropy)), device.reply_of([0, 0], far, _Entropy(stream_of("x")))
        return np.subtract(noisy["values"], noise["values"])
    if region < 0:
        return -1
    offsets = device.offsets_of(point, asked["centers"][region], asked["reaches"][region], asked["kernel"], device.FINE)
    low, rest = divmod((offsets[column] + device.FINE) * (asked["bins"] - 1), 2 * device.FINE)
    return region * asked["bins"] + low + int(word < rest * 2**11)


@pytest.mark.parametrize("chance", [0, 1, 3 << 30, 1155094610, 2**31, 2**32 - 1, 2**32])
def test_binomial_numbers_have_their_law(chance):
    trials = np.repeat([0, 1, 5, 64, 200], 4000)
    found = binomials(trials, chance, np.random.default_rng(5).bytes)
    for count in (0, 1, 5, 64, 200):
        seen = np.bincount(found[trials == count], minlength=count + 1)
        law = binom.pmf(np.arange(count + 1), count, chance / 2**32)
        common = law * 4000 > 20
        rest = [seen[~common].sum()], [max(law[~common].sum(), 0)]
        counts, expected = np.append(seen[common], rest[0]), np.append(law[common], rest[1]) * 4000
        assert counts[-1] <= expected[-1] + 6 * np.sqrt(expected[-1] + 1)
        statistic = (((counts - expected) ** 2)[expected > 5] / expected[expected > 5]).sum()
        assert chi2.sf(statistic, max(common.sum() - 1, 1)) > 1e-6


def test_very_many_users_are_drawn_piece_by_piece(monkeypatch):
    whole = binomials(np.array([10**6, 3, 10**6]), 2**30, np.random.default_rng(0).bytes)
    monkeypatch.setattr(randomizers, "CHUNK", 2**10)
    for found in (whole, binomials(np.array([10**6, 3, 10**6]), 2**30, np.random.default_rng(0).bytes)):
        assert (np.abs(found[[0, 2]] - 250_000) < 6 * np.sqrt(187_500)).all()
        assert found[1] <= 3


@pytest.mark.parametrize("kind", ["cells", "regions", "offsets", "cost", "sums"])
def test_simulated_users_have_the_law_of_devices(kind):
    """Sums of devices' reports and of simulated ones, many times each: the same means and variances."""
    question, policy = asked_of(kind), policy_for(Grid.of(DOMAIN).record)
    charge = Charge("c", "reports", Measure.PURE, 1, 0)
    rng, rows, runs = np.random.default_rng(2), ROWS[:8], 250
    if kind == "sums":
        charge = Charge("c", "reports", Measure.PURE, 1, Fraction(1, 1000))
    ground = Ground(DOMAIN)

    def simulated(seed):
        source = SeededSource(seed)
        desk = Desk(Users(rows, ground, source.key()), REPLACE, FitLedger(Budget(charge.amount, charge.delta), (charge,)), source)
        return desk.ask(question, charge).totals.ravel()

    def devices():
        return aggregate(question, [respond(row, question, policy, {}, rng.bytes) for row in rows.tolist()]).totals.ravel()

    one, other = np.array([simulated(seed) for seed in range(runs)]), np.array([devices() for _ in range(runs)])
    spread = np.sqrt((one.var(axis=0) + other.var(axis=0)) / runs)
    assert (np.abs(one.mean(axis=0) - other.mean(axis=0)) < 5 * spread + 1e-9).all()
    assert (np.abs(np.log(one.var(axis=0) / other.var(axis=0))) < 5 * np.sqrt(4 / runs)).all()


def open_desk(charges, rows=ROWS, domain=DOMAIN, unit=REPLACE):
    source = SeededSource(0)
    ledger = FitLedger(Budget.of(9.0), tuple(charges))
    return Desk(Users(rows, Ground(domain), source.key()), unit, ledger, source)


def test_a_charge_pays_once_for_each_user():
    charge = Charge("c", "reports", Measure.PURE, 1)
    desk = open_desk([charge])
    halves = [{"salt": "s", "parts": 2, "first": i, "last": i + 1} for i in range(2)]
    users = [desk.ask(asked_of("cells", group=half), charge).total_users for half in halves]
    assert sum(users) == len(ROWS), "each user is in one group"
    for again in (halves[0], {**halves[0], "salt": "t"}, {"salt": "s", "parts": 3, "first": 2, "last": 3}):
        with pytest.raises(BudgetError, match="has paid for a question to these users"):
            desk.ask(asked_of("cells", group=again), charge)


def test_a_question_that_its_charge_does_not_pay_for_is_refused():
    charge = Charge("c", "reports", Measure.PURE, 1)
    dear, cheap, noisy = ({"epsilon": "2"}, {"epsilon": "1/2"}, {"noise": {"threshold": 9}})
    for question in (*(asked_of("cells", **fields) for fields in (dear, cheap, noisy)), asked_of("sums"), "{}"):
        with pytest.raises(BudgetError):
            open_desk([charge]).ask(question, charge)


def test_an_answer_does_not_hand_out_what_the_till_remembers(monkeypatch):
    charge = Charge("a", "reports", Measure.PURE, Fraction(1))
    till = Till(FitLedger(Budget.of(1.0), (charge,)))
    group = till.paid(asked_of("cells"), charge)["group"]
    group["first"] = group["last"] = 2**17
    with pytest.raises(BudgetError, match="has paid for a question to these users"):
        till.paid(asked_of("cells"), charge)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(BudgetError, match="copy of the one"):
        till.paid(asked_of("cells"), charge)


def test_a_till_takes_planned_charges_alone_and_a_desk_replaced_rows():
    charge = Charge("c", "reports", Measure.PURE, 1)
    with pytest.raises(BudgetError):
        Till(FitLedger(Budget.of(1.0), (Charge("other", "reports", Measure.PURE, 1),))).paid(asked_of("cells"), charge)
    with pytest.raises(BudgetError, match="replace one row"):
        open_desk([charge], unit=Unit())


def test_rows_outside_a_ball_are_clipped_to_it():
    domain = Ball(1.0).domain(2)
    users = Users(np.array([[5.0, 0.0], [np.nan, 0.0], [0.2, 0.3]]), Ground(domain), bytes(16))
    points = users.grid.points(users._places)
    assert np.abs(points - [[1, 0], [0, 0], [0.2, 0.3]]).max() < 1e-5


@settings(max_examples=200, deadline=None)
@given(count=st.integers(0, 10**7), variance=st.integers(1, 2**50))
def test_the_noise_of_many_users_has_at_least_the_variance_of_all(count, variance):
    drawn = []
    asked = {"kind": "sums", "resolution": 1, "noise": {"variance": variance}}
    source = Watched(SeededSource(0), drawn.append)
    Desk._answered(asked, np.array([count]), np.zeros((1, 1), dtype=np.int64), source)
    assert Fraction(drawn[-1].draw.scale) ** 2 >= max(count, 1) * variance
