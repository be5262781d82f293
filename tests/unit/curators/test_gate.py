"""The gate charges first, and says what was charged where rows cannot be read."""

from fractions import Fraction

import pytest

from spinney import Box
from spinney.curators.gate import Curator
from spinney.exceptions import DataError
from spinney.mechanisms.source import SeededSource
from spinney.privacy.budget import Budget
from spinney.privacy.charges import Charge, Measure
from spinney.privacy.ledger import FitLedger
from spinney.privacy.pricing import Unit
from spinney.questions.counts import Counts
from spinney.questions.ground import Ground
from spinney.questions.partitions import Whole


def test_an_end_by_the_data_tells_what_was_charged_of_what():
    class Broken:
        ground = Ground(Box(-1, 1).domain(2))

        def exact(self, aggregate, levels_below=0):
            raise DataError("The table cannot be read.")

    charges = [Charge(name, "counts", Measure.PURE, amount) for name, amount in (("a", Fraction(1, 4)), ("b", Fraction(1, 2)))]
    ledger = FitLedger(Budget.of(2.0, 0.125), tuple(charges))
    curator = Curator(Broken(), Unit(), ledger, SeededSource(0))
    for charge, spent in zip(charges, ("0.25", "0.75"), strict=True):
        with pytest.raises(DataError) as caught:
            curator.ask(Counts(Whole()), charge)
        assert caught.value.__notes__ == [f"The fit ends at its question {charge.name!r}; charged so far: epsilon {spent} of 2."]
