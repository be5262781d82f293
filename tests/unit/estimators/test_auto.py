"""``n_clusters="auto"``: the number is found on the summary, and nothing that is charged depends on it."""

import numpy as np
import pytest
from click.testing import CliRunner

from covering import covering
from spinney import ParameterError, PrivateKMeans, PrivateKMedian, Release, UnitsWarning, verify
from spinney.algorithms import Stable
from spinney.cli.main import main
from spinney.report import html_page, page

CENTERS = np.array([[0.2, 0.2], [0.8, 0.3], [0.5, 0.8]])


def rows_around(centers, n=1500, spread=0.03, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(center, spread, (n, centers.shape[1])) for center in centers])


@pytest.fixture(scope="module")
def release():
    return PrivateKMeans("auto", epsilon=1.0, bounds=(0, 1), random_state=0).fit(rows_around(CENTERS)).release_


@covering("estimator, d", [PrivateKMeans, PrivateKMedian], [2, 13])
def test_as_many_clusters_are_released_as_there_are(estimator, d):
    centers = np.tile(CENTERS, (1, 7))[:, :d]
    model = estimator("auto", max_clusters=9, epsilon=1.0, bounds=(0, 1), random_state=0).fit(rows_around(centers, 4000))
    assert model.cluster_centers_.shape == (3, d)
    assert np.abs(np.sort(model.cluster_centers_, axis=0) - np.sort(centers, axis=0)).max() < 0.1
    assert model.release_.k == 3


def test_the_release_says_how_and_shows_the_curve(release, tmp_path):
    assert release.k_source.startswith("found on the private summary, of at most 20")
    assert len(release.k_costs) == 20
    assert release.k_costs[0] == 1.0
    text = " ".join(page(release).split())
    assert f"Number found: 3, {release.k_source}." in text
    assert text.count("(chosen)") == 1
    assert release.k_source in html_page(release)
    release.to_json(tmp_path / "release.json")
    assert Release.from_json(tmp_path / "release.json").k_costs == release.k_costs
    assert verify(tmp_path / "release.json").holds
    assert len(PrivateKMeans.from_release(tmp_path / "release.json").cluster_centers_) == 3


@pytest.mark.parametrize("asked", [{}, {"tighten": True}, {"algorithm": "stable"}, {"algorithm": Stable("tree", steps=1)}])
def test_the_plan_is_that_of_the_most_clusters(asked):
    facts = {"epsilon": 1.0, "bounds": (0, 1), **asked}
    found, given = (PrivateKMeans(k, max_clusters=most, **facts).plan(6, n_guess=10_000) for k, most in (("auto", 7), (7, None)))
    assert found.charges == given.charges
    assert "at most 7 clusters, as many as the summary shows" in str(found)
    release = PrivateKMeans("auto", max_clusters=7, random_state=0, **facts).fit(rows_around(np.tile(CENTERS, 3))).release_
    assert sum(charge.amount for charge in release.charges) == sum(charge.amount for charge in found.charges)


WRONG = [
    ({"n_clusters": "Auto"}, "'n_clusters' .* an int, or 'auto'. Got 'Auto' instead"),
    ({"n_clusters": 8, "max_clusters": 20}, "'max_clusters' .* left out if the number of clusters is not 'auto'. Got 20"),
    *(({"max_clusters": most}, "'max_clusters' .* from 1 to 200") for most in (0, 201, 2.5, np.arange(3))),
    ({"model": "local", "adjacency": "replace"}, "'n_clusters' .* 'refined'"),
    *(({"algorithm": name}, f"must be an int with algorithm '{name}'. Got 'auto'") for name in ("hst", "lloyd", "lsh")),
    ({"algorithm": Stable("lloyd")}, "'n_clusters' .* 'stable'"),
]


@pytest.mark.parametrize(("wrong", "words"), WRONG)
def test_what_is_wrong_is_told(wrong, words):
    with pytest.raises(ParameterError, match=words):
        PrivateKMeans(**{"n_clusters": "auto", "epsilon": 1.0, "bounds": (0, 1), **wrong}).plan(3)


def test_the_command_line_finds_the_number(tmp_path):
    np.save(tmp_path / "rows.npy", rows_around(CENTERS))
    out = tmp_path / "release.json"
    asked = ["fit", str(tmp_path / "rows.npy"), "--k", "auto", "--max-k", "6", "--epsilon", "1", "--bounds", "0", "1"]
    ran = CliRunner().invoke(main, [*asked, "--out", str(out)])
    assert ran.exit_code == 0, ran.output
    assert len(Release.from_json(out).k_costs) == 6
    assert "(chosen)" in CliRunner().invoke(main, ["show", str(out)]).output
    plan = ["plan", "--epsilon", "1", "--n-features", "3", "--k"]
    assert "at most 20 clusters" in CliRunner().invoke(main, [*plan, "auto"]).output
    for wrong in (["some"], ["auto", "--algorithm", "hst"]):
        refused = CliRunner().invoke(main, [*plan, *wrong])
        assert "--k" in refused.output
        assert refused.exit_code != 0


def test_one_cluster_that_was_found_says_what_to_change(tmp_path):
    rows = np.random.default_rng(0).uniform(0, 1, (6000, 2))
    model = PrivateKMeans("auto", epsilon=1.0, bounds=(0, 1), random_state=0)
    with pytest.warns(UnitsWarning, match="one cluster was found.*scale='bounds'"):
        release = model.fit(rows).release_
    assert len(release.centers) == 1
    assert "Only one cluster" in html_page(release)
    np.savetxt(tmp_path / "rows.csv", rows, delimiter=",", header="a,b", comments="")
    typed = ["fit", str(tmp_path / "rows.csv"), "--k", "auto", "--epsilon", "1", "--bounds", "0", "1"]
    result = CliRunner().invoke(main, [*typed, "--out", str(tmp_path / "release.json")])
    assert "--scale bounds" in result.stderr
    asked = PrivateKMeans(1, epsilon=1.0, bounds=(0, 1)).fit(rows).release_
    assert asked.doubts == {}  # nobody asked for a number to be found
