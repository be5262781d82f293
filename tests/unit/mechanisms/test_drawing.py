"""A watched source draws what its source draws, and tells of draws beside all questions too."""

import numpy as np
import pytest

from spinney.mechanisms import Draw, Drawn, SeededSource, Watched

VALUES = np.array([3, -1, 10**6])


@pytest.mark.parametrize(("kind", "norm"), [("laplace", "l1"), ("gaussian", "squared l2"), ("gumbel", "range")])
@pytest.mark.parametrize("factor", [1.0, {}, {"": 2.0, "other": 5.0}])
def test_a_draw_beside_all_questions_is_told_with_its_scale_and_no_sensitivity(kind, norm, factor):
    told = []
    watched = Watched(SeededSource(3), told.append, factor=factor)
    times = factor if isinstance(factor, float) else factor.get("", 1.0)
    answer = watched.draw(VALUES, Draw(kind, 4.0, norm))
    np.testing.assert_array_equal(answer, SeededSource(3).draw(VALUES, Draw(kind, 4.0 * times, norm)))
    (event,) = told
    assert isinstance(event, Drawn)
    assert event.asked is None
    assert event.draw == Draw(kind, 4.0 * times, norm)
    assert event.exact.tolist() == VALUES.tolist()
