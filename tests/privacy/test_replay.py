"""Rules 8, 11 and 16: which questions are asked, and what is made of them, depends on the rows through answers alone."""

import dataclasses
import logging
import sys
import warnings

import numpy as np
import pytest
from cases import ASKED, CASES

import spinney.questions.counts
from covering import covering
from spinney import PrivateKMeans, PrivateKMedian
from spinney.audit import compare, record, replay, replay_pairs, table_pairs
from spinney.baselines.lloyd import Lloyd
from spinney.curators.gate import Curator
from spinney.privacy.pricing import Unit


def rows_of(d):
    rng = np.random.default_rng(2)
    return np.concatenate([rng.normal(-0.5, 0.2, (400, d)), rng.normal(0.6, 0.1, (150, d))])


def others(rows):
    far = np.resize([1.0, -1.0], (1, rows.shape[1]))
    return {
        "one row fewer": rows[:-1],
        "one far row more": np.concatenate([rows, far]),
        "one row replaced": np.concatenate([rows[:-1], far]),
        "no rows": rows[:0],
        "other rows": np.random.default_rng(3).uniform(-1, 1, (1000, rows.shape[1])),
        "broken rows": np.concatenate([far * np.nan, far * np.inf, far * 1e300]),
    }


ROWS = rows_of(2)


@covering(
    "case, estimator, adjacency, delta", CASES, [PrivateKMeans, PrivateKMedian], ["add-remove", "replace"], [0.0, 1e-6],
    indirect=["case"],
)  # fmt: skip
@pytest.mark.matrix
def test_replay_asks_the_same_questions_and_gives_the_same_release(estimator, case, adjacency, delta):
    settings = {"epsilon": 1.0, "delta": delta, "bounds": (-1, 40 if case.tighten else 1), "adjacency": adjacency, **case.asked}
    model, rows = estimator(4, **settings), rows_of(case.n_features)
    first = record(model, rows)
    assert len(first.questions) >= 4
    assert first.seen["error"] is None
    for name, others_rows in others(rows).items():
        source = first.frozen()
        found = compare(first, record(model, others_rows, source=source))
        assert source.left == 0
        assert found.visible == ()
        near = {"one row replaced"} if adjacency == "replace" else {"one row fewer", "one far row more"}
        assert name not in near or found.beyond == ()
        assert name != "no rows" or found.beyond  # not neighbors: an audit that never complains would show nothing


#: Without steps, with steps, and with many columns; a budget for no summary, for one step of some centers, and for several.
STEPPED = [3, 4, 9, 16, 40]


@covering(
    "d, epsilon, estimator, adjacency, delta", STEPPED, [0.05, 1.0, 9.0], [PrivateKMeans, PrivateKMedian],
    ["add-remove", "replace"], [0.0, 1e-6],
)  # fmt: skip
@pytest.mark.matrix
def test_whether_a_summary_is_made_and_how_many_steps_are_taken_follows_the_rows_through_answers_alone(
    d, epsilon, estimator, adjacency, delta
):
    model, rows = estimator(5, epsilon=epsilon, delta=delta, bounds=(-1, 1), adjacency=adjacency), rows_of(d)
    first = record(model, rows)
    assert first.seen["error"] is None
    for name, near in others(rows).items():
        source = first.frozen()
        found = compare(first, record(model, near, source=source))
        assert source.left == 0
        assert found.visible == ()
        neighbors = {"one row replaced"} if adjacency == "replace" else {"one row fewer", "one far row more"}
        assert name not in neighbors or found.beyond == ()


@covering("d, estimator, adjacency, delta", [5, 20], [PrivateKMeans, PrivateKMedian], ["add-remove", "replace"], [0.0, 1e-6])
@pytest.mark.matrix
def test_steps_with_half_their_noise_are_seen(d, estimator, adjacency, delta):
    model = estimator(3, epsilon=9.0, delta=delta, bounds=(-1, 1), adjacency=adjacency)
    pairs = list(table_pairs(np.full(d, -1.0), np.full(d, 1.0), Unit(adjacency, 1), 3))
    assert replay_pairs(model, pairs).faults == ()
    assert any("less than its charge pays for" in fault for fault in replay_pairs(model, pairs, factor={"sums": 0.5}).faults)


def test_these_budgets_ask_in_different_ways():
    """Or the tests above would look at one path alone."""
    ways = set()
    for epsilon in (0.05, 1.0, 9.0):
        for rows in (rows_of(9), rows_of(9)[:50]):
            names = [one.charge.name for one in record(PrivateKMeans(5, epsilon=epsilon, bounds=(-1, 1)), rows).questions]
            ways.add((any(name.endswith("leaves") for name in names), sum("step" in name for name in names)))
    assert {True, False} == {is_seen for is_seen, _ in ways}
    assert len(ways) > 2


@covering("asked, adjacency, delta, grouped", ASKED, ["add-remove", "replace"], [0.0, 1e-6], [False, True], indirect=["asked"])
@pytest.mark.matrix
def test_no_made_up_neighbor_loses_more_than_epsilon_and_half_the_noise_is_seen(asked, adjacency, delta, grouped):
    unit, cap = Unit(adjacency, 2 if grouped else 1), {"max_rows_per_group": 2} if grouped else {}
    model = PrivateKMeans(3, epsilon=1.0, delta=delta, bounds=(-1, 1), adjacency=adjacency, **cap, **asked)
    corners = np.full(2, -1.0), np.full(2, 1.0)
    finding = replay_pairs(model, table_pairs(*corners, unit, 9 if grouped else 7, grouped=grouped))
    assert finding.faults == ()
    assert 0.1 < finding.bound <= 1.0
    for question in {charge.question for charge in model.plan(n_features=2).charges}:
        halved = replay_pairs(model, table_pairs(*corners, unit, 1, grouped=grouped), factor={question: 0.5})
        assert any("less than its charge pays for" in fault for fault in halved.faults)


@pytest.mark.parametrize(("d", "asked"), [(2, {}), (2, {"tighten": True}), (6, {}), (2, {"algorithm": "stable"})])
def test_a_number_of_clusters_that_is_found_follows_the_rows_through_answers_alone(d, asked):
    model = PrivateKMeans("auto", max_clusters=6, epsilon=1.0, bounds=(-1, 1), **asked)
    first = record(model, rows_of(d))
    for others_rows in others(rows_of(d)).values():
        source = first.frozen()
        assert compare(first, record(model, others_rows, source=source)).visible == ()
        assert source.left == 0
    corners = np.full(d, -1.0), np.full(d, 1.0)
    finding = replay_pairs(model, table_pairs(*corners, Unit("add-remove", 1), 7))
    assert finding.faults == ()
    assert 0.1 < finding.bound <= 1.0
    for question in {asked.name for asked in first.questions}:
        halved = replay_pairs(model, table_pairs(*corners, Unit("add-remove", 1), 1), factor={question: 0.5})
        assert any("less than its charge pays for" in fault for fault in halved.faults)


def peeking(monkeypatch, owner, name, peek):
    """Let a method do something first."""
    method = getattr(owner, name)

    def instead(self, *arguments):
        return method(self, *peek(self, *arguments))

    monkeypatch.setattr(owner, name, instead)


def test_replay_would_notice_a_question_that_follows_the_rows(monkeypatch):
    def peek(self, purse, problem, rng):
        rng.random(len(purse.curator._rows._rows) % 7)  # public randomness moved by the number of rows
        return purse, problem, rng

    peeking(monkeypatch, Lloyd, "run", peek)
    model = PrivateKMeans(4, epsilon=1.0, bounds=(-1, 1), algorithm="lloyd")
    assert any("asked something else" in fault for fault in replay(model, ROWS, ROWS[:-1]).faults)


def test_replay_would_notice_a_box_that_follows_the_rows(monkeypatch):
    def peek(self, domain):
        return (dataclasses.replace(domain, upper=domain.upper + 1e-9 * (len(self._rows._rows) % 7)),)

    peeking(monkeypatch, Curator, "within", peek)
    model = PrivateKMeans(4, epsilon=1.0, bounds=(-1, 1), tighten=True)
    assert replay(model, ROWS, ROWS[:-1]).broken


@pytest.mark.parametrize(
    ("word", "say"),
    [
        ("warnings", lambda n: warnings.warn(f"{n} rows", stacklevel=2)),
        ("logs", lambda n: logging.getLogger("spinney").debug("%s rows", n)),
        ("printed", lambda n: sys.stdout.write(str(n))),
        ("error", lambda n: 1 / (n % 2)),
    ],
)
def test_replay_would_notice_a_word_about_the_rows(word, say, monkeypatch):
    def peek(self, purse, *rest):
        say(len(purse.curator._rows._rows))
        return purse, *rest

    peeking(monkeypatch, Lloyd, "run", peek)
    model = PrivateKMeans(4, epsilon=1.0, bounds=(-1, 1), algorithm="lloyd")
    assert any(f"the {word} of the fit" in fault for fault in replay(model, ROWS, ROWS[:-1]).faults)


def test_replay_would_notice_an_answer_without_noise(monkeypatch):
    monkeypatch.setattr(spinney.questions.counts, "privatize", lambda exact, *rest: np.asarray(exact, dtype=np.int64))
    model = PrivateKMeans(4, epsilon=1.0, bounds=(-1, 1), algorithm="lloyd")
    assert any("another answer" in fault for fault in replay(model, ROWS, ROWS[:-1]).faults)


def test_the_number_of_questions_does_not_grow_with_restarts_or_rows(case):
    model = PrivateKMeans(3, epsilon=1.0, bounds=(-1, 1), **case.asked)
    planned = {charge.name: charge for charge in model.plan(n_features=case.n_features).charges}
    full = rows_of(case.n_features)
    for rows in (full[:0], full):
        asked = [one.charge for one in record(model, rows).questions]
        paid = [[planned.pop(name) for name in charge.name.split(" + ")] for charge in asked]  # each once, alone or put together
        assert all(charge.question == parts[-1].question for charge, parts in zip(asked, paid, strict=True))
        planned |= {charge.name: charge for parts in paid for charge in parts}
