"""The black box: its power on a plain Laplace release, its validity, and every kind of outcome."""

import sys
import warnings

import numpy as np
import pytest

from spinney import FiniteMetric, PrivateKMeans, PrivateKMedoids
from spinney.audit import Pair, black_box

FEW, MORE = np.zeros((3, 1)), np.zeros((4, 1))
PAIR = Pair("one row more", FEW, MORE)


def laplace(epsilon, seed, delta=0.0):
    """Many runs of a count with Laplace noise; with delta, that share of runs tells the count."""
    rng = np.random.default_rng(seed)

    def many(table, runs):
        noisy = len(table) + rng.laplace(0, 1 / epsilon, runs)
        return np.where(rng.random(runs) < delta, 1000.0 * len(table), noisy)

    return many


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_the_bound_reaches_four_fifths_of_a_laplace_release_with_100000_runs(epsilon):
    found = black_box(None, [PAIR], epsilon=epsilon, runs=50_000, many=laplace(epsilon, 1))
    assert 0.8 * epsilon <= found.bound <= epsilon
    assert not found.broken
    assert black_box(None, [PAIR], epsilon=epsilon, runs=50_000, many=laplace(2 * epsilon, 1)).broken


def test_a_bound_is_wrong_no_more_often_than_its_confidence_says():
    """Of 120 bounds at confidence 0.9, each over two pairs; the seeds are fixed."""
    many = laplace(1.0, 2)
    wrong = sum(
        black_box(None, [PAIR, PAIR.swapped], epsilon=1.0, runs=300, confidence=0.9, many=many).broken for _ in range(120)
    )
    assert wrong <= 12


def shown(fault):
    """A function of a table that shows whether there are more than three rows."""

    def run(table):
        many = len(table) > 3
        if fault == "error" and many:
            raise ValueError("too many")
        if fault == "words of an error":
            raise ValueError(f"{len(table)} rows")
        if fault == "warning" and many:
            warnings.warn("many rows", UserWarning, stacklevel=1)
        if fault == "printed":
            sys.stdout.write(str(len(table)))
        values = {
            "length": np.zeros(len(table)),
            "text": f"{len(table)} rows",
            "kind": [1] if many else (1.0, 2.0),
            "not finite": np.nan if many else 0.0,
            "nested": {"a": [{"b": np.float32(len(table))}]},
            "texts": np.array(["x"] * len(table)),
            "large": 10**400 if many else 1,
            "mean of nothing": None if many else 2.5,
        }
        return values.get(fault)

    return run


FAULTS = ["error", "words of an error", "warning", "printed", "length", "text", "kind", "not finite", "nested", "texts", "large"]


@pytest.mark.parametrize("fault", [*FAULTS, "mean of nothing"])
def test_whatever_shows_is_an_outcome(fault):
    found = black_box(shown(fault), [PAIR], epsilon=1.0, runs=60)
    assert found.broken
    assert found.bound == pytest.approx(found.tried["largest bound possible"])


def test_numbers_near_the_row_that_differs_are_looked_at():
    """The 40 centers come in any order; only the size of the one that is nearest to the newcomer tells."""
    rng = np.random.default_rng(5)
    grid = np.random.default_rng(6).uniform(0, 1, (40, 2))
    crowd = np.full((50, 2), 0.1)
    pair = Pair("newcomer", crowd, np.vstack([crowd, [[0.9, 0.9]]]))

    def run(table):
        sizes = np.array([(np.abs(table - center).max(axis=1) < 0.1).sum() for center in grid]) + rng.laplace(0, 0.1, 40)
        order = rng.permutation(40)
        return {"centers": grid[order], "sizes": sizes[order]}

    assert black_box(run, [pair], epsilon=1.0, runs=300).broken


class Outside:
    """An estimator of somebody else."""

    def fit(self, table, groups=None):
        self.n_ = len(table) if groups is None else len(set(groups))
        return self


def test_estimators_of_others_and_groups_are_run_too():
    assert black_box(Outside(), [PAIR], epsilon=1.0, runs=60).broken
    same = Pair("one person", FEW, MORE, np.array(["a"] * 3), np.array(["a"] * 4))
    assert not black_box(Outside(), [same], epsilon=1.0, runs=60).broken


def test_our_estimators_say_what_they_promise():
    crowd = np.full((20, 1), -1.0)
    pair = Pair("lonely outlier", crowd, np.vstack([crowd, [[1.0]]]))
    model = PrivateKMeans(2, epsilon=1.0, delta=1e-6, bounds=(-1, 1), algorithm="lloyd")
    found = black_box(model, [pair], runs=30, noise_seed=0)
    assert (found.promised_epsilon, found.promised_delta, found.broken) == (1.0, 1e-6, False)
    assert "k-means, algorithm 'lloyd', add-remove" in found.subject
    sites = PrivateKMedoids(2, epsilon=0.5, space=FiniteMetric.from_points(np.arange(5.0)[:, None]), algorithm="local-search")
    pair = Pair("duplicates", np.zeros(9), np.zeros(10))
    assert black_box(sites, [pair], runs=40, noise_seed=0, factor=1e-3).broken
