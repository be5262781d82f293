import numpy as np
import pytest

from spinney import PrivateKMeans
from spinney.report.page import SHOWN_COLUMNS, page

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
    start = next(i for i, line in enumerate(lines) if line.split()[:1] == ["size"])
    sizes = [float(line.split()[0]) for line in lines[start + 1 : start + 4]]
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
