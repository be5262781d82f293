"""One small ball: near the plain one on blobs, private by its questions, charged like other releases."""

import json

import numpy as np
import pytest

from spinney import Ball, Ledger, ParameterError, one_cluster, verify
from spinney.audit import replay_pairs, table_pairs
from spinney.estimators.one_cluster import BallModel
from spinney.privacy.pricing import Unit
from spinney.solvers.balls import smallest_ball

RNG = np.random.default_rng(3)
TIGHT = np.concatenate([RNG.normal(0.4, 0.02, (3000, 2)), RNG.normal(-0.5, 0.1, (3000, 2)), RNG.uniform(-1, 1, (2000, 2))])


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_blobs_give_a_ball_near_the_plain_one(delta):
    plain = smallest_ball(TIGHT, np.ones(len(TIGHT)), 2500, TIGHT[:50])
    for seed in range(3):
        ball = one_cluster(TIGHT, 2500, epsilon=1.0, delta=delta, bounds=(-1, 1), noise_seed=seed)
        inside = np.count_nonzero(((TIGHT - ball.center) ** 2).sum(axis=1) <= ball.radius**2)
        assert ball.radius < 2 * plain.radius
        assert inside > 0.7 * 2500
        assert abs(ball.count - inside) < 3 * ball.count_margin
        assert json.dumps(ball.to_dict())
        assert ball.wanted == 2500


def test_no_rows_and_any_rows_give_a_ball():
    far = np.array([[np.nan, 0.0], [np.inf, 1e300], [9.0, -9.0]])
    for rows in (TIGHT[:0], TIGHT[:1], far, np.full((500, 2), 0.25)):
        for bounds in ((-1, 1), Ball(1.0, [0.0, 0.0])):
            ball = one_cluster(rows, 100, epsilon=0.5, bounds=bounds, candidates=3)
            assert np.isfinite([*ball.center, ball.radius, ball.count]).all()
            assert (np.abs(ball.center) <= 1).all()
            assert ball.radius > 0


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(("adjacency", "delta"), [("add-remove", 0.0), ("replace", 1e-6)])
def test_neighbors_lose_no_more_than_epsilon_and_half_the_noise_is_seen(adjacency, delta, grouped):
    unit, cap = Unit(adjacency, 2 if grouped else 1), {"max_rows_per_group": 2} if grouped else {}
    model = BallModel(5, epsilon=1.0, delta=delta, bounds=(-1, 1), candidates=2, adjacency=adjacency, **cap)
    corners = np.full(2, -1.0), np.full(2, 1.0)
    finding = replay_pairs(model, table_pairs(*corners, unit, 7, grouped=grouped))
    assert finding.faults == ()
    assert 0.1 < finding.bound <= 1.0
    for question in ("counts", "grow", "sums"):
        halved = replay_pairs(model, table_pairs(*corners, unit, 1, grouped=grouped), factor={question: 0.5})
        assert any("less than its charge pays for" in fault for fault in halved.faults)


def test_a_ball_is_charged_to_a_ledger(tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl", epsilon=2.0)
    ball = one_cluster(TIGHT[:500], 100, epsilon=1.0, bounds=(-1, 1), ledger=ledger)
    assert ledger.spent == pytest.approx(1.0)
    assert ball.release.epsilon <= 1.0
    assert "differentially private" in ball.statement
    ball.release.to_json(tmp_path / "release.json")
    assert verify(tmp_path / "release.json", ledger=tmp_path / "ledger.jsonl").authenticated


def test_what_is_wrong_is_refused_with_a_hint():
    wrong = {"t": 2.5, "candidates": 0, "epsilon": None, "bounds": None, "max_rows_per_group": 3, "adjacency": "both"}
    for name, value in wrong.items():
        with pytest.raises(ParameterError, match=rf"(?s)'{name}' parameter of .*Hint:"):
            one_cluster(TIGHT, **({"t": 10, "epsilon": 1.0, "bounds": (-1, 1)} | {name: value}))
