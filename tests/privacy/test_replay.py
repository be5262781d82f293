"""Rules 8, 11 and 16: which questions are asked, and what is made of them, depends on the rows through answers alone."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from cases import ASKED, ESTIMATORS, EVERY_CASE, SITES, STEPS, Case

import spinney.questions.record
from covering import covering
from spinney import PrivateKMeans
from spinney.audit import compare, record, replay, replay_pairs, total_loss
from spinney.baselines.lloyd import Lloyd
from spinney.curators.gate import Curator

RELATIONS, DELTAS = ["add-remove", "replace"], [0.0, 1e-6]
PLAIN = Case("tree")
ROWS = PLAIN.rows


def check_replay(case, model, adjacency, delta):
    """Replay other tables with the draws of the first; return what the first was asked."""
    first = record(model, case.rows)
    assert first.seen["error"] is None
    tables, near = case.others(adjacency)
    for name, rows in tables.items():
        source = first.frozen()
        found = compare(first, record(model, rows, source=source))
        assert source.left == 0
        assert found.visible == ()
        if name in near:
            assert found.beyond == ()
            assert len(found.losses) == len(first.questions)
            assert total_loss(found.losses, Fraction(str(delta))) <= model.epsilon
    return first.questions


@covering("case, estimator, adjacency, delta", EVERY_CASE, ESTIMATORS, RELATIONS, DELTAS, indirect=["case"])
@pytest.mark.matrix
def test_replay_asks_the_same_questions_and_gives_the_same_release(estimator, case, adjacency, delta):
    bounds = {"bounds": (-1, 40 if case.tighten else 1)} if case.n_features else {}
    model = case.model(estimator, 4, delta=delta, adjacency=adjacency, **bounds)
    planned = {charge.name: charge for charge in case.plan(model).charges}
    asked = check_replay(case, model, adjacency, delta)
    assert len(asked) >= 3
    for charge in (one.charge for one in asked):  # each planned one pays once, alone or pooled
        parts = [planned.pop(name) for name in charge.name.split(" + ")]
        assert charge.question == parts[-1].question
        assert charge.amount == sum(part.amount for part in parts)


def test_tables_that_are_no_neighbors_are_seen():
    """An audit that never complains would show nothing."""
    for case in (PLAIN, SITES["cells"], STEPS["hst, objective"]):
        first = record(case.model(), case.rows)
        assert compare(first, record(case.model(), case.rows[:0], source=first.frozen())).beyond


#: Without steps, with steps, and with many columns; a budget for no summary, for one step of some centers, and for several.
STEPPED = [3, 4, 9, 16, 40]


@covering("d, epsilon, estimator, adjacency, delta", STEPPED, [0.05, 1.0, 9.0], ESTIMATORS, RELATIONS, DELTAS)
@pytest.mark.matrix
def test_whether_a_summary_is_made_and_how_many_steps_are_taken_follows_the_rows_through_answers_alone(
    d, epsilon, estimator, adjacency, delta
):
    case = Case("tree", n_features=d)
    check_replay(case, case.model(estimator, 5, epsilon=epsilon, delta=delta, adjacency=adjacency), adjacency, delta)


def check_halved(model, pairs, questions):
    """Sound noise passes for all pairs; half the noise of each question is seen with the first."""
    finding = replay_pairs(model, pairs)
    assert finding.faults == ()
    assert 0.1 < finding.bound <= 1.0
    for question in questions:
        halved = replay_pairs(model, pairs[:1], factor={question: 0.5})
        assert any("less than its charge pays for" in fault for fault in halved.faults)


@covering("d, estimator, adjacency, delta", [5, 20], ESTIMATORS, RELATIONS, DELTAS)
@pytest.mark.matrix
def test_steps_with_half_their_noise_are_seen(d, estimator, adjacency, delta):
    case = Case("auto", n_features=d)
    model, pairs = case.model(estimator, epsilon=9.0, delta=delta, adjacency=adjacency), list(case.pairs(adjacency, 3, False))
    assert replay_pairs(model, pairs).faults == ()
    assert any("less than its charge pays for" in fault for fault in replay_pairs(model, pairs, factor={"sums": 0.5}).faults)


def test_these_budgets_ask_in_different_ways():
    """Or the tests above would look at one path alone."""
    ways, case = set(), Case("tree", n_features=9)
    for k, epsilon in ((40, 0.05), (5, 0.05), (5, 1.0), (5, 9.0)):
        for rows in (case.rows, case.rows[:50]):
            names = [one.charge.name for one in record(case.model(k=k, epsilon=epsilon), rows).questions]
            ways.add((any(name.endswith("leaves") for name in names), sum("step" in name for name in names)))
    assert {True, False} == {is_seen for is_seen, _ in ways}
    assert len(ways) > 2


NOISES = [*ASKED, *(name for name in STEPS if "lloyd" in name), *SITES]


@covering("case, adjacency, delta, grouped", NOISES, RELATIONS, DELTAS, [False, True], indirect=["case"])
@pytest.mark.matrix
def test_no_made_up_neighbor_loses_more_than_epsilon_and_half_the_noise_is_seen(case, adjacency, delta, grouped):
    model = case.model(delta=delta, adjacency=adjacency, **({"max_rows_per_group": 2} if grouped else {}))
    pairs = list(case.pairs(adjacency, 9 if grouped else 7, grouped))
    check_halved(model, pairs, {charge.question for charge in case.plan(model).charges})


@pytest.mark.parametrize(("d", "asked"), [(2, {}), (2, {"tighten": True}), (6, {}), (2, {"algorithm": "stable"})])
def test_a_number_of_clusters_that_is_found_follows_the_rows_through_answers_alone(d, asked):
    case = Case(**({"algorithm": "auto"} | asked), n_features=d)
    model = case.model(k="auto", max_clusters=6)
    questions = check_replay(case, model, "add-remove", 0.0)
    check_halved(model, list(case.pairs("add-remove", 7, False)), {one.name for one in questions})


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


def test_replay_would_notice_an_answer_without_noise(monkeypatch):
    monkeypatch.setattr(spinney.questions.record, "privatize", lambda exact, *rest: np.asarray(exact, dtype=np.int64))
    model = PrivateKMeans(4, epsilon=1.0, bounds=(-1, 1), algorithm="lloyd")
    assert any("another answer" in fault for fault in replay(model, ROWS, ROWS[:-1]).faults)
