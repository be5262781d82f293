"""Rules 8, 11 and 16: which questions are asked, and what is made of them, depends on the rows through answers alone."""

import numpy as np
import pytest

from spinney import PrivateKMeans, PrivateKMedian
from spinney.algorithms.registry import ALGORITHMS

RNG = np.random.default_rng(2)
ROWS = np.concatenate([RNG.normal(-0.5, 0.2, (400, 2)), RNG.normal(0.6, 0.1, (150, 2))])
OTHERS = {
    "one row fewer": ROWS[:-1],
    "one far row more": np.concatenate([ROWS, [[1.0, -1.0]]]),
    "one row replaced": np.concatenate([ROWS[:-1], [[1.0, -1.0]]]),
    "no rows": np.empty((0, 2)),
    "other rows": RNG.uniform(-1, 1, (1000, 2)),
    "broken rows": np.array([[np.nan, 0.0], [np.inf, 1e300]]),
}


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
@pytest.mark.parametrize(("adjacency", "delta"), [("add-remove", 0.0), ("replace", 1e-6)])
def test_replay_asks_the_same_questions_and_gives_the_same_release(estimator, algorithm, adjacency, delta, tape):
    settings = {"epsilon": 1.0, "delta": delta, "bounds": (-1, 1), "algorithm": algorithm, "adjacency": adjacency}
    release = estimator(4, **settings, random_state=0).fit(ROWS).release_.to_json()
    asked = tape.rewind()
    assert len(asked) >= 4
    for rows in OTHERS.values():
        again = estimator(4, **settings, random_state=0).fit(rows).release_.to_json()
        assert tape.answers_left == 0
        assert tape.rewind() == asked
        assert again == release


def test_replay_would_notice_a_question_that_follows_the_rows(tape, monkeypatch):
    lloyd = ALGORITHMS["lloyd"]
    run = type(lloyd).run

    def peek(self, curator, problem, charges, rng):
        rng.random(len(curator._rows) % 7)  # public randomness moved by the number of rows
        return run(self, curator, problem, charges, rng)

    monkeypatch.setattr(type(lloyd), "run", peek)
    model = PrivateKMeans(4, epsilon=1.0, bounds=(-1, 1), algorithm="lloyd", random_state=0)
    model.fit(ROWS)
    asked = tape.rewind()
    model.fit(ROWS[:-1])
    assert tape.rewind() != asked


@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_the_number_of_questions_does_not_grow_with_restarts_or_rows(algorithm, tape):
    model = PrivateKMeans(3, epsilon=1.0, bounds=(-1, 1), algorithm=algorithm)
    planned = {(charge.question, charge.name) for charge in model.plan(n_features=2).charges}
    for rows in (ROWS[:0], ROWS):
        model.fit(rows)
        assert {(c.question, c.name) for c in model.release_.charges} <= planned
        assert len(tape.asked) <= len(planned)
        tape.asked.clear()
