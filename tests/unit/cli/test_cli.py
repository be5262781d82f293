import gc
import subprocess
import sys

import numpy as np
import pytest

from spinney import PrivateKMeans, PrivateKMedian, Release
from spinney.cli import demo
from spinney.report.publication import page
from tests.unit.cli.running import refused, run

PLAN = ("plan", "--k", "4", "--n-features", "3", "--epsilon", "1")


def test_plan_and_fit_need_no_scikit_learn(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n" + "1,2\n" * 100)
    command = ("fit", "rows.csv", "--k", "2", "--epsilon", "1", "--bounds", "0", "3", "--out", "release.json")
    predict = ("predict", "release.json", "rows.csv", "--out", "labels.csv")
    runs = "".join(
        f"main({words!r}, standalone_mode=False); print('loaded', *sys.modules)\n" for words in (PLAN, command, predict)
    )
    code = f"import sys; from spinney.cli.main import main\n{runs}"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = [set(line.split()) for line in done.stdout.splitlines() if line.startswith("loaded ")]
    assert ["numba" in one for one in loaded] == [False, True, True]
    assert loaded[-1].isdisjoint({"matplotlib", "pandas", "scipy.stats", "sklearn"})


def test_the_demo_writes_a_release_and_a_picture(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    pixels = np.random.default_rng(0).integers(0, 256, (13_000, 3), dtype=np.uint8)
    monkeypatch.setattr(demo, "public_colors", lambda: pixels)
    monkeypatch.setattr(demo, "EPSILONS", (0.5, 2.0))
    monkeypatch.setattr(demo, "SHOWN", 0.5)
    monkeypatch.setattr(demo, "CLUSTERS", 3)
    out = tmp_path / "new" / "folder"
    result = run("demo", "--out", out)
    assert "13000 pixels" in result.output
    rows = [line.split() for line in result.output.splitlines() if line.split()[:1] in (["0.5"], ["2"])]
    assert len(rows) == 2
    assert all(0.9 < float(tree) < 3 and 0.9 < float(lloyd) < 10 for _, tree, lloyd in rows)
    release = Release.from_json(out / "release.json")
    assert (release.is_private, release.promised_epsilon, release.centers.shape) == (True, 0.5, (3, 3))
    assert release.statement in result.output
    assert (out / "demo.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_the_demo_needs_a_folder_and_matplotlib(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    refused(run("demo", "--out", tmp_path / "file"), 3, "cannot be made a folder. Hint: --out names a folder")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    refused(run("demo", "--out", tmp_path / "new"), 2, "matplotlib is not installed. Hint: pip install matplotlib")
    assert not (tmp_path / "new").exists()


def test_plan_prints_what_the_estimator_plans():
    expected = PrivateKMeans(4, epsilon=1.0, bounds=(0, 1)).plan(3)
    assert run(*PLAN).output == f"{expected}\n"
    assert gc.isenabled()  # again, after a command
    options = ("--delta", "1e-6", "--objective", "kmedian", "--algorithm", "lloyd", "--adjacency", "replace", "--n-guess", "500")
    model = PrivateKMedian(4, epsilon=1.0, delta=1e-6, bounds=(-2, 5), algorithm="lloyd", adjacency="replace")
    assert run(*PLAN, *options).output == f"{model.plan(3, n_guess=500)}\n"
    grouped = PrivateKMeans(4, epsilon=1.0, bounds=(0, 1), max_rows_per_group=5).plan(3)
    assert run(*PLAN, "--max-rows-per-group", "5").output == f"{grouped}\n"


@pytest.fixture(scope="module")
def release_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("release") / "release.json"
    rows = np.random.default_rng(0).uniform(0, 1, (3000, 2))
    PrivateKMeans(3, epsilon=1.0, bounds=(0, 1), noise_seed=0, random_state=0).fit(rows).release_.to_json(path)
    return path


def test_show_prints_the_page_and_draws_the_curve_or_the_release(release_file, tmp_path):
    curve, picture = tmp_path / "curve.png", tmp_path / "picture.png"
    assert run("show", release_file).output == f"{page(Release.from_json(release_file))}\n"
    shown = run("show", release_file, "--curve", "--max-k", "4", "--picture", curve)
    assert "How many clusters?" in shown.output
    assert f"Wrote {curve}." in shown.output
    assert run("show", release_file, "--picture", picture).exit_code == 0
    assert curve.read_bytes()[:4] == picture.read_bytes()[:4] == b"\x89PNG"
