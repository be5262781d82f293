"""How far clusters are told to be from all rows, out of noisy histograms."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.algorithms.profiles import _differences, _lengths, distances


def plain(counts, rows):
    return np.abs(counts / rows[:, None] - counts.sum(axis=0) / rows.sum()).sum(axis=1) / 2


def test_without_noise_distances_are_exact():
    counts = np.array([[30.0, 10.0, 0.0], [10.0, 30.0, 20.0]])
    assert np.allclose(distances(counts, counts.sum(axis=1), 0.0, 0.0), plain(counts, counts.sum(axis=1)))
    many = np.random.default_rng(0).integers(100, 10_000, (5, 8)).astype(float)
    assert np.allclose(distances(many, many.sum(axis=1), 1e-6, 1e-6), plain(many, many.sum(axis=1)), atol=1e-6)


def test_expected_differences_are_those_of_conditioned_normal_variables():
    rng = np.random.default_rng(1)
    shares, std, rows_std, t = np.array([0.5, 0.3, 0.15, 0.05]), 20.0, 30.0, 0.3
    rows = np.array([900.0, 4_000.0])
    counts = shares * rows[:, None] + rng.normal(0, 60, (2, 4))
    likely, lengths = _differences(counts, rows, shares, t, std, rows_std)
    dense = []
    for own, n in zip(counts, rows, strict=True):
        free = np.diag((t * n * shares) ** 2)
        prior = free - np.outer(free.sum(axis=1), free.sum(axis=1)) / free.sum()  # given that the sum is zero
        seen = own - n * shares
        noise = std**2 * np.eye(4) + rows_std**2 * np.outer(shares, shares)
        gain = prior @ np.linalg.inv(prior + noise)
        stds = np.sqrt(np.diag(prior - gain @ prior))
        density = -np.linalg.slogdet(prior + noise)[1] / 2 - seen @ np.linalg.solve(prior + noise, seen) / 2
        dense.append((density, _lengths(gain @ seen, stds).sum()))
    assert np.allclose(lengths, [length for _, length in dense])
    assert likely[0] - likely[1] == pytest.approx(dense[0][0] - dense[1][0])


def test_noise_alone_hardly_adds_to_a_distance():
    rng = np.random.default_rng(2)
    rows = np.full(10, 3_000.0)
    alike = rows[:, None] * np.array([0.6, 0.3, 0.1, *[0.0] * 13])
    apart = alike + np.where(np.arange(10) % 2, 1, -1)[:, None] * rows[:, None] * np.array([0.04, -0.04, *[0.0] * 14])
    noise, of_rows = rng.laplace(0, 17, (2, 50, 10, 16)), rng.laplace(0, 20, (50, 10))
    found = [
        [distances(true + x, rows + y, 24.0, 28.0) for x, y in zip(each, of_rows, strict=True)]
        for true, each in zip((alike, apart), noise, strict=True)
    ]
    blind = np.mean([plain(alike + x, rows + y) for x, y in zip(noise[0], of_rows, strict=True)])
    assert np.mean(found[0]) < 0.01 < 0.04 < blind
    assert abs(np.mean(found[1]) - 0.04) < 0.005


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.integers(-(10**9), 10**12), min_size=3, max_size=3), min_size=1, max_size=4),
    st.floats(1.0, 1e12),
    st.sampled_from([0.0, 1e-9, 1.0, 1e6, 1e15]),
)
def test_no_noisy_counts_raise(counts, rows, std):
    found = distances(np.array(counts, dtype=float), np.full(len(counts), rows), std, std)
    assert ((found >= 0) & (found <= 1)).all()  # no NaN
