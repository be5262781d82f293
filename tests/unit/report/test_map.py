from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import coo_array

from spinney import FiniteMetric, PrivateKMedoids, ReleaseError
from spinney.report import map as module
from spinney.report.map import draw_map

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


@pytest.mark.parametrize("name", SPACES)
@pytest.mark.parametrize("existing", [[], [3, 4]], ids=["new", "existing"])
def test_a_release_can_be_drawn_with_its_space_and_alone(tmp_path, name, existing):
    made = release(SPACES[name], existing_sites=existing)
    draw_map(made, tmp_path / "map.png", SPACES[name])
    draw_map(made, tmp_path / "alone.png")
    full, alone = (tmp_path / "map.png").read_bytes(), (tmp_path / "alone.png").read_bytes()
    assert full[:8] == alone[:8] == PNG
    assert full != alone


def test_a_release_without_a_summary_can_be_drawn(tmp_path):
    draw_map(release(SPACES["network"], algorithm="hst"), tmp_path / "map.png", SPACES["network"])


def test_any_name_can_be_drawn(tmp_path):
    made = replace(release(SPACES["network"]), names=("$x^{", "Main_St\\", "%s {0}"))
    draw_map(made, tmp_path / "map.png", SPACES["network"])


def test_many_sites_have_no_labels(tmp_path, monkeypatch):
    made = release(SPACES["network"])
    draw_map(made, tmp_path / "labeled.png", SPACES["network"])
    monkeypatch.setattr(module, "LABELED", 2)
    draw_map(made, tmp_path / "bare.png", SPACES["network"])
    assert (tmp_path / "labeled.png").read_bytes() != (tmp_path / "bare.png").read_bytes()


def test_a_release_without_coordinates_cannot_be_drawn(tmp_path):
    with pytest.raises(ReleaseError, match=r"no coordinates to draw\.\nHint: "):
        draw_map(release(FiniteMetric.from_graph(RING)), tmp_path / "map.png")
    assert not any(tmp_path.iterdir())
