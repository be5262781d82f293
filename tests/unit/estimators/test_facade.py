import math
import warnings

import numpy as np
import pandas as pd
import pytest

from spinney import Ball, Box, ParameterError, PrivateKMeans, PrivateKMedian, SeededNoiseWarning

ESTIMATORS = pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
RNG = np.random.default_rng(0)
MIDDLES = np.array([[-3.0, -3.0], [3.0, -3.0], [0.0, 4.0]])
ROWS = np.concatenate([middle + RNG.normal(scale=0.5, size=(600, 2)) for middle in MIDDLES])
FRAME = pd.DataFrame(ROWS, columns=["height", "weight"])


def make(estimator=PrivateKMeans, **changes):
    return estimator(**{"n_clusters": 3, "epsilon": 1.0, "bounds": (-6, 6), "random_state": 0, "noise_seed": 0, **changes})


@ESTIMATORS
def test_predict_transform_and_score_agree(estimator):
    model = make(estimator).fit(ROWS)
    new = np.random.default_rng(1).uniform(-8, 8, (200, 2))
    distances = model.transform(new)
    np.testing.assert_allclose(distances, np.sqrt(((new[:, None] - model.cluster_centers_) ** 2).sum(axis=2)), rtol=1e-9)
    np.testing.assert_array_equal(model.predict(new), distances.argmin(axis=1))
    power = 2 if estimator is PrivateKMeans else 1
    inside = model.transform(np.clip(new, -6, 6))
    assert model.score(new) == pytest.approx(-(inside.min(axis=1) ** power).sum())


@ESTIMATORS
@pytest.mark.parametrize("bounds", [Box(-6, 6), Ball(6.0)], ids=str)
def test_score_clips_as_fit_does(estimator, bounds):
    model = make(estimator, bounds=bounds).fit(ROWS)
    far = np.concatenate([ROWS * 1e6, [[np.nan, 1.0], [np.inf, 2.0]]])
    near = np.concatenate([bounds.domain(2).clip(ROWS * 1e6), [[0.0, 0.0], [0.0, 0.0]]])
    assert model.score(far) == pytest.approx(model.score(near), rel=1e-12)
    assert abs(model.score(far)) < 1e6


@ESTIMATORS
def test_strange_new_points_are_served_silently(estimator):
    model = make(estimator).fit(ROWS)
    odd = [[1, None], [0.5, 10**400], [1j, b"1"], [True, {}], [np.nan, "-inf"]]
    for rows in (ROWS[:0], ROWS[:1], 0 * ROWS, ROWS * 1e300, ROWS * 1e-300, odd, np.array(odd, dtype=object)):
        labels = model.predict(rows)
        assert labels.shape == (len(rows),)
        assert ((labels >= 0) & (labels < 3)).all()
        assert not np.isnan(model.transform(rows)).any()
        assert not math.isnan(model.score(rows))


@pytest.mark.parametrize("bounds", [Box([-6, -7], [6, 8]), Ball(7.0, [0.5, 0.0]), (-6, 6)])
@pytest.mark.parametrize(
    "changes", [{}, {"epsilon": math.inf}, {"adjacency": "replace", "delta": 1e-3, "algorithm": "lloyd"}], ids=str
)
@pytest.mark.matrix
def test_a_model_made_from_a_release_can_be_fitted_again(bounds, changes):
    model = make(bounds=bounds, **changes).fit(ROWS)
    again = PrivateKMeans.from_release(model.release_)
    assert again.get_params()["adjacency"] == model.adjacency
    again.set_params(random_state=0, noise_seed=0)
    release = again.fit(ROWS).release_
    assert release.domain == model.release_.domain
    assert release.epsilon <= model.release_.epsilon


def test_a_release_of_the_other_objective_is_refused():
    release = make(PrivateKMedian).fit(ROWS).release_
    with pytest.raises(ParameterError, match=r"must be a release of kmeans\. Got 'kmedian' instead\.\nHint: "):
        PrivateKMeans.from_release(release)


@ESTIMATORS
def test_names_go_in_and_come_out(estimator):
    model = make(estimator).fit(FRAME)
    assert model.feature_names_in_.tolist() == ["height", "weight"]
    assert model.release_.feature_names == ("height", "weight")
    prefix = estimator.__name__.lower()
    assert model.get_feature_names_out().tolist() == [f"{prefix}{i}" for i in range(3)]
    np.testing.assert_array_equal(model.cluster_centers_, make(estimator).fit(ROWS).cluster_centers_)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(FRAME[["weight", "height"]])
    assert not hasattr(model.fit(ROWS), "feature_names_in_")
    assert model.release_.feature_names is None


def test_public_randomness_leaves_numpys_global_state_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - the legacy state is what must not move
    make(random_state=None).fit(ROWS[:50])
    np.testing.assert_array_equal(before, np.random.get_state()[1])  # noqa: NPY002 - as above


@ESTIMATORS
@pytest.mark.parametrize("method", ["fit", "fit_predict"])
def test_a_noise_seed_warns_once_per_fit_and_marks_the_release(estimator, method):
    model = make(estimator)
    for _ in range(2):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            getattr(model, method)(ROWS)
        assert [warning.category for warning in caught] == [SeededNoiseWarning]
        assert "NOT private" in str(caught[0].message)
    assert model.release_.noise == model.release_.statement == "seeded: not private"
    assert not model.release_.is_private
