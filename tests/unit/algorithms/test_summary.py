"""The summary: leaves of a private tree as weighted points, whatever the noise."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney import Ball, Box, PrivateKMeans, PrivateKMedian
from spinney.algorithms.algorithm import Algorithm
from spinney.algorithms.default import stages
from spinney.algorithms.reading import Summary
from spinney.algorithms.result import Result
from spinney.algorithms.summary import completed, likely_leaves, solved, summarize
from spinney.mechanisms.additive import Noise

NOISES = st.builds(Noise, st.sampled_from(["laplace", "gaussian"]), st.floats(1e-6, 1e12)) | st.just(Noise("none", 0.0))
COUNTS = st.integers(-(2**61), 2**61) | st.integers(-100, 5000)


class Summarized(Algorithm):
    """The summary and nothing else."""

    name = "summarized"

    def __init__(self, n=None):
        self.n, self.found = n, None

    def parts(self, problem):
        parts = [part for part in stages(problem) if part.name in ("columns", "splits", "leaves")]
        whole = sum(part.share for part in parts)
        return tuple(type(part)(part.name, part.question, part.share / whole, part.l1, part.l2, part.kind) for part in parts)

    def counts(self, problem):
        return True

    def run(self, purse, problem, rng):
        self.found = summarize(purse, problem, self.n)
        assert purse.names == ()
        return Result(
            problem.domain.sample(problem.k, rng),
            np.zeros(problem.k, dtype=np.int64),
            Noise("none", 0.0),
            self.found.points,
            self.found.weights,
        )


def known_of(points, spreads, weights):
    points = np.array(points)
    return Summary(points, np.array(spreads), np.array(weights), np.ones(points.shape[1]))


def summary_of(rows, k=3, n=None, estimator=PrivateKMeans, **asked):
    settings = {"epsilon": math.inf, "bounds": (-1, 1), "random_state": 0, **asked}
    algorithm = Summarized(float(len(rows) if n is None else n))
    estimator(k, algorithm=algorithm, **settings).fit(rows)
    return algorithm.found


@settings(max_examples=100)
@given(st.lists(st.tuples(COUNTS, st.booleans()), min_size=1, max_size=60), NOISES)
def test_no_leaf_weighs_less_than_nothing_and_none_that_is_full_weighs_nothing(leaves, noise):
    counts, is_split = (np.array(values) for values in zip(*leaves, strict=True))
    full, weights = likely_leaves(counts.astype(np.int64), noise, is_split.astype(bool))
    assert full.dtype == bool
    assert np.isfinite(weights).all()
    assert (weights[full] > 0).all()
    if noise.distribution != "none":
        assert (weights >= 0).all()
    else:
        np.testing.assert_array_equal(full, counts > 0)
        np.testing.assert_array_equal(weights, counts)


@settings(max_examples=60)
@given(st.lists(COUNTS, min_size=1, max_size=30), st.lists(COUNTS, min_size=1, max_size=30), NOISES)
def test_leaves_that_were_split_off_are_read_apart_from_those_of_the_start(split, start, noise):
    is_split = np.arange(len(split) + len(start)) < len(split)
    full, weights = likely_leaves(np.array(split + start), noise, is_split)
    for some, counts in ((is_split, split), (~is_split, start)):
        alone = likely_leaves(np.array(counts), noise, np.zeros(len(counts), dtype=bool))
        np.testing.assert_array_equal(full[some], alone[0])
        np.testing.assert_array_equal(weights[some], alone[1])


@pytest.mark.parametrize("distribution", ["laplace", "gaussian"])
def test_a_doubtful_leaf_weighs_less_among_empty_leaves_than_among_full_ones(distribution):
    rng, noise = np.random.default_rng(0), Noise(distribution, 10.0)
    quiet, loud = rng.integers(-12, 13, 60), np.r_[rng.integers(100, 400, 45), rng.integers(-12, 13, 15)]
    quiet[0] = loud[0] = 35
    full, weights = likely_leaves(np.r_[quiet, loud], noise, np.arange(120) < 60)
    assert weights[0] < weights[60]
    assert full[61:105].all()
    assert not full[105:].any()


def test_what_a_summary_does_not_see_is_the_part_of_the_cost_within_its_leaves():
    known = known_of([[0.0], [3.0]], [1.0, 0.5], [4.0, 8.0])
    assert known.blind(np.array([[0.0], [2.0]])) == pytest.approx((4 + 2) / (4 + 2 + 8))
    assert known_of([[0.0]], [0.0], [1.0]).blind(np.zeros((1, 1))) == 0


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
@pytest.mark.parametrize("d", [1, 2, 6, 20])
def test_without_noise_leaves_weigh_all_rows_and_their_points_are_near_them(d, estimator):
    rng = np.random.default_rng(d)
    rows = np.clip(rng.normal(rng.uniform(-0.7, 0.7, (3, d))[rng.integers(0, 3, 3000)], 0.03), -1, 1)
    found = summary_of(rows, estimator=estimator)
    assert found.weights.sum() == len(rows)
    nearest = np.linalg.norm(rows[:300, None] - found.points, axis=2).min(axis=1)
    assert np.sqrt((nearest**2).mean()) < 0.5 * np.sqrt(((rows - rows.mean(axis=0)) ** 2).sum(axis=1).mean())
    np.testing.assert_allclose(found.columns, rows.std(axis=0), rtol=0.1)


@settings(max_examples=25)
@given(
    n=st.integers(0, 60),
    d=st.integers(1, 20),
    k=st.integers(1, 5),
    epsilon=st.sampled_from([1e-6, 0.1, 10.0]),
    delta=st.sampled_from([0.0, 1e-6]),
    claimed=st.floats(1, 1e12),
    space=st.sampled_from([Box(-1, 1), Ball(1.0)]),
)
def test_a_summary_of_any_rows_has_points_with_positive_weights(n, d, k, epsilon, delta, claimed, space):
    rows = np.random.default_rng(n).uniform(-0.3, 0.3, (n, d))
    found = summary_of(rows, k, claimed if epsilon > 0.01 else min(claimed, 1e6), epsilon=epsilon, delta=delta, bounds=space)
    assert len(found.points) == len(found.spreads) == len(found.weights) >= 1
    assert (found.weights > 0).all()
    assert (found.spreads >= 0).all()
    assert (np.abs(found.points) <= 1).all()


@pytest.mark.parametrize("power", [1, 2])
def test_missing_centers_are_those_that_lower_the_cost_most(power):
    known = known_of([[0.0], [1.0], [5.0]], np.zeros(3), [9.0, 1.0, 4.0])
    found = completed(np.array([[0.2]]), known.points, known, power)
    np.testing.assert_array_equal(found[:2], [[0.2], [5.0]])
    assert len(found) == 3


@settings(derandomize=True, deadline=None)
@given(st.integers(1, 7), st.integers(1, 7), st.integers(0, 2**32 - 1), st.sampled_from([1, 2]))
def test_centers_are_completed_by_candidates_each_at_most_once(m, more, seed, power):
    rng = np.random.default_rng(seed)
    known = known_of(rng.normal(size=(9, 2)), np.zeros(9), rng.uniform(0, 1, 9))
    centers, candidates = rng.normal(size=(m, 2)), rng.normal(size=(m + more - 1, 2))
    found = completed(centers, candidates, known, power)
    assert found.shape == candidates.shape
    np.testing.assert_array_equal(found[:m], centers)
    added = {tuple(one) for one in found[m:].tolist()}
    assert len(added) == more - 1
    assert added <= {tuple(one) for one in candidates.tolist()}


def test_points_of_a_summary_move_along_with_their_nearest_centers_and_stay_in_the_domain():
    known = known_of([[0.0], [0.2], [0.9]], np.zeros(3), np.ones(3))
    problem = PrivateKMeans(2, epsilon=1.0, bounds=(-1, 1)).plan(1).problem
    found = known.moved(np.array([[0.1], [0.8]]), np.array([[-0.1], [1.0]]), problem.domain)
    np.testing.assert_allclose(found.points, [[-0.2], [0.0], [1.0]])
    np.testing.assert_array_equal(np.sort(solved(found, problem, 2, np.random.default_rng(0)), axis=0), [[-0.1], [1.0]])
