import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.algorithms.columns import Densities
from spinney.mechanisms.additive import Noise
from spinney.spaces.box import Box
from spinney.trees.quadtree import BIN_BITS

UNIT = Box(0.0, 1.0)
BOXES = st.sampled_from([(-1.0, 1.0), (-1e95, 2e95), (1e9, 1e9 + 1e-3), (0.0, 1e-95)])


@given(st.data())
@settings(derandomize=True, deadline=None, max_examples=50)
def test_densities_are_shares_whatever_the_noise_says(data):
    bits, d = data.draw(st.integers(0, BIN_BITS)), data.draw(st.integers(1, 3))
    sizes = st.integers(-(2**61), 2**61) | st.integers(-50, 50)
    counts = np.array(data.draw(st.lists(sizes, min_size=d * 2**bits, max_size=d * 2**bits)), dtype=np.float64)
    noise = Noise(data.draw(st.sampled_from(["laplace", "gaussian", "none"])), data.draw(st.sampled_from([1e-3, 1.0, 1e3, 1e9])))
    domain, n = Box(*data.draw(BOXES)).domain(d), data.draw(st.sampled_from([1.0, 300.0, 1e12]))
    found = Densities.likely(domain, counts.reshape(d, -1), n, noise)
    assert found.shares.shape == (d, 2**BIN_BITS)
    assert (found.shares >= 0).all()
    np.testing.assert_allclose(found.shares.sum(axis=1), 1)
    widths = domain.upper - domain.lower
    assert ((found.means >= domain.lower) & (found.means <= domain.upper)).all()
    assert ((found.spreads > 0) & (found.spreads <= widths * (0.5 + 2.0**-BIN_BITS))).all()


@pytest.mark.parametrize("bits", range(BIN_BITS + 1))
def test_without_noise_the_counts_are_taken_at_their_word(bits):
    counts = np.random.default_rng(bits).integers(0, 1000, (3, 2**bits)).astype(np.float64)
    counts[2] = np.eye(2**bits)[-1] * 500
    found = Densities.likely(UNIT.domain(3), counts, 500.0, Noise("none", 0.0)).shares.reshape(3, 2**bits, -1).sum(axis=2)
    np.testing.assert_allclose(found, counts / counts.sum(axis=1, keepdims=True), atol=1e-12)


@given(st.data())
@settings(derandomize=True, deadline=None, max_examples=50)
def test_shares_of_a_box_inside_the_domain_sum_to_one(data):
    domain = Box(*data.draw(BOXES)).domain(2)
    shares = np.random.default_rng(data.draw(st.integers(0, 99))).dirichlet(np.full(2**BIN_BITS, 0.05), 2)
    found = Densities(domain, shares).box(data.draw(st.floats(1e-6, 20) | st.sampled_from([1e5, 1e9])))
    assert (found.domain.lower >= domain.lower).all()
    assert (found.domain.lower < found.domain.upper).all()
    assert (found.domain.upper <= domain.upper).all()
    assert (found.shares >= 0).all()
    np.testing.assert_allclose(found.shares.sum(axis=1), 1)


def test_rows_beyond_a_box_lie_in_its_end_bins():
    whole = Densities(UNIT.domain(1), np.full((1, 4), 0.25))
    found = whole.box(0.25 / whole.spreads[0])
    np.testing.assert_allclose([found.domain.lower[0], found.domain.upper[0]], [0.25, 0.75])
    np.testing.assert_allclose(found.shares, [[0.375, 0.125, 0.125, 0.375]])
    assert whole.box(9.0) is whole
