import math

import numpy as np
import pytest

from covering import covering
from spinney import Ball, Box, PrivateKMeans, PrivateKMedian

NORMAL = np.random.default_rng(0).normal(size=(300, 3))
#: Where points lie badly. What cells may hold is tried by tests/privacy/test_bad_rows_are_silent.py, domains of all widths and
#: the least epsilon by tests/privacy/test_no_outcome_raises.py.
ROWS = {
    "some missing": np.where(np.random.default_rng(1).random((300, 3)) < 0.2, np.nan, NORMAL),
    "no rows": np.empty((0, 3)),
    "one row": NORMAL[:1],
    "all equal": np.full((200, 3), 0.123),
    "all on a corner": np.full((200, 3), 2.0),
    "two places": np.repeat([[-1.0, 0, 1], [1, 1, 1]], 100, axis=0),
    "constant columns": NORMAL * [1, 0, 0],
    "enormous": NORMAL * 1e300,
    "tiny": NORMAL * 1e-300,
}


def check(model, k, d, domain):
    centers = model.cluster_centers_
    assert centers.shape == (k, d)
    assert np.isfinite(centers).all()
    np.testing.assert_allclose(centers, domain.clip(centers), rtol=1e-12, atol=0)
    assert (centers >= domain.lower).all()
    assert (centers <= domain.upper).all()
    assert model.cluster_sizes_.shape == (k,)
    assert (model.cluster_sizes_ >= 0).all()
    assert np.isfinite(model.cluster_sizes_).all()
    release = model.release_
    assert np.isfinite(release.summary_points).all()
    assert (release.summary_weights >= 0).all()
    assert len(release.summary_points) == len(release.summary_weights)
    release.to_json()


@covering("name, estimator, algorithm, epsilon", ROWS, [PrivateKMeans, PrivateKMedian], ["tree", "lloyd"], [1.0, math.inf])
def test_any_rows_give_exactly_k_finite_centers_inside(name, estimator, algorithm, epsilon):
    space = Box(-2, 2) if epsilon == 1 else Ball(2.0, [0, 0, 0.5])
    model = estimator(5, epsilon=epsilon, bounds=space, algorithm=algorithm, random_state=0, noise_seed=0)
    check(model.fit(ROWS[name]), 5, 3, space.domain(3))


@pytest.mark.parametrize("model", [PrivateKMeans, PrivateKMedian])
def test_strange_new_points_are_served_silently(model):
    fitted = model(3, epsilon=1.0, bounds=(-2, 2), noise_seed=0, random_state=0).fit(NORMAL)
    cells = [[1, None, "a"], [0.5, 10**400, 1j], [1, 2, 0], [True, b"1", {}], [np.nan, np.inf, "-inf"]]
    for rows in (*ROWS.values(), cells, np.array(cells, dtype=object)):
        labels = fitted.predict(rows)
        assert labels.shape == (len(rows),)
        assert ((labels >= 0) & (labels < 3)).all()
        assert not np.isnan(fitted.transform(rows)).any()
        assert not math.isnan(fitted.score(rows))
