import itertools
import math

import numpy as np
import pytest

from spinney import Ball, Box
from spinney.algorithms import HST
from spinney.algorithms.repairs import badly_cut, cut_margins
from spinney.solvers.reverse_greedy import thin_out
from spinney.trees.quadtree import Splits
from unit.algorithms.test_hst import fit, published, rows_of

SPACES = [Box(-1.3, 1.3), Box([-2, -1.5, -1.4], [1.2, 3, 1.4]), Ball(1.4)]
DOMAINS = [space.domain(d) for space, d in zip(SPACES, (2, 3, 2), strict=True)]


def fractions_of(rng, count):
    return np.floor(rng.uniform(1 / 3, 2 / 3, count) * 2**31) / 2**31


def plain_margin(point, domain, fractions):
    """Walk down to the point: how near the cut of each of its cells is, in sides of the cell."""
    lower, upper, least = list(domain.lower), list(domain.upper), math.inf
    for level, fraction in enumerate(fractions):
        j = level % len(lower)
        cut = lower[j] + fraction * (upper[j] - lower[j])
        least = min(least, abs(point[j] - cut) / (upper[j] - lower[j]))
        (lower if point[j] > cut else upper)[j] = cut
    return least


def nearest(rows, centers):
    return ((rows[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)


def plain_repairs(rows, domain, k, power, algorithm, rng):
    """Algorithms 6 and 7 without noise, then reverse greedy; also how many centers were badly cut, and how many are copies."""
    levels, centers, cut, copies = algorithm.alpha * rows.shape[1], rows.mean(axis=0)[None], 0, 0
    for _ in range(algorithm.repairs):
        fractions = fractions_of(rng, levels)
        margins = np.array([plain_margin(center, domain, fractions) for center in centers])
        bad = margins < algorithm.slack / (12 * levels)
        bad &= margins <= np.sort(margins)[min(math.ceil(algorithm.slack * k), len(margins)) - 1]
        left = rows[~bad[nearest(rows, centers)]]
        found = published(domain, left, fractions, k, power)
        cut, copies = cut + int(bad.sum()), copies + k - len(set(found))
        centers = np.concatenate([domain.clip(np.array(found)), centers[bad]])
    sizes = np.bincount(nearest(rows, centers), minlength=len(centers))
    return centers[thin_out(centers, sizes, k, power)], cut, copies


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("domain", range(len(DOMAINS)))
@pytest.mark.matrix
def test_without_noise_repairs_are_the_published_algorithm(power, domain):
    space, domain = SPACES[domain], DOMAINS[domain]
    cuts = compared = 0
    for seed, k in itertools.product(range(6), (2, 5)):
        rows = domain.clip(rows_of(domain.n_features, seed))
        algorithm = HST(alpha=4, rounds=0, repairs=2, slack=1.0)
        result = fit(algorithm, rows, space, k, power, seed=seed)
        centers, cut, copies = plain_repairs(rows, domain, k, power, algorithm, np.random.default_rng(seed))
        if not copies:  # printed, a leaf may get several centers
            ours, theirs = (np.array(sorted(found.tolist())) for found in (result.centers, centers))
            np.testing.assert_allclose(ours, theirs, atol=3e-6 * domain.half_diagonal)
            cuts, compared = cuts + cut, compared + 1
    assert compared >= 6
    assert cuts >= 3


@pytest.mark.parametrize("domain", DOMAINS, ids=["box", "sides", "ball"])
def test_margins_are_those_of_the_cells_that_hold_a_point(domain):
    rng = np.random.default_rng(1)
    splits = Splits.random(domain, 5 * domain.n_features, rng)
    points = np.concatenate([domain.sample(50, rng), [domain.center, domain.lower, domain.upper]])
    theirs = [plain_margin(point, domain, splits.route.fractions / 2**31) for point in points]
    np.testing.assert_allclose(cut_margins(splits, points), theirs, rtol=1e-9)


def test_a_ball_around_a_center_that_is_not_badly_cut_stays_in_cells_that_are_not_much_larger():
    # What the bound rests on: a cut that reaches into the ball parts a cell whose side is at most radius / share.
    rng, domain, slack = np.random.default_rng(0), Box(-1, 1).domain(2), 0.5
    for _ in range(50):
        splits = Splits.random(domain, 12, rng)
        center = domain.sample(1, rng)
        if badly_cut(splits, center, slack, 1).size:
            continue
        share, radius = slack / (12 * 12), 10 ** rng.uniform(-4, 0)
        lower, upper = [-1.0, -1.0], [1.0, 1.0]
        for level, fraction in enumerate(splits.route.fractions / 2**31):
            j = level % 2
            cut = lower[j] + fraction * (upper[j] - lower[j])
            if abs(center[0, j] - cut) <= radius:
                assert upper[j] - lower[j] <= radius / share
            (lower if center[0, j] > cut else upper)[j] = cut


@pytest.mark.parametrize("slack", [0.1, 0.5, 1.0])
def test_a_center_is_badly_cut_at_most_as_often_as_the_bound_says(slack):
    rng, domain = np.random.default_rng(0), Box(-1, 1).domain(3)
    centers = domain.sample(20, rng)
    counts = [badly_cut(Splits.random(domain, 18, rng), centers, slack, 20).size for _ in range(300)]
    assert 0 < np.mean(counts) / 20 <= slack / 2 + 3 * np.std(counts) / 20 / math.sqrt(300)
