"""What notebooks show comes from the sections of the published page, and nothing in it becomes markup."""

import re
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from spinney import FiniteMetric, Ledger, PrivateKMeans, PrivateKMedoids, ReleaseError, max_coverage, one_cluster, verify
from spinney.report import cost_curve
from spinney.report.curve import found_curve
from spinney.stability import separation
from tests.unit.report.drawn import Reader

HOSTILE = '<script>alert("x")</script><img src=x onerror=alert(1)>&"\''
RNG = np.random.default_rng(0)
ROWS = np.concatenate([RNG.normal(center, 0.05, (900, 3)) for center in ([0.2] * 3, [0.5, 0.8, 0.2], [0.8, 0.3, 0.8])])
PLACES = FiniteMetric.from_points(RNG.uniform(0, 1, (30, 2)))


def check(value):
    """Return the tags of what a notebook shows, after a look at what must hold for all."""
    text = value._repr_html_()
    read = Reader(text)
    assert read.tags[0] == "div"
    assert {"script", "link", "iframe", "img", "html", "body"}.isdisjoint(read.tags)
    names = [name for _, name, _ in read.attributes]
    assert not [name for name in names if name in ("src", "href", "srcset") or name.startswith("on")]
    ids = [value for _, name, value in read.attributes if name == "id"]
    assert len(set(ids)) == len(ids)
    assert not re.search(r"url\(|@import|https?:", text)
    rules = text.partition("<style>")[2].partition("</style>")[0]
    selectors = [name for group in re.findall(r"([^{}]+)\{", rules) for name in group.split(",")]
    assert selectors
    assert all(
        name.strip().startswith((".spinney", "@media screen", "@container")) for name in selectors
    )  # the page around keeps its look
    return read


@pytest.fixture(scope="module")
def release():
    return PrivateKMeans("auto", epsilon=1.0, bounds=(0, 1), random_state=0).fit(ROWS).release_


@pytest.fixture(scope="module")
def sites():
    return PrivateKMedoids(3, epsilon=1.0, space=PLACES).fit(RNG.integers(0, 30, 500)).release_


@pytest.fixture(scope="module")
def cover():
    return max_coverage(np.array([0, 1, 2, 3] * 30), [[0, 1], [1, 2], [3]], 2, n_items=4, epsilon=1.0)


def test_plans_releases_curves_and_ledgers_show_themselves(release, sites, cover, tmp_path):
    ledger = Ledger(tmp_path / "<b>ledger.jsonl", epsilon=3.0)
    check(ledger)
    model = PrivateKMeans(3, epsilon=1.0, delta=1e-6, bounds=(0, 1)).fit(ROWS, ledger=ledger)
    for value in (release, sites, cover, cost_curve(release, 5), found_curve(release), ledger, model.plan(3, n_guess=2000)):
        check(value)
    named = replace(release, feature_names=(HOSTILE, "]]>", "\ud800"), noise="secure", made={"ledger": HOSTILE, "entry": HOSTILE})
    assert check(named).tags == check(release).tags
    ball = one_cluster(pd.DataFrame(ROWS, columns=["a", "b", HOSTILE]), 800, epsilon=1.0, bounds={"a": (0, 1), "b": (0, 1)})
    release.to_json(tmp_path / "release.json")
    checked = verify(tmp_path / "release.json")
    for value in (ball, checked, separation(release)):
        check(value)
    assert "800 were asked for" in ball._repr_html_()
    assert checked.verdict in checked._repr_html_()
    assert "What was found" in release._repr_html_()
    assert "epsilon 1" in ledger._repr_html_()
    assert "PRIVATE" not in release._repr_html_()


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_hold_what_the_release_does(kind, release, sites, cover):
    frame = replace(release, feature_names=("size", "a", "a")).to_frame(kind)
    assert list(frame.columns) == ["size", "a", "a_", "size_"]
    assert np.array_equal(np.asarray(frame)[:, :3], release.centers)
    assert np.array_equal(frame["size_"], release.sizes)
    assert list(release.to_frame(kind).columns) == ["column 0", "column 1", "column 2", "size"]
    places = sites.to_frame(kind)
    assert list(places.columns) == ["site", "x", "y", "size", "kind"]
    assert np.array_equal(places["size"], sites.sizes)
    assert np.array_equal(cover.to_frame(kind)["set"], cover.chosen)


def test_plots_return_axes_that_pyplot_knows(release, sites, cover, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    try:
        assert release.plot().shape == (3,)
        assert release.plot(columns=(0, 2)).get_xlabel() == "column 0"
        assert sites.plot().figure.number in pyplot.get_fignums()
        assert found_curve(release).plot().get_xlabel() == "number of clusters"
        assert len(pyplot.get_fignums()) == 4
    finally:
        pyplot.close("all")
    for refused in (cover.plot, lambda: sites.plot(columns=(0, 1))):
        with pytest.raises(ReleaseError, match="no such picture"):
            refused()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ReleaseError, match="matplotlib is not installed"):
        release.plot()
