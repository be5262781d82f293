import math
from fractions import Fraction

import numpy as np
import pytest

from spinney.mechanisms.selection import choose, selection_epsilon, selection_rho
from spinney.mechanisms.source import SeededSource
from spinney.privacy.charges import Charge, Measure


def price(amount, measure=Measure.PURE):
    return Charge("a", "choose", measure, amount)


def test_without_noise_the_first_best_is_chosen():
    assert choose(np.array([1, 5, 5, 2]), 1, price(math.inf), SeededSource(0)) == 1


@pytest.mark.parametrize(("measure", "amount"), [(Measure.PURE, Fraction(2)), (Measure.ZCDP, Fraction(1, 2))])
def test_frequencies_follow_the_scores(measure, amount):
    # Both prices run at epsilon = 2: a pure charge as it stands, rho at sqrt(8 rho).
    source = SeededSource(1)
    scores, span = np.array([0, 2, 4]), 4
    found = np.bincount([choose(scores, span, price(amount, measure), source) for _ in range(4000)], minlength=3) / 4000
    expected = np.exp(2 * scores / span)
    np.testing.assert_allclose(found, expected / expected.sum(), atol=0.04)


def test_rho_of_a_selection_is_an_eighth_of_its_square():
    assert selection_rho(Fraction(2)) == Fraction(1, 2)


def test_scores_far_apart_do_no_harm():
    assert choose(np.array([0, 10**15, -(10**15)]), 1, price(Fraction(1, 1000)), SeededSource(0)) == 1


def test_an_infinite_price_runs_at_an_infinite_epsilon():
    for measure in Measure:
        assert selection_epsilon(price(math.inf, measure)) == math.inf
