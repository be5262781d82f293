import math
from fractions import Fraction

import numpy as np
import pytest

from spinney import PrivateKMeans, PrivateKMedian
from spinney.algorithms import Algorithm, Result
from spinney.algorithms.stable import LEAST_RADIUS, NEAR, Stable, radii
from spinney.audit import replay
from spinney.questions import Counting, Counts, Whole
from spinney.solvers.weighted import total_cost
from spinney.verification import verify

BOTH = pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
RNG = np.random.default_rng(0)
MIDDLES = np.array([[-0.6, -0.5], [0.6, -0.4], [0.0, 0.7]])
ROWS = np.concatenate([RNG.normal(middle, 0.05, (2000, 2)) for middle in MIDDLES])


class Given(Algorithm):
    """Centers that were given, whatever the rows."""

    name = "given"

    def __init__(self, centers):
        self.centers = np.asarray(centers, dtype=np.float64)

    def parts(self, problem):
        return (Counting().part("rows", Fraction(1)),)

    def run(self, curator, problem, charges, rng):
        answer = curator.ask(Counts(Whole()), charges["rows"])
        d = problem.n_features
        return Result(self.centers, np.zeros(len(self.centers)), answer.noise, np.empty((0, d)), np.empty(0))


class Counted(Given):
    """The same, and how many rows each has."""

    def parts(self, problem):
        return (Counting().part("sizes", Fraction(1)),)

    def run(self, purse, problem, rng):
        return Result.asked(purse, self.centers, np.empty((0, problem.n_features)), np.empty(0))


def make(base="auto", estimator=PrivateKMeans, k=3, steps=0, **changes):
    settings = {"epsilon": 1.0, "bounds": (-1, 1), "random_state": 0, "noise_seed": 0, **changes}
    return estimator(k, algorithm=Stable(base, steps), **settings)


def problem_of(k=3, d=2, space=(-1, 1), power=2):
    return (PrivateKMeans if power == 2 else PrivateKMedian)(k, epsilon=1.0, bounds=space).plan(d).problem


@BOTH
def test_a_poor_start_is_moved_to_the_rows(estimator):
    rough = MIDDLES + np.array([[0.15, 0.1], [-0.1, 0.15], [0.1, -0.15]])
    for epsilon in (1.0, math.inf):
        release = make(Given(rough), estimator, epsilon=epsilon, noise_seed=None if epsilon == math.inf else 1).fit(ROWS).release_
        power = estimator()._power
        assert total_cost(ROWS, release.centers, power) < 0.5 * total_cost(ROWS, rough, power)
    np.testing.assert_allclose(release.centers, MIDDLES, atol=0.05)
    np.testing.assert_array_equal(release.sizes, [2000] * 3)


@BOTH
@pytest.mark.parametrize("rows", [ROWS[:0], ROWS[:1], ROWS, np.full((30, 2), np.nan), np.full((500, 2), 0.25)], ids=len)
@pytest.mark.parametrize("epsilon", [1e-9, 1.0, math.inf])
@pytest.mark.matrix
def test_centers_that_coincide_and_empty_cells_give_k_centers(estimator, rows, epsilon):
    domain = problem_of().domain
    assert (radii(problem_of(), np.zeros((3, 2)), NEAR) == LEAST_RADIUS * domain.half_diagonal).all()
    for start in (np.zeros((3, 2)), [[0.25, 0.25], [0.25, 0.25], [-1, -1]], [[-1, -1], [1, 1], [1, -1]]):
        for adjacency in ("add-remove", "replace"):
            model = make(Given(start), estimator, steps=1, epsilon=epsilon, adjacency=adjacency)
            if epsilon == math.inf:
                model.set_params(noise_seed=None)
            centers = model.fit(rows).cluster_centers_
            assert centers.shape == (3, 2)
            assert (np.abs(centers) <= 1).all()


def skewed(k, d):
    """Return rows whose medians lie far from their means, and the cost of their exact medians."""
    rng = np.random.default_rng(k)
    middles = np.linspace(-0.6, 0.6, k)[:, None] * np.ones(d)
    rows = [middle + 0.03 * rng.exponential(1, (4000, d)) ** 1.5 for middle in middles]
    medians = np.array([cluster.mean(axis=0) for cluster in rows])
    for _ in range(300):
        for place, cluster in enumerate(rows):
            weights = 1 / np.maximum(np.sqrt(((cluster - medians[place]) ** 2).sum(axis=1)), 1e-9)
            medians[place] = weights @ cluster / weights.sum()
    return np.concatenate(rows), np.array([cluster.mean(axis=0) for cluster in rows]), medians


@pytest.mark.parametrize("d", [1, 2, 4])
@pytest.mark.parametrize("k", [1, 3])
def test_medians_are_reached_as_epsilon_grows(k, d):
    rows, means, medians = skewed(k, d)
    least = total_cost(rows, medians, 1)
    assert total_cost(rows, means, 1) > 1.005 * least
    over = []
    for epsilon in (0.05, 20.0, math.inf):
        seeds = [None] if epsilon == math.inf else [0, 1, 2]
        found = [make(Counted(means), PrivateKMedian, k, epsilon=epsilon, noise_seed=seed).fit(rows) for seed in seeds]
        over.append(np.mean([total_cost(rows, model.cluster_centers_, 1) / least - 1 for model in found]))
    assert over[0] > 0.002
    assert max(over[1:]) < 0.001


def test_a_step_toward_medians_is_one_where_noise_is_not_small_and_seven_where_it_is(tmp_path):
    rows = skewed(1, 2)[0]
    for n, count in ((40, 1), (4000, 7)):
        release = make("auto", PrivateKMedian, 1, noise_seed=None).fit(rows[:n]).release_
        steps = [charge for charge in release.charges if charge.question == "sums"]
        assert len(steps) == count
        assert sum(len(charge.name.split(" + ")) for charge in steps) == 7
        assert sum(charge.amount for charge in steps) == Fraction(15, 100)  # a share as before
        release.to_json(tmp_path / "release.json")
        assert verify(tmp_path / "release.json").holds


def test_rows_on_the_radius_move_the_step_by_no_more_than_the_radius():
    # Without noise the mean of a core is that of the rows within a third of the way; one on the radius counts or does not.
    start = np.array([[-0.3, 0.0], [0.3, 0.0], [0.0, 0.9]])
    crowd = np.array([[-0.3, 0.0], [0.3, 0.0], [0.0, 0.9]]).repeat(9, axis=0)
    for gap in (0.2 - 1e-6, 0.2, 0.2 + 1e-6, 0.29):
        rows = np.vstack([crowd, [[-0.3, -gap]]])
        release = make(Given(start), epsilon=math.inf, noise_seed=None).fit(rows).release_
        moved = np.abs(release.centers - start).max()
        assert moved == pytest.approx(gap / 10, rel=1e-4) if gap < 0.2 - 1e-7 else moved in (0, pytest.approx(0.02, rel=1e-4))


@BOTH
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.matrix
def test_a_neighbor_on_the_radius_loses_no_more_than_epsilon(estimator, adjacency, delta):
    # A third of the way from a center to the next one is 0.2: rows just within it, on it and just beyond.
    start = np.array([[-0.3, 0.0], [0.3, 0.0], [0.0, 0.9]])
    model = estimator(3, epsilon=1.0, delta=delta, bounds=(-1, 1), algorithm=Stable(Given(start), 1), adjacency=adjacency)
    step = 2.0**-30
    losses = []
    for gap in (0.2 - step, 0.2, 0.2 + step, 0.0):
        more = np.vstack([ROWS[:20], [[-0.3, -gap]]])
        others = [np.vstack([ROWS[:20], [other]]) for other in ([-0.3, gap], [0.3, gap], [0.9, 0.9], [np.nan, 0])]
        for other in others if adjacency == "replace" else [ROWS[:20]]:
            found = replay(model, more, other)
            assert not found.broken
            losses.append(found.bound)
    assert 0.05 < max(losses) <= 1


def plain_stable(rows, base, steps):
    """Private-Stable-k-Means of Shechner, Sheffet and Stemmer without noise, and Lloyd steps of offsets clipped to half a gap."""

    def parted(centers):
        gaps = np.sqrt(((rows[:, None] - centers) ** 2).sum(axis=2))
        apart = np.sqrt(((centers[:, None] - centers) ** 2).sum(axis=2))
        return gaps.argmin(axis=1), gaps.min(axis=1), np.where(apart > 0, apart, np.inf).min(axis=1)

    labels, gaps, apart = parted(base)
    near = [rows[(labels == i) & (gaps <= apart[i] / 3)] for i in range(len(base))]
    moved = np.array([some.mean(axis=0) if len(some) else center for some, center in zip(near, base, strict=True)])
    centers = moved if total_cost(rows, moved, 2) < total_cost(rows, base, 2) else base
    for _ in range(steps):
        labels, gaps, apart = parted(centers)
        offsets = rows - centers[labels]
        offsets *= np.minimum(1, apart[labels] / 2 / np.maximum(gaps, 1e-300))[:, None]
        centers = np.array([center + offsets[labels == i].mean(axis=0) for i, center in enumerate(centers)])
    return centers


@pytest.mark.parametrize("steps", [0, 2])
def test_without_noise_it_is_the_published_algorithm(steps):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows = np.clip(rng.uniform(-0.8, 0.8, (4, 3))[rng.integers(0, 4, 600)] + rng.normal(0, 0.1, (600, 3)), -1, 1)
        base = rows[rng.choice(600, 4, replace=False)]
        release = make(Given(base), k=4, steps=steps, epsilon=math.inf, noise_seed=None).fit(rows).release_
        np.testing.assert_allclose(release.centers, plain_stable(rows, base, steps), atol=1e-5)
