"""``spinney audit``: a page and JSON, exit codes, functions and algorithms of others; no table is needed."""

import json

import pytest
from click.testing import CliRunner

from spinney import ParameterError, PrivateKMeans, read_release, verify
from spinney.audit import Finding, Findings
from spinney.cli.audits import stops
from spinney.cli.main import main
from spinney.questions.catalog import EVERY

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
    few = ("--pairs", 3, "--runs", 10, "--examples", 3, "--largest", 1000)
    ended = audit("--algorithm", "lloyd", "--k", 2, *few, "--out", out)
    assert ended.exit_code == 0, ended.output
    page = out.read_text()
    found = Findings.from_dict(json.loads(out.with_suffix(".json").read_text()))
    assert [one.method for one in found] == ["replay", "sizes", "black box", "one run", "search"]
    replayed, _, boxed, *_ = (one.tried["worst pair"].split(", ")[1] for one in list(found)[:3])
    assert replayed == boxed, "the black box looks at the pair that lost most"
    for word in ("no promise was broken", "made up", "Cannot see", "at confidence 0.999", "Promised: epsilon 1"):
        assert word in page
    assert "Questions replayed: counts, sums.\n" in page
    left = ", ".join(name for name in EVERY if name not in ("counts", "sums"))
    assert f"Questions of the catalog that were not: {left}.\n" in page


def test_the_default_audit_asks_every_question_and_names_those_that_it_did_not(monkeypatch):
    ended = audit("--method", "sizes", "--largest", 20)
    assert ended.exit_code == 0, ended.output
    assert f"Questions replayed: {', '.join(sorted({*EVERY, 'reports'}))}.\n" in ended.output
    assert "Questions of the catalog that were not: none.\n" in ended.output
    assert ended.output.count("## ") == 1 + len(list(stops(1.0)))
    monkeypatch.setattr("spinney.cli.audits.toured", lambda *options: pytest.fail("a named promise is audited alone"))
    assert audit("--method", "sizes", "--largest", 20, "--k", 2).exit_code == 0


def test_what_an_audit_found_stands_in_the_release(tmp_path):
    path, rows = tmp_path / "release.json", [[0.1], [0.2], [0.9]]
    for model in (
        PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), algorithm="lloyd"),
        PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), delta=1e-6),
    ):
        release = model.fit(rows).release_
        release.signed(bytes(32)).to_json(path)
        ended = audit("--into", path, "--method", "replay", "--method", "black-box", "--pairs", 2, "--runs", 10)
        assert ended.exit_code == 0, ended.output
        found = read_release(path)
        assert found.audit.startswith("no promise broken, made-up rows; epsilon found: replay ")
        assert "black box 0 at confidence 0.999" in found.audit
        assert len(found.audit) <= 120  # the page shows so much
        assert found.signature is None
        assert verify(path).holds
        assert found.to_dict() == release.to_dict() | {"audit": found.audit}


def test_findings_about_another_promise_are_refused(tmp_path):
    path = tmp_path / "release.json"
    release = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), algorithm="lloyd").fit([[0.1], [0.9]]).release_
    for wrong in (Findings.of([Finding("replay", "other", 2.0, 0.0, 1.0)]), Findings(), "sound", None):
        with pytest.raises(ParameterError, match="with_audit"):
            release.with_audit(wrong)
    broken = release.with_audit(Findings.of([Finding("replay", "this", 1.0, 0.0, 1.5)]))
    assert "BROKEN" in broken.audit
    for other in (
        PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), noise_seed=0),
        PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), tighten=True),
    ):
        other.fit([[0.1], [0.9]]).release_.to_json(path)
        before = path.read_bytes()
        ended = audit("--into", path, "--pairs", 1)
        assert ended.exit_code != 0
        assert "Hint:" in ended.output
        assert path.read_bytes() == before


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
