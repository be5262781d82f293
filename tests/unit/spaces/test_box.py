import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney import Ball, Box, ParameterError
from spinney.spaces.box import as_space, domain_from_dict, domain_to_dict

FORMULA = r"(?s)\AThe '{}' parameter of {} must be .+\. Got .+ instead\.\nHint: .+\Z"


@pytest.mark.parametrize(
    ("lower", "upper", "name"),
    [
        (1, 1, "bounds"),
        (2, 1, "bounds"),
        ([0, 1], [1, 1], "bounds"),
        ([0, 5], 3, "bounds"),
        (0, 1e-101, "bounds"),
        (-1e100, 1e100, "bounds"),
        (-1.7e308, 1.7e308, "bounds"),
        ([0, 0, 0], [1, 1], "upper"),
        (math.nan, 1, "lower"),
        (0, math.inf, "upper"),
        (-math.inf, 0, "lower"),
        ("a", 1, "lower"),
        (0, None, "upper"),
        ([], [], "lower"),
        ([[0, 0]], [[1, 1]], "lower"),
        ({}, 1, "lower"),
    ],
)
def test_a_wrong_box_says_what_to_type(lower, upper, name):
    with pytest.raises(ParameterError, match=FORMULA.format(name, "Box")):
        Box(lower, upper)


@pytest.mark.parametrize("radius", [0, -1, math.inf, math.nan, 1e-101, 1e101])
def test_a_wrong_radius_says_what_to_type(radius):
    with pytest.raises(ParameterError, match=FORMULA.format("radius", "Ball")):
        Ball(radius)


@pytest.mark.parametrize("center", [math.nan, "a", None, [], [[0.0]], [0, math.inf]])
def test_a_wrong_center_says_what_to_type(center):
    with pytest.raises(ParameterError, match=FORMULA.format("center", "Ball")):
        Ball(1.0, center)


@pytest.mark.parametrize("radius", ["x", None, [1, 2], [], [[1.0]], {}])
def test_a_radius_of_another_type_says_what_to_type(radius):
    with pytest.raises(ParameterError, match=FORMULA.format("radius", "Ball")):
        Ball(radius)


@pytest.mark.parametrize("center", [1e300, -1e17, [0.0, 1e300]])
def test_a_radius_below_the_rounding_of_its_center_is_refused(center):
    with pytest.raises(ParameterError, match=FORMULA.format("radius", "Ball")):
        Ball(1.0, center)


@pytest.mark.parametrize("radius", [6e-101, 4.9e99, np.float32(1), [2.0]])
def test_a_lawful_ball_has_a_width_in_every_column(radius):
    domain = Ball(radius, [0, 0]).domain(2)
    assert isinstance(domain.radius, float)
    assert (domain.upper - domain.lower > 1e-100).all()
    assert (domain.upper - domain.lower < 1e100).all()


@pytest.mark.parametrize(
    "bounds",
    [None, 3, (1,), (1, 2, 3), "ab", {0: 1, 1: 2}, {1, 2}, np.array(3), [], [1], [(0, 1), 2], [(0, 1), (0, 1, 2)], [(0, "a")],
     [None, 1], ((0, 1), (0, 1), (0, 1))],
)  # fmt: skip
def test_bounds_of_another_shape_say_what_to_type(bounds):
    with pytest.raises(ParameterError, match=FORMULA.format("bounds", "PrivateKMeans")):
        as_space(bounds, "PrivateKMeans")


@pytest.mark.parametrize(
    "bounds", [(0, 1), [0, 1], np.array([0, 1]), Box(0, 1), (np.float32(0), 1.0), ([0], [1]), (np.array([0]), np.array([1]))]
)
def test_bounds_may_be_given_in_many_ways(bounds):
    domain = as_space(bounds, "x").domain(3)
    np.testing.assert_array_equal(domain.lower, [0, 0, 0])
    np.testing.assert_array_equal(domain.upper, [1, 1, 1])


@given(st.lists(st.tuples(st.integers(-9, 0), st.integers(1, 9)), min_size=1, max_size=4))
def test_a_tuple_is_lower_and_upper_a_list_is_a_pair_per_column_and_two_lists_are_refused(pairs):
    lower, upper = map(list, zip(*pairs, strict=True))
    spellings = [(lower, upper), (np.array(lower), np.array(upper)), pairs, dict(zip("abcd", pairs, strict=False))]
    if len(pairs) != 2:
        spellings.append([list(pair) for pair in pairs])  # not two lists, so these are pairs
    for bounds in spellings:
        domain = as_space(bounds, "x").domain(len(pairs))
        assert (domain.lower.tolist(), domain.upper.tolist()) == (lower, upper)
    doubtful = [[lower, upper], [np.array(lower), np.array(upper)], np.array([lower, upper]), np.array(pairs)]
    for bounds in doubtful + [list(map(list, pairs))] * (len(pairs) == 2):
        with pytest.raises(ParameterError) as caught:
            as_space(bounds, "x")
        assert "bounds=[(1, 50), (10, 100)], a pair per column" in str(caught.value)
        assert "bounds=([1, 10], [50, 100]), all lower" in str(caught.value)


def test_bounds_per_column_and_shared_bounds_mix():
    domain = Box([0, -1], 5).domain(2)
    np.testing.assert_array_equal(domain.lower, [0, -1])
    np.testing.assert_array_equal(domain.upper, [5, 5])


@pytest.mark.parametrize("space", [Box([0, 0], [1, 1]), Box(0, [1, 1]), Ball(1, [0, 0])])
def test_a_wrong_number_of_columns_is_refused(space):
    with pytest.raises(ParameterError, match=FORMULA.format("bounds", "the domain")):
        space.domain(3)


def test_spaces_are_values():
    assert Box(0, 1) == Box([0.0], (1.0,))
    assert Ball(1, 0) == Ball(1.0, [0.0])
    assert hash(Box(0, 1)) == hash(Box([0.0], (1.0,)))


def test_a_box_has_its_corner_farthest():
    domain = Box([0, 0], [6, 8]).domain(2)
    np.testing.assert_array_equal(domain.center, [3, 4])
    assert domain.half_diagonal == 5
    assert domain.n_features == 2


def test_a_ball_has_its_radius_farthest():
    domain = Ball(2, [1, 1, 1]).domain(3)
    assert domain.half_diagonal == 2
    np.testing.assert_array_equal(domain.lower, [-1, -1, -1])
    np.testing.assert_array_equal(domain.upper, [3, 3, 3])


def test_clipping_moves_points_to_the_nearest_face_of_a_box():
    domain = Box([0, 0], [1, 2]).domain(2)
    np.testing.assert_array_equal(domain.clip(np.array([[-5, 1], [9, 9], [0.5, 0.5]])), [[0, 1], [1, 2], [0.5, 0.5]])


def test_clipping_keeps_directions_in_a_ball():
    domain = Ball(5, [1, 1]).domain(2)
    inside, outside, middle = domain.clip(np.array([[2.0, 3.0], [4.0, 5.0], [1.0, 1.0]]))
    np.testing.assert_array_equal(inside, [2, 3])
    np.testing.assert_allclose(outside, [4, 5])
    np.testing.assert_array_equal(middle, [1, 1])
    far = domain.clip(np.array([[5.9, 5.9]]))[0] - 1
    assert np.linalg.norm(far) == pytest.approx(5)
    assert far[0] == far[1]


@pytest.mark.parametrize("space", [Box([-3, 0], [-1, 9]), Ball(2, [5, 5])])
def test_public_samples_lie_inside_and_spread(space):
    domain = space.domain(2)
    points = domain.sample(500, np.random.default_rng(0))
    assert points.shape == (500, 2)
    np.testing.assert_allclose(domain.clip(points), points, rtol=1e-12)
    assert (np.ptp(points, axis=0) > 0.8 * (domain.upper - domain.lower)).all()


@pytest.mark.parametrize("space", [Box([-3, 0], [-1, 9]), Ball(2, [5, 5])])
def test_a_domain_survives_json(space):
    domain = space.domain(2)
    again = domain_from_dict(json.loads(json.dumps(domain_to_dict(domain))))
    np.testing.assert_array_equal(again.lower, domain.lower)
    np.testing.assert_array_equal(again.upper, domain.upper)
    assert again.radius == domain.radius
