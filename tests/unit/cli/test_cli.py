import numpy as np
import pytest
from click.testing import CliRunner

from spinney import Release, __version__
from spinney.cli import demo
from spinney.cli.main import main


def run(*arguments):
    return CliRunner().invoke(main, arguments, catch_exceptions=False)


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_names_the_commands(flag):
    result = run(flag)
    assert result.exit_code == 0
    assert "differentially private k-means and k-median" in result.output
    assert "demo" in result.output


def test_version_is_the_packages():
    result = run("--version")
    assert result.exit_code == 0
    assert result.output.strip() == f"spinney, version {__version__}"


@pytest.mark.parametrize("command", ["demo", "fit", "plan", "predict", "show", "sites", "warm"])
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_every_command_has_help(command, flag):
    result = run(command, flag)
    assert result.exit_code == 0
    assert result.output.startswith(f"Usage: main {command} [OPTIONS]")
    options = [option for parameter in main.commands[command].params for option in parameter.opts if option.startswith("--")]
    assert [option for option in options if option not in result.output] == []


def test_without_a_command_the_help_is_shown():
    assert "Commands:" in run().output


def test_garbage_is_collected_again_after_a_command():
    import gc

    assert run(*PLAN).exit_code == 0
    assert gc.isenabled()


def test_plan_and_fit_need_no_scikit_learn(tmp_path):
    import subprocess
    import sys

    (tmp_path / "rows.csv").write_text("a,b\n" + "1,2\n" * 100)
    command = ("fit", "rows.csv", "--k", "2", "--epsilon", "1", "--bounds", "0", "3", "--out", "release.json")
    for arguments in (PLAN, command, ("predict", "release.json", "rows.csv", "--out", "labels.csv")):
        code = f"import sys; from spinney.cli.main import main; main({arguments!r}, standalone_mode=False); print(*sys.modules)"
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
        loaded = set(done.stdout.split())
        assert ("numba" in loaded) is (arguments is not PLAN)
        assert loaded.isdisjoint({"matplotlib", "pandas", "scipy.stats", "sklearn"})


def test_an_unknown_command_fails():
    assert CliRunner().invoke(main, ["dmeo"]).exit_code == 2


def test_the_demo_writes_a_release_and_a_picture(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    pixels = np.random.default_rng(0).integers(0, 256, (13_000, 3), dtype=np.uint8)
    monkeypatch.setattr(demo, "public_colors", lambda: pixels)
    monkeypatch.setattr(demo, "EPSILONS", (0.5, 2.0))
    monkeypatch.setattr(demo, "SHOWN", 0.5)
    monkeypatch.setattr(demo, "CLUSTERS", 3)
    out = tmp_path / "new" / "folder"
    result = run("demo", "--out", str(out))
    assert result.exit_code == 0
    assert "13000 pixels" in result.output
    rows = [line.split() for line in result.output.splitlines() if line.split()[:1] in (["0.5"], ["2"])]
    assert len(rows) == 2
    for _, tree, lloyd in rows:
        assert 0.9 < float(tree) < 3
        assert 0.9 < float(lloyd) < 10
    release = Release.from_json(out / "release.json")
    assert release.is_private
    assert release.promised_epsilon == 0.5
    assert release.statement in result.output
    assert release.centers.shape == (3, 3)
    assert release.feature_names == ("red", "green", "blue")
    assert (out / "demo.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_the_demo_needs_a_folder(tmp_path):
    (tmp_path / "file").touch()
    result = run("demo", "--out", str(tmp_path / "file"))
    assert result.exit_code == 3
    assert (
        result.stderr
        == f"error: {tmp_path / 'file'} cannot be made a folder. Hint: --out names a folder that may be written to.\n"
    )


def test_the_demo_without_matplotlib_says_so_before_the_work(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("demo", "--out", str(tmp_path / "new"))
    assert result.exit_code == 2
    assert result.stderr == "error: matplotlib is not installed. Hint: pip install matplotlib\n"
    assert not (tmp_path / "new").exists()


def test_the_demos_data_are_public_pixels():
    pixels = demo.public_colors()
    assert pixels.shape == (273_280, 3)
    assert pixels.dtype == np.uint8


def test_the_release_that_is_shown_is_one_of_the_table():
    assert demo.SHOWN in demo.EPSILONS


PLAN = ("plan", "--k", "4", "--n-features", "3", "--epsilon", "1")


def test_plan_prints_what_the_estimator_plans():
    from spinney import PrivateKMeans, PrivateKMedian

    expected = PrivateKMeans(4, epsilon=1.0, bounds=(0, 1)).plan(3)
    assert run(*PLAN).output == f"{expected}\n"
    options = ("--delta", "1e-6", "--objective", "kmedian", "--algorithm", "lloyd", "--adjacency", "replace", "--n-guess", "500")
    model = PrivateKMedian(4, epsilon=1.0, delta=1e-6, bounds=(-2, 5), algorithm="lloyd", adjacency="replace")
    assert run(*PLAN, *options).output == f"{model.plan(3, n_guess=500)}\n"
    grouped = PrivateKMeans(4, epsilon=1.0, bounds=(0, 1), max_rows_per_group=5).plan(3)
    assert run(*PLAN, "--max-rows-per-group", "5").output == f"{grouped}\n"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--epsilon", "-1"), "error: --epsilon must be a float in "),
        (("--k", "0"), "error: --k must be an int in "),
        (("--n-features", "0"), "error: --n-features must be an int in "),
        (("--delta", "1"), "error: --delta must be a float in "),
        (("--algorithm", "magic"), "error: --algorithm must be one of "),
        (("--adjacency", "near"), "error: --adjacency must be one of "),
        (("--max-rows-per-group", "0"), "error: --max-rows-per-group must be an int in [1, inf). Got"),
        (("--n-guess", "0"), "error: --n-guess must be an int in "),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_a_wrong_option_of_plan_is_one_line_and_exit_code_two(options, words):
    result = run(*PLAN, *options)
    assert result.exit_code == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert words in line
    assert "Hint:" in line


@pytest.mark.parametrize("missing", ["--k", "--n-features", "--epsilon"])
def test_plan_asks_for_what_it_needs(missing):
    arguments = list(PLAN)
    place = arguments.index(missing)
    del arguments[place : place + 2]
    result = run(*arguments)
    assert result.exit_code == 2
    assert missing in result.output


@pytest.fixture(scope="module")
def release_file(tmp_path_factory):
    from spinney import PrivateKMeans

    path = tmp_path_factory.mktemp("release") / "release.json"
    rows = np.random.default_rng(0).uniform(0, 1, (3000, 2))
    PrivateKMeans(3, epsilon=1.0, bounds=(0, 1), noise_seed=0, random_state=0).fit(rows).release_.to_json(path)
    return path


def test_show_prints_the_page(release_file):
    from spinney.report.pages import page

    assert run("show", str(release_file)).output == f"{page(Release.from_json(release_file))}\n"


def test_show_draws_the_curve_or_the_release(release_file, tmp_path):
    curve, picture = tmp_path / "curve.png", tmp_path / "picture.png"
    shown = run("show", str(release_file), "--curve", "--max-k", "4", "--picture", str(curve))
    assert "How many clusters?" in shown.output
    assert f"Wrote {curve}." in shown.output
    assert run("show", str(release_file), "--picture", str(picture)).exit_code == 0
    assert curve.read_bytes()[:4] == picture.read_bytes()[:4] == b"\x89PNG"
    assert "How many clusters?" not in run("show", str(release_file)).output


@pytest.mark.parametrize("text", [None, "not json", "[1, 2]", "{}"], ids=["no file", "not json", "a list", "empty"])
def test_show_of_an_unreadable_file_is_one_line_and_exit_code_three(tmp_path, text):
    path = tmp_path / "release.json"
    if text is not None:
        path.write_text(text)
    result = run("show", str(path))
    assert result.exit_code == 3
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")


def test_a_picture_without_matplotlib_says_what_to_install(release_file, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.backends.backend_agg", None)
    result = run("show", str(release_file), "--picture", str(tmp_path / "x.png"))
    assert result.exit_code == 2
    assert result.stderr == "error: matplotlib is not installed. Hint: pip install matplotlib\n"
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("curve", [(), ("--curve", "--max-k", "2")], ids=["release", "curve"])
def test_a_picture_that_cannot_be_written_is_one_line_and_exit_code_three(release_file, tmp_path, curve):
    result = run("show", str(release_file), *curve, "--picture", str(tmp_path / "no" / "x.png"))
    assert result.exit_code == 3
    (line,) = result.stderr.splitlines()
    assert "x.png cannot be written. Hint: name a file" in line


def test_a_curve_needs_a_summary(tmp_path):
    from spinney import PrivateKMeans

    path = tmp_path / "release.json"
    model = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), algorithm="lloyd", noise_seed=0)
    model.fit(np.zeros((10, 2))).release_.to_json(path)
    result = run("show", str(path), "--curve")
    assert result.exit_code == 3
    assert result.stderr == "error: The release has no summary. Hint: fit with --algorithm tree.\n"


@pytest.mark.parametrize("count", ["0", "201", "x"])
def test_the_length_of_a_curve_is_limited(release_file, count):
    result = run("show", str(release_file), "--curve", "--max-k", count)
    assert result.exit_code == 2
    assert "--max-k" in result.stderr
