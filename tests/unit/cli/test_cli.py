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


def test_the_demos_data_are_public_pixels():
    pixels = demo.public_colors()
    assert pixels.shape == (273_280, 3)
    assert pixels.dtype == np.uint8


def test_the_release_that_is_shown_is_one_of_the_table():
    assert demo.SHOWN in demo.EPSILONS
