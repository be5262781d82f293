import math

import pytest

from opening import curator_over
from spinney.mechanisms.source import SeededSource
from spinney.privacy import Budget, Charge, Measure
from spinney.questions.ground import Ground


@pytest.fixture
def open_curator():
    """Return a function that opens a curator over rows, and one charge per question; noise is off unless an epsilon is given."""

    def make(rows, domain, *questions, unit=None, groups=None, epsilon=math.inf, seed=0):
        amount = Budget.of(epsilon).epsilon / len(questions)
        charges = [Charge(f"{i} {question}", question, Measure.PURE, amount) for i, question in enumerate(questions)]
        return curator_over(rows, Ground(domain), charges, unit, SeededSource(seed), Budget.of(epsilon), groups), *charges

    return make
