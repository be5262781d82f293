"""Rules 8, 11 and 16: which questions are asked, and what is made of them, depends on the rows through answers alone."""

import dataclasses

import numpy as np
import pytest

from spinney import PrivateKMeans, PrivateKMedian
from spinney.algorithms.lloyd import Lloyd
from spinney.curators.gate import Curator


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


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
@pytest.mark.parametrize(("adjacency", "delta"), [("add-remove", 0.0), ("add-remove", 1e-6), ("replace", 0.0), ("replace", 1e-6)])
def test_replay_asks_the_same_questions_and_gives_the_same_release(estimator, case, adjacency, delta, tape):
    settings = {"epsilon": 1.0, "delta": delta, "bounds": (-1, 40 if case.tighten else 1), "adjacency": adjacency, **case.asked}
    first = rows_of(case.n_features)
    release = estimator(4, **settings, random_state=0).fit(first).release_.to_json()
    asked = tape.rewind()
    assert len(asked) >= 4
    for rows in others(first).values():
        again = estimator(4, **settings, random_state=0).fit(rows).release_.to_json()
        assert tape.answers_left == 0
        assert tape.rewind() == asked
        assert again == release


def test_replay_would_notice_a_question_that_follows_the_rows(tape, monkeypatch):
    run = Lloyd.run

    def peek(self, curator, problem, charges, rng):
        rng.random(len(curator._rows._rows) % 7)  # public randomness moved by the number of rows
        return run(self, curator, problem, charges, rng)

    monkeypatch.setattr(Lloyd, "run", peek)
    model = PrivateKMeans(4, epsilon=1.0, bounds=(-1, 1), algorithm="lloyd", random_state=0)
    model.fit(ROWS)
    asked = tape.rewind()
    model.fit(ROWS[:-1])
    assert tape.rewind() != asked


def test_replay_would_notice_a_box_that_follows_the_rows(tape, monkeypatch):
    view = Curator.within

    def peek(self, domain):
        return view(self, dataclasses.replace(domain, upper=domain.upper + 1e-9 * (len(self._rows._rows) % 7)))

    monkeypatch.setattr(Curator, "within", peek)
    model = PrivateKMeans(4, epsilon=1.0, bounds=(-1, 1), tighten=True, random_state=0)
    model.fit(ROWS)
    asked = tape.rewind()
    model.fit(ROWS[:-1])
    assert tape.rewind() != asked


def test_the_number_of_questions_does_not_grow_with_restarts_or_rows(case, tape):
    model = PrivateKMeans(3, epsilon=1.0, bounds=(-1, 1), **case.asked)
    planned = {(charge.question, charge.name) for charge in model.plan(n_features=case.n_features).charges}
    full = rows_of(case.n_features)
    for rows in (full[:0], full):
        model.fit(rows)
        assert {(c.question, c.name) for c in model.release_.charges} <= planned
        assert len(tape.asked) <= len(planned)
        tape.asked.clear()
