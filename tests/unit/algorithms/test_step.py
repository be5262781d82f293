"""Steps around released centers: clipping radii, units of columns, what is shrunk, and which centers are added."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney import PrivateKMeans
from spinney.algorithms.step import NARROWEST, NEAR_SHARE, Distances, expected_rings, shrunk, shrunk_together, step_widths
from unit.algorithms.test_summary import known_of

EDGES = 2.0 ** (-np.arange(24)[::-1] / 2) * 8
FINITE = st.floats(-1e12, 1e12)


def distances(counts, edges=EDGES):
    return Distances(edges, counts, counts)


@settings(derandomize=True, deadline=None)
@given(st.integers(1, 6), st.integers(1, 5), st.integers(0, 2**32 - 1), st.floats(1e-6, 1e6))
def test_a_summary_expects_all_its_weight_somewhere_whatever_the_units(k, d, seed, width):
    rng = np.random.default_rng(seed)
    points, weights = rng.normal(size=(40, d)), rng.uniform(0, 9, 40)
    known = known_of(points, rng.uniform(0, 1, 40), weights)
    centers = rng.normal(size=(k, d))
    plain = expected_rings(known, centers, EDGES, None)
    assert plain.sum() == pytest.approx(weights.sum())
    np.testing.assert_array_equal(expected_rings(known, centers, EDGES, np.ones(d)), plain)
    scaled = expected_rings(known, centers, EDGES, np.full(d, width))
    np.testing.assert_allclose(scaled.sum(axis=1), plain.sum(axis=1))  # units move no row to another center


@settings(derandomize=True, deadline=None)
@given(st.integers(1, 6), st.integers(0, 2**32 - 1), st.floats(0, 1e9), st.floats(1, 1e3))
def test_radii_are_edges_and_shrink_as_noise_grows(k, seed, noise, times):
    counts = np.random.default_rng(seed).integers(0, 400, (k, 24)).astype(float)
    rings = distances(counts)
    found = rings.mean_radii(noise)
    assert np.isin(found, EDGES).all()
    assert (rings.mean_radii(noise * times) <= found).all()
    assert (rings.middles[np.arange(24)] < EDGES).all()
    shares = counts.cumsum(axis=1) / np.maximum(counts.sum(axis=1), 1)[:, None]
    for share, radius in zip(shares, rings.median_radii(), strict=True):
        assert not share[-1] or share[np.searchsorted(EDGES, radius)] >= NEAR_SHARE
        assert not share[-1] or (share[: np.searchsorted(EDGES, radius)] < NEAR_SHARE).all()


@settings(derandomize=True, deadline=None)
@given(st.data())
def test_no_step_gets_longer_than_it_was_and_none_turns_around(data):
    d = data.draw(st.integers(1, 6))
    steps = np.array(data.draw(st.lists(st.lists(FINITE, min_size=d, max_size=d), min_size=1, max_size=4)))
    variances = np.array(data.draw(st.lists(st.floats(0, 1e30), min_size=len(steps), max_size=len(steps))))
    found = shrunk(steps, variances)
    lengths, before = np.linalg.norm(found, axis=1), np.linalg.norm(steps, axis=1)
    assert (lengths <= before * (1 + 1e-9)).all()
    assert ((found * steps) >= 0).all()
    unheard = variances * d >= before**2
    assert (lengths[unheard] <= 1e-9 * before[unheard]).all()
    np.testing.assert_allclose(shrunk(steps, np.zeros(len(steps))), steps, rtol=1e-12, atol=1e-290)
    assert (np.linalg.norm(shrunk(steps, 2 * variances), axis=1) <= lengths * (1 + 1e-9)).all()


STEPS_OF = st.tuples(st.integers(1, 6), st.integers(1, 8), st.integers(0, 2**32 - 1))


@settings(derandomize=True, deadline=None)
@given(STEPS_OF, st.floats(0, 1e6))
def test_shrunk_together_one_step_is_as_shrunk_alone_and_without_noise_all_are_as_they_were(sizes, noise):
    k, d, seed = sizes
    rng = np.random.default_rng(seed)
    steps, centers, sides = rng.normal(size=(k, d)), rng.normal(size=(k, d)), rng.uniform(1, 2, d)
    np.testing.assert_allclose(shrunk_together(steps, np.zeros(k), centers, sides), steps, atol=1e-12)
    one, variance = steps[:1], np.array([noise])
    alone = shrunk(one, variance, sides)
    np.testing.assert_allclose(shrunk_together(one, variance, centers[:1], sides), alone, atol=1e-9)


@settings(derandomize=True, deadline=None)
@given(st.lists(st.floats(1e-100, 1e100), min_size=1, max_size=30))
def test_units_of_columns_make_all_noise_least_and_keep_a_typical_offset_as_long(spreads):
    spreads = np.array(spreads)
    problem = PrivateKMeans(3, epsilon=1.0, bounds=(-1, 1)).plan(spreads.size).problem
    widths = step_widths(problem, spreads)
    floored = np.maximum(spreads, NARROWEST * spreads.max())
    assert math.hypot(*(floored / widths)) == pytest.approx(math.hypot(*floored), rel=1e-9)
    assert (widths**2).sum() <= spreads.size * (1 + 1e-9)  # what it is in plain units
    assert (widths > 0).all()
