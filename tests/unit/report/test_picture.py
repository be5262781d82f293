import math
from dataclasses import replace

import numpy as np
import pytest

from spinney import PrivateKMeans, PrivateKMedian, ReleaseError
from spinney.report import CostCurve, cost_curve, draw, draw_curve
from tests.unit.report.drawn import Captured, cut_off, overlapping, texts

pytest.importorskip("matplotlib")
ROWS = np.random.default_rng(0).random((300, 3))


def release(rows=ROWS, **changes):
    return PrivateKMeans(**{"n_clusters": 3, "epsilon": 1.0, "bounds": (0, 1), "noise_seed": 0, **changes}).fit(rows).release_


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


CORNERS = np.array([[0.1, 0.1], [0.9, 0.1], [0.1, 0.9], [0.9, 0.9]])
CORNERS = np.repeat(CORNERS, 2000, axis=0) + np.random.default_rng(3).normal(0, 0.02, (8000, 2))


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
def test_the_curve_bends_at_the_true_number_of_clusters(estimator):
    release = estimator(2, epsilon=1.0, bounds=(0, 1), noise_seed=0, random_state=0).fit(CORNERS).release_
    curve = cost_curve(release, 7)
    assert curve.clusters == tuple(range(1, 8))
    costs = np.array(curve.costs)
    assert (np.diff(costs) <= 0).all()
    assert costs[3] < 0.35 * costs[2]
    assert costs[6] > 0.5 * costs[3]
    assert cost_curve(release, 7) == curve
    assert len(str(curve).splitlines()) == 8


def test_a_release_without_a_summary_has_no_curve():
    release = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), algorithm="lloyd", noise_seed=0).fit(CORNERS).release_
    with pytest.raises(ReleaseError, match="Hint: fit with algorithm='tree'"):
        cost_curve(release)


def test_a_curve_counts_clusters_in_whole_numbers_and_states_its_promise(monkeypatch):
    captured = Captured(monkeypatch)
    statement = (
        "(0.3333333333333333, 1e-06)-differentially private for adding or removing one group of at most 12345 counted rows"
    )
    for count in (1, 2, 3, 5, 8, 12, 13, 14, 20, 27, 40):
        draw_curve(CostCurve("kmeans", tuple(range(1, count + 1)), tuple(1 / k for k in range(1, count + 1)), statement), "x.png")
        figure = captured.last
        assert cut_off(figure) == []
        assert statement in " ".join(" ".join(texts(figure)).split())
        (axis,) = figure.axes
        low, high = axis.get_xlim()
        ticks = [tick for tick in axis.get_xticks() if low <= tick <= high]
        assert ticks
        assert all(tick == int(tick) for tick in ticks)
        assert len(ticks) <= 13
