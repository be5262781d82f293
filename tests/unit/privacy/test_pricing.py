from fractions import Fraction

import numpy as np
import pytest

from spinney.exceptions import ParameterError
from spinney.privacy import Adjacency, Charge, Measure, Unit

PURE = Charge("a", "counts", Measure.PURE, Fraction(1))
RHO = Charge("a", "counts", Measure.ZCDP, Fraction(1))
SHARE = Fraction(1, 5)


UNITS = pytest.mark.parametrize("unit", [Unit(adjacency, rows) for adjacency in Adjacency for rows in (1, 3)], ids=str)


@UNITS
def test_counts_cost_more_for_replacements_and_groups(unit):
    rows, cells = unit.max_rows, 2 if unit.replaces else 1
    assert unit.count_price(PURE).amount == Fraction(1, rows * cells)
    assert unit.count_price(RHO).amount == Fraction(1, rows**2 * cells)


@UNITS
def test_a_replaced_value_moves_twice_as_far(unit):
    moved = unit.max_rows * (2 if unit.replaces else 1)
    assert unit.value_price(PURE).amount == Fraction(1, moved)
    assert unit.value_price(RHO).amount == Fraction(1, moved**2)


@UNITS
def test_the_tree_prices_replacements_itself(unit):
    assert unit.tree_price(PURE).amount == Fraction(1, unit.max_rows)
    assert unit.tree_price(RHO).amount == Fraction(1, unit.max_rows**2)


@UNITS
def test_pure_halves_of_a_step_add_up_to_its_price(unit):
    price = unit.step_price(PURE, SHARE, weights_are_counts=True)
    assert price.vectors.amount + price.weights.amount == unit.count_price(PURE).amount
    assert price.weights.amount == SHARE * unit.count_price(PURE).amount


@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize("rows", [1, 4])
@pytest.mark.parametrize("share", [SHARE, Fraction(1, 2), Fraction(3, 4)])
def test_zcdp_halves_of_a_step_cover_every_way_a_row_can_change(counts, rows, share):
    # One unit moves a vector by 1 and a weight by 1 (add-remove); replaced inside a cell, by 2 and by 0 or 1; between two
    # cells, two vectors and two weights by 1 each. Each costs (squared move) times the price per row, rows^2 times.
    for adjacency, moves in ((Adjacency.ADD_REMOVE, [(1, 1)]), (Adjacency.REPLACE, [(4, 0 if counts else 1), (2, 2)])):
        price = Unit(adjacency, rows).step_price(RHO, share, weights_are_counts=counts)
        worst = max(rows**2 * (v * price.vectors.amount + w * price.weights.amount) for v, w in moves)
        assert worst == RHO.amount
        ratio = share / (1 - share)  # a count that a replacement leaves alone gets as much as costs nothing more
        free = counts and adjacency is Adjacency.REPLACE
        assert price.weights.amount == price.vectors.amount * (max(ratio, 1) if free else ratio)


@pytest.mark.parametrize("text", ["add-remove", "replace"])
def test_a_relation_given_as_text_is_the_relation(text):
    """As a text, replace used to get the noise of add-remove."""
    unit = Unit(text, 2)
    assert unit == Unit(Adjacency(text), 2)
    assert unit.replaces is (text == "replace")
    assert unit.count_price(PURE) == Unit(Adjacency(text), 2).count_price(PURE)


def test_a_unit_is_checked():
    wrong = [(adjacency, 1) for adjacency in ("replaced", None, True)]
    for unit in wrong + [("replace", cap) for cap in (0, -1, 1.5, True, "2", None)]:
        with pytest.raises(ParameterError, match="of Unit must be"):
            Unit(*unit)


def test_a_cap_is_a_plain_whole_number():
    # One of numpy's would overflow, silently, where sensitivities are multiplied.
    cap = Unit(max_rows=np.int32(3)).max_rows
    assert (type(cap), cap) == (int, 3)


def test_a_unit_moves_all_its_rows_and_those_that_come_in_their_place():
    for cap in (1, 2, 7):
        assert (Unit(Adjacency.ADD_REMOVE, cap).moved_rows, Unit(Adjacency.REPLACE, cap).moved_rows) == (cap, 2 * cap)
