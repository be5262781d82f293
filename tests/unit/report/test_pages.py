"""Pages of text: of every stored release the promise, sizes and charges; rules, boxes and what repeats a release."""

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from spinney import Ledger, PrivateKMeans, Release, read_release
from spinney.algorithms.hst import HST
from spinney.privacy.charges import Charge, Measure
from spinney.releases.sites import SiteRelease
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
