import json
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports import policy_for, question_of
from spinney.exceptions import ParameterError
from spinney.local import aggregate, respond
from spinney.local.aggregation import REASONS
from spinney.local.device import digest_of, is_asked, read_question

KINDS = ("cells", "regions", "offsets", "cost", "sums")
QUESTIONS = {kind: question_of(kind) for kind in KINDS}


@cache
def honest(kind, count=5):
    return [respond([i % 4, i % 2], QUESTIONS[kind], policy_for(), {}) for i in range(count)]


def estimates(tally):
    kind = tally.asked["kind"]
    if kind == "cost":  # a sum over users, in ranges
        return np.array([tally.cost_difference * tally.total_users / (2 * tally.asked["range"])])
    return tally.vectors if kind == "sums" else tally.counts


def a_report(kind, data, token):
    """Return a well-formed report whose content is anything that passes the checks."""
    asked = read_question(QUESTIONS[kind])
    report = {"format": "spinney-report/1", "question": digest_of(asked), "token": token}
    if kind == "cost":
        return json.dumps(report | {"bit": data.draw(st.integers(0, 1))})
    if kind == "sums":
        return json.dumps(report | {"values": data.draw(st.lists(st.integers(-(10**6), 10**6), min_size=4, max_size=4))})
    slots = {"cells": 3, "regions": 2, "offsets": 4}[kind]
    bits = data.draw(st.integers(0, 2**slots - 1)) << (8 - slots)
    column = {"column": data.draw(st.integers(0, 1))} if kind == "offsets" else {}
    return json.dumps(report | column | {"bits": f"{bits:02x}"})


@given(st.sampled_from(KINDS), st.integers(1, 4), st.data())
def test_colluding_reports_move_each_number_by_at_most_their_number_times_the_bound(kind, m, data):
    reports = honest(kind)
    before = aggregate(QUESTIONS[kind], reports)
    after = aggregate(QUESTIONS[kind], reports + [a_report(kind, data, f"forged {i}") for i in range(m)])
    moved = np.abs(estimates(after) - estimates(before)).max()
    assert moved <= m * before.report_bound * (1 + 1e-9)


@given(st.sampled_from(KINDS), st.data())
def test_nothing_that_is_sent_raises_and_all_of_it_is_counted(kind, data):
    good = json.loads(honest(kind, 1)[0])
    name = data.draw(st.sampled_from([*sorted(good), "more"]))
    plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
    value = data.draw(plain | st.lists(st.integers() | st.none(), max_size=5))
    strange = [json.dumps(good | {name: value}), data.draw(st.text(max_size=20)), None, b"x", 7, "[" * 3000, "9" * 5000]
    messages = [*strange, *honest(kind, 3)]
    tally = aggregate(QUESTIONS[kind], messages)
    assert tally.total_users + sum(tally.left_out.values()) == len(messages)
    assert set(tally.left_out) == set(REASONS)
    assert tally.total_users >= 3


def test_each_reason_to_leave_a_message_out():
    question = question_of("cells", group={"salt": "s", "parts": 2, "first": 0, "last": 1})
    asked = read_question(question)
    inside, outside = (next(t for t in map(str, range(99)) if is_asked(asked["group"], t) is want) for want in (True, False))
    report = {"format": "spinney-report/1", "question": digest_of(asked), "token": inside, "bits": "a0"}
    messages = {
        "malformed": report | {"bits": "zz"},
        "refused": {"format": "spinney-refusal/1", "reason": "no"},
        "other question": report | {"question": "0" * 64},
        "stranger": report | {"token": "stranger"},
        "outside group": report | {"token": outside},
        "out of range": report | {"bits": "01"},
        "repeated": report | {"bits": "e0"},
    }
    sent = [json.dumps(report), *map(json.dumps, messages.values())]
    tally = aggregate(question, sent, roster={inside, outside})
    assert tally.left_out == dict.fromkeys(REASONS, 1)
    assert tally.totals.tolist() == [[1, 0, 1]], "the first report of a token counts"
    for kind, change in (("cost", {"bit": 2}), ("sums", {"values": [10**9, 0, 0, 0]}), ("offsets", {"column": 2})):
        sent = json.dumps(json.loads(honest(kind, 1)[0]) | change)
        assert aggregate(QUESTIONS[kind], [sent]).left_out["out of range"] == 1


def test_no_question_is_an_error_and_no_reports_are_a_tally_of_zeros():
    with pytest.raises(ParameterError, match="This is no question"):
        aggregate("{}", [])
    for kind in KINDS:
        tally = aggregate(QUESTIONS[kind], [])
        assert tally.total_users == 0
        assert not tally.totals.any()
        assert np.isfinite(tally.report_bound)
