"""What earlier versions wrote loads for good; ``tests/stored/README.md``."""

import json
import shutil
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from scipy.sparse import coo_array

from registered import REGISTERED
from spinney import BudgetError, FiniteMetric, Ledger, PrivateKMeans, PrivateKMedian, PrivateKMedoids, Release, verify
from spinney.cli.main import main
from spinney.privacy import Budget, Charge, Measure
from spinney.releases.cover import CoverRelease
from spinney.releases.description import DescriptionRelease
from spinney.releases.sites import SiteRelease
from spinney.verification import schema

STORED = Path(__file__).parents[1] / "stored"
EXPECTED = {path.parent.name: json.loads(path.read_text(encoding="utf-8")) for path in sorted(STORED.glob("*/expected.json"))}
RELEASES = [(version, name) for version, kept in EXPECTED.items() for name in kept["releases"]]
LEDGERS = [(version, name) for version, kept in EXPECTED.items() for name in kept["ledgers"]]
READERS = {"PrivateKMeans": Release, "PrivateKMedian": Release, "PrivateKMedoids": SiteRelease, "CoverRelease": CoverRelease}
READERS["DescriptionRelease"] = DescriptionRelease
#: Those that put points into clusters, of plain numbers.
PREDICTING = [(version, name) for version, name in RELEASES if EXPECTED[version]["releases"][name].get("labels")]


def space_of(version, kind):
    """Return the public space that a stored release of sites is about."""
    town = EXPECTED[version]["town"]
    order = town["order"] if kind == "ordered graph" else range(len(town["places"]))
    if kind in ("points", "matrix"):
        candidates = [0, 7, 14, 21, 28, 35] if kind == "points" else None
        points = FiniteMetric.from_points(town["places"], "manhattan", candidates)
        return points if kind == "points" else FiniteMetric.from_matrix(points.distances(np.arange(points.n_points)))
    new = {old: i for i, old in enumerate(order)}
    tails, heads, lengths = zip(*((new[u], new[v], length) for u, v, length in town["edges"]), strict=True)
    return FiniteMetric.from_graph(coo_array((lengths, (tails, heads)), shape=(len(new), len(new))))


def plain(value):
    """Return a field as JSON has it."""
    if isinstance(value, np.ndarray):
        return json.loads(json.dumps(value.tolist()).replace("NaN", "null"))
    if isinstance(value, tuple):
        return [charge.to_dict() if isinstance(charge, Charge) else charge for charge in value]
    return "inf" if value == float("inf") else value


def test_every_stored_file_is_expected():
    assert EXPECTED
    for version, kept in EXPECTED.items():
        names = {f"{name}.json" for name in kept["releases"]} | {f"{name}.ledger" for name in kept["ledgers"]}
        assert {path.name for path in (STORED / version).iterdir()} == names | {"expected.json"}


@pytest.mark.parametrize(("version", "name"), RELEASES)
def test_a_stored_release_says_what_it_said(version, name, tmp_path):
    path = STORED / version / f"{name}.json"
    expected, record = EXPECTED[version]["releases"][name], json.loads(path.read_text(encoding="utf-8"))
    reader = READERS[expected["kind"]]
    release = reader.from_json(path)
    assert release.statement == expected["statement"] == record["statement"]
    assert {field: plain(getattr(release, field)) for field in record} == record
    release.to_json(tmp_path / "again.json")
    again = reader.from_json(tmp_path / "again.json")
    assert {field: plain(getattr(again, field)) for field in record} == record


@pytest.mark.parametrize(("version", "name"), PREDICTING)
def test_a_stored_release_predicts_and_is_shown(version, name):
    path, expected = STORED / version / f"{name}.json", EXPECTED[version]["releases"][name]
    if expected["kind"] == "PrivateKMedoids":
        release = SiteRelease.from_json(path)
        model, points = PrivateKMedoids.from_release(path, space_of(version, expected["space"])), expected["points"]
    else:
        release = Release.from_json(path)
        model = {"PrivateKMeans": PrivateKMeans, "PrivateKMedian": PrivateKMedian}[expected["kind"]].from_release(path)
        names = release.feature_names
        points = expected["points"] if names is None else pl.DataFrame(expected["points"], schema=list(names), orient="row")
    assert model.predict(points).tolist() == expected["labels"]
    assert model.release_.statement == expected["statement"]
    shown = CliRunner().invoke(main, ["show", str(path)], catch_exceptions=False)
    assert shown.exit_code == 0
    assert expected["statement"] in shown.output
    assert f"{release.sizes.max():.0f}" in shown.output


@pytest.mark.parametrize(("version", "name"), [one for one in RELEASES if one[0] != "0.1.0"])
def test_a_stored_release_is_verified_and_shown_on_every_page(version, name, tmp_path):
    path, expected = STORED / version / f"{name}.json", EXPECTED[version]["releases"][name]
    ledger = {"ledger": STORED / version / f"{expected['ledger']}.ledger"} if "ledger" in expected else {}
    found = verify(path, **ledger)
    assert found.holds == expected["statement"].startswith("("), str(found)
    assert found.authenticated == bool(ledger)
    for command in ("label", "show", "report")[: 1 if expected["kind"] == "CoverRelease" else 3]:  # a cover is read in Python
        more = ["--out", str(tmp_path / "page.html")] if command == "report" else []
        shown = CliRunner().invoke(main, [command, str(path), *more], catch_exceptions=False)
        assert shown.exit_code == 0, shown.output


def test_every_kind_of_release_is_stored():
    """Of format 2, the kinds, algorithms, questions and mechanisms that there are, of format 3 when its version is there.

    `pe-means` is younger than format 2.
    """
    records = [json.loads((STORED / version / f"{name}.json").read_text()) for version, name in RELEASES if version != "0.1.0"]
    kinds = {reader: reader.format.rpartition("/")[0] for reader in READERS.values()}
    assert {one["format"] for one in records} == {f"{kind}/2" for kind in kinds.values()}
    of_points = {one["algorithm"] for one in records if one["format"] == f"{kinds[Release]}/2"}
    assert of_points >= set(REGISTERED["points"]) - {"pe-means"} | set(REGISTERED["users"]) | {"one-cluster"}
    assert {one["algorithm"] for one in records if one["format"] == f"{kinds[SiteRelease]}/2"} >= set(REGISTERED["sites"])
    mechanisms = schema(2)["$defs"]
    asked = {part["question"] for one in records for part in one["mechanisms"]}
    assert asked >= set(mechanisms["charge"]["properties"]["question"]["enum"])


@pytest.mark.parametrize(("version", "name"), LEDGERS)
def test_a_stored_ledger_is_read_and_goes_on(version, name, tmp_path):
    path, expected = STORED / version / f"{name}.ledger", EXPECTED[version]["ledgers"][name]
    unit = {"adjacency": expected["adjacency"], "max_rows_per_group": expected["max_rows_per_group"]}
    before = path.read_bytes()
    ledger = Ledger(path)
    assert ledger.ceiling == Budget(Fraction(expected["epsilon"]), Fraction(expected["delta"]))
    assert [(entry.id, entry.way) for entry in ledger.entries] == list(zip(expected["entries"], expected["ways"], strict=True))
    # Of Gaussian noise a later version proves less. Of pure charges that a release may pool, format 1 counted too little.
    assert 0.92 * expected["spent"] <= ledger.spent
    if b"ledger/1" not in before.splitlines()[0] or ledger.ceiling.delta == 0:
        assert ledger.spent <= expected["spent"] * (1 + 1e-9)
        assert ledger.remaining == pytest.approx(expected["remaining"], rel=1e-9)
    assert ledger.remaining <= expected["remaining"] * (1 + 1e-9)
    assert path.read_bytes() == before

    copy = Ledger(shutil.copy(path, tmp_path / "copy"), **unit)
    small, whole = ([Charge("more", "counts", Measure.PURE, amount)] for amount in (Fraction(1, 10_000), ledger.ceiling.epsilon))
    if name == "above":
        assert ledger.spent > 1.9
        with pytest.raises(BudgetError, match="above its ceiling"):
            copy.spend(small, **unit)
        assert copy.path.read_bytes() == before
        assert f"Spent: epsilon {ledger.spent:.6g}; left: epsilon 0" in str(ledger)
        return
    assert copy.spend(small, **unit) == copy.entries[-1].id
    if expected["spent"] > 0.1:
        with pytest.raises(BudgetError):
            copy.spend(whole, **unit)
    assert Ledger(copy.path).entries == (*ledger.entries, copy.entries[-1])
    assert ledger.spent <= Ledger(copy.path).spent <= ledger.spent + 1e-3
    shown = CliRunner().invoke(main, ["ledger", "show", str(path)], catch_exceptions=False)
    assert (shown.exit_code, shown.output) == (0, f"{ledger}\n")
