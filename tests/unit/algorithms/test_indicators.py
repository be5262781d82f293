"""Shares of categories in centers: what the encoding says of them is used, and nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.algorithms.indicators import adding_up, consistent, two_ended
from spinney.spaces import Column, Schema

SCHEMA = Schema(
    (
        Column("age", "number", 0.0, 10.0),
        Column("region", "category", categories=("n", "s", "w"), weight=2.0),
        Column("smoker", "boolean"),
    )
)
ONE = 1 / SCHEMA.columns[1].step


@given(st.lists(st.floats(-3, 3), min_size=5, max_size=5), st.lists(st.floats(0.01, 1), min_size=3, max_size=3))
def test_shares_add_up_and_are_no_farther_from_any_lawful_ones(point, other):
    points = np.array([point])
    found = adding_up(points, SCHEMA)
    assert (found[:, [0, 4]] == points[:, [0, 4]]).all()
    assert found[0, 1:4].sum() == pytest.approx(ONE)
    assert (found[0, 1:4] >= 0).all()
    lawful = ONE * np.array(other) / sum(other)
    assert np.linalg.norm(found[0, 1:4] - lawful) <= np.linalg.norm(points[0, 1:4] - lawful) + 1e-9
    assert np.allclose(adding_up(found, SCHEMA), found)


def test_points_of_cells_have_shares_that_rows_of_the_cell_can_have():
    whole = (np.array([0.0, 0, 0, 0, 0]), np.array([10.0, ONE, ONE, ONE, 1]))
    is_north = whole[0] + [0, ONE / 2, 0, 0, 0], whole[1]
    no_south = whole[0], whole[1] - [0, 0, ONE / 2, 0, 0]
    nobody = whole[0], whole[1] - [0, ONE / 2, ONE / 2, ONE / 2, 0]
    lower, upper = (np.array(ends) for ends in zip(whole, is_north, no_south, nobody, strict=True))
    point = np.array([5.0, 0.2 * ONE, 0.2 * ONE, 0.6 * ONE, 0.5])
    found = consistent(np.tile(point, (4, 1)), lower, upper, SCHEMA)
    assert np.allclose(found[:, 1:4] / ONE, [[0.2, 0.2, 0.6], [1, 0, 0], [0.25, 0, 0.75], [0.2, 0.2, 0.6]])
    assert (found[:, [0, 4]] == point[[0, 4]]).all()


def test_rows_of_an_indicator_lie_at_its_ends_and_no_share_is_less_than_noise_could_hide():
    counts = np.array([[10.0] * 8, [70, 9, -9, 9, -9, 9, -9, 30], [100, 5, 5, 5, 5, 5, 5, -20], [-3.0] * 8, [0.0] * 8])
    found = two_ended(np.full((5, 8), 1 / 8), counts, 4.0, SCHEMA)
    assert np.allclose(found[0], 1 / 8)
    assert np.allclose(found[1, [0, -1]], [0.7, 0.3])
    assert np.allclose(found[2, [0, -1]], [0.95, 0.05])
    assert np.allclose(found[3:, [0, -1]], 0.5)
    assert np.allclose(found.sum(axis=1), 1)
    assert (found[1:, 1:-1] == 0).all()
