"""Draws against the exact probabilities of discrete Laplace and discrete Gaussian noise."""

import numpy as np
import pytest
from scipy.stats import chisquare

from spinney.mechanisms.additive import Noise
from spinney.mechanisms.source import SecureSource, SeededSource

DRAWS = 20_000
SOURCES = pytest.mark.parametrize("source", [SecureSource(), SeededSource(1)], ids=["secure", "seeded"])
KINDS = pytest.mark.parametrize("kind", ["laplace", "gaussian"])


def probabilities(kind, scale, reach):
    x = np.arange(-reach, reach + 1)
    weights = np.exp(-np.abs(x) / scale) if kind == "laplace" else np.exp(-(x**2) / (2 * scale**2))
    return x, weights / weights.sum()


@SOURCES
@KINDS
@pytest.mark.parametrize("scale", [0.3, 1.0, 2.5, 11.7])
def test_frequencies_match_exact_probabilities(source, kind, scale):
    x, p = probabilities(kind, scale, 2000)
    draws = getattr(source, kind)(np.full(DRAWS, 7), scale) - 7
    common = p * DRAWS > 20
    edges = x[common][[0, -1]]
    inside = (draws >= edges[0]) & (draws <= edges[1])
    seen = np.append(np.bincount(draws[inside] - edges[0], minlength=common.sum()), (~inside).sum())
    expected = np.append(p[common], max(p[~common].sum(), 1e-12)) * DRAWS
    kept = expected > 1
    assert chisquare(seen[kept], expected[kept] * seen[kept].sum() / expected[kept].sum()).pvalue > 1e-9
    assert seen[~kept].sum() < 20


@SOURCES
@KINDS
@pytest.mark.parametrize("scale", [0.5, 4.0])
def test_published_noise_levels_are_true(source, kind, scale):
    noise = Noise(kind, scale)
    x, p = probabilities(kind, scale, 2000)
    exact = float(np.sqrt((p * x**2).sum()))
    # A discrete Gaussian is at most as wide as its parameter says.
    assert noise.std == pytest.approx(exact, rel=1e-9) if kind == "laplace" else exact <= noise.std
    h = noise.quantile(0.95)
    assert p[np.abs(x) <= h].sum() >= 0.95
    draws = getattr(source, kind)(np.zeros(DRAWS, dtype=np.int64), scale)
    assert np.std(draws) == pytest.approx(exact, rel=0.08)
