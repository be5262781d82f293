"""What the gate adds to an error of a read: the question and what was charged so far, both public."""

import time
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

from spinney import Box, CuratorError, DataError
from spinney.curators.backend import Backend
from spinney.curators.gate import Curator
from spinney.mechanisms.source import SeededSource
from spinney.privacy import Budget, Charge, FitLedger, Measure, Unit
from spinney.questions import Counts, Whole
from spinney.questions.ground import Ground


class Failing(Backend):
    """Rows whose read ends in an error, which comes of another one that quotes a cell."""

    def __init__(self, error):
        self.ground, self.error = Ground(Box(0, 1).domain(2)), error

    def exact(self, aggregate, levels_below=0):
        try:
            raise ValueError("canary")
        except ValueError as cause:
            raise self.error from cause


def ask(error):
    charges = tuple(Charge(name, "counts", Measure.PURE, Fraction(1, 4)) for name in ("first", "second"))
    curator = Curator(Failing(error), Unit(), FitLedger(Budget.of(0.5), charges), SeededSource(0))
    curator.ask(Counts(Whole()), charges[0])


def test_a_read_that_fails_says_at_which_question_and_hides_what_led_to_it():
    with pytest.raises(DataError, match="gone") as caught:
        ask(DataError("The file is gone."))
    assert caught.value.__notes__ == ["The fit ends at its question 'first'; charged so far: epsilon 0.25 of 0.5."]
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize("error", [MemoryError("canary"), np.exceptions.AxisError("canary"), CuratorError()])
def test_any_other_error_says_nothing_of_the_question(error):
    with pytest.raises(CuratorError) as caught:
        ask(error)
    assert not hasattr(caught.value, "__notes__")
    assert str(caught.value) == str(CuratorError())
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_one_question_is_answered_at_a_time_whatever_thread_asks_and_through_whatever_view():
    """What a backend remembers between questions is shared by its views: two walks at once would read each other's places."""
    at_once = []

    class Slow(Backend):
        ground, in_memory, active = Ground(Box(0, 1).domain(2)), True, 0

        def within(self, domain):
            return self

        def exact(self, aggregate, levels_below=0):
            Slow.active += 1
            time.sleep(0.005)
            at_once.append(Slow.active)
            Slow.active -= 1
            return np.zeros(1, dtype=object)

    charges = tuple(Charge(str(place), "counts", Measure.PURE, Fraction(1, 8)) for place in range(8))
    curator = Curator(Slow(), Unit(), FitLedger(Budget.of(1.0), charges), SeededSource(0))
    asked = [curator, curator.within(Box(0, 1).domain(2))]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda place: asked[place % 2].ask(Counts(Whole()), charges[place]), range(8)))
    assert at_once == [1] * 8
