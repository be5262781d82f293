import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from spinney import Ledger, PrivateKMeans
from spinney.algorithms.hst import HST
from spinney.privacy.charges import Charge, Measure
from spinney.report.pages import SHOWN_COLUMNS, page

ROWS = np.random.default_rng(0).uniform(0, 1, (400, 12))


@pytest.mark.parametrize("d", [2, 12])
def test_a_page_shows_the_promise_the_centers_and_every_charge(d):
    release = PrivateKMeans(3, epsilon=2.0, bounds=(0, 1), noise_seed=1, random_state=0).fit(ROWS[:, :d]).release_
    text = page(release)
    assert f"Promise: {release.statement}." in text
    assert f"kmeans: 3 centers, {d} columns" in text
    for charge in release.charges:
        assert f"{charge.measure.value} {float(charge.amount):.6g}" in text
        assert charge.name in text
    for size in release.sizes:
        assert f"{size:.0f}" in text
    assert (f"... and {d - SHOWN_COLUMNS} more columns" in text) == (d > SHOWN_COLUMNS)


def test_larger_clusters_come_first():
    release = PrivateKMeans(3, epsilon=50.0, bounds=(0, 1), noise_seed=1, random_state=0).fit(ROWS[:, :2]).release_
    lines = page(release).splitlines()
    start = next(i for i, line in enumerate(lines) if line.split()[:2] == ["cluster", "size"])
    sizes = [float(line.split()[1]) for line in lines[start + 1 : start + 4]]
    assert sizes == sorted(release.sizes, reverse=True)


@pytest.mark.parametrize("d", [2, 12])
def test_a_page_shows_the_private_box(d):
    model = PrivateKMeans(3, epsilon=50.0, bounds=(-20, 20), noise_seed=1, random_state=0)
    assert "private box" not in page(model.fit(ROWS[:, :d]).release_)
    release = model.set_params(tighten=True).fit(ROWS[:, :d]).release_
    text = page(release)
    assert "The private box that rows were clipped to:" in text
    for low, high in zip(release.tightened["lower"][:SHOWN_COLUMNS], release.tightened["upper"][:SHOWN_COLUMNS], strict=True):
        assert f"{low:.5g}" in text
        assert f"{high:.5g}" in text


def test_a_page_says_if_the_sizes_may_all_be_noise():
    model = PrivateKMeans(3, epsilon=50.0, bounds=(0, 1), noise_seed=1, random_state=0)
    assert "may all be noise" not in page(model.fit(ROWS[:, :2]).release_)
    assert "may all be noise" in page(model.fit(np.full((400, 2), np.nan)).release_)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_a_page_states_the_rule_that_applied(adjacency):
    text = page(PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), adjacency=adjacency).fit(ROWS[:, :2]).release_)
    assert ("- rows with a missing or infinite value dropped\n" in text) == (adjacency == "add-remove")
    assert ("- rows with a missing or infinite value read as the middle of the domain\n" in text) == (adjacency == "replace")
    assert "- before that, as declared by the caller: none\n" in text


def test_a_page_without_noise_claims_none():
    text = page(PrivateKMeans(2, epsilon=math.inf, bounds=(0, 1)).fit(ROWS[:, :2]).release_)
    assert "held the rows and added no noise." in text
    assert "Centers by size (exact: no noise was added):" in text
    assert "noisy" not in text
    assert "added the noise" not in text


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
    release = PrivateKMeans(300, epsilon=1.0, bounds=(0, 1), random_state=0).fit(ROWS[:, :2]).release_
    swaps = [
        Charge(f"{name} {i}", "sums", Measure.PURE, Fraction(1, 10**5)) for i in range(1, 4001) for name in ("radii", "round")
    ]
    text = page(replace(release, charges=(*swaps, Charge("sizes", "counts", Measure.PURE, Fraction(1, 50)))))
    lines = text.splitlines()
    assert len(lines) < 75
    assert "... and 260 more centers" in lines
    assert [line.split() for line in lines if "1e-05" in line] == [
        ["sums", name, "1", "..", "4000", "4000", "x", "epsilon", "1e-05"] for name in ("radii", "round")
    ]
    odd = tuple(Charge(f"q{i}", "counts", Measure.PURE, Fraction(1, 1000 + i)) for i in range(500))
    assert "... and 460 more charges" in page(replace(release, charges=odd)).splitlines()
