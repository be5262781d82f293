"""``spinney audit``: a page and JSON, exit codes, functions and algorithms of others; no table is needed."""

import json

import pytest
from click.testing import CliRunner

from spinney.audit import Findings
from spinney.cli.main import main

FUNCTIONS = """
import numpy as np

rng = np.random.default_rng(0)

def sound(table):
    return len(table) + rng.laplace(0, 1)

def leaky(table):
    return len(table)
"""


def audit(*options):
    return CliRunner().invoke(main, ["audit", *map(str, options)])


@pytest.fixture
def functions(tmp_path, monkeypatch):
    (tmp_path / "audited_functions.py").write_text(FUNCTIONS)
    monkeypatch.chdir(tmp_path)


def test_an_estimator_is_audited_and_a_page_and_json_are_written(tmp_path):
    out = tmp_path / "page.md"
    ended = audit("--algorithm", "lloyd", "--k", 2, "--pairs", 3, "--runs", 10, "--examples", 3, "--out", out)
    assert ended.exit_code == 0, ended.output
    page = out.read_text()
    found = Findings.from_dict(json.loads(out.with_suffix(".json").read_text()))
    assert [one.method for one in found] == ["replay", "black box", "one run", "search"]
    for word in ("no promise was broken", "made up", "Cannot see", "at confidence 0.999", "Promised: epsilon 1"):
        assert word in page


@pytest.mark.parametrize(("estimator", "algorithm"), [("kmedoids", "hst"), ("coverage", "auto"), ("kmedian", "lloyd")])
def test_every_estimator_can_be_audited(estimator, algorithm):
    options = ("--estimator", estimator, "--algorithm", algorithm, "--method", "replay", "--pairs", 3, "--k", 2)
    ended = audit(*options, "--adjacency", "replace", "--delta", 1e-6, "--max-rows-per-group", 2)
    assert ended.exit_code == 0, ended.output


@pytest.mark.usefixtures("functions")
def test_a_function_that_breaks_its_promise_ends_with_1():
    ended = audit("--function", "audited_functions:leaky", "--method", "black-box", "--runs", 100, "--pairs", 2)
    assert ended.exit_code == 1
    assert "BROKEN" in ended.output
    ended = audit("--function", "audited_functions:sound", "--method", "black-box", "--runs", 100, "--pairs", 2)
    assert ended.exit_code == 0, ended.output


@pytest.mark.usefixtures("functions")
@pytest.mark.parametrize(
    "options",
    [
        ("--function", "audited_functions:nobody"),
        ("--function", "nowhere:nobody"),
        ("--function", "audited_functions"),
        ("--function", "audited_functions:sound", "--method", "replay"),
        ("--adjacency", "swap"),
        ("--algorithm", "nothing"),
        ("--epsilon", "-1"),
    ],
)
def test_wrong_options_are_a_line_and_exit_code_2(options):
    ended = audit(*options)
    assert ended.exit_code == 2, ended.output
    assert "error:" in ended.output
