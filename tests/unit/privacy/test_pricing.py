from fractions import Fraction

import numpy as np
import pytest

from spinney.exceptions import ParameterError
from spinney.privacy.adjacency import Adjacency
from spinney.privacy.charges import Charge, Measure
from spinney.privacy.pricing import Unit

PURE = Charge("a", "counts", Measure.PURE, Fraction(1))
RHO = Charge("a", "counts", Measure.ZCDP, Fraction(1))
SHARE = Fraction(1, 5)


@pytest.mark.parametrize(
    ("adjacency", "rows", "pure", "rho"),
    [("add-remove", 1, 1, 1), ("replace", 1, 2, 2), ("add-remove", 3, 3, 9), ("replace", 3, 6, 18)],
)
def test_counts_cost_more_for_replacements_and_groups(adjacency, rows, pure, rho):
    unit = Unit(Adjacency(adjacency), rows)
    assert unit.count_price(PURE).amount == Fraction(1, pure)
    assert unit.count_price(RHO).amount == Fraction(1, rho)


@pytest.mark.parametrize(
    ("adjacency", "rows", "pure", "rho"),
    [("add-remove", 1, 1, 1), ("replace", 1, 2, 4), ("add-remove", 3, 3, 9), ("replace", 3, 6, 36)],
)
def test_a_replaced_value_moves_twice_as_far(adjacency, rows, pure, rho):
    unit = Unit(Adjacency(adjacency), rows)
    assert unit.value_price(PURE).amount == Fraction(1, pure)
    assert unit.value_price(RHO).amount == Fraction(1, rho)


def test_the_tree_prices_replacements_itself():
    assert Unit(Adjacency.REPLACE, 2).tree_price(PURE).amount == Fraction(1, 2)
    assert Unit(Adjacency.REPLACE, 2).tree_price(RHO).amount == Fraction(1, 4)


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("rows", [1, 4])
def test_pure_halves_of_a_step_add_up_to_its_price(adjacency, rows):
    unit = Unit(adjacency, rows)
    price = unit.step_price(PURE, SHARE, weights_are_counts=True)
    assert price.vectors.amount + price.weights.amount == unit.count_price(PURE).amount
    assert price.weights.amount == SHARE * unit.count_price(PURE).amount


@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize("rows", [1, 4])
@pytest.mark.parametrize("share", [SHARE, Fraction(1, 2), Fraction(3, 4)])
def test_zcdp_halves_of_a_step_cover_every_way_a_row_can_change(counts, rows, share):
    # One unit moves a vector by 1 and a weight by 1 (add-remove); replaced inside a cell, by 2 and by 0 or 1; between two
    # cells, two vectors and two weights by 1 each. Each costs (squared move) times the price per row, rows^2 times.
    for adjacency, moves in (
        (Adjacency.ADD_REMOVE, [(1, 1)]),
        (Adjacency.REPLACE, [(4, 0 if counts else 1), (2, 2)]),
    ):
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


@pytest.mark.parametrize(
    "wrong",
    [
        ("replaced", 1),
        (None, 1),
        (True, 1),
        ("replace", 0),
        ("replace", -1),
        ("replace", 1.5),
        ("replace", True),
        ("replace", "2"),
        ("replace", None),
    ],
)
def test_a_unit_is_checked(wrong):
    with pytest.raises(ParameterError, match="of Unit must be"):
        Unit(*wrong)


def test_a_cap_is_a_plain_whole_number():
    # One of numpy's would overflow, silently, where sensitivities are multiplied.
    cap = Unit(max_rows=np.int32(3)).max_rows
    assert (type(cap), cap) == (int, 3)


def test_a_unit_moves_all_its_rows_and_those_that_come_in_their_place():
    for cap in (1, 2, 7):
        assert (Unit(Adjacency.ADD_REMOVE, cap).moved_rows, Unit(Adjacency.REPLACE, cap).moved_rows) == (cap, 2 * cap)
