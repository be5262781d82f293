from dataclasses import replace

import numpy as np
import pytest

from spinney import FiniteMetric, PrivateKMedoids
from spinney.releases.sites import SiteRelease
from spinney.report.pages import page
from spinney.report.site_table import site_rows

GRID = [[x, y] for x in range(6) for y in range(6)]
DEMAND = np.random.default_rng(0).integers(0, 36, 3000)


def release(demand=DEMAND, space=None, **changes):
    space = FiniteMetric.from_points(GRID) if space is None else space
    options = {"n_clusters": 3, "epsilon": 2.0, "space": space, "algorithm": "hst", "noise_seed": 0, "random_state": 0, **changes}
    return PrivateKMedoids(**options).fit(demand).release_


@pytest.mark.parametrize("algorithm", ["hst", "coverage"])
def test_a_page_shows_the_promise_the_sites_and_every_charge(algorithm):
    made = release(existing_sites=[0, 35], algorithm=algorithm, delta=1e-6)
    text = page(made)
    assert f"sites: 3 new, 2 existing, travel costs, algorithm {algorithm!r}" in text
    assert "Space: points of 36 points, 36 of them candidates." in text
    assert f"Promise: {made.statement}." in text
    assert f"Summary: {len(made.summary_points)} weighted points." in text
    for charge in made.charges:
        assert f"{charge.measure.value} {float(charge.amount):.6g}" in text
        assert charge.name in text
    assert SiteRelease.faint not in text


def test_larger_sites_come_first_with_their_names():
    made = release(existing_sites=[7], power=2)
    named = replace(made, names=("North", "South", "East", "Old"))
    lines = page(named).splitlines()
    start = next(i for i, line in enumerate(lines) if line.split() == ["number", "size", "site", "kind"])
    rows = [line.split() for line in lines[start + 1 : start + 5]]
    assert [float(row[1]) for row in rows] == sorted(made.sizes, reverse=True)
    assert [row[2] for row in rows] == [named.names[int(row[0])] for row in rows]  # as labels number them
    assert {row[2]: row[3] for row in rows} == {"North": "new", "South": "new", "East": "new", "Old": "existing"}
    assert "squared travel costs" in lines[0]
    without = page(made).splitlines()[start + 1 : start + 5]
    assert {line.split()[2] for line in without} == {str(site) for site in made.sites}


def test_a_page_says_if_the_sizes_may_all_be_noise():
    assert SiteRelease.faint in page(release(np.full(3000, -1)))


def test_without_existing_sites_none_are_mentioned():
    assert "existing" not in page(release())


def test_rows_are_a_table():
    made = release(existing_sites=[7])
    rows = site_rows(made)
    assert rows[0] == ["name", "x", "y", "size", "margin", "kind"]
    assert [row[-1] for row in rows[1:]] == ["new"] * 3 + ["existing"]
    assert [float(row[1]) for row in rows[1:]] == made.coordinates[:, 0].tolist()
    assert [int(row[3]) for row in rows[1:]] == made.sizes.tolist()
    assert {row[4] for row in rows[1:]} == {f"{made.sizes_margin:.0f}"}


@pytest.mark.parametrize(
    ("width", "axes"), [(None, []), (1, ["x"]), (3, ["x", "y", "z"]), (4, ["x1", "x2", "x3", "x4"])], ids=str
)
def test_rows_have_as_many_coordinates_as_the_space(width, axes):
    if width is None:
        space = FiniteMetric.from_matrix(np.abs(np.subtract.outer(range(36), range(36))).astype(float))
    else:
        space = FiniteMetric.from_points(np.random.default_rng(0).random((36, width)))
    assert site_rows(release(space=space))[0] == ["name", *axes, "size", "margin", "kind"]
