from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import coo_array

from spinney import FiniteMetric, PrivateKMedoids
from spinney.report.map import draw_map
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
