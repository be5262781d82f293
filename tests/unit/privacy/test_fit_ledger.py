import math
from copy import copy
from fractions import Fraction

import pytest

from spinney.exceptions import BudgetError, ParameterError
from spinney.privacy import Budget, Charge, FitLedger, Measure, Part, compose

HALF = Charge("first", "counts", Measure.PURE, Fraction(1, 2))
REST = Charge("second", "sums", Measure.PURE, Fraction(1, 2))


@pytest.fixture
def ledger():
    return FitLedger(Budget.of(1.0), (HALF, REST))


def test_what_was_spent_is_kept_in_order(ledger):
    ledger.spend(REST, "sums")
    assert (ledger.entries, ledger.epsilon) == ((REST,), Fraction(1, 2))
    ledger.spend(HALF, "counts")
    assert (ledger.entries, ledger.epsilon) == ((REST, HALF), Fraction(1))


def test_a_charge_is_accepted_once(ledger):
    ledger.spend(HALF, "counts")
    with pytest.raises(BudgetError, match="no open charge named 'first'"):
        ledger.spend(HALF, "counts")
    assert ledger.epsilon == Fraction(1, 2)


def test_what_was_not_planned_is_refused(ledger):
    for name, measure, amount, question in (
        ("third", Measure.PURE, Fraction(1, 100), "counts"), ("first", Measure.PURE, Fraction(1, 4), "counts"),
        ("first", Measure.ZCDP, Fraction(1, 2), "counts"), ("first", Measure.PURE, Fraction(1, 2), "sums"),
    ):  # fmt: skip
        with pytest.raises(BudgetError):
            ledger.spend(Charge(name, "counts", measure, amount), question)
    assert ledger.entries == ()


def test_a_plan_above_its_budget_is_refused():
    more = Charge("third", "counts", Measure.PURE, Fraction(1, 10**30))
    with pytest.raises(BudgetError, match="more than its budget"):
        FitLedger(Budget.of(1.0), (HALF, REST, more))


def test_two_charges_of_one_name_are_refused():
    with pytest.raises(BudgetError, match="alike"):
        FitLedger(Budget.of(2.0), (HALF, HALF))


def test_rho_is_converted_at_the_budgets_delta():
    rho = Charge("a", "sums", Measure.ZCDP, Fraction(1, 100))
    ledger = FitLedger(Budget.of(1.0, 1e-6), (rho,))
    ledger.spend(rho, "sums")
    assert 0.01 < ledger.epsilon < 1


def test_every_planned_charge_is_positive_and_finite():
    for measure, amount in ((Measure.PURE, Fraction(0)), (Measure.PURE, math.inf), (Measure.ZCDP, math.inf)):
        with pytest.raises(BudgetError):
            FitLedger(Budget.of(1.0, 1e-6), (HALF, Charge("other", "counts", measure, amount)))


def test_charges_that_give_back_do_not_pass():
    """1000 and -999 add up to 1."""
    generous, back = copy(HALF), copy(HALF)
    for charge, name, amount in ((generous, "first", 1000), (back, "second", -999)):
        object.__setattr__(charge, "name", name)
        object.__setattr__(charge, "amount", Fraction(amount))
    with pytest.raises(ParameterError, match="at least 0"):
        FitLedger(Budget.of(1.0), (generous, back))


def test_a_charge_that_was_changed_after_the_plan_is_refused():
    charge = copy(HALF)
    ledger = FitLedger(Budget.of(1.0), (charge,))
    object.__setattr__(charge, "amount", Fraction(1000))
    with pytest.raises(BudgetError, match="no open charge"):
        ledger.spend(charge, "counts")


THIRD = Charge("third", "counts", Measure.PURE, Fraction(1, 4))
RHO = Charge("rho", "sums", Measure.ZCDP, Fraction(1, 100))


def test_charges_that_are_put_together_pay_for_one_question_of_their_whole_amount(ledger):
    whole = ledger.pool([REST, HALF], "sums")
    assert whole == Charge("second + first", "sums", Measure.PURE, Fraction(1))
    for spent in (HALF, REST):
        with pytest.raises(BudgetError, match="no open charge"):
            ledger.spend(spent, spent.question)
    ledger.spend(whole, "sums")
    assert (ledger.entries, ledger.epsilon) == ((whole,), Fraction(1))
    with pytest.raises(BudgetError, match="no open charge"):
        ledger.spend(whole, "sums")


def test_what_cannot_be_put_together_is_refused_and_stays_open():
    ledger, other = FitLedger(Budget.of(3.0, 1e-6), (HALF, REST, RHO)), Charge("first", "counts", Measure.PURE, Fraction(1, 3))
    for charges in ([], [HALF, HALF], [HALF, other], [HALF, THIRD], [HALF, RHO]):
        with pytest.raises(BudgetError, match="be pooled"):
            ledger.pool(charges, "sums")
    for charge in (HALF, REST, RHO):
        ledger.spend(charge, charge.question)


def test_a_spent_charge_or_one_with_a_delta_of_its_own_cannot_be_put_together(ledger):
    ledger.spend(HALF, "counts")
    with pytest.raises(BudgetError, match="be pooled"):
        ledger.pool([HALF, REST], "sums")
    own = Charge("own", "cover", Measure.PURE, Fraction(1, 4), Fraction(1, 10**7))
    other = FitLedger(Budget.of(1.0, 1e-6), (own, HALF))
    with pytest.raises(BudgetError, match="delta of their own"):
        other.pool([own, HALF], "counts")


def test_the_price_of_gaussian_noise_buys_nothing_else():
    """It is converted as what it was planned for: as a price of decisions it would be worth more than the budget."""
    plan = compose(Budget.of(1.0, 1e-6), [Part(name, "counts", Fraction(1, 2), 9.0) for name in "ab"])
    assert {charge.measure for charge in plan} == {Measure.ZCDP}
    ledger = FitLedger(Budget.of(1.0, 1e-6), plan)
    for charges in (plan, plan[:1]):
        with pytest.raises(BudgetError, match="Gaussian noise alone"):
            ledger.pool(charges, "grow")
    ledger.spend(ledger.pool(plan, "sums"), "sums")
    assert 0.9999 < ledger.epsilon <= 1


def test_the_name_of_charges_put_together_may_not_be_another_ones():
    both = Charge("first + second", "counts", Measure.PURE, Fraction(1, 4))
    ledger = FitLedger(Budget.of(2.0), (HALF, REST, both))
    with pytest.raises(BudgetError, match="alike"):
        ledger.pool([HALF, REST], "sums")
    ledger.spend(HALF, "counts")


def test_a_charge_that_grows_after_it_was_put_together_buys_nothing(ledger):
    whole = ledger.pool([HALF, REST], "sums")
    object.__setattr__(whole, "amount", Fraction(10**6))
    with pytest.raises(BudgetError, match="no open charge"):
        ledger.spend(whole, "sums")
    for handed_out in (*ledger.planned, *ledger.entries):
        object.__setattr__(handed_out, "amount", Fraction(10**6))
    assert sum(charge.amount for charge in ledger.planned) == 1


def test_charges_put_together_may_not_have_the_name_of_others_put_together():
    names = ("x", "y + z", "x + y", "z")
    ledger = FitLedger(Budget.of(4.0), tuple(Charge(name, "sums", Measure.PURE, Fraction(1)) for name in names))
    first, second, third, fourth = ledger.planned
    ledger.spend(ledger.pool([first, second], "sums"), "sums")
    with pytest.raises(BudgetError, match="alike"):
        ledger.pool([third, fourth], "sums")
