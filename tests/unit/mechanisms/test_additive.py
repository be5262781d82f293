import math
from fractions import Fraction

import numpy as np
import pytest

from spinney.mechanisms import Noise, SeededSource, Sensitivity, calibrate, privatize
from spinney.privacy.charges import Charge, Measure


def price(amount, measure=Measure.PURE):
    return Charge("a", "counts", measure, amount)


def masses(noise):
    """Return the support and the probabilities of a discrete noise, by its definition."""
    reach = np.arange(-math.ceil(60 * noise.scale) - 5, math.ceil(60 * noise.scale) + 6)
    logs = -np.abs(reach) / noise.scale if noise.distribution == "laplace" else -(reach**2) / (2 * noise.scale**2)
    weights = np.exp(logs)
    return reach, weights / weights.sum()


@pytest.mark.parametrize("distribution", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", [0.3, 1.0, 7.5, 40.0])
@pytest.mark.parametrize("probability", [0.5, 0.95, 0.999])
def test_a_margin_holds_its_probability_and_is_not_wasteful(distribution, scale, probability):
    noise = Noise(distribution, scale)
    reach, shares = masses(noise)
    half = noise.quantile(probability)
    assert shares[np.abs(reach) <= half].sum() >= probability - 1e-12
    assert shares[np.abs(reach) <= half - (1 if distribution == "laplace" else 3)].sum() < probability


def test_no_noise_has_no_spread():
    noise = calibrate(Sensitivity(1, 1), price(math.inf))
    assert (noise.distribution, noise.std, noise.quantile(0.95)) == ("none", 0.0, 0.0)


@pytest.mark.parametrize("amount", [Fraction(1, 3), Fraction(7, 10), Fraction(1, 10**9), Fraction(123)])
@pytest.mark.parametrize("l1", [1, 3, 2**20])
def test_rounding_only_enlarges_the_scale(amount, l1):
    pure = calibrate(Sensitivity(l1, l1**2), price(amount))
    assert Fraction(pure.scale) * amount >= l1
    assert float(Fraction(pure.scale) * amount) == pytest.approx(l1, rel=1e-12)
    rho = calibrate(Sensitivity(l1, l1**2), price(amount, Measure.ZCDP))
    assert Fraction(rho.scale) ** 2 * 2 * amount >= l1**2
    assert float(Fraction(rho.scale) ** 2 * 2 * amount) == pytest.approx(l1**2, rel=1e-12)


@pytest.mark.parametrize("distribution", ["laplace", "gaussian"])
def test_every_slot_gets_noise_of_its_own_and_keeps_its_place(distribution):
    exact = np.zeros((50, 40), dtype=object)
    exact[3, 4] = 10**9
    answer = privatize(exact, Noise(distribution, 20.0), SeededSource(0))
    assert answer.shape == (50, 40)
    assert answer.dtype == np.int64
    assert abs(answer[3, 4] - 10**9) < 1000
    empty = np.delete(answer.ravel(), 3 * 40 + 4)
    assert (empty != 0).mean() > 0.9
    assert empty.std() == pytest.approx(Noise(distribution, 20.0).std, rel=0.15)


@pytest.mark.parametrize("scale", [1e3, 1e8, 1e14, 1e18])
def test_wide_laplace_noise_has_the_deviation_of_continuous_noise(scale):
    assert Noise("laplace", scale).std == pytest.approx(math.sqrt(2) * scale, rel=1e-5)
