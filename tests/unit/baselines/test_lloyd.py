import math

import numpy as np

from covering import covering
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


@covering("estimator, space, d, k", [PrivateKMeans, PrivateKMedian], [Box(-1.2, 1.2), Ball(1.1)], [1, 2, 5], [1, 4, 9])
def test_without_noise_private_lloyd_is_lloyd(estimator, space, d, k):
    rows = rows_of(d, seed=k)
    model = estimator(k, epsilon=math.inf, bounds=space, algorithm="lloyd", random_state=3).fit(rows)
    domain = space.domain(d)
    centers, sizes = plain(rows, domain, k, model._power, 3)
    np.testing.assert_allclose(model.cluster_centers_, centers, atol=2e-6 * domain.half_diagonal)
    np.testing.assert_array_equal(model.cluster_sizes_, sizes)
    assert model.release_.noise == "none: not private"
    assert model.release_.sizes_margin == 0
