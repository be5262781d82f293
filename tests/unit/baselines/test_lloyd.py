import math

import numpy as np
import pytest

from spinney import Ball, Box, PrivateKMeans, PrivateKMedian
from spinney.baselines.lloyd import MEDIAN_RADIUS, ROUNDS


def rows_of(d, seed):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(middle, 0.1, (400, d)) for middle in rng.uniform(-1, 1, (4, d))])


def plain(rows, domain, k, power, random_state):
    """The same rounds in plain numpy, without grid or noise."""
    rows = domain.clip(rows)
    centers = domain.sample(k, np.random.default_rng(random_state))
    for _ in range(ROUNDS[power]):
        distances = np.sqrt(((rows[:, None] - centers) ** 2).sum(axis=2))
        labels = distances.argmin(axis=1)
        moved = centers.copy()
        for j in range(k):
            mine = rows[labels == j]
            if len(mine):
                reach = np.maximum(distances[labels == j, j], MEDIAN_RADIUS * domain.half_diagonal)
                moved[j] = mine.mean(axis=0) if power == 2 else np.average(mine, axis=0, weights=1 / reach)
        centers = domain.clip(moved)
    return centers, np.bincount(((rows[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1), minlength=k)


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
@pytest.mark.parametrize("space", [Box(-1.2, 1.2), Ball(1.1)], ids=["box", "ball"])
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("k", [1, 4, 9])
def test_without_noise_private_lloyd_is_lloyd(estimator, space, d, k):
    rows = rows_of(d, seed=k)
    model = estimator(k, epsilon=math.inf, bounds=space, algorithm="lloyd", random_state=3).fit(rows)
    domain = space.domain(d)
    centers, sizes = plain(rows, domain, k, model._power, 3)
    np.testing.assert_allclose(model.cluster_centers_, centers, atol=2e-6 * domain.half_diagonal)
    np.testing.assert_array_equal(model.cluster_sizes_, sizes)
    assert model.release_.noise == "none: not private"
    assert model.release_.sizes_margin == 0


def test_noise_moves_the_centers_less_the_more_epsilon():
    rows = rows_of(2, 0)
    domain = Box(-1.2, 1.2)
    truth = PrivateKMeans(4, epsilon=math.inf, bounds=domain, algorithm="lloyd", random_state=0).fit(rows).cluster_centers_

    def error(epsilon):
        fits = [
            PrivateKMeans(4, epsilon=epsilon, bounds=domain, algorithm="lloyd", random_state=0, noise_seed=s).fit(rows)
            for s in range(9)
        ]
        return np.median([np.abs(fit.cluster_centers_ - truth).max() for fit in fits])

    assert error(0.05) > 3 * error(10.0)


def test_lloyd_makes_no_summary():
    release = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), algorithm="lloyd", noise_seed=0).fit(np.zeros((9, 3))).release_
    assert release.summary_points.shape == (0, 3)
    assert release.summary_weights.shape == (0,)
