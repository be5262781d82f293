"""Pages of descriptions: everything is told with its margin, few columns of many, and nothing that was typed becomes markup."""

import math

import numpy as np
import polars as pl
import pytest

from spinney import PrivateKMeans, describe
from spinney.report import html_page, label_page, markdown_page, registry_entry, write_report
from spinney.report.publication import page as description_page
from spinney.report.publication.described import SHOWN_CATEGORIES, UNTOLD

ODD = "<script>alert(1)</script>"


def described(epsilon=1.0, n=3000, grouped=False, **more):
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, n)
    table = pl.DataFrame({"x": kind + rng.normal(0, 0.1, n), "cost": 50.0 * kind, ODD: np.array(["a|b", "*c*"])[kind]})
    table = table.with_columns(pl.Series("who", rng.integers(0, 999, n)), pl.Series("many", rng.integers(0, 30, n)))
    table = table.with_columns(day=pl.date(2024, 1, 1) + pl.duration(days=pl.col("many")))
    cap, groups = (2, "who") if grouped else (None, None)
    release = PrivateKMeans(2, epsilon=5.0, bounds={"x": (-1, 2)}, max_rows_per_group=cap).fit(table, groups=groups).release_
    many = {"categories": [str(i) for i in range(30)]}
    bounds = {"cost": (0, 100), ODD: ["a|b", "*c*"], "many": many, "day": ("2024-01-01", "2024-02-01")}
    return describe(release, table, bounds=bounds | more, epsilon=epsilon, groups=groups)


@pytest.mark.parametrize("grouped", [False, True])
def test_a_page_tells_every_number_with_its_margin(grouped, tmp_path):
    found = described(grouped=grouped)
    page = description_page(found)
    assert f"{found.rows[0]:,.0f}" in page
    assert page.count(" \N{PLUS-MINUS SIGN} ") > 10
    assert "2024-01-" in page
    assert ("persons" in page) is grouped
    assert f"{30 - SHOWN_CATEGORIES} more categories" in page
    assert found.of in page
    for text in (markdown_page(found), html_page(found), found._repr_html_(), label_page(found)):
        assert ODD not in text
        assert "NaN" not in text
    write_report(found, tmp_path / "page.html", title="Stays")
    assert registry_entry(found)["deployment"]["data_product_type"] == "description of clusters"


def test_exact_descriptions_say_so_and_noise_alone_says_so():
    exact = description_page(described(math.inf))
    assert "exact: no noise was added" in exact
    assert " \N{PLUS-MINUS SIGN} " not in exact.partition("Behind")[0]
    assert "NOT PRIVATE" in html_page(described(math.inf))
    faint = described(1e-3, n=20)
    assert UNTOLD in description_page(faint) or not faint.looks_empty
    assert faint.looks_empty <= (faint.faint in description_page(faint))


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_frame_has_a_row_for_each_cluster(kind):
    found = described(grouped=True)
    frame = found.to_frame(kind)
    assert len(frame) == 2
    names = list(frame.columns)
    assert names[:5] == ["rows", "persons", "cost mean", "cost margin", "cost median"]
    assert f"{ODD}=a|b" in names
    assert names[-1] == "named"
    with pytest.raises(ValueError, match="no such picture"):
        found.plot()
