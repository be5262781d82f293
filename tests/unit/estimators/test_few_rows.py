"""FewRowsWarning: the released sizes look like no rows at all, or lack rows that were expected; it follows from them alone."""

import math
import warnings

import numpy as np
import pytest
from click.testing import CliRunner

from spinney import (
    FewRowsWarning,
    FiniteMetric,
    ParameterError,
    PrivateKMeans,
    PrivateKMedian,
    PrivateKMedoids,
    SeededNoiseWarning,
    fit,
)
from spinney.cli.main import main
from spinney.mechanisms.additive import Noise
from spinney.releases.clusters import lack_rows, look_empty
from spinney.report.publication import html_page, page

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


@pytest.mark.parametrize("distribution", ["laplace", "gaussian"])
def test_noise_alone_looks_empty_for_any_number_of_clusters(distribution):
    rng = np.random.default_rng(3)
    margin, draw = Noise(distribution, 100.0).quantile(0.95), rng.laplace if distribution == "laplace" else rng.normal
    for k in (1, 2, 4, 8, 20, 100, 400):
        missed = sum(not look_empty(np.maximum(draw(0, 100.0, k), 0), margin) for _ in range(2000))
        assert missed <= 12  # two are to be expected
    assert not look_empty(np.full(4, 3 * margin), margin)


LOST = np.where(np.arange(4000)[:, None] % 2 == 0, np.nan, np.random.default_rng(4).uniform(size=(4000, 2)))


@pytest.mark.parametrize("changes", [{}, {"delta": 1e-6}, {"epsilon": math.inf}, {"algorithm": "lloyd"}])
def test_rows_that_were_expected_and_lack_are_told(changes):
    model = PrivateKMeans(3, **{"epsilon": 1.0, "bounds": (0, 1), **changes})
    (said,) = told(model, LOST, None, None, None, 4000)
    assert said.category is FewRowsWarning
    assert said.filename == __file__
    assert str(said.message) == model.release_.lack
    assert "4,000 rows were expected" in model.release_.lack
    assert told(model, LOST, None, None, None, 2000) == []  # as many as can be read
    assert told(model, LOST) == []  # nobody said how many there should be
    assert told(model, LOST, None, None, None, 2150) == []  # less than a tenth lack


def test_pages_say_what_lacks(tmp_path):
    with pytest.warns(FewRowsWarning):
        release = fit(LOST, 3, epsilon=1.0, bounds=(0, 1), n_guess=4000)
    assert release.lack in " ".join(page(release).split())
    assert release.lack in html_page(release)
    np.savetxt(tmp_path / "table.csv", LOST, delimiter=",", header="a,b", comments="")
    typed = ["fit", str(tmp_path / "table.csv"), "--k", "3", "--epsilon", "1", "--bounds", "0", "1", "--n-guess", "4000"]
    result = CliRunner().invoke(main, [*typed, "--out", str(tmp_path / "release.json")])
    assert result.exit_code == 0
    assert "4,000 rows were expected, and the sizes add up to" in result.stderr


def test_a_guess_changes_nothing_but_what_is_said_of_it(tmp_path):
    with pytest.warns(SeededNoiseWarning):
        plain, guessed = (
            PrivateKMeans(3, epsilon=1.0, bounds=(0, 1), noise_seed=1).fit(LOST, n_guess=n).release_ for n in (None, 2000)
        )
    record = {**guessed.to_dict(), "made": plain.made}
    assert record.pop("n_guess") == 2000
    assert record == plain.to_dict()
    guessed.to_json(tmp_path / "release.json")
    assert type(guessed).from_json(tmp_path / "release.json").n_guess == 2000
    assert guessed.lack == plain.lack == ""


def test_with_groups_persons_are_expected():
    model = PrivateKMeans(3, epsilon=1.0, bounds=(0, 1), max_rows_per_group=2)
    people = np.arange(4000) // 2
    with pytest.warns(FewRowsWarning, match="6,000 persons were expected"):
        model.fit(LOST, groups=people, n_guess=6000)
    assert told(model, LOST, None, people, None, 2000) == []


def test_where_rows_are_replaced_nobody_can_know():
    model = PrivateKMeans(3, epsilon=1.0, bounds=(0, 1), adjacency="replace")
    with pytest.warns(FewRowsWarning, match="cannot be known"):
        model.fit(LOST, n_guess=2000)


@pytest.mark.parametrize("n_guess", [0, 2.5, "many", True])
def test_a_guess_is_a_whole_number(n_guess):
    with pytest.raises(ParameterError, match=r"'n_guess' parameter of PrivateKMeans\.fit must be"):
        PrivateKMeans(3, epsilon=1.0, bounds=(0, 1)).fit(LOST, n_guess=n_guess)
    with pytest.raises(ParameterError, match="'n_guess' parameter of fit must be"):
        fit(LOST, 3, epsilon=1.0, bounds=(0, 1), n_guess=n_guess)


@pytest.mark.parametrize("distribution", ["laplace", "gaussian"])
def test_noise_alone_hardly_ever_makes_rows_lack(distribution):
    rng = np.random.default_rng(5)
    margin, draw = Noise(distribution, 100.0).quantile(0.95), rng.laplace if distribution == "laplace" else rng.normal
    for k in (1, 2, 4, 20):
        missed = sum(lack_rows(9_000 / k + draw(0, 100.0, k), margin, 10_000) for _ in range(2000))
        assert missed <= 10  # two are to be expected of one size with Laplace noise, and hardly any elsewhere
        least = 9_000 - 9 * 100 * math.sqrt(2 * k)
        assert all(lack_rows(least / k + draw(0, 100.0, k), margin, 10_000) for _ in range(200))
