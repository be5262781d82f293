"""Replay and the lonely outlier, as an author of an algorithm runs them: sound algorithms pass, and faults show."""

from fractions import Fraction

import numpy as np
import pytest

from spinney import FiniteMetric, ParameterError, PrivateKMeans, PrivateKMedoids
from spinney.algorithms import Algorithm, Result
from spinney.audit import outlier, replay
from spinney.questions import Counting, Counts, Rings, Whole

ROWS = np.random.default_rng(0).uniform(0, 1, (60, 2))
SPACE = FiniteMetric.from_points(np.random.default_rng(1).random((30, 2)))


class Sized(Algorithm):
    """Two fixed centers and their sizes, by default as it should be."""

    name = "sized"

    def __init__(self, fault=None):
        self.fault = fault

    def parts(self, problem):
        return Counting().part("rows", Fraction(1, 2)), Counting().part("sizes", Fraction(1, 2))

    def run(self, curator, problem, charges, rng):
        exact = len(curator._rows._rows)
        curator.ask(Counts(Whole()), charges["rows"])
        centers = np.array([[0.2, 0.2], [0.8, 0.8]])
        if self.fault == "asks by n" and exact % 2:
            centers = centers[::-1]
        if self.fault == "stops by n" and exact % 2:
            return Result(
                centers, np.zeros(2, np.int64), Counting().noise(charges["sizes"], problem.unit), centers[:0], np.empty(0)
            )
        sizes = curator.ask(Counts(Rings(centers)), charges["sizes"])
        counts = sizes.private_counts + (exact if self.fault == "adds n" else 0)
        return Result(centers, np.maximum(counts, 0), sizes.noise, centers[:0], np.empty(0))


def model(algorithm, **more):
    return PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), algorithm=algorithm, **more)


@pytest.mark.parametrize("fault", ["asks by n", "stops by n", "adds n"])
def test_replay_sees_what_rows_decide_beside_the_answers(fault):
    finding = replay(model(Sized(fault)), ROWS, ROWS[1:])
    assert finding.broken
    words = {"asks by n": "asked something else", "stops by n": "fewer draws", "adds n": "another result"}
    assert any(words[fault] in one for one in finding.faults)


def test_the_lonely_outlier_stays_below_what_a_sound_algorithm_promises(alarm):
    assert outlier(model(Sized()), n_features=2, runs=60, confidence=1 - alarm) <= 1.0
    with pytest.raises(ParameterError, match="'runs' parameter of outlier"):
        outlier(model(Sized()), n_features=2, runs=0)


def test_an_algorithm_of_another_package_is_found_by_its_name(monkeypatch):
    import importlib.metadata

    class Point:
        def load(self):
            return Sized

    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group, name: [Point()] if name == "sized" else [])
    fitted = model("sized").fit(ROWS)
    assert fitted.release_.algorithm == "sized"
    with pytest.raises(ParameterError, match="'algorithm' parameter"):
        model("resized").fit(ROWS)
    with pytest.raises(ParameterError, match="'algorithm' parameter"):
        PrivateKMedoids(3, epsilon=1.0, space=SPACE, algorithm="sized").fit([0, 1])
