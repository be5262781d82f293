"""Rules 3 and 4 for the exponential mechanism: exact sampling, and the zCDP that its range buys."""

import math
from fractions import Fraction

import numpy as np
import pytest

from spinney.audit.tiny import demand_curator
from spinney.mechanisms.selection import choose, selection_rho
from spinney.mechanisms.source import SecureSource
from spinney.privacy import Adjacency, Charge, Measure, Unit
from spinney.questions.choose import SITE_STEPS, Choose, Sets
from spinney.spaces.metric import FiniteMetric


def price(amount, measure=Measure.PURE):
    return Charge("test", "choose", measure, amount)


@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1), Fraction(20)])
def test_scores_far_apart_neither_underflow_nor_raise(epsilon):
    far = int(10**6 / epsilon)
    scores = np.array([-far, 0, far, -(2**60)], dtype=np.int64)
    assert {choose(scores, 1, price(epsilon), SecureSource()) for _ in range(20)} == {2}
    assert choose(scores - 2**60, 1, price(epsilon), SecureSource()) == 2


def test_without_noise_the_best_score_is_chosen():
    assert choose(np.array([1, 5, 2]), 1, price(math.inf), SecureSource()) == 1


def renyi(p, q, alpha):
    logs = [alpha * math.log(a) + (1 - alpha) * math.log(b) for a, b in zip(p, q, strict=True)]
    return float(np.logaddexp.reduce(logs)) / (alpha - 1)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("alpha", [1.01, 2.0, 8.0, 64.0])
def test_renyi_divergence_of_two_candidates_is_below_the_claim(epsilon, alpha):
    claim = alpha * float(selection_rho(Fraction(epsilon)))
    worst = 0.0
    for gap in np.linspace(-3 * epsilon, 2 * epsilon, 501):
        # One row moves the log odds of the two candidates by at most the range, epsilon.
        p, q = 1 / (1 + math.exp(-gap)), 1 / (1 + math.exp(-gap - epsilon))
        worst = max(worst, renyi((p, 1 - p), (q, 1 - q), alpha), renyi((q, 1 - q), (p, 1 - p), alpha))
    assert worst <= claim * (1 + 1e-9)
    if epsilon == 0.1 and alpha < 3:
        assert worst > 0.99 * claim  # the constant 1/8 cannot be improved


@pytest.mark.parametrize("measure", list(Measure))
@pytest.mark.parametrize(("adjacency", "max_rows"), [("add-remove", 1), ("replace", 1), ("add-remove", 3), ("replace", 3)])
def test_a_question_runs_at_what_its_charge_is_worth_to_one_row(measure, adjacency, max_rows):
    drawn = []

    class Spy(SecureSource):
        def select(self, scores, scale):
            drawn.append((scores.tolist(), Fraction(scale)))
            return 1

    space = FiniteMetric.from_matrix([[0, 1, 4], [1, 0, 3], [4, 3, 0]])
    unit, charge = Unit(Adjacency(adjacency), max_rows), price(Fraction(3, 7), measure)
    chosen = demand_curator(np.array([1, 1, 2]), space, unit, Spy()).ask(Choose(Sets(([0], [2]))), charge)
    (scores, scale) = drawn[0]
    # Steps of the diameter 4, rounded down; a unit moves the two costs apart by at most the ranges of its rows.
    assert (chosen, scores) == (1, [-(2 * (SITE_STEPS // 4) + SITE_STEPS), -2 * (3 * SITE_STEPS // 4)])
    epsilon = max_rows * (2 if unit.replaces else 1) * SITE_STEPS / scale
    spent = epsilon if measure is Measure.PURE else selection_rho(epsilon)
    assert charge.amount * Fraction(999_999, 1_000_000) < spent <= charge.amount
