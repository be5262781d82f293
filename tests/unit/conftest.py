import math

import numpy as np
import pytest

from spinney.curators.gate import Curator
from spinney.curators.memory import MemoryBackend
from spinney.mechanisms.source import SeededSource
from spinney.privacy import Budget, Charge, FitLedger, Measure, Unit
from spinney.questions.ground import Ground


@pytest.fixture
def open_curator():
    """Return a function that opens a curator over rows, and one charge per question; noise is off unless an epsilon is given."""

    def make(rows, domain, *questions, unit=None, groups=None, epsilon=math.inf, seed=0):
        amount = Budget.of(epsilon).epsilon / len(questions)
        charges = [Charge(f"{i} {question}", question, Measure.PURE, amount) for i, question in enumerate(questions)]
        ledger = FitLedger(Budget.of(epsilon), tuple(charges))
        unit, source = unit or Unit(), SeededSource(seed)
        backend = MemoryBackend(np.asarray(rows), Ground(domain), unit, source.key, groups)
        return Curator(backend, unit, ledger, source), *charges

    return make
