import re

import pytest
from click.testing import CliRunner

from spinney.cli.errors import in_options
from spinney.cli.main import main
from spinney.exceptions import ParameterError

FIT = ("fit", "rows.csv", "--k", "2", "--epsilon", "1", "--bounds", "0", "3", "--columns", "b", "--out", "release.json")
PLAN = ("plan", "--k", "2", "--epsilon", "1", "--n-features", "2")
OPEN = ("ledger", "open", "new", "--epsilon", "1")
SITES = ("sites", "--graph", "edges.csv", "--demand", "demand.csv", "--k", "1", "--epsilon", "1", "--out", "sites.json")
GROUPS = ("--groups", "a", "--max-rows-per-group")
#: What only Python understands: parameters, calls, settings, quoted names of parameters.
PYTHON = re.compile(r"parameter|n_clusters|max_rows|\w\(|\w=|None|to_json|noise_seed|an algorithm")

WRONG = [
    (*FIT, "--k", "0"), (*FIT, "--epsilon", "0"), (*FIT, "--epsilon", "nan"), (*FIT, "--delta", "2"),
    (*FIT, "--bounds", "3", "0"),
    (*FIT, "--bounds", "0", "inf"), (*FIT, "--algorithm", "x"), (*FIT, "--adjacency", "x"), (*FIT, *GROUPS, "0"),
    (*FIT, "--epsilon", "1e-8", *GROUPS, "100"), (*FIT, "--epsilon", "inf", "--ledger", "ledger"), (*FIT, "--ledger", "no"),
    (*FIT, "--adjacency", "replace", "--ledger", "ledger"), (*FIT, "--epsilon", "9", "--ledger", "ledger"),
    (*PLAN, "--n-features", "0"), (*PLAN, "--n-guess", "0"), (*PLAN, "--max-rows-per-group", "0"), (*PLAN, "--k", "-1"),
    (*OPEN, "--epsilon", "0"), (*OPEN, "--delta", "0.9"), (*OPEN, "--adjacency", "x"), (*OPEN, "--max-rows-per-group", "0"),
    ("ledger", "open", "ledger", "--epsilon", "2"), ("ledger", "show", "no"), ("ledger", "show", "rows.csv"),
    ("show", "other.json"), ("show", "rows.csv"), ("show", "no.json"), ("predict", "other.json", "rows.csv"),
    (*SITES, "--k", "0"), (*SITES, "--k", "9"), (*SITES, "--algorithm", "tree"), (*SITES, "--delta", "-1"),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text("a,b\n" + "1,2\n" * 20)
    (tmp_path / "edges.csv").write_text("from,to,length\nA,B,1\nB,C,1\n")
    (tmp_path / "demand.csv").write_text("point\nA\nB\n")
    (tmp_path / "other.json").write_text("{}")
    CliRunner().invoke(main, ["ledger", "open", "ledger", "--epsilon", "1"], catch_exceptions=False)


@pytest.mark.parametrize("arguments", WRONG, ids=" ".join)
def test_errors_name_options_and_no_parameters(folder, arguments):
    result = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert result.exit_code in (2, 3, 4)
    (line,) = result.stderr.splitlines()
    assert "Hint: " in line
    assert PYTHON.search(line) is None, line


def test_python_names_parameters():
    error = ParameterError.wrong("n_clusters", "PrivateKMeans", "an int", 0, "for example n_clusters=8.")
    assert "'n_clusters' parameter of PrivateKMeans" in str(error)
    assert in_options(error) == "--k must be an int. Got 0 instead. Hint: for example --k 8."
