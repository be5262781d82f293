"""Seeding from private counts."""

import math

import numpy as np
import pytest

from spinney import PrivateKMeans, PrivateKMedian
from spinney.baselines.k_variates import MOST_DRAWS

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


@pytest.mark.parametrize("k", [1, 3, MOST_DRAWS, MOST_DRAWS + 5])
def test_there_are_k_centers_and_a_public_number_of_draws(k):
    model = PrivateKMeans(k, epsilon=math.inf, bounds=(-1, 1), algorithm="k-variates")
    assert sum(charge.name.startswith("draw") for charge in model.plan(2).charges) == min(k, MOST_DRAWS)
    assert model.fit(rows_of(200)).cluster_centers_.shape == (k, 2)
