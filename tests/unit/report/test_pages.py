"""Pages of text: of every stored release the promise, sizes and charges; rules, boxes and what repeats a release."""

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from spinney import FiniteMetric, Ledger, PrivateKMeans, PrivateKMedoids, Release, read_release
from spinney.algorithms.hst import HST
from spinney.privacy.charges import Charge, Measure
from spinney.releases.sites import SiteRelease
from spinney.report.frames import site_rows
from spinney.report.pages import SHOWN_COLUMNS, page

ROWS = np.random.default_rng(0).uniform(0, 1, (400, 12))
STORED = (Path(__file__).parents[2] / "stored").glob("*/*.json")
STORED = [
    one for one in (read_release(path) for path in STORED if path.stem != "expected") if isinstance(one, Release | SiteRelease)
]


def fitted(rows=ROWS[:, :2], k=2, **changes):
    return PrivateKMeans(k, **{"epsilon": 1.0, "bounds": (0, 1), "random_state": 0, **changes}).fit(rows).release_


def table_below(text, *heads):
    """Return the cells of the table under these headings."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[: len(heads)] == list(heads))
    return [line.split() for line in lines[start + 1 :]]


@pytest.mark.parametrize("release", STORED, ids=lambda release: release.algorithm)
def test_a_page_shows_the_promise_and_every_size_and_charge_the_largest_first(release):
    text = page(release, whole=True)
    assert f"Promise: {release.statement}." in text
    for charge in release.charges:
        assert f"{charge.measure.value} {float(charge.amount):.6g}" in text
    heads = ("cluster", "size") if isinstance(release, Release) else ("number", "size", "site", "kind")
    rows = table_below(text, *heads)[: len(release.sizes)]
    assert [row[0] for row in rows] == [str(i) for i in np.argsort(-release.sizes, kind="stable")]  # as labels number them
    assert [row[1] for row in rows] == [f"{release.sizes[int(row[0])]:.0f}" for row in rows]
    assert (release.faint in text) == release.looks_empty
    if isinstance(release, SiteRelease):
        assert {int(row[0]): row[-1] == "new" for row in rows} == {i: i < len(release.medoids) for i in range(len(rows))}
    else:
        d = release.centers.shape[1]
        assert (f"... and {d - SHOWN_COLUMNS} more columns" in page(release)) == (d > SHOWN_COLUMNS)


@pytest.mark.parametrize("d", [2, 12])
def test_a_page_shows_the_private_box(d):
    wide = {"epsilon": 50.0, "bounds": (-20, 20), "noise_seed": 1}
    assert "private box" not in page(fitted(ROWS[:, :d], **wide))
    release = fitted(ROWS[:, :d], tighten=True, **wide)
    text = page(release)
    assert "The private box that rows were clipped to:" in text
    for side in ("lower", "upper"):
        assert all(f"{end:.5g}" in text for end in release.tightened[side][:SHOWN_COLUMNS])


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_a_page_states_the_rule_that_applied(adjacency):
    text = page(fitted(adjacency=adjacency))
    assert ("- rows with a missing or infinite value dropped\n" in text) == (adjacency == "add-remove")
    assert ("- rows with a missing or infinite value read as the middle of the domain\n" in text) == (adjacency == "replace")
    assert "- before that, as declared by the caller: none\n" in text


def test_a_page_without_noise_claims_none():
    text = page(fitted(epsilon=math.inf))
    assert "held the rows and added no noise." in text
    assert "Centers by size (exact: no noise was added):" in text
    assert "noisy" not in text


def test_a_page_tells_what_repeats_a_release(tmp_path):
    ledger = Ledger(tmp_path / "stays.ledger", epsilon=3)
    model = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), algorithm=HST(rounds=1), random_state=4)
    release = model.fit(ROWS[:, :2], ledger=ledger).release_
    text = page(release)
    assert f"Made on {release.made['date']}, charged to stays.ledger as entry {ledger.entries[0].id}." in text
    assert "To repeat it: alpha 6, beta 8.0, consistent True, rounds 1, repairs 0, slack 0.5, random_state 4." in text
    older = page(replace(release, made={}, parameters={}, random_state=None))
    assert "Made on" not in older
    assert "To repeat it" not in older


def test_many_centers_and_many_charges_stay_one_page():
    release = fitted(k=300)
    names = [f"{name} {i}" for i in range(1, 4001) for name in ("radii", "round")]
    swaps = [Charge(name, "sums", Measure.PURE, Fraction(1, 10**5)) for name in names]
    lines = page(replace(release, charges=(*swaps, Charge("sizes", "counts", Measure.PURE, Fraction(1, 50))))).splitlines()
    assert len(lines) < 75
    assert "... and 260 more centers" in lines
    assert [line.split() for line in lines if "1e-05" in line] == [
        ["sums", name, "1", "..", "4000", "4000", "x", "epsilon", "1e-05"] for name in ("radii", "round")
    ]
    odd = tuple(Charge(f"q{i}", "counts", Measure.PURE, Fraction(1, 1000 + i)) for i in range(500))
    assert "... and 460 more charges" in page(replace(release, charges=odd)).splitlines()


@pytest.mark.parametrize(
    ("width", "axes"), [(None, []), (1, ["x"]), (3, ["x", "y", "z"]), (4, ["x1", "x2", "x3", "x4"])], ids=str
)
def test_sites_are_a_table_with_as_many_coordinates_as_the_space(width, axes):
    if width is None:
        space = FiniteMetric.from_matrix(np.abs(np.subtract.outer(range(36), range(36))).astype(float))
    else:
        space = FiniteMetric.from_points(np.random.default_rng(0).random((36, width)))
    model = PrivateKMedoids(3, epsilon=2.0, space=space, algorithm="hst", existing_sites=[7], noise_seed=0, random_state=0)
    made = model.fit(np.random.default_rng(0).integers(0, 36, 3000)).release_
    heads, *rows = site_rows(made)
    assert heads == ["name", *axes, "size", "margin", "kind"]
    assert [row[-1] for row in rows] == ["new"] * 3 + ["existing"]
    assert [int(row[-3]) for row in rows] == made.sizes.tolist()
    assert {row[-2] for row in rows} == {f"{made.sizes_margin:.0f}"}
