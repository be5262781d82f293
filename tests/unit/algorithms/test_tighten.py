from dataclasses import replace

import numpy as np
import pytest

from registered import REGISTERED
from spinney import Ball, Box, BudgetError, PrivateKMeans
from spinney.algorithms.default import Tree
from spinney.algorithms.problem import planned
from spinney.algorithms.registry import find
from spinney.algorithms.tighten import Tightened, tight_box
from spinney.mechanisms.additive import Noise

ALGORITHMS = {name: find(name, "points") for name in REGISTERED["points"]}

NONE, LAPLACE = Noise("none", 0.0), Noise("laplace", 10.0)
UNIT = Box(0, 128).domain(1)  # one unit per bin


def box_of(counts, noise=NONE, domain=UNIT):
    """Return the interval of one column, from a dict of bin counts or a list of all of them."""
    if isinstance(counts, dict):
        counts = [counts.get(i, 0) for i in range(128)]
    box = tight_box(domain, np.array([counts], dtype=np.float64), noise)
    return float(box.lower[0]), float(box.upper[0])


@pytest.mark.parametrize(
    ("counts", "box"),
    [
        ({60: 1000}, (59, 62)), ({0: 1000}, (0, 2)), ({127: 1000}, (126, 128)),  # one bin, and a margin
        ({50: 500, 70: 500}, (47.9, 73.1)), ({1: 500, 126: 500}, (0, 128)),  # the gap between two is enclosed
        ({30: 500, 60: 500}, (0, 67.1)), ({40: 500, 60: 500}, (37.9, 63.1)),  # a side is cut off if it is wider than what is left
        ({60: 1000, 61: 60, 62: 50, 63: 40}, (59, 65)),  # what still looks like rows belongs to them
        ({}, (0, 128)), ([-50] * 128, (0, 128)), ([1000] * 128, (0, 128)),  # nothing stands out, or all does
    ],
)  # fmt: skip
def test_a_box_encloses_what_stands_out_of_the_noise(counts, box):
    assert box_of(counts, LAPLACE) == pytest.approx(box)
    if not isinstance(counts, dict) or 61 not in counts:
        assert box_of(counts, NONE) == pytest.approx(box)


RNG = np.random.default_rng(0)
MIDDLES = np.array([[0.2, 0.3], [0.8, 0.4], [0.5, 0.9]])
ROWS = np.concatenate([RNG.normal(middle, 0.04, (2000, 2)) for middle in MIDDLES])


def test_centers_stay_in_a_ball_though_the_box_does_not():
    rng = np.random.default_rng(1)
    corner = 0.6 + 0.1 * rng.random((3000, 2))  # outside the ball of radius 0.8; clipped to it
    release = PrivateKMeans(2, epsilon=5.0, bounds=Ball(0.8), tighten=True, random_state=0, noise_seed=0).fit(corner).release_
    assert np.linalg.norm(release.tightened["upper"]) > 0.8
    assert (np.linalg.norm(release.centers, axis=1) <= 0.8 * (1 + 1e-12)).all()


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


def test_a_box_inside_a_box_is_refused_before_any_row_is_read():
    with pytest.raises(BudgetError, match="alike"):
        PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), algorithm=Tightened(Tree()), tighten=True).fit(ROWS)
