import numpy as np
import pytest

from spinney import PrivateKMeans, PrivateKMedian, ReleaseError
from spinney.releases.curve import CostCurve
from spinney.report.curve import cost_curve, draw_curve
from tests.unit.report.drawn import Captured, cut_off, texts

RNG = np.random.default_rng(3)
CENTERS = np.array([[0.1, 0.1], [0.9, 0.1], [0.1, 0.9], [0.9, 0.9]])
ROWS = np.repeat(CENTERS, 2000, axis=0) + RNG.normal(0, 0.02, (8000, 2))


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
def test_the_curve_bends_at_the_true_number_of_clusters(estimator):
    release = estimator(2, epsilon=1.0, bounds=(0, 1), noise_seed=0, random_state=0).fit(ROWS).release_
    curve = cost_curve(release, 7)
    assert curve.clusters == tuple(range(1, 8))
    costs = np.array(curve.costs)
    assert (np.diff(costs) <= 0).all()
    assert costs[3] < 0.35 * costs[2]
    assert costs[6] > 0.5 * costs[3]
    assert cost_curve(release, 7) == curve
    assert len(str(curve).splitlines()) == 8


def test_a_release_without_a_summary_has_no_curve():
    release = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), algorithm="lloyd", noise_seed=0).fit(ROWS).release_
    with pytest.raises(ReleaseError, match="Hint: fit with algorithm='tree'"):
        cost_curve(release)


def test_the_curve_can_be_drawn(tmp_path):
    release = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), noise_seed=0, random_state=0).fit(ROWS).release_
    draw_curve(cost_curve(release, 3), tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


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
