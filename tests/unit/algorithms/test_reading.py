import numpy as np
import pytest

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


def test_a_prior_lowers_the_probability_of_rows():
    noisy = np.array([300, 300, *RNG.integers(-8, 9, 20), 14, 14])
    prior = np.where(np.arange(noisy.size) == noisy.size - 1, 0.02, 0.98)
    found = Occupancy.of(noisy, Noise("laplace", 5.0), prior)
    assert found.has_rows[-1] < found.has_rows[-2]
