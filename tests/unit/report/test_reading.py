"""What a reader matches: numbers of clusters with labels, declared columns with the schema, the chosen number with the curve."""

import re
from datetime import date

import numpy as np
import pandas as pd
import pytest

from spinney import FiniteMetric, PrivateKMeans, PrivateKMedoids
from spinney.report import draw, html_page, markdown_page
from tests.unit.report.drawn import Captured, texts

SCHEMA = {
    "age": {"bounds": (0, 110), "unit": 10, "source": "life tables", "fill": 40},
    "income": {"bounds": (0, 200_000), "unit": 20_000},
    "region": ["north", "south", "west"],
    "smoker": bool,
    "admitted": (date(2020, 1, 1), date(2025, 12, 31)),
    "wards": {"categories": ["a", "b", "c", "d"], "fill": "d"},
}


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    kind = rng.choice(3, 6_000, p=[0.2, 0.5, 0.3])  # the numbers of the clusters are not the order of their sizes
    table = pd.DataFrame(
        {
            "age": np.array([20, 50, 80])[kind] + rng.normal(0, 2, kind.size),
            "income": np.array([40_000, 150_000, 90_000])[kind] + rng.normal(0, 3_000, kind.size),
            "region": np.array(["north", "south", "west"])[kind],
            "smoker": kind == 1,
            "admitted": np.array(["2020-06-01", "2023-06-01", "2025-06-01"])[kind],
            "wards": np.array(["a", "b", "c"])[kind],
        }
    )
    auto = PrivateKMeans("auto", max_clusters=6, epsilon=20.0, bounds=SCHEMA, scale="bounds", random_state=0)
    return auto.fit(table)


def rows_of(told, head):
    """Return the cells of a table of Markdown by its first heading."""
    lines = told.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {head} |"))
    found = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            return found
        found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def test_clusters_have_the_numbers_of_labels_wherever_they_are_told(model, monkeypatch):
    release = model.release_
    frame = pd.DataFrame(
        {
            "age": release.centers[:, 0],
            "income": release.centers[:, 1],
            "region": ["north", "south", "west", "north", "south", "west"][: len(release.centers)],
            "smoker": True,
            "admitted": "2023-01-01",
            "wards": "a",
        }
    )
    assert len(set(model.predict(frame))) > 1  # labels are 0 .. k - 1
    by_size = [str(i) for i in np.argsort(-release.sizes, kind="stable")]
    assert by_size != sorted(by_size)
    reported = rows_of(markdown_page(release), "cluster")
    assert [row[0] for row in reported] == by_size
    for row in reported:
        assert abs(float(row[2].split()[0]) - release.centers[int(row[0]), 0]) < 0.01
    captured = Captured(monkeypatch)
    draw(release, "picture.png", columns=(0, 1))
    assert {f"{i}: {size:.0f}" for i, size in enumerate(release.sizes)} <= set(texts(captured.last))
    marks = re.findall(r'class="n">(\d+)</text>', html_page(release))
    assert set(marks) == set(by_size)
    sites = PrivateKMedoids(2, epsilon=9.0, space=FiniteMetric.from_points(np.random.default_rng(1).random((9, 2))))
    chosen = sites.fit(np.repeat(np.arange(9), 50)).release_
    assert {row[0]: row[1] for row in rows_of(markdown_page(chosen), "no.")} == {
        str(i): str(site) for i, site in enumerate(chosen.sites)
    }


def test_a_report_lists_the_columns_of_the_schema_by_their_own_names(model):
    told = {row[0]: row[1:] for row in rows_of(markdown_page(model.release_), "column")}
    assert list(told) == list(SCHEMA)
    assert told["age"] == ["number", "0 to 110; a missing cell counts as 40", "10", "life tables"]
    assert told["income"] == ["number", "0 to 200,000", "20,000", "not stated"]
    assert told["region"] == ["3 categories", "north, south, west", "1", "not stated"]
    assert told["smoker"][:2] == ["boolean", "true, false"]
    assert told["admitted"][:2] == ["date", "2020-01-01 to 2025-12-31"]
    assert told["admitted"][2].endswith(" days")
    assert told["wards"][1] == "a, b, c, d; a missing cell counts as d"
    wide = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), tighten=True).fit(np.random.default_rng(0).random((300, 12))).release_
    plain = rows_of(markdown_page(wide), "column")
    assert [row[:2] for row in plain] == [[f"column {i}", "0 to 1"] for i in range(12)]
    assert all(" to " in row[2] for row in plain)  # the private box
