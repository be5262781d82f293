import numpy as np
import pytest

from spinney import Ball, Box
from spinney.spaces.grid import GRID_BITS, door


def test_a_column_is_cut_into_steps():
    constants = door(Box([0, -4], [1, 4]).domain(2), nan_to_center=False)
    np.testing.assert_array_equal(constants.step * 2**GRID_BITS, [1, 8])
    np.testing.assert_array_equal(constants.step * constants.inverse, [1, 1])
    assert constants.radius == np.inf


@pytest.mark.parametrize("width", [2e-100, 1.0, 9e99])
def test_narrow_and_wide_columns_have_finite_constants(width):
    constants = door(Box(0, width).domain(1), nan_to_center=True)
    assert np.isfinite(constants.inverse).all()
    assert (constants.step > 0).all()
    assert constants.nan_to_center


def test_a_ball_keeps_its_radius_at_the_door():
    assert door(Ball(3).domain(2), nan_to_center=False).radius == 3
