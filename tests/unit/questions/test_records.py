"""What a question records of its noise is what verification works out by itself, and no more noise than its charge buys."""

import json
from fractions import Fraction

from hypothesis import example, given, settings
from hypothesis import strategies as st

from spinney.privacy.charges import Charge, Measure
from spinney.privacy.pricing import Unit
from spinney.questions.blocks import Blocking
from spinney.questions.choose import Choosing
from spinney.questions.cost import Costing
from spinney.questions.counts import Counting
from spinney.questions.cover import Covering
from spinney.questions.grow import Splitting
from spinney.questions.levels import LevelCounting
from spinney.questions.minimize import Minimizing
from spinney.questions.persons import PersonCounting
from spinney.questions.sums import KERNELS, Summing
from spinney.questions.totals import Totaling
from spinney.verification.noise import Setting, check_noise

COLUMNS = 6
PLAIN = st.one_of(
    st.sampled_from([Counting(), Counting(COLUMNS), Costing(), Splitting(3)]),
    st.builds(LevelCounting, st.integers(1, 9)),
    st.builds(Summing, st.sampled_from(KERNELS), st.just(COLUMNS)),
)
KINDS = st.one_of(
    PLAIN,
    st.sampled_from([Choosing(), Minimizing(COLUMNS), Totaling(COLUMNS), PersonCounting()]),
    st.builds(Covering, st.integers(1, 9)),
    st.builds(Blocking, PLAIN, st.integers(1, 4)),
)


@settings(max_examples=80, deadline=None)
@given(
    KINDS,
    st.sampled_from(Measure),
    st.fractions(Fraction(1, 100), 4),
    st.sampled_from(["add-remove", "replace"]),
    st.integers(1, 4),
)
@example(PersonCounting(), Measure.ZCDP, Fraction(1), "replace", 3)
@example(Totaling(COLUMNS), Measure.ZCDP, Fraction(1), "replace", 2)
@example(Minimizing(COLUMNS), Measure.ZCDP, Fraction(1), "replace", 2)
def test_every_record_is_what_verification_works_out(kind, measure, amount, adjacency, rows):
    if kind.question == "cover":
        measure = Measure.PURE
    unit, charge = Unit(adjacency, rows), Charge("rows", kind.question, measure, amount)
    record = json.loads(json.dumps(kind.record(charge, unit)))
    describes = kind.question in ("totals", "persons")
    setting = Setting(unit.replaces, rows, COLUMNS, COLUMNS, describes)
    assert check_noise(record, charge.to_dict(), setting)
    for answer in record.get("answers", ()):
        row, price, scale = (Fraction(answer[name]) for name in ("row_sensitivity", "price", "scale"))
        lost = row / scale if measure is Measure.PURE else row / (2 * scale**2)
        least = COLUMNS if record["mechanism"] == "discrete cube" else 0  # the least scale of noise on columns together
        assert lost >= price * (1 - Fraction(1, 10**9)) or scale == least
    noise = kind.noise(charge, unit)
    if kind.question in ("counts", "persons", "levels"):
        assert record["answers"][0]["scale"] == str(Fraction(noise.scale))
