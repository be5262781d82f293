"""Draws against the exact laws of the mechanisms, at all scales, and apart in threads and forks.

What is drawn from the secure source may fail by chance as rarely as ``tests/alarms.py`` says.
"""

import math
import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest

from alarms import check_frequencies
from spinney.audit.laws import cube_law, noise_law, select_law, split_law
from spinney.mechanisms import Noise, Responses, SecureSource, SeededSource
from spinney.mechanisms.coverage import choose_cover
from spinney.mechanisms.selection import choose
from spinney.mechanisms.splitting import split_rule
from spinney.privacy.charges import Charge, Measure

DRAWS = 20_000
SOURCES = pytest.mark.parametrize("source", [SecureSource(), SeededSource(1)], ids=["secure", "seeded"])
KINDS = pytest.mark.parametrize("kind", ["laplace", "gaussian"])
#: From noise that is almost always nothing to noise of a thousand million steps.
SCALES = [1e-3, 0.05, 0.3, 1.0, 2.5, 11.7, 1e3, 1e6, 1e9]


def binned_law(kind, scale, edges):
    """Return the probability that noise lies in each bin (edges[i], edges[i + 1]], from exact tails."""
    if scale <= 50:
        x = np.arange(-4000, 4001)
        tail = np.array([noise_law(kind, scale, x[x <= edge]).sum() for edge in edges])
    elif kind == "laplace":
        # P(noise <= m) for discrete Laplace noise, from its geometric tails.
        a, m = math.exp(-1 / scale), np.asarray(edges, dtype=np.float64)
        tail = np.where(m < 0, np.exp(np.minimum(m, 0) / scale) / (1 + a), 1 - np.exp(-(np.maximum(m, -1) + 1) / scale) / (1 + a))
    else:
        from scipy.stats import norm  # of so wide a Gaussian, up to one part in exp(-scale^2)

        tail = norm.cdf((np.asarray(edges) + 0.5) / scale)
    return np.diff(np.concatenate([[0.0], tail, [1.0]]))


@SOURCES
@KINDS
@pytest.mark.parametrize("scale", SCALES)
def test_frequencies_match_exact_probabilities(source, kind, scale, alarm):
    center = 7 if scale < 50 else -(10**6)
    draws = getattr(source, kind)(np.full(DRAWS, center), scale) - center
    reach = max(1, int(3 * scale))
    edges = np.unique(np.linspace(-reach, reach, min(2 * reach + 1, 41)).astype(np.int64))
    seen = np.bincount(np.searchsorted(edges, draws), minlength=len(edges) + 1)
    check_frequencies(seen, binned_law(kind, scale, edges), alarm)


@SOURCES
@pytest.mark.parametrize(("columns", "scale"), [(1, 0.3), (1, 11.7), (2, 0.8), (2, 2.5), (3, 1.5)])
@pytest.mark.matrix
def test_cubes_match_exact_probabilities(source, columns, scale, alarm):
    """All points near the middle, each for itself; what lies further out is the rest."""
    values = np.tile(np.arange(columns) - 4, (DRAWS // 10, 1))
    draws = source.cube(values, scale) - values
    reach = {1: 30, 2: 6, 3: 3}.get(columns, 1)
    points = np.stack(np.meshgrid(*[np.arange(-reach, reach + 1)] * columns, indexing="ij"), axis=-1).reshape(-1, columns)
    inside = np.abs(draws).max(axis=1) <= reach
    places = ((draws[inside] + reach) @ (2 * reach + 1) ** np.arange(columns)[::-1]).astype(np.int64)
    seen = np.append(np.bincount(places, minlength=len(points)), np.count_nonzero(~inside))
    law = cube_law(scale, points)
    check_frequencies(seen, np.append(law, 1 - law.sum()), alarm)


@SOURCES
@pytest.mark.parametrize(("columns", "scale"), [(2, 1e6), (40, 1e6), (784, 2.0**20)])
@pytest.mark.matrix
def test_the_radius_of_a_wide_cube_is_a_gamma_number(source, columns, scale, alarm):
    """The largest entry of noise of d columns, over its scale, is nearly gamma distributed with d degrees."""
    from scipy.stats import gamma

    runs = 400 if columns < 100 else 100
    largest = np.abs(source.cube(np.zeros((runs, columns), dtype=np.int64), scale)).max(axis=1) / scale
    edges = gamma.ppf(np.linspace(0.1, 0.9, 9), columns)
    check_frequencies(np.bincount(np.searchsorted(edges, largest), minlength=10), np.full(10, 0.1), alarm)


@SOURCES
@pytest.mark.parametrize(("columns", "scale"), [(5, 0.8), (6, 1e7), (9, 40.0), (41, 1e6)])
@pytest.mark.matrix
def test_balls_match_the_continuous_law(source, columns, scale, alarm):
    """Lengths of whole balls are gamma numbers, a coordinate is normal of a gamma variance, and no direction is preferred."""
    from scipy.stats import gamma, norm, t

    even, runs = columns + columns % 2, 1500
    draws = source.ball(np.full((runs, columns), 7, dtype=np.int64), scale) - 7
    draws = (draws + np.random.default_rng(5).uniform(-0.5, 0.5, draws.shape)) / scale  # as if it were not rounded, nearly
    parts = np.linspace(0.1, 0.9, 9)
    if columns == even and scale > 100:
        places = np.searchsorted(gamma.ppf(parts, columns), np.sqrt((draws**2).sum(axis=1)))
        check_frequencies(np.bincount(places, minlength=10), np.full(10, 0.1), alarm)
    # Over the length of all others a coordinate of a uniform direction is a number of Student's, up to a factor.
    if scale > 10 and columns == even:
        for place in (0, columns - 1):
            rest = np.sqrt((np.delete(draws, place, axis=1) ** 2).sum(axis=1) / (columns - 1))
            seen = np.bincount(np.searchsorted(t.ppf(parts, columns - 1), draws[:, place] / rest), minlength=10)
            check_frequencies(seen, np.full(10, 0.1), alarm)
    # A coordinate, whatever the scale: the mixture, added up.
    variances = 2 * gamma.ppf((np.arange(2000) + 0.5) / 2000, (even + 1) / 2)
    steps = np.arange(-3, 3) * max(round(scale), 1) + 0.5
    below = norm.cdf(steps[:, None] / scale / np.sqrt(variances)).mean(axis=1)
    seen = np.bincount(np.searchsorted(steps / scale, draws[:, 0]), minlength=7)
    check_frequencies(seen, np.diff(below, prepend=0.0, append=1.0), alarm)


@SOURCES
@pytest.mark.parametrize("mechanism", ["choose", "cover", "plain"])
@pytest.mark.parametrize("scale", [0.4, 2.0, 1e9])
@pytest.mark.matrix
def test_selection_matches_exact_probabilities(source, mechanism, scale, alarm):
    scores, runs = np.array([0, 3, 1, 2]), 3000
    if scale > 1e3:  # scores as far apart as the noise is wide
        scores = scores * 10**9 // 2
    step = 1 / Fraction(scale)
    draw = {
        "choose": lambda: choose(scores, 1, Charge("a", "choose", Measure.PURE, step), source),
        "cover": lambda: choose_cover(scores, step, source),
        "plain": lambda: source.select(scores, scale),
    }[mechanism]
    check_frequencies(np.bincount([draw() for _ in range(runs)], minlength=4), select_law(scores, scale), alarm)


@SOURCES
@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1), Fraction(1000)])
def test_split_decisions_match_exact_probabilities(source, epsilon, alarm):
    rule = split_rule(Charge("a", "grow", Measure.PURE, epsilon), False)
    counts, parts = np.unique([0, 1, 2, int(3 / epsilon)]), 5000
    for count in counts:
        split = rule.decide(np.full(parts, count), 1, source).sum()
        score = max(rule.threshold - rule.decay, count * rule.steps_per_row - rule.decay)
        law = np.exp([split_law([score], rule.scale, rule.threshold, [passes])[0] for passes in (True, False)])
        check_frequencies([split, parts - split], law, alarm / len(counts))


@KINDS
@pytest.mark.parametrize("scale", [0.5, 4.0])
def test_published_noise_levels_are_true(kind, scale):
    noise, x = Noise(kind, scale), np.arange(-2000, 2001)
    p = noise_law(kind, scale, x)
    exact = float(np.sqrt((p * x**2).sum()))
    # A discrete Gaussian is at most as wide as its parameter says.
    assert noise.std == pytest.approx(exact, rel=1e-9) if kind == "laplace" else exact <= noise.std
    assert p[np.abs(x) <= noise.quantile(0.95)].sum() >= 0.95
    draws = getattr(SeededSource(1), kind)(np.zeros(DRAWS, dtype=np.int64), scale)
    assert np.std(draws) == pytest.approx(exact, rel=0.08)


@KINDS
@pytest.mark.parametrize("scale", SCALES)
def test_draws_of_any_scale_are_whole_numbers_around_their_values(kind, scale):
    for value in (0, 2**61, -(2**61)):
        noisy = getattr(SecureSource(), kind)(np.full(200, value), scale)
        assert noisy.dtype == np.int64
        assert np.abs(noisy - value).max() <= 200 * scale + 1


def drawn_in_a_fork(queue):
    queue.put(fifty())
    queue.put(chosen())


def fifty():
    return SecureSource().laplace(np.zeros(50, dtype=np.int64), 1e9).tolist()


def chosen():
    """Choices are OpenDP's, whose generator lives in this process: what is in memory must not decide them."""
    return [SecureSource().select(np.zeros(1000, dtype=np.int64), 1.0) for _ in range(12)]


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_threads_and_forks_draw_apart(alarm):
    # Two of these numbers agree with a chance of about 1e-9, so two lists of fifty never do.
    with ThreadPoolExecutor(8) as pool:
        lists = list(pool.map(lambda _: fifty(), range(16))) + list(pool.map(lambda _: chosen(), range(16)))
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    forks = [context.Process(target=drawn_in_a_fork, args=(queue,)) for _ in range(3)]
    for fork in forks:
        fork.start()
    lists += [queue.get(timeout=60) for _ in range(2 * len(forks))]
    for fork in forks:
        fork.join()
    assert len({tuple(one) for one in lists}) == len(lists)
    assert sum(len(set(one) & set(other)) for one in lists[:1] for other in lists[1:]) <= 1
    assert len({SecureSource().key() for _ in range(16)}) == 16
    rule = Responses((10_000,) * 30, 2**31, 2**31)  # two lists agree with a chance of about 1e-66
    first, second = (SecureSource().responses(np.zeros(30, dtype=np.int64), rule) for _ in range(2))
    assert (first != second).any()
    assert alarm > 0
