"""The audit itself: it finds the epsilon that is there, and no more."""

import math

import numpy as np
import pytest

from spinney.audit.epsilon import epsilon_lower_bound


def laplace_pair(epsilon, runs):
    rng = np.random.default_rng(0)
    return rng.laplace(0, 1, runs), rng.laplace(epsilon, 1, runs)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_it_comes_close_to_the_epsilon_of_laplace_noise_from_below(epsilon):
    first, second = laplace_pair(epsilon, 100_000)
    for pair in ((first, second), (second, first), (-first, -second)):
        assert 0.85 * epsilon < epsilon_lower_bound(*pair) <= epsilon


def test_it_shows_nothing_where_nothing_is():
    same = np.random.default_rng(1).normal(size=(2, 20_000))
    assert epsilon_lower_bound(*same) < 0.1
    assert epsilon_lower_bound(np.zeros(100), np.zeros(100)) == 0.0
    assert epsilon_lower_bound([], [1.0]) == 0.0
    assert epsilon_lower_bound([0.0], [1.0]) == 0.0


def test_its_bound_is_exceeded_as_rarely_as_its_confidence_says():
    # Randomized response of epsilon 1: the best event is known, so the bound is as tight as it can be.
    p, rng = math.e / (1 + math.e), np.random.default_rng(2)
    wrong = sum(epsilon_lower_bound(rng.random(400) < p, rng.random(400) < 1 - p, confidence=0.9) > 1.0 for _ in range(400))
    assert wrong <= 0.1 * 400 + 3 * math.sqrt(400 * 0.1 * 0.9)


def test_events_that_never_happen_on_one_side_are_limited_by_the_number_of_runs():
    bound = epsilon_lower_bound(np.ones(1000, dtype=bool), np.zeros(1000, dtype=bool))
    assert 4.5 < bound < math.log(500)


def test_delta_is_forgiven():
    # A mechanism that gives itself away once in ten times has delta 0.1 and epsilon 0.
    leaks = np.where(np.random.default_rng(3).random(5000) < 0.1, 1.0, 0.0)
    assert epsilon_lower_bound(leaks, np.zeros(5000)) > 2
    assert epsilon_lower_bound(leaks, np.zeros(5000), delta=0.12) == 0.0
