"""Other clusters of a release: in the units of the fit, free of charge, and marked as post-processing."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from spinney import DataError, ParameterError, PrivateKMeans, PrivateKMedian, ReleaseError
from spinney.cli.main import main
from spinney.report.publication.reclustering import POST_PROCESSING

RNG = np.random.default_rng(0)
#: Four groups by ward and age; a cost that varies more than all else, and means nothing.
WARD = RNG.integers(0, 4, 20_000)
TABLE = pd.DataFrame(
    {
        "age": np.array([20, 40, 60, 80])[WARD] + RNG.normal(0, 2, 20_000),
        "cost": RNG.uniform(0, 10_000, 20_000),
        "ward": np.array(["a", "b", "a", "b"])[WARD],
        "day": np.array(["2020-02-01", "2020-02-01", "2020-11-01", "2020-11-01"])[WARD],
    }
)
FACTS = {
    "age": {"bounds": (0, 100), "unit": 10},
    "cost": {"bounds": (0, 10_000), "unit": 100_000},
    "ward": ["a", "b"],
    "day": {"dates": ("2020-01-01", "2020-12-31"), "unit": 100},
}


@pytest.fixture(scope="module", params=[PrivateKMeans, PrivateKMedian])
def model(request):
    return request.param(2, epsilon=4.0, bounds=FACTS, random_state=0).fit(TABLE)


def test_clusters_are_found_in_the_units_of_the_fit(model):
    found = model.release_.recluster(4)
    assert sorted(np.round(found.centers[:, 0], -1).tolist()) == [20, 40, 60, 80]  # by the plain numbers costs would decide
    assert np.all(np.diff(found.sizes) <= 0)
    assert found.sizes.sum() == pytest.approx(model.release_.summary_weights.sum())
    labels = found.predict(TABLE)
    assert all(np.bincount(labels[ward == WARD], minlength=4).max() > 0.98 * np.sum(ward == WARD) for ward in range(4))


def test_it_is_free_and_says_what_it_is(model, tmp_path):
    release = model.release_
    before = release.to_json()
    found = release.recluster(3, random_state=5)
    assert release.to_json() == before
    assert np.array_equal(found.centers, release.recluster(3, random_state=5).centers)
    assert release.statement in found.statement
    assert POST_PROCESSING in " ".join(str(found).split())
    assert POST_PROCESSING in repr(found)
    assert "2020-" in str(found)  # a day as people write it
    record = json.loads(found.to_json(tmp_path / "three.json"))
    assert record == json.loads((tmp_path / "three.json").read_text())
    assert (record["what"], record["of"]["digest"], record["k"]) == (POST_PROCESSING, release.digest, 3)
    assert list(found.to_frame("polars").columns) == [*release.feature_names, "size"]
    with pytest.raises(ReleaseError):
        type(release).from_json(tmp_path / "three.json")  # it is no release


def test_centers_lie_in_the_public_bounds(model):
    for k in (1, 7, 60):
        found = model.release_.recluster(k)
        assert found.centers.shape == (k, 5)
        assert (found.centers >= model.release_.domain["lower"]).all()
        assert (found.centers <= model.release_.domain["upper"]).all()


@pytest.mark.parametrize("k", [0, 2.5, "auto", 10**6])
def test_a_number_of_clusters_is_a_whole_number(k, model):
    with pytest.raises(ParameterError, match="'n_clusters' parameter of recluster must be"):
        model.release_.recluster(k)


def test_what_has_no_summary_or_other_columns_is_refused(model):
    plain = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), algorithm="lloyd").fit(RNG.random((500, 2))).release_
    with pytest.raises(ReleaseError, match="no summary"):
        plain.recluster(2)
    tree = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1)).fit(RNG.random((5000, 2))).release_
    assert tree.recluster(3).predict([[0.1, 0.2]]).shape == (1,)
    with pytest.raises(DataError, match="2 columns"):
        tree.recluster(3).predict([[0.1, 0.2, 0.3]])


def test_the_command_line_does_the_same(model, tmp_path):
    path, out = tmp_path / "release.json", tmp_path / "four.json"
    model.release_.to_json(path)

    def run(*typed):
        return CliRunner().invoke(main, ["recluster", str(path), *map(str, typed)])

    assert run("--k", 4).stdout == f"{model.release_.recluster(4)}\n"
    assert run("--k", 4, "--out", out).stdout == f"{model.release_.recluster(4)}\nWrote {out}.\n"
    assert out.read_text() == model.release_.recluster(4).to_json()
    assert "is there already" in run("--k", 4, "--out", out).stderr
    assert run("--k", 4, "--out", "-").stdout == out.read_text()


def test_shares_add_up_and_the_file_is_no_release(model, tmp_path):
    release = model.release_
    for k in (1, 2, 3, 5, 7):
        assert release.recluster(k).centers[:, 2:4].sum(axis=1) == pytest.approx(1.0)
    release.to_json(tmp_path / "release.json")
    asked = ["recluster", str(tmp_path / "release.json"), "--k", "3", "--out", str(tmp_path / "three.json")]
    assert CliRunner().invoke(main, asked).exit_code == 0
    for command in (["show"], ["report", "--out", str(tmp_path / "page.html")]):
        told = CliRunner().invoke(main, [command[0], str(tmp_path / "three.json"), *command[1:]])
        assert told.exit_code == 3
        assert "holds other clusters of a release" in told.stderr
