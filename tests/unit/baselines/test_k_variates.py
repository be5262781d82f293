"""Seeding from private counts."""

import math

import numpy as np
import pytest

from spinney import PrivateKMeans, PrivateKMedian

PLACES = np.array([[-0.6, -0.6], [0.6, -0.6], [0.0, 0.6]])


def rows_of(n, seed=0):
    rng = np.random.default_rng(seed)
    return PLACES[rng.integers(0, 3, n)] + rng.normal(0, 0.02, (n, 2))


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
def test_without_noise_centers_are_drawn_where_rows_are(estimator):
    rows = rows_of(900)
    for seed in range(5):
        model = estimator(5, epsilon=math.inf, bounds=(-1, 1), algorithm="k-variates", random_state=seed).fit(rows)
        assert model.release_.summary_weights.sum() == len(rows)
        assert (((model.cluster_centers_[:, None] - rows) ** 2).sum(axis=2).min(axis=1) < 0.1).all()
        # Five draws by distance find all three clusters.
        assert (((model.cluster_centers_[:, None] - PLACES) ** 2).sum(axis=2).min(axis=0) < 0.1).all()
