import math
from dataclasses import replace

import numpy as np
import pytest

from registered import REGISTERED
from spinney import Ball, Box, BudgetError, PrivateKMeans, PrivateKMedian, Release
from spinney.algorithms.default import Tree
from spinney.algorithms.hst import HST
from spinney.algorithms.problem import planned
from spinney.algorithms.registry import find
from spinney.algorithms.tighten import MARGIN, SHARE, Tightened, tight_box
from spinney.mechanisms.additive import Noise
from spinney.privacy.composition import Part
from spinney.questions.counts import Counting
from spinney.solvers.weighted import total_cost

ALGORITHMS = {name: find(name, "points") for name in REGISTERED["points"]}

NONE, LAPLACE = Noise("none", 0.0), Noise("laplace", 10.0)
UNIT = Box(0, 128).domain(1)  # one unit per bin


def box_of(counts, noise=NONE, domain=UNIT):
    """Return the interval of one column, from a dict of bin counts or a list of all of them."""
    if isinstance(counts, dict):
        counts = [counts.get(i, 0) for i in range(128)]
    box = tight_box(domain, np.array([counts], dtype=np.float64), noise)
    return float(box.lower[0]), float(box.upper[0])


@pytest.mark.parametrize("noise", [NONE, LAPLACE], ids=["no noise", "noise"])
def test_one_bin_is_enclosed_with_a_margin(noise):
    assert box_of({60: 1000}, noise) == (59, 62)
    assert box_of({0: 1000}, noise) == (0, 2)
    assert box_of({127: 1000}, noise) == (126, 128)


def test_two_far_clusters_and_the_gap_between_them_are_enclosed():
    assert box_of({50: 500, 70: 500}, LAPLACE) == pytest.approx((50 - 2.1, 71 + 2.1))
    assert box_of({1: 500, 126: 500}, LAPLACE) == (0, 128)


def test_a_side_is_cut_off_only_if_it_is_wider_than_the_interval():
    # The margin is a share of what is kept: here of all 61 bins from the first on.
    assert box_of({30: 500, 60: 500}) == (0, pytest.approx(61 + 61 * MARGIN))
    assert box_of({40: 500, 60: 500}) == pytest.approx((40 - 21 * MARGIN, 61 + 21 * MARGIN))


@pytest.mark.parametrize("noise", [NONE, LAPLACE], ids=["no noise", "noise"])
def test_a_column_where_nothing_stands_out_keeps_its_bounds(noise):
    assert box_of({}, noise) == (0, 128)
    assert box_of([-50] * 128, noise) == (0, 128)
    rng = np.random.default_rng(0)
    assert box_of(rng.laplace(0, 10, 128).round().clip(max=100), LAPLACE) == (0, 128)


def test_a_column_where_everything_stands_out_keeps_its_bounds():
    assert box_of([1000] * 128, LAPLACE) == (0, 128)
    assert box_of([1] * 128) == (0, 128)


def test_thin_runs_stand_out_together():
    thin = dict.fromkeys(range(64, 80), 60)  # each below the noise's reach, 960 together
    assert LAPLACE.quantile(1 - 0.01 / 128) > 60
    lower, upper = box_of(thin, LAPLACE)
    assert 56 <= lower <= 64
    assert 80 <= upper <= 88


def test_an_interval_grows_over_what_still_looks_like_rows():
    tail = {60: 1000, 61: 60, 62: 50, 63: 40}
    assert box_of(tail, LAPLACE) == (59, 65)


def test_each_column_has_its_own_interval():
    domain = Box([0, -10], [128, 10]).domain(2)
    counts = np.zeros((2, 128))
    counts[0, 10], counts[1, 100] = 1000, 1000
    box = tight_box(domain, counts, LAPLACE)
    width = 20 / 128
    np.testing.assert_allclose(box.lower, [9, -10 + 99 * width])
    np.testing.assert_allclose(box.upper, [12, -10 + 102 * width])
    assert box.radius == math.inf


def test_noise_alone_rarely_cuts_a_column():
    rng = np.random.default_rng(5)
    noise = Noise("laplace", 40.0)
    counts = rng.laplace(0, 40, (500, 20, 128)).round()
    boxes = [tight_box(Box(0, 1).domain(20), table, noise) for table in counts]
    assert np.mean([(box.lower > 0).any() or (box.upper < 1).any() for box in boxes]) < 0.1


RNG = np.random.default_rng(0)
MIDDLES = np.array([[0.2, 0.3], [0.8, 0.4], [0.5, 0.9]])
ROWS = np.concatenate([RNG.normal(middle, 0.04, (2000, 2)) for middle in MIDDLES])


def assert_found(centers, tolerance):
    gaps = np.linalg.norm(centers[:, None] - MIDDLES, axis=2)
    assert sorted(gaps.argmin(axis=1)) == [0, 1, 2]
    assert gaps.min(axis=1).max() < tolerance


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
@pytest.mark.parametrize(("adjacency", "delta"), [("add-remove", 0.0), ("replace", 1e-6)])
def test_a_box_twenty_times_too_wide_costs_little(estimator, adjacency, delta):
    settings = {"epsilon": 1.0, "delta": delta, "adjacency": adjacency, "random_state": 0}
    right = estimator(3, bounds=(0, 1), noise_seed=3, **settings).fit(ROWS)
    loose = estimator(3, bounds=(-9, 11), tighten=True, noise_seed=3, **settings).fit(ROWS)
    box = loose.release_.tightened
    assert (np.array(box["lower"]) > -1).all()
    assert (np.array(box["upper"]) < 2).all()
    assert_found(loose.cluster_centers_, 0.1)
    power = loose._power
    assert total_cost(ROWS, loose.cluster_centers_, power) < 1.2 * total_cost(ROWS, right.cluster_centers_, power)


@pytest.mark.parametrize("inner", [*sorted(ALGORITHMS), HST(alpha=4, rounds=2)], ids=str)
@pytest.mark.parametrize("space", [Box(-9, 11), Ball(10.0, 0.5)], ids=["box", "ball"])
@pytest.mark.matrix
def test_any_algorithm_works_inside_the_box(inner, space):
    for epsilon in (3.0, math.inf):
        model = PrivateKMeans(3, epsilon=epsilon, bounds=space, algorithm=inner, tighten=True, random_state=0, noise_seed=1)
        release = model.fit(ROWS).release_
        box = release.tightened
        assert (np.array(box["upper"]) - np.array(box["lower"]) < 3).all()
        assert (release.centers >= box["lower"]).all()
        assert (release.centers <= box["upper"]).all()
        assert release.algorithm == (ALGORITHMS[inner] if isinstance(inner, str) else inner).name
        assert release.charges[0].name == "bounds"


def test_centers_stay_in_a_ball_though_the_box_does_not():
    rng = np.random.default_rng(1)
    corner = 0.6 + 0.1 * rng.random((3000, 2))  # outside the ball of radius 0.8; clipped to it
    release = PrivateKMeans(2, epsilon=5.0, bounds=Ball(0.8), tighten=True, random_state=0, noise_seed=0).fit(corner).release_
    assert np.linalg.norm(release.tightened["upper"]) > 0.8
    assert (np.linalg.norm(release.centers, axis=1) <= 0.8 * (1 + 1e-12)).all()


def test_without_tighten_there_is_no_box():
    release = PrivateKMeans(3, epsilon=1.0, bounds=(0, 1), noise_seed=0).fit(ROWS).release_
    assert release.tightened is None
    assert release.to_dict()["tightened"] is None


def test_a_release_with_a_box_makes_an_estimator_that_looks_for_one(tmp_path):
    model = PrivateKMedian(3, epsilon=1.0, bounds=Ball(10.0, 0.5), tighten=True, noise_seed=0).fit(ROWS)
    model.release_.to_json(tmp_path / "release.json")
    again = PrivateKMedian.from_release(tmp_path / "release.json")
    assert again.get_params()["tighten"] is True
    assert again.release_.tightened == model.release_.tightened
    assert again.release_.domain == model.release_.domain != model.release_.tightened
    assert again.plan(2).charges == tuple(model.plan(2).charges)
    assert Release.from_json(tmp_path / "release.json").to_json() == model.release_.to_json()


@pytest.mark.parametrize("inner", ALGORITHMS.values(), ids=ALGORITHMS.keys())
@pytest.mark.parametrize("n_features", [1, 3, 60])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.matrix
def test_a_plan_reads_nothing_of_the_domain_but_its_columns(inner, n_features, delta):
    problem = PrivateKMeans(3, epsilon=1.0, delta=delta, bounds=(0, 1)).plan(n_features).problem
    others = [Box(-5e99, 4e99), Box(1e15, 1e15 + 1), Ball(1e-99), Box(0, np.arange(1, n_features + 1))]
    for algorithm in (inner, Tightened(inner)):
        plans = {planned(algorithm, replace(problem, domain=space.domain(n_features))) for space in others}
        assert plans == {planned(algorithm, problem)}


def test_the_parts_are_those_inside_with_a_tenth_less():
    problem = PrivateKMeans(3, epsilon=1.0, bounds=(0, 1)).plan(5).problem
    parts, inside = Tightened(Tree()).parts(problem), Tree().parts(problem)
    assert parts[0] == Part("bounds", "counts", SHARE, 5, 5**0.5, Counting(5))
    assert [(part.name, part.kind, part.share) for part in parts[1:]] == [
        (part.name, part.kind, part.share * (1 - SHARE)) for part in inside
    ]
    assert sum(part.share for part in parts) == 1


def test_a_box_inside_a_box_is_refused_before_any_row_is_read():
    with pytest.raises(BudgetError, match="alike"):
        PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), algorithm=Tightened(Tree()), tighten=True).fit(ROWS)
