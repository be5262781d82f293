"""Pages of text: of every stored release the promise, sizes and charges; rules, boxes and what repeats a release."""

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from spinney import Ledger, PrivateKMeans, Release, SiteRelease, read_release
from spinney.algorithms.hst import HST
from spinney.privacy.charges import Charge, Measure
from spinney.report.publication import page
from spinney.report.publication.document import SHOWN_COLUMNS

ROWS = np.random.default_rng(0).uniform(0, 1, (400, 12))
STORED = (Path(__file__).parents[2] / "stored").glob("*/*.json")
STORED = [
    one for one in (read_release(path) for path in STORED if path.stem != "expected") if isinstance(one, Release | SiteRelease)
]


def fitted(rows=ROWS[:, :2], k=2, **changes):
    return PrivateKMeans(k, **{"epsilon": 1.0, "bounds": (0, 1), "random_state": 0, **changes}).fit(rows).release_


def rows_below(text, *heads):
    """Return the cells of the table under these headings."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[: len(heads)] == list(heads))
    return [line.split() for line in lines[start + 1 :]]


def words(text):
    """Return a page as if it were one line: paragraphs are broken where they happen to end."""
    return " ".join(text.split())


@pytest.mark.parametrize("release", STORED, ids=lambda release: release.algorithm)
def test_a_page_shows_the_promise_and_every_size_and_charge_the_largest_first(release):
    text = page(release, whole=True)
    assert f"Promise: {release.statement}." in words(text)
    for charge in release.charges:
        assert f"{charge.measure.value} {float(charge.amount):.6g}" in text
    order = np.argsort(-release.sizes, kind="stable")  # as labels number them
    if isinstance(release, SiteRelease):
        rows = rows_below(text, "no.", "site", "kind", "rows")[: len(order)]
        assert {int(row[0]): row[2] == "new" for row in rows} == {i: i < len(release.medoids) for i in range(len(rows))}
        sizes = [row[3] for row in rows]
    else:
        rows = rows_below(text, "cluster", "rows")[: len(order)]
        sizes = [row[1] for row in rows]
        d = release.centers.shape[1]
        assert (f"Of {d} columns" in words(page(release))) == (d > SHOWN_COLUMNS)
        assert f"Of {d} columns" not in words(text)
    assert [row[0] for row in rows] == [str(i) for i in order]
    assert [float(size.replace(",", "")) for size in sizes] == pytest.approx(release.sizes[order], rel=1e-3, abs=0.5)
    assert (release.faint in words(text)) == release.looks_empty
    assert f"summary has {len(release.summary_points):,} weighted point" in text


def test_a_page_without_noise_claims_none():
    text = words(page(fitted(epsilon=math.inf)))
    assert "held the rows and added no noise." in text
    assert "Sizes are exact: no noise was added." in text
    assert "NOT PRIVATE" in text
    assert not any(claim in text for claim in ("noisy", "may be noise", "private rows"))


def test_a_page_tells_what_repeats_a_release(tmp_path):
    ledger = Ledger(tmp_path / "stays.ledger", epsilon=3)
    model = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), algorithm=HST(rounds=1), random_state=4)
    release = model.fit(ROWS[:, :2], ledger=ledger).release_
    text = words(page(release))
    assert f"Made: {release.made['date']}, charged to stays.ledger as entry {ledger.entries[0].id}" in text
    assert "To repeat it: alpha 6, beta 8.0, consistent True, rounds 1, repairs 0, slack 0.5, random_state 4." in text
    older = page(replace(release, made={}, parameters={}, random_state=None))
    assert "charged to" not in older
    assert "To repeat it" not in older


def test_many_centers_and_many_charges_stay_one_page():
    release = fitted(k=300)
    names = [f"{name} {i}" for i in range(1, 4001) for name in ("radii", "round")]
    swaps = [Charge(name, "sums", Measure.PURE, Fraction(1, 10**5)) for name in names]
    text = page(replace(release, charges=(*swaps, Charge("sizes", "counts", Measure.PURE, Fraction(1, 50)))))
    assert len(text.splitlines()) < 100
    assert "260 more centers are in the release file" in words(text)
    assert [line.split() for line in text.splitlines() if "1e-05" in line] == [
        [name, "1", "..", "4000", "sums", "4000", "x", "epsilon", "1e-05"] for name in ("radii", "round")
    ]
    odd = tuple(Charge(f"q{i}", "counts", Measure.PURE, Fraction(1, 1000 + i)) for i in range(500))
    assert "488 more lines are in the release file" in page(replace(release, charges=odd))
