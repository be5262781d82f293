"""FewRowsWarning: the released sizes together look like no rows at all; it follows from these sizes alone."""

import warnings

import numpy as np
import pytest

from spinney import FewRowsWarning, FiniteMetric, PrivateKMeans, PrivateKMedian, PrivateKMedoids
from spinney.mechanisms.additive import Noise
from spinney.releases.clusters import look_empty

SPACE = FiniteMetric.from_points(np.random.default_rng(0).uniform(size=(30, 2)))
MODELS = {
    "kmeans": PrivateKMeans(3, epsilon=1.0, bounds=(0, 1)),
    "kmedian": PrivateKMedian(3, epsilon=1.0, bounds=(0, 1)),
    "kmedoids": PrivateKMedoids(3, epsilon=1.0, space=SPACE),
}


def told(model, *rows, method="fit"):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        getattr(model, method)(*rows)
    return said


def rows_for(kind, full):
    rng = np.random.default_rng(1)
    if kind == "kmedoids":
        return rng.integers(0, 30, 3000) if full else np.full(3000, 77)
    return rng.uniform(size=(3000, 2)) if full else np.full((3000, 2), np.nan)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("method", ["fit", "fit_predict"])
def test_a_fit_that_lost_all_rows_says_so(kind, method):
    model = MODELS[kind]
    (said,) = told(model, rows_for(kind, full=False), method=method)
    assert said.category is FewRowsWarning
    assert str(said.message) == model.release_.faint
    assert "too few rows" in model.release_.faint or kind == "kmedoids"
    assert model.release_.looks_empty
    if method == "fit":
        assert said.filename == __file__  # it points at the caller


@pytest.mark.parametrize("kind", MODELS)
def test_a_fit_of_rows_says_nothing(kind):
    assert told(MODELS[kind], rows_for(kind, full=True)) == []
    some = np.random.default_rng(2).uniform(size=(900, 2))
    assert told(PrivateKMeans(3, epsilon=1.0, bounds=(0, 1)), some) == []


def test_the_release_is_kept_when_warnings_are_errors():
    model = PrivateKMeans(3, epsilon=1.0, bounds=(0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(FewRowsWarning):
            model.fit(np.empty((0, 2)))
        assert PrivateKMeans.from_release(model.release_).release_.looks_empty  # the warning was for the fit


@pytest.mark.parametrize("distribution", ["laplace", "gaussian"])
def test_noise_alone_looks_empty_for_any_number_of_clusters(distribution):
    rng = np.random.default_rng(3)
    margin, draw = Noise(distribution, 100.0).quantile(0.95), rng.laplace if distribution == "laplace" else rng.normal
    for k in (1, 2, 4, 8, 20, 100, 400):
        missed = sum(not look_empty(np.maximum(draw(0, 100.0, k), 0), margin) for _ in range(2000))
        assert missed <= 12  # two are to be expected
    assert not look_empty(np.full(4, 3 * margin), margin)
