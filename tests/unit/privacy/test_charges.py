import json
import math
from fractions import Fraction

import pytest

from spinney.exceptions import ParameterError
from spinney.privacy.charges import Charge, Measure


@pytest.mark.parametrize("amount", [Fraction(1, 3), Fraction(7), math.inf])
@pytest.mark.parametrize("measure", list(Measure))
def test_a_charge_survives_json(amount, measure):
    charge = Charge("leaf counts", "counts", measure, amount)
    assert Charge.from_dict(json.loads(json.dumps(charge.to_dict()))) == charge
    assert "delta" not in charge.to_dict()
    approximate = Charge("cover", "cover", measure, amount, Fraction(1, 9))
    assert Charge.from_dict(json.loads(json.dumps(approximate.to_dict()))) == approximate == Charge.copy_of(approximate)


def test_parts_of_a_charge_add_up():
    charge = Charge("step", "sums", Measure.PURE, Fraction(1, 7), Fraction(1, 100))
    parts = [charge.part(share) for share in (Fraction(1, 5), Fraction(4, 5))]
    assert sum(part.amount for part in parts) == charge.amount
    assert sum(part.delta for part in parts) == charge.delta
    assert {(part.name, part.question, part.measure) for part in parts} == {("step", "sums", Measure.PURE)}
    assert Charge("step", "sums", Measure.ZCDP, math.inf).part(Fraction(1, 5)).amount == math.inf


@pytest.mark.parametrize("amount", [Fraction(-1, 10), -1, 0.5, math.nan, -math.inf, "1", None, True])
def test_a_charge_is_exact_and_not_negative(amount):
    with pytest.raises(ParameterError, match="amount"):
        Charge("a", "counts", Measure.PURE, amount)
    with pytest.raises(ParameterError, match="delta"):
        Charge("a", "counts", Measure.PURE, Fraction(1), amount)


@pytest.mark.parametrize("share", [Fraction(0), Fraction(-1, 2), -1, 0.5, math.nan, math.inf])
def test_a_part_of_a_charge_is_positive(share):
    with pytest.raises(ParameterError, match="share"):
        Charge("a", "counts", Measure.PURE, Fraction(1)).part(share)


def test_a_charge_has_a_name_a_question_a_measure_and_a_finite_delta():
    for name, wrong in {"name": 1, "question": b"counts", "measure": "pure", "delta": math.inf}.items():
        with pytest.raises(ParameterError, match=f"{name}.*Charge"):
            Charge(**{"name": "a", "question": "counts", "measure": Measure.PURE, "amount": Fraction(1), name: wrong})


def test_only_a_charge_is_copied():
    class Cheap(Charge):
        pass

    charge = Charge("a", "counts", Measure.PURE, Fraction(1), Fraction(1, 9))
    assert Charge.copy_of(charge) == charge
    assert Charge.copy_of(charge) is not charge
    for other in (Cheap(**vars(charge)), charge.to_dict(), None):
        with pytest.raises(ParameterError, match="Charge of the plan"):
            Charge.copy_of(other)


def test_whole_numbers_become_exact_amounts():
    charge = Charge("a", "cover", Measure.PURE, 1, delta=0)
    assert [type(charge.amount), type(charge.delta)] == [Fraction, Fraction]


@pytest.mark.parametrize("name", ["amount", "delta"])
@pytest.mark.parametrize(
    "text", ["1e1000000000", "1e5", "0.5", "-1", "+1", " 1", "1_0", "1/0", "1/-2", "1/", "/2", "", "nan", "\u0663", "9" * 3000, 1]
)
def test_an_amount_in_a_file_is_digits_or_digits_over_digits(text, name):
    record = {"name": "a", "question": "counts", "measure": "epsilon", "amount": "1", name: text}
    with pytest.raises(ParameterError, match="exact fraction"):
        Charge.from_dict(record)
