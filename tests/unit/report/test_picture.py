import math
from dataclasses import replace

import numpy as np
import pytest

from spinney import Ball, PrivateKMeans
from spinney.report.picture import counts_line, draw
from tests.unit.report.drawn import Captured, cut_off, overlapping, texts

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


WIDE = np.random.default_rng(0).random((400, 8))
GROUPED = {"max_rows_per_group": 12_345, "promised_epsilon": 1 / 3, "epsilon": 1 / 3, "delta": 1e-6}


@pytest.mark.parametrize(("columns", "algorithm"), [(1, "tree"), (2, "lloyd"), (4, "tree"), (8, "lloyd")])
def test_nothing_is_cut_off_and_the_statement_is_there(monkeypatch, columns, algorithm):
    made = replace(release(WIDE[:, :columns], algorithm=algorithm, noise_seed=None), **GROUPED)
    captured = Captured(monkeypatch)
    draw(made, "picture.png")
    draw(replace(made, feature_names=tuple("$x^{ and no end of a name " * 4 for _ in range(columns))), "picture.png")
    for figure in captured.figures:
        assert cut_off(figure) == []
        assert made.statement in " ".join(" ".join(texts(figure)).split())


@pytest.mark.parametrize(("columns", "panels"), [(1, 1), (2, 1), (3, 3), (4, 6), (8, 6)])
def test_up_to_four_columns_are_shown_each_against_each_other_one(monkeypatch, columns, panels):
    captured = Captured(monkeypatch)
    names = tuple("abcdefgh"[:columns])
    draw(replace(release(WIDE[:, :columns]), feature_names=names), "picture.png")
    shown = [axis for axis in captured.last.axes if axis.axison]
    assert len(shown) == panels
    found = {label for axis in shown for label in (axis.get_xlabel(), axis.get_ylabel())} & set(names)
    assert len(found) == min(columns, 4)
    assert (f"4 of {columns} columns" in " ".join(texts(captured.last))) == (columns > 4)


def test_the_columns_shown_are_those_along_which_centers_differ(monkeypatch):
    rows = np.full((4000, 6), 0.5)
    rows[:2000, [1, 4]], rows[2000:, [1, 4]] = 0.1, 0.9
    captured = Captured(monkeypatch)
    draw(release(rows, n_clusters=2, epsilon=100.0), "picture.png")
    labels = {label for axis in captured.last.axes for label in (axis.get_xlabel(), axis.get_ylabel())}
    assert {"column 1", "column 4"} <= labels


def test_one_column_is_bars_of_rows(monkeypatch):
    captured = Captured(monkeypatch)
    made = release(WIDE[:, :1], epsilon=100.0)
    draw(made, "picture.png")
    (axis,) = captured.last.axes
    heights = [bar.get_height() for bar in axis.patches]
    assert sum(heights) == pytest.approx(made.summary_weights.sum())
    assert axis.get_ylabel() == "rows"


@pytest.mark.parametrize("k", [1, 5, 12, 20, 30])
@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.matrix
def test_labels_do_not_cover_each_other(monkeypatch, k, columns):
    captured = Captured(monkeypatch)
    made = release(WIDE[:, :columns], n_clusters=k, random_state=0)
    centers = np.random.default_rng(k).random((k, columns))
    crowded = replace(made, centers=centers * (0.1 if columns == 2 and k < 12 else 1.0), sizes=np.full(k, 1234.0))
    draw(crowded, "picture.png")
    assert overlapping(captured.last) == []
    assert sum(text.endswith(": 1234") for text in texts(captured.last)) == (k if k <= 20 else 0)


def test_a_picture_without_noise_claims_none(monkeypatch):
    captured = Captured(monkeypatch)
    for columns in (1, 2, 3):
        draw(release(WIDE[:, :columns], epsilon=math.inf), "picture.png")
        said = "; ".join(texts(captured.last))
        assert "none: not private" in said
        assert not any(word in said for word in ("noisy", "private summary", "+-"))
