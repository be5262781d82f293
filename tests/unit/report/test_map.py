import base64
import hashlib
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import coo_array

from spinney import FiniteMetric, ParameterError, PrivateKMedoids
from spinney.report import draw_map, html_page
from spinney.spaces.metric import nearest_site
from tests.unit.report.drawn import Captured, cut_off, overlapping, texts

pytest.importorskip("matplotlib")
PNG = b"\x89PNG\r\n\x1a\n"
RING = coo_array((np.ones(30), (np.arange(30), (np.arange(30) + 1) % 30)))
CIRCLE = np.column_stack([np.cos(np.arange(30) / 30 * 2 * np.pi), np.sin(np.arange(30) / 30 * 2 * np.pi)])
DEMAND = np.random.default_rng(0).integers(0, 30, 2000)

SPACES = {
    "network": FiniteMetric.from_graph(RING, coordinates=CIRCLE),
    "points": FiniteMetric.from_points(CIRCLE),
    "line": FiniteMetric.from_points(np.arange(30.0)[:, None]),
    "solid": FiniteMetric.from_points(np.random.default_rng(0).random((30, 3))),
}


def release(space, **changes):
    options = {"n_clusters": 3, "epsilon": 1.0, "delta": 1e-6, "algorithm": "coverage", "noise_seed": 0, "random_state": 0}
    return PrivateKMedoids(**{**options, "space": space, **changes}).fit(DEMAND).release_


@pytest.mark.parametrize(("name", "existing"), [("network", [3, 4]), ("points", []), ("line", [3, 4]), ("solid", [])])
def test_a_release_can_be_drawn_with_its_space_and_alone(tmp_path, name, existing):
    made = release(SPACES[name], existing_sites=existing)
    draw_map(made, tmp_path / "map.png", SPACES[name])
    draw_map(made, tmp_path / "alone.png")
    full, alone = (tmp_path / "map.png").read_bytes(), (tmp_path / "alone.png").read_bytes()
    assert full[:8] == alone[:8] == PNG
    assert full != alone


BERLIN = np.array([[13.30 + 0.006 * i, 52.48 + 0.0036 * j] for j in range(5) for i in range(6)])


@pytest.mark.parametrize(
    ("places", "whole"), [(CIRCLE, True), (BERLIN, True), (BERLIN[:, ::-1] * 1e5, False), (CIRCLE * [1.0, 0.1], False)]
)
def test_labels_are_whole_and_do_not_cover_each_other(monkeypatch, places, whole):
    captured = Captured(monkeypatch)
    space = FiniteMetric.from_graph(RING, coordinates=places)
    made = release(space, existing_sites=[3, 4, 5, 6], n_clusters=8)
    made = replace(made, names=tuple("Very Long Winded Boulevard" for _ in range(12)), max_rows_per_group=12_345, noise="secure")
    draw_map(made, "map.png", space if whole else None)
    assert overlapping(captured.last) == []
    assert cut_off(captured.last) == []
    assert made.statement in " ".join(" ".join(texts(captured.last)).split())


@pytest.mark.parametrize("latitude", [-70.0, 52.5])
def test_a_degree_to_the_east_is_drawn_shorter_than_one_to_the_north(monkeypatch, latitude):
    captured = Captured(monkeypatch)
    places = CIRCLE * 0.1 + [13.4, latitude]
    draw_map(release(FiniteMetric.from_points(places)), "map.png", FiniteMetric.from_points(places))
    (axis,) = captured.last.axes
    assert axis.get_aspect() == pytest.approx(1 / np.cos(np.radians(latitude)), rel=1e-3)
    assert any(text.endswith("°E") for text in texts(captured.last))
    draw_map(release(FiniteMetric.from_points(places)), "map.png", FiniteMetric.from_points(places), degrees=False)
    assert captured.last.axes[0].get_aspect() == 1


@pytest.mark.parametrize("name", SPACES)
def test_geojson_has_sites_what_they_serve_and_the_summary(tmp_path, name):
    space, made = SPACES[name], release(SPACES[name], existing_sites=[3])
    draw_map(made, tmp_path / "map.geojson", space)
    read = json.loads((tmp_path / "map.geojson").read_text())
    kinds = {
        kind: [one for one in read["features"] if one["properties"]["kind"] == kind] for kind in ("site", "catchment", "hull")
    }
    assert [one["properties"]["rows"] for one in kinds["site"]] == made.sizes.tolist()
    assert [one["properties"]["is_new"] for one in kinds["site"]] == [True] * 3 + [False]
    served = [one["geometry"]["coordinates"] for one in kinds["catchment"]]
    assert [len(one) for one in served] == np.bincount(nearest_site(space, made.sites), minlength=4).tolist()
    of = {one["properties"]["site"]: points for one, points in zip(kinds["catchment"], served, strict=True)}
    assert name == "line" or kinds["hull"]
    for hull in kinds["hull"]:
        (ring,), points = np.array(hull["geometry"]["coordinates"]), np.array(of[hull["properties"]["site"]])
        along, to = np.diff(ring, axis=0)[:, None], points[None] - ring[:-1, None]
        assert (ring[0] == ring[-1]).all()
        assert (along[..., 0] * to[..., 1] - along[..., 1] * to[..., 0] >= -1e-9).all()  # no point is to the right of an edge
    demand = [one["properties"]["rows"] for one in read["features"] if one["properties"]["kind"] == "demand"]
    assert demand == made.summary_weights.tolist()


def test_a_map_that_moves_is_one_page_with_one_script_and_names_are_no_markup(tmp_path):
    space = SPACES["network"]
    hostile = "</script><img src=x onerror=alert(1)>"
    made = replace(release(space, existing_sites=[3]), names=(hostile, "two", "three", "four"))
    draw_map(made, tmp_path / "map.html", space)
    page = (tmp_path / "map.html").read_text()
    assert hostile not in page
    (allowed,) = re.findall(r"script-src &#x27;sha256-([^&]*)&#x27;", page)
    data, script = re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL)
    assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() == allowed
    read = json.loads(data)
    assert read["sites"][0]["name"].startswith("</script>")
    serving = np.frombuffer(base64.b64decode(read["serving"]), "<u2")
    np.testing.assert_array_equal(serving, nearest_site(space, made.sites))
    edges = np.frombuffer(base64.b64decode(read["edges"]), "<u4").reshape(-1, 2)
    assert {tuple(edge) for edge in edges.tolist()} == {(i, (i + 1) % 30) if i < 29 else (0, 29) for i in range(30)}
    points = np.frombuffer(base64.b64decode(read["points"]), "<u2").reshape(-1, 2) / 65535
    np.testing.assert_allclose(points, (CIRCLE - CIRCLE.min(axis=0)) / np.ptp(CIRCLE, axis=0).max(), atol=2e-5)
    assert len(read["demand"]) == len(made.summary_points)
    draw_map(replace(made, assignment=np.arange(30) % 5 - 1), tmp_path / "map.html", space)
    stated = json.loads(re.findall(r"json.>(.*?)</script>", (tmp_path / "map.html").read_text())[0])["serving"]
    assert np.frombuffer(base64.b64decode(stated), "<u2").tolist() == [65535, 0, 1, 2, 3] * 6
    assert script in html_page(made, space=space)
    assert "<script" not in html_page(made)


def test_a_drawing_can_be_svg_and_another_space_is_refused(tmp_path):
    made = release(SPACES["network"])
    for name in ("one.svg", "two.svg"):
        draw_map(made, tmp_path / name, SPACES["network"])
    text = (tmp_path / "one.svg").read_text()
    assert text == (tmp_path / "two.svg").read_text()
    assert made.statement.split()[-1] in text
    for path in ("map.png", "map.html", "map.geojson"):
        with pytest.raises(ParameterError, match="the space of the release"):
            draw_map(made, tmp_path / path, SPACES["points"])
