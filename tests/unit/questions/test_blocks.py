"""Questions about centers of blocks: what their kind says before anything is asked."""

import math
from fractions import Fraction

import pytest

from spinney import ParameterError
from spinney.privacy import Adjacency, Charge, Measure, Unit
from spinney.questions import Blocking, Counting, LevelCounting

REPLACED = Unit(Adjacency.REPLACE)


@pytest.mark.parametrize("unit", [Unit(), Unit(Adjacency.REPLACE, 2)], ids=["add-remove", "groups"])
def test_samples_with_replacement_are_for_replaced_single_rows(unit):
    with pytest.raises(ParameterError, match="disjoint"):
        Blocking(Counting(), 3, "replacement").unit(unit)


@pytest.mark.parametrize("measure", list(Measure))
@pytest.mark.parametrize("amount", [Fraction(1, 1000), Fraction(1), Fraction(20)])
def test_a_sample_with_replacement_pays_for_rows_that_are_drawn_often(measure, amount):
    charge = Charge("a", "blocks", measure, amount)
    price = Blocking(Counting(), 3, "replacement").price(charge)
    epsilon = float(amount) if measure is Measure.PURE else math.sqrt(2 * float(amount))
    assert price.measure is Measure.PURE
    assert math.sinh(float(price.amount)) <= epsilon
    assert math.sinh(float(price.amount)) == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize("measure", Measure)
def test_no_noise_stays_no_noise_and_the_delta_is_kept(measure):
    kind = Blocking(Counting(), 2, "replacement")
    assert kind.price(Charge("a", "blocks", measure, math.inf)).amount == math.inf
    delta = Fraction(0 if measure is Measure.ZCDP else 1, 10**6)
    assert kind.price(Charge("a", "blocks", measure, Fraction(1, 3), delta)).delta == delta


def test_a_plan_says_that_centers_stand_for_rows():
    kind, charge = Blocking(Counting(), 3), Charge("a", "blocks", Measure.PURE, Fraction(1))
    assert kind.words(charge, REPLACED).startswith("centers of blocks for rows: each count +- ")
    record = kind.record(charge, REPLACED)
    assert (record["points"], record["about"]["question"]) == (3, "counts")
    assert record["about"]["unit_sensitivity"] == [["12"]]  # two blocks of three centers, and as many that come


def test_the_sensitivity_of_a_sample_with_replacement_is_for_pure_noise_alone():
    assert Blocking(Counting(), 3, "replacement").l2 == 0
    assert Blocking(Counting(), 3).l2 == pytest.approx(3 * math.sqrt(2))


@pytest.mark.parametrize("k", [1, 2, 7])
@pytest.mark.parametrize("levels", [1, 2, 9])
def test_all_centers_of_a_block_go_and_as_many_come(k, levels):
    kind = Blocking(LevelCounting(levels), k)
    assert kind.l1 == 2 * k * levels
    assert kind.l2 == pytest.approx(k * math.sqrt(2 * levels))
