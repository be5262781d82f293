"""Evolution of candidate centers."""

import math
from fractions import Fraction

import numpy as np
import pytest

from spinney import Ball, ParameterError, PrivateKMeans, PrivateKMedian
from spinney.audit import compare, record, total_loss
from spinney.baselines.pe_means import PEMeans
from spinney.mechanisms.source import SeededSource
from spinney.solvers.weighted import solve


def rows_of(n, d=2, seed=0):
    rng = np.random.default_rng(seed)
    return np.clip(rng.uniform(-0.6, 0.6, (3, d))[rng.integers(0, 3, n)] + rng.normal(0, 0.03, (n, d)), -0.7, 0.7)


def packed(k, d, draw, center, half):
    """Darts, one after the other: a center is kept if the balls around all of them do not overlap."""
    radius = half / 2
    while True:
        balls, misses = [], 0
        while len(balls) < k and misses < 100:
            dart = center + (1 - radius / half) * (draw() - center)
            if all(np.linalg.norm(dart - ball) >= 2 * radius for ball in balls):
                balls.append(dart)
                misses = 0
            else:
                misses += 1
        if len(balls) == k:
            return np.array(balls)
        radius /= 2


def evolved(rows, k, power, generations, domain, rng):
    """Return the centers and the candidates that count in the end, in plain NumPy; the weighted solver is the library's."""
    n, d = rows.shape

    def bell(shape):
        lengths = rng.random(shape)
        return np.cos(2 * math.pi * rng.random(shape)) * np.sqrt(-2 * np.log(1 - lengths))

    def draw():
        if not math.isfinite(domain.radius):
            return rng.uniform(domain.lower, domain.upper)
        normal = bell(d)
        return domain.center + domain.radius * normal / np.linalg.norm(normal) * rng.random() ** (1 / d)

    mutants = max(n // 5 // k, 4)
    candidates = packed((mutants + 1) * k, d, draw, domain.center, domain.half_diagonal)
    for _ in range(generations):
        counts = np.zeros(len(candidates))
        for row in rows:
            counts[np.argmin(((candidates - row) ** 2).sum(axis=1))] += 1
        held, least = 0, 0
        for count in sorted(counts, reverse=True):  # the largest until all rows are held
            held, least = held + count, count
            if held >= n:
                break
        weights = np.where(counts >= least, counts, 0)
        fillers = rng.uniform(domain.lower, domain.upper, (k, d))
        centers = domain.clip(solve(candidates, weights, k, power, rng, domain.clip(fillers)).centers)
        last, parents = candidates[weights > 0], np.repeat(centers, mutants, axis=0)
        b = 1.75
        u, v = bell(parents.shape), bell(parents.shape)
        scale = math.gamma(1 + b) * math.sin(math.pi * b / 2) / (math.gamma((1 + b) / 2) * b * 2 ** ((b - 1) / 2))
        flights = parents + 0.01 * domain.half_diagonal * scale ** (1 / b) * u / np.abs(v) ** (1 / b)
        candidates = np.concatenate([centers, domain.clip(flights)])
    return centers, last


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
@pytest.mark.parametrize("bounds", [(-1, 1), Ball(1.5)], ids=["box", "ball"])
def test_without_noise_it_is_the_plain_method(estimator, bounds):
    rows, generations = rows_of(300), 4
    model = estimator(3, epsilon=math.inf, bounds=bounds, algorithm=PEMeans(generations), random_state=2).fit(rows)
    problem = estimator(3, epsilon=math.inf, bounds=bounds, algorithm=PEMeans(generations)).plan(2).problem
    centers, last = evolved(rows, 3, problem.power, generations, problem.domain, np.random.default_rng(2))
    np.testing.assert_allclose(model.cluster_centers_, centers, atol=1e-12)
    np.testing.assert_allclose(model.release_.summary_points, last, atol=1e-12)
    assert model.release_.summary_weights.sum() == len(rows)


def test_what_is_asked_follows_from_answers_alone():
    """Replayed for neighbors; and the noise of a small budget halves the mutants."""
    model = PrivateKMeans(3, epsilon=0.1, bounds=(-1, 1), algorithm=PEMeans(5), random_state=0)
    first = record(model, rows_of(3_000), source=SeededSource(1))
    sizes = [len(one.question.partition.centers) for one in first.questions[1:-1]]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[1] == (sizes[0] // 3 - 1) // 2 * 3 + 3
    for rows in (rows_of(3_000)[1:], np.concatenate([rows_of(3_000), [[0.9, -0.9]]])):
        found = compare(first, record(model, rows, source=first.frozen()))
        assert found.visible == found.beyond == ()
        assert total_loss(found.losses, Fraction(0)) <= model.epsilon


def test_a_parameter_that_no_plan_can_have_is_refused():
    for generations in (0, 257, 1.5):
        with pytest.raises(ParameterError, match="'generations' parameter of PEMeans"):
            PEMeans(generations)
