import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.algorithms import reading as module
from spinney.algorithms.reading import Occupancy
from spinney.mechanisms.additive import Noise

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("distribution", ["laplace", "gaussian"])
def test_full_cells_are_told_from_empty_ones(distribution):
    noisy = np.array([500, 480, 530, *RNG.integers(-8, 9, 40)])
    found = Occupancy.of(noisy, Noise(distribution, 5.0))
    assert (found.has_rows[:3] > 0.99).all()
    assert (found.has_rows[3:] < 0.5).all()
    np.testing.assert_allclose(found.counts[:3], noisy[:3], rtol=0.05)


def test_demand_everywhere_is_not_taken_for_noise():
    noisy = np.random.default_rng(1).poisson(40, 60) + np.random.default_rng(2).integers(-10, 11, 60)
    found = Occupancy.of(noisy, Noise("laplace", 5.0))
    assert (found.has_rows > 0.5).mean() > 0.9
    assert found.counts.sum() == pytest.approx(noisy.sum(), rel=0.1)


@given(st.sampled_from([module._Laplace, module._Gaussian]), st.floats(-10, 60), st.floats(2, 500))
def test_closed_forms_are_the_integrals(laws, noisy, mean):
    counts = (np.arange(400_000) + 0.5) * 2e-4  # as far as noise of any likelihood reaches
    joint = np.exp(laws.if_empty(noisy - counts) - counts / mean)
    seen = np.array([noisy])
    np.testing.assert_allclose(np.exp(laws.if_filled(seen, 1 / mean)), joint.sum() * 2e-4 / mean, rtol=1e-4)
    np.testing.assert_allclose(laws.expected(seen, 1 / mean), (joint @ counts) / joint.sum(), rtol=1e-3)


def test_a_prior_lowers_the_probability_of_rows():
    noisy = np.array([300, 300, *RNG.integers(-8, 9, 20), 14, 14])
    prior = np.where(np.arange(noisy.size) == noisy.size - 1, 0.02, 0.98)
    found = Occupancy.of(noisy, Noise("laplace", 5.0), prior)
    assert found.has_rows[-1] < found.has_rows[-2]
