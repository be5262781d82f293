"""What a report promises, by exact enumeration of what devices send, in Python and in JavaScript; and hostile servers."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports import TOKEN, domain_of, laws_of, places_of, policy_for, question_of, run_node, run_python, stream_of
from spinney.local.asking import least_gaussian, least_threshold
from spinney.local.device import PLACES, WORDS, exp_below, is_lawful_gaussian, is_lawful_threshold, respond

ROWS = [[0, 0], [1, 1], [2, 0], [3, 1], None, "text"]
ONE = {"centers": [[1, 0]], "radii": [9], "reaches": [1]}
QUESTIONS = {
    "cells": question_of("cells"),
    "regions": question_of("regions", epsilon="1/3"),
    "cost": question_of("cost", second=[[3, 1]], range=4),
    "mean": question_of("offsets", epsilon="1/2", **ONE),
    "bins": question_of("offsets", bins=3, **ONE),
    "median": question_of("offsets", kernel="median", **ONE),
}


def loss_within(law, other, epsilon):
    """Whether no reply is more than e^epsilon times as likely under one law as under another: in whole numbers."""
    most = exp_below(epsilon)  # at most e^epsilon
    return set(law) == set(other) and all(law[reply] << PLACES <= other[reply] * most for reply in law)


@pytest.mark.parametrize("run", [run_python, run_node], ids=["python", "javascript"])
@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.matrix
def test_no_reply_tells_two_rows_apart_by_more_than_epsilon(name, run):
    question = QUESTIONS[name]
    laws = laws_of(ROWS, question, policy_for(), places_of(question), run)
    epsilon = Fraction(json.loads(question)["epsilon"])
    assert all(loss_within(law, other, epsilon) for law in laws for other in laws)
    assert laws[-1] == laws[-2], "a missing row and a broken one answer alike"
    assert not all(loss_within(law, other, epsilon * Fraction(99, 100)) for law in laws for other in laws), "no noise is wasted"


@given(st.fractions(min_value=Fraction(1, 10**8), max_value=22))
def test_the_least_threshold_is_lawful_and_the_next_below_is_not(epsilon):
    threshold = least_threshold(epsilon)
    assert is_lawful_threshold(threshold, epsilon)
    assert threshold == 1 or not is_lawful_threshold(threshold - 1, epsilon)
    odds = (WORDS - threshold) / threshold
    assert math.log(odds) <= float(epsilon) * (1 + 1e-9) + 1e-15


@given(st.fractions(min_value=0, max_value=60))
def test_the_exponential_is_rounded_down_and_hardly(exponent):
    value = exp_below(exponent) / 2**PLACES
    assert value <= math.exp(exponent) * (1 + 1e-12)
    assert value >= math.exp(exponent) * (1 - 1e-12)


def tail(scale, start):
    """Return more than the chance that discrete Gaussian noise passes a place."""
    return math.exp(-((start - 1) ** 2) / (2 * scale**2)) * (scale * 3 + 1)


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1/1000"), ("3/16", "1/1000000"), ("1/2", "1/100")])
@pytest.mark.parametrize("shift", [(8, 0), (5, 6), (-8, 0), (4, 6), (1, 1)])
@pytest.mark.matrix
def test_gaussian_reports_lose_no_more_than_epsilon_and_delta(epsilon, delta, shift):
    variance, order = least_gaussian(Fraction(epsilon), Fraction(delta), 4)
    assert is_lawful_gaussian(4, variance, order, Fraction(epsilon), Fraction(delta))
    scale, e = math.sqrt(variance), math.exp(float(Fraction(epsilon)))
    assert sum(x * x for x in shift) <= 8**2  # what replaces a vector of length 4
    end = math.ceil(9 * scale)
    places = np.arange(-end, end + 1)
    one = np.exp(-(places**2) / (2 * scale**2))
    weights = [np.exp(-((places - x) ** 2) / (2 * scale**2)) / one.sum() for x in (0, *shift)]
    first, second = np.outer(weights[0], weights[0]), np.outer(weights[1], weights[2])
    lost = np.maximum(first - e * second, 0).sum() + 4 * tail(scale, end - 8)
    assert lost <= float(Fraction(delta))
    looser = np.maximum(first - math.exp(float(Fraction(epsilon)) / 2) * second, 0).sum()
    assert shift != (8, 0) or looser > float(Fraction(delta)), "the noise is not far larger than needed"


@pytest.mark.parametrize(("epsilon", "delta"), [("1", "1/1000"), ("3/16", "1/1000000")])
def test_no_noise_is_lawful_that_loses_more(epsilon, delta):
    promised, e = (Fraction(epsilon), Fraction(delta)), math.exp(float(Fraction(epsilon)))
    enough, _ = least_gaussian(*promised, 4)
    for variance in (enough, enough * 3 // 4, enough // 2, enough // 4):
        places = np.arange(-math.ceil(9 * math.sqrt(enough)), math.ceil(9 * math.sqrt(enough)) + 1)
        here, there = (np.exp(-((places - x) ** 2) / (2 * variance)) for x in (0, 8))
        loses_more = np.maximum(here - e * there, 0).sum() / here.sum() > promised[1]
        assert not (loses_more and any(is_lawful_gaussian(4, variance, order, *promised) for order in range(2, 300)))


@given(
    st.lists(st.sampled_from(["cells", "regions", "cost", "offsets", "sums"]), min_size=1, max_size=40),
    st.integers(1, 10),
    st.integers(0, 5),
)
def test_a_server_that_asks_on_and_on_with_tiny_changes_gets_no_more_than_the_ceiling(kinds, share, most):
    policy, state = policy_for(epsilon="1/2", delta="1/500", most_questions=most), {}
    for number, kind in enumerate(kinds):
        name = {"name": "the same"} if number % 3 else {"name": f"question {number}"}
        epsilon = f"{share}/{20 + number}"
        message = json.loads(respond([1, 1], question_of(kind, epsilon=epsilon, **name), policy, state))
        assert message["format"] in ("spinney-report/1", "spinney-refusal/1")
    kept = state["reports"].values()
    assert sum(Fraction(one["epsilon"]) for one in kept) <= Fraction(1, 2)
    assert sum(Fraction(one["delta"]) for one in kept) <= Fraction(1, 500)
    assert len(kept) <= most


def test_a_repeated_question_gets_its_stored_report_and_spends_nothing():
    state = {}
    first = respond([1, 1], question_of("cells"), policy_for(), state)
    spaced = json.dumps(json.loads(question_of("cells")), indent=3, sort_keys=True)
    assert {respond([3, 0], text, policy_for(), state) for text in (question_of("cells"), spaced)} == {first}
    assert len(state["reports"]) == 1


def test_the_same_id_with_other_content_is_another_question():
    state = {}
    policy = policy_for(epsilon="2")
    reports = [json.loads(respond([1, 1], question_of("cells", shape=shape), policy, state)) for shape in ("11000", "10100")]
    assert len({report["question"] for report in reports}) == 2
    assert len(state["reports"]) == 2
    assert json.loads(respond([1, 1], question_of("cells", shape="100"), policy, state))["format"] == "spinney-refusal/1"


class Trap:
    """A row that raises whatever is done with it."""

    def __iter__(self):
        raise MemoryError("secret")

    __len__ = __getitem__ = __float__ = __iter__


@pytest.mark.parametrize("row", [None, 7, "12", {}, {"x": 1}, [1], [1, 2, 3], [None, 1], [True, 1], [[1], 1], ["1", "1"], Trap(),
                                 [10**400, 1], [float("nan"), 0], [float("inf"), 0]])  # fmt: skip
@pytest.mark.parametrize("kind", ["cells", "regions", "offsets", "cost", "sums"])
def test_a_row_that_is_none_answers_as_the_middle_does(kind, row):
    question, state = question_of(kind), {"token": TOKEN}
    expected = respond([2, 1], question, policy_for(), dict(state), stream_of("x"))
    assert respond(row, question, policy_for(), state, stream_of("x")) == expected


@given(st.floats(), st.floats())
def test_any_numbers_are_clipped_and_answered(x, y):
    assert json.loads(respond([x, y], question_of("cells"), policy_for(), {}))["format"] == "spinney-report/1"


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["1", "cells", "sums", "1/2"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


@given(st.sampled_from(["cells", "regions", "offsets", "cost", "sums"]), st.data())
def test_no_question_raises_and_what_is_refused_spends_nothing(kind, data):
    asked = json.loads(question_of(kind))
    for name in data.draw(st.lists(st.sampled_from(sorted(asked)), min_size=1, max_size=3)):
        asked[name] = data.draw(JSON)
    state = {}
    message = json.loads(respond([1, 1], json.dumps(asked), policy_for(), state))
    is_report = message["format"] == "spinney-report/1"
    assert is_report == bool(state.get("reports"))
    if is_report:
        assert Fraction(asked["epsilon"]) <= 1


@given(st.sampled_from(["policy", "state"]), st.data())
def test_a_broken_policy_or_state_answers_nothing(which, data):
    policy, state = policy_for(), {"token": TOKEN, "reports": {}}
    if which == "policy":
        name = data.draw(st.sampled_from(["domain", "kinds", "epsilon", "question_epsilon", "most_slots", "most_questions"]))
        policy[name] = data.draw(st.sampled_from([None, "x", [], {}]))
    else:
        state = data.draw(st.sampled_from([[], None, {"token": 7}, {"token": TOKEN, "reports": {"a": {}}}]))
    assert "refusal" in respond([1, 1], question_of("cells"), policy, state)


def test_another_group_is_not_answered_and_which_one_knows_nothing_of_the_row():
    policy = policy_for()
    for row in ([0, 0], [3, 1], None):
        answered = []
        for part in range(4):
            group = {"salt": "s", "parts": 4, "first": part, "last": part + 1}
            message = respond(row, question_of("cells", group=group), policy, {"token": TOKEN})
            answered.append("report" in json.loads(message)["format"])
        assert answered == [False, False, True, False] or sum(answered) == 1
    assert domain_of(4, 2) == policy["domain"]
