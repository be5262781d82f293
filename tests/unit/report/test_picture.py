import numpy as np
import pytest

from spinney import Ball, PrivateKMeans
from spinney.report.picture import counts_line, draw

pytest.importorskip("matplotlib")
PNG = b"\x89PNG\r\n\x1a\n"
ROWS = np.random.default_rng(0).random((300, 3))


def release(rows=ROWS, **changes):
    return PrivateKMeans(**{"n_clusters": 3, "epsilon": 1.0, "bounds": (0, 1), "noise_seed": 0, **changes}).fit(rows).release_


@pytest.mark.parametrize(
    ("changes", "columns"),
    [({}, 3), ({"algorithm": "lloyd"}, 3), ({"bounds": Ball(2)}, 2), ({}, 1), ({"epsilon": 0.01}, 2)],
    ids=["tree", "no summary", "ball", "one column", "noisy"],
)
def test_a_release_alone_can_be_drawn(tmp_path, changes, columns):
    path = tmp_path / "picture.png"
    draw(release(ROWS[:, :columns], **changes), path)
    assert path.read_bytes()[:8] == PNG


def test_public_points_make_a_second_panel(tmp_path):
    narrow, wide, colored = (tmp_path / f"{i}.png" for i in range(3))
    draw(release(), narrow)
    draw(release(), wide, ROWS)
    draw(release(), colored, ROWS, colors=ROWS, columns=(2, 0))

    def width(path):
        return int.from_bytes(path.read_bytes()[16:20], "big")

    assert width(wide) == width(colored) > 1.5 * width(narrow)
    assert wide.read_bytes() != colored.read_bytes()


def test_sizes_are_listed_from_the_largest():
    made = release()
    sizes = sorted(made.sizes.astype(int).tolist(), reverse=True)
    assert counts_line(made) == f"{sizes[0]}, {sizes[1]}, {sizes[2]} (each +- {made.sizes_margin:.0f} with probability 0.95)"
