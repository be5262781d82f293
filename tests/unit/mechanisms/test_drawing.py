"""A watched source draws what its source draws, and tells of draws beside all questions too."""

import numpy as np
import pytest

from spinney.mechanisms import Draw, Drawn, SeededSource, Watched

VALUES = np.array([3, -1, 10**6])


KINDS = [("laplace", "laplace", "l1"), ("gaussian", "gaussian", "squared l2"), ("select", "gumbel", "range")]


@pytest.mark.parametrize(("name", "kind", "norm"), KINDS)
@pytest.mark.parametrize("factor", [1.0, {}, {"": 2.0, "other": 5.0}])
def test_a_draw_beside_all_questions_is_told_with_its_scale_and_no_sensitivity(name, kind, norm, factor):
    told = []
    watched = Watched(SeededSource(3), told.append, factor=factor)
    times = factor if isinstance(factor, float) else factor.get("", 1.0)
    answer = getattr(watched, name)(VALUES, 4.0)
    np.testing.assert_array_equal(answer, getattr(SeededSource(3), name)(VALUES, 4.0 * times))
    (event,) = told
    assert isinstance(event, Drawn)
    assert event.asked is None
    assert event.draw == Draw(kind, 4.0 * times, norm)
    assert event.exact.tolist() == VALUES.tolist()
