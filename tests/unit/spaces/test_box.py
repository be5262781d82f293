import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney import Ball, Box, ParameterError
from spinney.spaces.box import as_space, domain_from_dict, domain_to_dict

FORMULA = r"(?s)\AThe '{}' parameter of {} must be .+\. Got .+ instead\.\nHint: .+\Z"


BOXES = {
    "bounds": [(1, 1), (2, 1), ([0, 1], [1, 1]), ([0, 5], 3), (0, 1e-101), (-1e100, 1e100), (-1.7e308, 1.7e308)],
    "lower": [(math.nan, 1), (-math.inf, 0), ("a", 1), ([], []), ([[0, 0]], [[1, 1]]), ({}, 1)],
    "upper": [([0, 0, 0], [1, 1]), (0, math.inf), (0, None)],
}
BALLS = {
    "radius": [(radius,) for radius in (0, -1, math.inf, math.nan, 1e-101, 1e101, "x", None, [1, 2], [], [[1.0]], {})]
    + [(1.0, center) for center in (1e300, -1e17, [0.0, 1e300])],  # below the rounding of its center
    "center": [(1.0, center) for center in (math.nan, "a", None, [], [[0.0]], [0, math.inf])],
}
WRONG = [(kind, given, name) for kind, all_ in ((Box, BOXES), (Ball, BALLS)) for name, each in all_.items() for given in each]


@pytest.mark.parametrize(("kind", "given", "name"), WRONG)
def test_a_wrong_region_says_what_to_type(kind, given, name):
    with pytest.raises(ParameterError, match=FORMULA.format(name, kind.__name__)):
        kind(*given)


@pytest.mark.parametrize(
    "bounds",
    [None, 3, (1,), (1, 2, 3), "ab", {0: 1, 1: 2}, {1, 2}, np.array(3), [], [1], [(0, 1), 2], [(0, 1), (0, 1, 2)], [(0, "a")],
     [None, 1], ((0, 1), (0, 1), (0, 1))],
)  # fmt: skip
def test_bounds_of_another_shape_say_what_to_type(bounds):
    with pytest.raises(ParameterError, match=FORMULA.format("bounds", "PrivateKMeans")):
        as_space(bounds, "PrivateKMeans")


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


@pytest.mark.parametrize("space", [Box([0, 0], [1, 1]), Box(0, [1, 1]), Ball(1, [0, 0])])
def test_a_wrong_number_of_columns_is_refused(space):
    with pytest.raises(ParameterError, match=FORMULA.format("bounds", "the domain")):
        space.domain(3)


def test_spaces_are_values():
    assert Box(0, 1) == Box([0.0], (1.0,))
    assert Ball(1, 0) == Ball(1.0, [0.0])
    assert hash(Box(0, 1)) == hash(Box([0.0], (1.0,)))


REGIONS = [Box([-3, 0], [-1, 9]), Box([0, -1], 5), Ball(2, [5, 5])]


@pytest.mark.parametrize("space", REGIONS)
@given(st.lists(st.floats(-20, 20), min_size=2, max_size=2))
def test_clipping_moves_points_inside_and_leaves_those_that_are(space, point):
    domain, point = space.domain(2), np.array(point)
    clipped = domain.clip(point)
    assert np.linalg.norm(clipped - domain.center) <= domain.half_diagonal * (1 + 1e-12)
    np.testing.assert_allclose(domain.clip(clipped), clipped, rtol=1e-12)
    if isinstance(space, Box):
        np.testing.assert_array_equal(clipped, np.median([point, domain.lower, domain.upper], axis=0))
    elif np.linalg.norm(point - domain.center) <= domain.radius:
        np.testing.assert_allclose(clipped, point)
    else:
        assert np.linalg.norm(clipped - domain.center) == pytest.approx(domain.radius)


@pytest.mark.parametrize("space", REGIONS)
def test_public_samples_spread_and_a_domain_survives_json(space):
    domain = space.domain(2)
    points = domain.sample(500, np.random.default_rng(0))
    np.testing.assert_allclose(domain.clip(points), points, rtol=1e-12)
    assert (np.ptp(points, axis=0) > 0.8 * (domain.upper - domain.lower)).all()
    farthest = np.linalg.norm(points - domain.center, axis=1).max()
    assert 0.9 * domain.half_diagonal < farthest <= domain.half_diagonal * (1 + 1e-12)
    again = domain_from_dict(json.loads(json.dumps(domain_to_dict(domain))))
    np.testing.assert_array_equal([again.lower, again.upper], [domain.lower, domain.upper])
    assert again.radius == domain.radius
