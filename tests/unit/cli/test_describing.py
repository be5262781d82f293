"""`spinney describe`: from files to a release of its own, or to its plan; what is wrong is one line."""

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from spinney import DescriptionRelease, read_release, verify
from spinney.cli.main import main


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    kind = rng.integers(3, size=3000)
    table = {
        "person": [f"p{i // 2}" for i in range(3000)],
        "age": np.array([8, 40, 75])[kind] + rng.normal(0, 5, 3000),
        "cost": np.array([20, 60, 90])[kind] + rng.normal(0, 5, 3000),
        "ward": np.array(["a", "b", "c"])[kind],
    }
    pl.DataFrame(table).write_csv("stays.csv")
    (tmp_path / "facts.json").write_text('{"cost": [0, 100], "ward": ["a", "b", "c"]}')
    run("fit", "stays.csv", "--columns", "age", "--bounds", "0", "110", "--k", "3", "--epsilon", "2", "--out", "release.json")
    return tmp_path


def run(*arguments, code=0):
    result = CliRunner().invoke(main, list(arguments))
    assert result.exit_code == code, result.output
    return result.output


DESCRIBE = ("describe", "release.json", "stays.csv", "--schema", "facts.json", "--epsilon", "1")


def test_a_table_becomes_a_description_that_all_commands_take(folder):
    assert "Wrote found.json" in run(*DESCRIBE, "--out", "found.json")
    found = read_release("found.json")
    assert isinstance(found, DescriptionRelease)
    assert found.names == ("cost", "ward")
    assert verify("found.json").holds
    page = run("show", "found.json")
    assert "most distinguished by" in page
    assert "cost:" in page
    for kind in ("html", "md"):
        run("report", "found.json", "--out", f"found.{kind}")
        assert "What the clusters are like" in (folder / f"found.{kind}").read_text()
    assert "description of clusters" in run("label", "found.json")
    assert "Only a release of centers has a cost curve" in run("show", "found.json", "--curve", code=3)
    assert "no release of centers" in run("describe", "found.json", "stays.csv", "--epsilon", "1", code=3)
    assert "no release of centers" in run("predict", "found.json", "stays.csv", code=3)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--columns", "wealth"), "--columns must be columns in the bounds or the release: 'cost', 'ward', 'age'. Got 'wealth'"),
        (("--columns", ""), "--columns must be"),
        (("--bins", "1"), "--bins must be an int from 2"),
        (("--epsilon", "-1"), "--epsilon must be"),
        (("--groups", "person"), "--max-rows-per-group 10 with groups promises more"),
        (("--n-guess", "9"), "--out FILE, or --dry-run"),
        ((), "--out FILE, or --dry-run"),
    ],
)
def test_what_is_wrong_is_one_line_with_what_to_type(more, said, folder):
    output = run(*DESCRIBE, *more, code=2)
    assert said in output
    assert output.count("\n") == 1
    assert "Hint: " in output
