"""Rule 13: a replaced person may have no counted rows before or after, so a replace price must cover an addition or a removal.

Additive questions are asked in `test_whole_person.py` and `test_brute_force.py`; site questions and covers, by the exact law of
their answers, in `test_site_sensitivity.py`, `test_site_enumeration.py` and `test_cover_process.py`. Here: all prices.
"""

import itertools
import math
from fractions import Fraction

import pytest

from spinney.mechanisms.coverage import step_epsilon
from spinney.mechanisms.selection import selection_epsilon, selection_rho
from spinney.mechanisms.splitting import split_rule, worst_loss
from spinney.privacy import Adjacency, Charge, Measure, Unit
from spinney.questions.sums import WEIGHT_SHARE

AMOUNTS = [Fraction(1, 1000), Fraction(1, 7), Fraction(1), Fraction(9, 2), Fraction(60)]
CAPS = [1, 2, 3, 10]
SHARES = [Fraction(1, 100), WEIGHT_SHARE, Fraction(1, 2), Fraction(9, 10)]


def charge(amount, measure, delta=0):
    return Charge("test", "test", measure, amount, Fraction(delta))


def removal(measure, rows, *prices):
    """Return what it costs to take rows away, each of them at most as far as its prices pay for."""
    return (rows if measure is Measure.PURE else rows * rows) * sum(price.amount for price in prices)


@pytest.mark.parametrize("measure", list(Measure))
@pytest.mark.parametrize("amount", AMOUNTS)
def test_a_removal_costs_at_most_the_charge_of_a_replacement(measure, amount):
    whole = charge(amount, measure)
    for cap in CAPS:
        unit = Unit(Adjacency.REPLACE, cap)
        assert removal(measure, cap, unit.count_price(whole)) <= amount
        assert removal(measure, cap, unit.value_price(whole)) <= amount
        for share, are_counts in itertools.product(SHARES, (True, False)):
            price = unit.step_price(whole, share, are_counts)
            assert removal(measure, cap, price.vectors, price.weights) <= amount
        for depth in (1, 4, 31):  # levels of a tree that pay for themselves
            assert depth * removal(measure, cap, unit.count_price(whole.part(Fraction(1, depth)))) <= amount


@pytest.mark.parametrize("measure", list(Measure))
@pytest.mark.parametrize("amount", AMOUNTS)
def test_a_removal_from_a_tree_costs_at_most_the_charge_of_a_replacement(measure, amount):
    for cap in CAPS:
        rule = split_rule(Unit(Adjacency.REPLACE, cap).tree_price(charge(amount, measure)), replace=True)
        loss = cap * Fraction(worst_loss(rule.scale, rule.decay, rule.steps_per_row, replace=False))
        assert (loss if measure is Measure.PURE else loss**2 / 2) <= amount


@pytest.mark.parametrize("measure", list(Measure))
@pytest.mark.parametrize("amount", AMOUNTS)
def test_a_removal_moves_a_choice_by_at_most_the_charge_of_a_replacement(measure, amount):
    for cap in CAPS:
        epsilon = Fraction(selection_epsilon(Unit(Adjacency.REPLACE, cap).value_price(charge(amount, measure))))
        assert (cap * epsilon if measure is Measure.PURE else selection_rho(cap * epsilon)) <= amount


@pytest.mark.parametrize("delta", [0, Fraction(1, 10**9), Fraction(1, 100)])
@pytest.mark.parametrize("amount", AMOUNTS)
def test_the_steps_of_a_cover_with_replacement_are_no_larger_than_those_without(delta, amount):
    # Smaller steps than those that are private for additions and removals are private for them too.
    for cap, steps in itertools.product(CAPS, (1, 5, 200)):
        asked = charge(amount, Measure.PURE, delta)
        replacing, adding = (
            step_epsilon(asked, Unit(adjacency, cap), steps) for adjacency in (Adjacency.REPLACE, Adjacency.ADD_REMOVE)
        )
        assert replacing <= adding
        assert math.isfinite(replacing)
