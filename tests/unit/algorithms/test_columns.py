import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.algorithms.columns import LEAST_BITS, bin_bits, inner_box, narrowed, smooth_densities, spreads, with_ends
from spinney.mechanisms.additive import Noise
from spinney.spaces.box import Box
from spinney.trees.quadtree import BIN_BITS


@given(st.data())
@settings(derandomize=True, deadline=None, max_examples=50)
def test_densities_are_shares_whatever_the_noise_says(data):
    bits, d = data.draw(st.integers(0, BIN_BITS)), data.draw(st.integers(1, 3))
    sizes = st.integers(-(2**61), 2**61) | st.integers(-50, 50)
    counts = np.array(data.draw(st.lists(sizes, min_size=d * 2**bits, max_size=d * 2**bits)), dtype=np.float64)
    noise = Noise(data.draw(st.sampled_from(["laplace", "gaussian", "none"])), data.draw(st.sampled_from([1e-3, 1.0, 1e3, 1e9])))
    found = smooth_densities(counts.reshape(d, -1), data.draw(st.sampled_from([1.0, 300.0, 1e12])), noise)
    assert found.shape == (d, 2**BIN_BITS)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)


@pytest.mark.parametrize("bits", range(BIN_BITS + 1))
def test_without_noise_the_counts_are_taken_at_their_word(bits):
    counts = np.random.default_rng(bits).integers(0, 1000, (3, 2**bits)).astype(np.float64)
    counts[2] = np.eye(2**bits)[-1] * 500
    found = smooth_densities(counts, 500.0, Noise("none", 0.0)).reshape(3, 2**bits, -1).sum(axis=2)
    np.testing.assert_allclose(found, counts / counts.sum(axis=1, keepdims=True), atol=1e-12)


@pytest.mark.parametrize("distribution", ["laplace", "gaussian"])
def test_a_bump_that_no_bin_shows_is_found(distribution):
    rng, place = np.random.default_rng(0), 0.7
    bits = bin_bits(5000, 400)
    rows = rng.normal(place, 0.1, (20, 5000))
    exact = np.array([np.histogram(some, 2**bits, (0, 1))[0] for some in rows])
    drawn = rng.laplace(0, 400 / 2**0.5, exact.shape) if distribution == "laplace" else rng.normal(0, 400, exact.shape)
    noise = Noise(distribution, 400 / 2**0.5 if distribution == "laplace" else 400.0)
    found = smooth_densities(exact + drawn, 5000.0, noise)
    middles = (np.arange(2**BIN_BITS) + 0.5) / 2**BIN_BITS
    assert np.abs(found @ middles - place).mean() < 0.1  # the middle of the column is 0.2 away
    assert spreads(found, Box(0.0, 1.0).domain(1)).mean() < 0.25  # evenly spread rows have 0.29


def test_bins_are_as_many_as_rows_stand_out_in():
    assert [bin_bits(n, 10.0) for n in (1.0, 79, 81, 161, 1e4, 1e12)] == [
        LEAST_BITS,
        LEAST_BITS,
        LEAST_BITS,
        3,
        BIN_BITS,
        BIN_BITS,
    ]
    assert bin_bits(1.0, 0.0) == BIN_BITS


@given(st.data())
@settings(derandomize=True, deadline=None, max_examples=50)
def test_shares_of_a_box_inside_the_domain_sum_to_one(data):
    domain = Box(*data.draw(st.sampled_from([(-1.0, 1.0), (-1e95, 2e95), (1e9, 1e9 + 1e-3), (0.0, 1e-95)]))).domain(2)
    widths, ends = domain.upper - domain.lower, st.floats(-0.5, 1.5)
    cuts = np.sort(np.array(data.draw(st.lists(ends, min_size=4, max_size=4))).reshape(2, 2), axis=0)
    densities = np.random.default_rng(data.draw(st.integers(0, 99))).dirichlet(np.full(2**BIN_BITS, 0.05), 2)
    found = narrowed(densities, domain, inner_box(domain, domain.lower + cuts[0] * widths, domain.lower + cuts[1] * widths))
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1)


def test_rows_beyond_a_box_lie_in_its_end_bins():
    domain, inner = Box(0.0, 1.0).domain(1), Box(0.25, 0.75).domain(1)
    found = narrowed(np.full((1, 4), 0.25), domain, inner)
    np.testing.assert_allclose(found, [[0.375, 0.125, 0.125, 0.375]])
    np.testing.assert_allclose(narrowed(found, domain, domain), found)


def test_a_box_reaches_to_a_value_at_the_end_of_a_column_and_cuts_off_a_tail():
    bins, domain = 2**BIN_BITS, Box(0.0, 1.0).domain(4)
    indicator, tail = np.zeros(bins), 0.95 ** np.arange(bins)
    indicator[[0, -1]] = 0.95, 0.05
    columns = np.stack([indicator, indicator[::-1], tail / tail.sum(), tail[::-1] / tail.sum()])
    lower, upper = with_ends(columns, domain, np.array([-0.3, 0.6, -0.1, 0.5]), np.array([0.4, 1.3, 0.5, 1.1]))
    np.testing.assert_array_equal(lower, [-0.3, 0.0, -0.1, 0.5])
    np.testing.assert_array_equal(upper, [1.0, 1.3, 0.5, 1.1])
    near = np.full(4, 0.9)  # no room between box and end
    np.testing.assert_array_equal(with_ends(columns, domain, 1 - near, near), (1 - near, near))
