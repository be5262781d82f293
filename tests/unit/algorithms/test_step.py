"""Steps around released centers: clipping radii, units of columns, what is shrunk, and which centers are added."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney import PrivateKMeans, PrivateKMedian
from spinney.algorithms import Algorithm, Result
from spinney.algorithms.step import (
    NARROWEST,
    NEAR_SHARE,
    Distances,
    ask_distances,
    expected_rings,
    likely_rings,
    move,
    shrunk,
    shrunk_together,
    step_widths,
)
from spinney.mechanisms.additive import Noise
from spinney.questions.counts import Counting
from spinney.questions.sums import Summing
from unit.algorithms.test_summary import known_of

EDGES = 2.0 ** (-np.arange(24)[::-1] / 2) * 8
NONE = Noise("none", 0.0)
FINITE = st.floats(-1e12, 1e12)


def distances(counts, edges=EDGES):
    return Distances(edges, counts, counts)


def test_one_far_ring_of_noise_moves_no_radius():
    noise = Noise("laplace", 10.0)
    counts = np.zeros((20, len(EDGES)), dtype=np.int64)
    counts[:, 3] = 1000
    nothing = np.zeros((20, len(EDGES)))
    clean = distances(likely_rings(counts, noise, nothing)).mean_radii(1.0)
    counts[4, 20] = 3 * noise.std
    assert (distances(likely_rings(counts, noise, nothing)).mean_radii(1.0) == clean).all()
    counts[4, 20] = 40 * noise.std  # what stands out does
    assert distances(likely_rings(counts, noise, nothing)).mean_radii(1.0)[4] > clean[4]


@pytest.mark.parametrize("distribution", ["laplace", "gaussian"])
def test_a_ring_far_from_expected_rows_needs_more_of_them_to_be_believed(distribution):
    noise, expected = Noise(distribution, 100.0), np.zeros((1, 24))
    expected[0, 12] = 5000.0

    def least_believed(ring):
        counts = np.zeros((1, 24), dtype=np.int64)
        counts[0, 12] = 5000
        for count in range(50, 5000, 10):
            counts[0, ring] = count
            if likely_rings(counts, noise, expected)[0, ring] > 0:
                return count
        return math.inf

    needed = [least_believed(ring) for ring in (13, 16, 23)]
    assert needed == sorted(needed)
    assert needed[0] < needed[-1] < 5000


def test_a_center_without_rings_takes_what_the_summary_expects_of_it():
    edges, counts = np.arange(1.0, 5.0), np.zeros((3, 4), dtype=np.int64)
    counts[0, 1] = 900
    known = known_of([[0.0], [9.0]], [0.5, 2.5], [50.0, 40.0])
    expected = expected_rings(known, np.array([[0.0], [9.0], [99.0]]), edges, None)
    found = likely_rings(counts, Noise("gaussian", 5.0), expected)
    np.testing.assert_allclose(found, [[0, 900, 0, 0], [0, 0, 40, 0], [0, 300, 0, 0]], rtol=0.01)


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
@given(st.integers(1, 8), st.integers(0, 2**32 - 1), st.floats(1e-3, 1e3))
def test_what_clipping_keeps_is_a_part_that_grows_with_the_radius_and_follows_no_scale(k, seed, scale):
    rng = np.random.default_rng(seed)
    counts = np.maximum(rng.integers(-9, 50, (k, 24)) * (rng.random((k, 1)) < 0.8), 0).astype(float)
    rings, scaled = distances(counts), distances(counts, scale * EDGES)
    radii = rng.choice(EDGES, k)
    kept = rings.kept(radii)
    assert ((kept > 0) & (kept <= 1)).all()
    assert (rings.kept(2 * radii) >= kept).all()
    np.testing.assert_allclose(scaled.kept(scale * radii), kept)
    assert (rings.kept(np.full(k, EDGES[-1])) == 1).all()


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


def test_one_center_keeps_the_level_of_columns_of_one_kind_and_no_noise_around_it():
    rng = np.random.default_rng(0)
    noisy = 0.3 + rng.normal(0, 1, (1, 400))  # no column stands out of its noise, all together do
    found = shrunk(noisy, np.ones(1), np.ones(400))
    assert np.abs(found - 0.3).mean() < 0.15
    assert np.abs(shrunk(noisy, np.ones(1)) - 0.3).mean() > 0.2
    one = shrunk(np.array([[5.0]]), np.array([1e9]), np.ones(1))
    assert one == [[5.0]]  # the level of one column is the column


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


def test_steps_that_are_noise_take_the_way_that_all_have_in_common():
    rng = np.random.default_rng(0)
    way, centers = np.full(50, 1.0), rng.normal(size=(12, 50))
    noisy = way + rng.normal(0, 1.5, (12, 50))
    sides = rng.uniform(0, 1, 50)
    together = shrunk_together(noisy, np.full(12, 1.5**2), centers, sides)
    alone = shrunk(noisy, np.full(12, 1.5**2))
    assert ((together - way) ** 2).mean() < 0.5 * ((alone - way) ** 2).mean()
    apart = rng.choice([-1.0, 1.0], (12, 50)) * way + rng.normal(0, 0.1, (12, 50))  # no way in common
    np.testing.assert_allclose(shrunk_together(apart, np.full(12, 0.01), centers, sides), apart, atol=0.1)


@pytest.mark.parametrize("part", [0.0, 0.6, 1.0])
def test_centers_that_begin_too_far_apart_move_toward_their_mean_together(part):
    rng = np.random.default_rng(1)
    centers = rng.normal(size=(10, 300))
    centers -= centers.mean(axis=0)
    noisy = -part * centers + rng.normal(0, 2, (10, 300))
    found = shrunk_together(noisy, np.full(10, 4.0), centers, np.ones(300))
    assert ((found + part * centers) ** 2).mean() < 0.1 * max(part, 0.5)
    outward = shrunk_together(centers, np.full(10, 1e-6), centers, np.ones(300))  # they are never pushed apart by it
    np.testing.assert_allclose(outward, centers, atol=1e-3)


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


class OneStep(Algorithm):
    """One step around the middle of the domain."""

    name = "one-step"

    def parts(self, problem):
        half = Fraction(1, 2)
        return Counting().part("rings", half), Summing(problem.kernel, problem.n_features).part("step", half)

    def run(self, purse, problem, rng):
        middle = problem.domain.center[None, :]
        moved = move(purse, problem, middle, ask_distances(purse, problem, middle, "rings"), "step")
        return Result(moved.centers, np.zeros(1, dtype=np.int64), NONE, moved.centers, moved.weights)


@pytest.mark.parametrize(("estimator", "part"), [(PrivateKMeans, 0.1), (PrivateKMedian, 0.6)])
def test_a_step_of_clipped_offsets_reaches_the_middle_of_rows_in_many_columns(estimator, part):
    rng = np.random.default_rng(0)
    rows = np.clip(rng.normal(0.1, 0.4, (20_000, 200)), -1, 1)
    model = estimator(1, epsilon=50.0, delta=1e-6, bounds=(-1, 1), algorithm=OneStep()).fit(rows)
    mean = rows.mean(axis=0)
    assert np.linalg.norm(model.cluster_centers_[0] - mean) < part * np.linalg.norm(mean)
