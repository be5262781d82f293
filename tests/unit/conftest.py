import math

import numpy as np
import pytest

from spinney.curators.gate import Curator
from spinney.curators.memory import MemoryBackend
from spinney.mechanisms.source import SeededSource
from spinney.privacy.budget import Budget
from spinney.privacy.charges import Charge, Measure
from spinney.privacy.ledger import FitLedger
from spinney.privacy.pricing import Unit
from spinney.questions.ground import Ground


@pytest.fixture
def open_curator():
    """Return a function that opens a curator over rows with noise switched off, and one charge per question."""

    def make(rows, domain, *questions, unit=None, groups=None):
        charges = [Charge(f"{i} {question}", question, Measure.PURE, math.inf) for i, question in enumerate(questions)]
        ledger = FitLedger(Budget.of(math.inf), tuple(charges))
        unit, source = unit or Unit(), SeededSource(0)
        backend = MemoryBackend(np.asarray(rows), Ground(domain), unit, source.key, groups)
        return Curator(backend, unit, ledger, source), *charges

    return make
