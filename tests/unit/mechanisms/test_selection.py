import math
from fractions import Fraction

import numpy as np

from spinney.mechanisms.selection import choose, selection_epsilon, selection_rho
from spinney.mechanisms.source import SeededSource
from spinney.privacy.charges import Charge, Measure


def price(amount, measure=Measure.PURE):
    return Charge("a", "choose", measure, amount)


def test_without_noise_the_first_best_is_chosen():
    assert choose(np.array([1, 5, 5, 2]), 1, price(math.inf), SeededSource(0)) == 1


def test_rho_of_a_selection_is_an_eighth_of_its_square():
    assert selection_rho(Fraction(2)) == Fraction(1, 2)


def test_an_infinite_price_runs_at_an_infinite_epsilon():
    for measure in Measure:
        assert selection_epsilon(price(math.inf, measure)) == math.inf
