"""The summary: leaves of a private tree as weighted points, whatever the noise."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney import Ball, Box, PrivateKMeans, PrivateKMedian
from spinney.algorithms import Algorithm, Result
from spinney.algorithms.default import stages
from spinney.algorithms.reading import Summary
from spinney.algorithms.summary import likely_leaves, summarize
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
