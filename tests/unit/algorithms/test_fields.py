import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney import FiniteMetric
from spinney.algorithms.fields import expected_demand
from spinney.trees.nested_cells import NestedCells

LINE = FiniteMetric.from_points(np.arange(120.0)[:, None])
FINE = NestedCells(np.arange(120) // 10, np.arange(12) * 10 + 5)
COARSE = NestedCells(np.arange(120) // 30, np.arange(4) * 30 + 15)


def demand_of(fine, coarse, stds, space=LINE, cells=(FINE, COARSE)):
    return expected_demand(space, cells, (np.array(fine), np.array(coarse)), stds, np.random.default_rng(0))


SIDE = np.arange(120) // 10 % 2
#: A metric in which near places are not alike, and exp(-d / l) is no covariance.
TWO_SIDES = FiniteMetric.from_matrix(np.where(SIDE[:, None] == SIDE, 2.0, 1.0) * (1 - np.eye(120)))


@pytest.mark.parametrize("space", [LINE, TWO_SIDES])
def test_without_noise_cells_keep_their_counts(space):
    counts = np.array([0, 5, 90, 100, 3, 0, 0, 0, 40, 0, 0, 7])
    found = demand_of(counts, counts.reshape(4, 3).sum(axis=1), (1e-6, 1e-6), space)
    np.testing.assert_allclose(found[0], counts, atol=0.01)


@given(
    st.lists(st.one_of(st.integers(-(10**15), 10**15), st.integers(-5, 5)), min_size=12, max_size=12),
    st.lists(st.integers(-(10**15), 10**15), min_size=4, max_size=4),
    st.sampled_from([0.0, 1e-9, 1.0, 1e9, 1e15]),
    st.sampled_from(["line", "one place", "star", "two sides", "far"]),
)
@pytest.mark.filterwarnings("error")
def test_every_answer_is_served(fine, coarse, std, kind):
    line = np.arange(120.0)[:, None]
    star = 1.0 - np.eye(120)  # all points alike far
    far = np.zeros((120, 120))
    far[100:, 100:] = 1e30 * star[100:, 100:]
    space = {
        "line": FiniteMetric.from_points(line * 1e90),
        "one place": FiniteMetric.from_points(np.zeros_like(line)),
        "star": FiniteMetric.from_matrix(star),
        "two sides": TWO_SIDES,
        "far": FiniteMetric.from_matrix(far),
    }[kind]
    assert all(np.isfinite(found).all() for found in demand_of(fine, coarse, (std, 3 * std), space))
