import math

import numpy as np
import pytest

from spinney import PrivateKMeans, PrivateKMedian
from spinney.algorithms import starts
from spinney.algorithms.polish import WeightedLeaves
from spinney.algorithms.starts import Rival, cheaper, outdone
from spinney.exceptions import CuratorError
from spinney.questions.cost import Cost
from spinney.solvers.weighted import Solution, improve, solve

#: Three clusters and a place far off; by the first reading it has 40 rows, by the second hardly any.
POINTS = np.array([[-0.6, -0.6], [-0.3, -0.6], [-0.6, -0.3], [0.9, 0.9]])
READINGS = np.array([2000.0, 2000.0, 2000.0, 40.0]), np.array([2000.0, 2000.0, 2000.0, 1.0])
ESTIMATORS = pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])


def rows_of(far):
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(point, 0.02, (n, 2)) for point, n in zip(POINTS, (2000, 2000, 2000, far), strict=True)])


def choose(open_curator, rows, estimator=PrivateKMeans, epsilon=1.0, readings=READINGS, k=3, seed=0):
    problem = estimator(k, epsilon=1.0, bounds=(-1, 1)).plan(2).problem
    curator, charge = open_curator(rows, problem.domain, "cost", epsilon=epsilon, seed=seed)
    start = solve(POINTS, readings[0], k, problem.power, np.random.default_rng(0), np.tile(POINTS, (2, 1))[:k])
    return start, cheaper(curator, problem, charge, POINTS, readings, start, np.random.default_rng(0))


@ESTIMATORS
def test_a_center_that_rests_on_noise_is_given_up_and_one_that_rests_on_rows_is_kept(open_curator, estimator):
    readings = READINGS if estimator is PrivateKMeans else (READINGS[0] * [1, 1, 1, 20], READINGS[1])
    for seed in range(10):
        for far, is_kept in ((0, False), (1500, True)):
            start, found = choose(open_curator, rows_of(far), estimator, readings=readings, seed=seed)
            assert (found is start) == is_kept
            assert (np.abs(found.centers - POINTS[3]).max(axis=1) < 0.1).any() == is_kept


def test_nothing_is_asked_where_readings_agree_or_noise_would_hide_the_answer(open_curator, monkeypatch):
    monkeypatch.setattr(Cost, "answer", None)  # whoever asks fails
    assert choose(open_curator, rows_of(0), readings=(READINGS[0], READINGS[0]))[1] is None
    assert choose(open_curator, rows_of(0), readings=(READINGS[0], 0.6 * READINGS[0]))[1] is None
    assert choose(open_curator, rows_of(0), epsilon=1e-3)[1] is None
    with pytest.raises(CuratorError):
        choose(open_curator, rows_of(0))


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("epsilon", [1e-6, 1e6, math.inf])
@pytest.mark.parametrize("weights", [(0.0, 0.0), (1.0, 0.0), (1e12, 1e-12), (1e-180, 1e-190)])
def test_any_weights_give_a_start_or_none(open_curator, epsilon, weights, k):
    readings = np.full(4, weights[0]), np.full(4, weights[1])
    _, found = choose(open_curator, rows_of(3), epsilon=epsilon, readings=readings, k=k)
    assert found is None or found.centers.shape == (k, 2)


#: Leaves on a circle, which two centers part in any direction at about the same cost.
TURNS = np.arange(12) / 6 * np.pi + 0.1
CIRCLE = 0.5 * np.column_stack([np.cos(TURNS), np.sin(TURNS)])


def outdo(open_curator, rows, by, estimator=PrivateKMeans, epsilon=1.0, weights=(500.0,) * 12, worth=0.0, seed=0):
    problem = estimator(2, epsilon=1.0, bounds=(-1, 1)).plan(2).problem
    curator, charge = open_curator(rows, problem.domain, "cost", epsilon=epsilon, seed=seed)
    centers, weights = np.outer([-0.32, 0.32], np.arange(2) == by), np.array(weights)
    start = improve(CIRCLE, weights, centers, problem.power, 20, 1e-9, 1e-9)
    leaves = WeightedLeaves(CIRCLE, np.zeros(12), weights)
    return start, outdone(curator, problem, start, leaves, charge, np.random.default_rng(seed), worth)


@ESTIMATORS
@pytest.mark.parametrize("by", [0, 1])
@pytest.mark.parametrize("longer", [0, 1])
def test_the_start_that_costs_the_rows_less_goes_on(open_curator, estimator, by, longer):
    """Rows of leaves lie nearer to each other in one column than their points do: so they are better parted by the other."""
    rows = np.repeat(CIRCLE, 500, axis=0) * np.where(np.arange(2) == longer, 1.0, 0.6)
    for seed in range(5):
        start, found = outdo(open_curator, rows, by, estimator, seed=seed)
        assert (found is start) == (by == longer)
        assert np.ptp(found.centers, axis=0).argmax() == longer


def test_a_rival_is_not_asked_for_where_it_gains_less_than_it_is_worth(open_curator, monkeypatch):
    monkeypatch.setattr(Cost, "answer", None)  # whoever asks fails
    rows = np.repeat(CIRCLE, 500, axis=0)
    assert outdo(open_curator, rows, 0, worth=0.9)[1] is None
    assert outdo(open_curator, rows, 0, epsilon=1e-5)[1] is None
    with pytest.raises(CuratorError):
        outdo(open_curator, rows, 0)


@pytest.mark.parametrize("epsilon", [1e-6, 1e6, math.inf])
@pytest.mark.parametrize("weights", [(0.0, 0.0), (1.0, 0.0), (1e12, 1e-12), (1e-180, 1e-190)])
def test_any_weights_give_a_rival_or_none(open_curator, epsilon, weights):
    _, found = outdo(open_curator, np.repeat(CIRCLE, 5, axis=0), 0, epsilon=epsilon, weights=weights * 6)
    assert found is None or found.centers.shape == (2, 2)


def test_what_may_be_gained_is_what_asking_gains_on_average():
    rng = np.random.default_rng(0)
    for more, error, noise in ((0.0, 1.0, 0.0), (0.5, 1.0, 0.7), (-0.4, 2.0, 1.0), (1.0, 0.5, 2.0)):
        rival = Rival(Solution(CIRCLE, 1.0), more, error, 1.0, noise)
        saved = rng.normal(-more, error, 200_000)
        asked = saved + rng.normal(0, noise, saved.size)
        taken = np.array([rival.is_cheaper(one) for one in asked])
        assert rival.gain == pytest.approx((saved * taken).mean(), abs=0.02)


@pytest.mark.filterwarnings("error:overflow", "error:invalid", "error:divide")
@pytest.mark.parametrize("width", [1e-90, 1e76, 1e90])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_boxes_of_any_width_are_fitted(width, delta, monkeypatch):
    monkeypatch.setattr(starts, "LEAST", -1.0)
    rows = width * np.random.default_rng(0).uniform(-1, 1, (2000, 6))
    random_state = np.random.Generator(np.random.RandomState(0)._bit_generator)  # has no seed to spawn others from
    model = PrivateKMeans(6, epsilon=5.0, delta=delta, bounds=(-width, width), algorithm="tree", random_state=random_state)
    assert np.isfinite(model.fit(rows).cluster_centers_).all()


def test_a_gain_is_finite_whatever_the_numbers():
    for more, error, noise in ((1e200, 1e-200, 1e300), (-1.0, 1e-300, 1e300), (0.0, 0.0, 0.0), (1e-300, 1e200, 0.0)):
        rival = Rival(Solution(CIRCLE, 1.0), more, error, 1.0, noise)
        assert math.isfinite(rival.gain)
        assert not error or rival.is_cheaper(0.0) in (True, False)
