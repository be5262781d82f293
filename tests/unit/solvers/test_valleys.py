import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.algorithms.summary import likely_leaves
from spinney.mechanisms.additive import Noise
from spinney.solvers.valleys import NoisyCells, count_clusters


def grid_cells(rows, bins, std=0.0, seed=0):
    """Return the cells of a grid over [0, 1]^2 with the numbers of rows in them, with noise."""
    counts = np.histogramdd(rows, bins=bins, range=[(0, 1)] * 2)[0].ravel()
    noise = Noise("laplace", std / 2**0.5) if std else Noise("none", 0.0)
    counts = (counts + np.random.default_rng(seed).laplace(0, noise.scale, counts.size) if std else counts).round()
    lower = np.stack(np.meshgrid(*[np.arange(bins) / bins] * 2, indexing="ij"), axis=-1).reshape(-1, 2)
    full, _ = likely_leaves(counts.astype(np.int64), noise, np.ones(counts.size, dtype=bool))
    return NoisyCells(lower + 0.5 / bins, counts, lower, lower + 1 / bins, full, std)


def clusters(centers, n, spread, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(center, spread, (n, 2)) for center in centers])


CENTERS = [(0.2, 0.2), (0.8, 0.25), (0.5, 0.5), (0.25, 0.8), (0.8, 0.8)]


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_separated_clusters_are_counted(k, power):
    cells = grid_cells(clusters(CENTERS[:k], 800, 0.05), 32, std=3.0, seed=k)
    found = count_clusters(cells, 12, power, np.random.default_rng(k))
    assert found.k == k
    assert found.costs[0] == 1.0
    assert list(found.costs) == sorted(found.costs, reverse=True)
    assert len(found.costs) == len(found.evidence) == 12


@given(
    counts=st.lists(st.integers(-40, 400), min_size=1, max_size=16),
    std=st.sampled_from([0.0, 1.0, 50.0]),
    most=st.integers(1, 9),
    power=st.sampled_from([1, 2]),
)
def test_any_counts_have_a_number(counts, std, most, power):
    lower = np.arange(len(counts), dtype=float)[:, None]
    weights = np.array(counts, dtype=float)
    cells = NoisyCells(lower + 0.5, weights, lower, lower + 1, weights > std, std)
    found = count_clusters(cells, most, power, np.random.default_rng(0))
    assert 1 <= found.k <= most
    assert np.isfinite(found.costs).all()
    assert found.k <= len(found.costs) <= most
