"""`spinney verify`, `spinney sign` and `spinney label`: what they print, write and end with."""

import json

import numpy as np
import pytest

from spinney import FiniteMetric, Ledger, PrivateKMeans, PrivateKMedoids, max_coverage
from spinney.report import label_page, privacy_label, registry_entry
from spinney.report.label import OPEN
from tests.unit.cli import running

ROWS = np.random.default_rng(0).uniform(0, 1, (300, 2))


@pytest.fixture
def folder(tmp_path):
    ledger = Ledger(tmp_path / "ledger", epsilon=5)
    PrivateKMeans(2, epsilon=1.0, bounds=(0, 1)).fit(ROWS, ledger=ledger).release_.to_json(tmp_path / "release.json")
    (tmp_path / "key").write_bytes(bytes(range(32)))
    (tmp_path / "short").write_bytes(b"too short")
    return tmp_path


def run(*arguments):
    result = running.run(*arguments)
    return result.exit_code, result.output


def edit(path, **changes):
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_a_release_is_verified_and_an_edited_one_refused(folder):
    path = folder / "release.json"
    code, text = run("verify", path)
    assert code == 0
    assert text.splitlines()[-1] == "The arithmetic holds; not authenticated: anyone could have written this file."
    assert run("verify", path, "--ledger", folder / "ledger")[0] == 0
    edit(path, sizes=[1.0, 2.0])
    assert run("verify", path)[0] == 0  # no arithmetic knows how large clusters are
    code, text = run("verify", path, "--ledger", folder / "ledger")
    assert code == 1
    assert text.splitlines()[-1] == "REFUSED: ledger."
    edit(path, epsilon=0.5)
    assert run("verify", path)[0] == 1


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["verify", "none.json"], 3),
        (["verify", "ledger"], 3),
        (["verify", "release.json", "--ledger", "key"], 3),
        (["verify", "release.json", "--key", "short"], 2),
        (["sign", "release.json", "--key", "short"], 2),
        (["sign", "release.json", "--key", "nowhere"], 3),
        (["sign", "release.json"], 2),
        (["label", "release.json", "--out", "label.pdf"], 2),
        (["label", "release.json", "--registry", "--out", "label.md"], 2),
    ],
)
def test_errors_are_one_line_and_have_their_code(arguments, code, folder, monkeypatch):
    monkeypatch.chdir(folder)
    found, text = run(*arguments)
    assert found == code
    assert "too short" not in text
    assert "Hint: " in text or "Missing option" in text


SPACE = FiniteMetric.from_points(np.arange(6.0)[:, None])
RELEASES = {
    "centers": lambda: PrivateKMeans(2, epsilon=1.0, delta=1e-6, bounds=(0, 1)).fit(np.repeat(ROWS, 8, axis=1)).release_,
    "sites": lambda: PrivateKMedoids(2, epsilon=1.0, space=SPACE).fit(np.repeat(np.arange(6), 9)).release_,
    "cover": lambda: max_coverage([0, 1, 2] * 50, [[0, 1], [2]], 1, epsilon=1.0),
    "seeded": lambda: PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), noise_seed=0).fit(ROWS).release_,
}


@pytest.mark.parametrize("name", RELEASES)
def test_a_label_tells_the_promise_and_leaves_people_to_the_publisher(name):
    release = RELEASES[name]()
    label, entry, page = privacy_label(release), registry_entry(release)["deployment"], label_page(release)
    assert label["privacy"]["promise"]["value"] == release.statement
    assert label["about"]["contact"]["value"] == entry["contact"] == entry["data_curator"] == OPEN
    assert label["trust"]["audit"]["value"] == "none"
    assert release.statement in page
    assert entry["privacy_loss"]["privacy_parameters"]["epsilon"] == (1.0 if release.is_private else None)
    assert ("rho" in entry["privacy_loss"]["privacy_parameters"]) == (name == "centers")
    assert entry["dp_flavor"]["name"].startswith({"centers": "approximate", "seeded": "seeded: not private"}.get(name, "pure"))
    json.dumps([label, entry], allow_nan=False)
