import numpy as np
import pytest

from spinney.spaces.nearest import BLOCK, nearest


def slow_nearest(points, centers):
    squares = ((points[:, None].astype(np.float64) - centers[None]) ** 2).sum(axis=2)
    return squares.min(axis=1), squares.argmin(axis=1), squares


@pytest.mark.parametrize("n", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
@pytest.mark.parametrize("d", [1, 3, 4, 5, 17])
@pytest.mark.parametrize("k", [1, 2, 13])
def test_nearest_centers_are_those_of_brute_force(n, d, k):
    rng = np.random.default_rng(n + d + k)
    points, centers = rng.normal(size=(n, d)), rng.normal(size=(k, d))
    squares, labels = nearest(points, centers)
    expected_squares, expected_labels, _ = slow_nearest(points, centers)
    np.testing.assert_array_equal(labels, expected_labels)
    np.testing.assert_allclose(squares, expected_squares, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-100, 1e-8, 1e8, 1e100])
@pytest.mark.parametrize("offset", [0, 1000])
def test_no_scale_or_offset_confuses_the_search(scale, offset):
    rng = np.random.default_rng(0)
    points, centers = (rng.normal(size=(1000, 3)) + offset) * scale, (rng.normal(size=(9, 3)) + offset) * scale
    squares, labels = nearest(points, centers)
    best, _, every = slow_nearest(points, centers)
    # 32-bit scores: a center may be taken that is farther by about a ten-millionth of the centers' spread.
    np.testing.assert_allclose(squares, best, rtol=1e-5, atol=1e-5 * scale**2)
    np.testing.assert_allclose(every[np.arange(1000), labels], squares, rtol=1e-9, atol=1e-9 * scale**2)


def test_ties_go_to_the_first_center():
    centers = np.array([[1.0, 0.0], [-1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]])
    points = np.array([[0.0, 0.0], [2.0, 0.0], [-2.0, 5.0], [0.0, -3.0]])
    assert nearest(points, centers)[1].tolist() == [0, 0, 1, 0]


def test_results_depend_neither_on_blocks_nor_on_the_order_in_memory():
    rng = np.random.default_rng(1)
    points, centers = rng.normal(size=(1000, 6)), rng.normal(size=(20, 6))
    squares, labels = nearest(points, centers)
    for part, order in ((slice(0, 1), "C"), (slice(5, 700), "F"), (slice(999, 1000), "C"), (slice(None), "F")):
        some_squares, some_labels = nearest(np.asarray(points[part], order=order), np.asarray(centers, order=order))
        np.testing.assert_array_equal(some_squares, squares[part])
        np.testing.assert_array_equal(some_labels, labels[part])
