"""Rules 3, 8 and 9 for the noise itself: any integer may come out of it, and an exception or a warning would be an output too."""

import json
import math
import warnings

import numpy as np
import pytest
from cases import CASES, SITES, SPACE
from hypothesis import given, settings
from hypothesis import strategies as st

import spinney.fits.run
from covering import covering
from spinney import (
    Ball,
    Box,
    FewRowsWarning,
    FiniteMetric,
    LoosePromiseWarning,
    PrivateKMeans,
    PrivateKMedian,
    PrivateKMedoids,
    Release,
    UnitsWarning,
)
from spinney.algorithms.tighten import tight_box
from spinney.mechanisms.additive import Noise
from spinney.mechanisms.source import Sampler
from spinney.releases.sites import SiteRelease

SPACES = {
    "plain": Box(-1, 1),
    "ball": Ball(1.0, 3.0),
    "narrow": Box(0, 1.1e-100),
    "wide": Box(-4.9e99, 4.9e99),
    "wide ball": Ball(4.9e99),
    "narrow ball": Ball(1e-99),
    "far": Box(1e15, 1e15 + 1),
    "far ball": Ball(1.0, 1e15),
    "one step of the floats": Box(1e15, 1e15 + 0.125),
}
OUTCOMES = {
    "nothing": lambda values, scale, rng: 0 * values,
    "all low": lambda values, scale, rng: values - 2**61,
    "all high": lambda values, scale, rng: values + 2**61,
    "one high": lambda values, scale, rng: np.where(np.arange(values.size) == values.size // 2, 2**61, -(2**61)),
    # Noise of costs at the least epsilon is beyond 64 bits, where the real source saturates.
    "one barely": lambda values, scale, rng: (np.arange(values.size) == values.size // 2) * min(math.ceil(20 * scale), 2**62),
    "any size": lambda values, scale, rng: (rng.choice([-1, -1, 1], values.size) * 2.0 ** rng.uniform(0, 61, values.size)).astype(
        np.int64
    ),
}


class WildSource(Sampler):
    """Answers whatever a test wants; trees of thousands of cells stop growing."""

    statement = "seeded: not private"

    def __init__(self, outcome, seed):
        self._outcome, self._rng, self._size = outcome, np.random.default_rng(seed), 0

    def laplace(self, values, scale):
        grows, self._size = values.size in (2 * self._size, 256), values.size
        if grows and values.size >= 256:
            return np.full(values.size, -(2**61))
        return self._outcome(values, scale, self._rng).astype(np.int64)

    gaussian = laplace

    def cube(self, values, scale):
        return self.laplace(values.ravel(), scale).reshape(values.shape)

    ball = cube

    def select(self, scores, scale):
        return int(np.argmax(self._outcome(0 * scores, scale, self._rng)))

    def key(self):
        return bytes(16)


def fit(model, rows, outcome, seed, monkeypatch):
    monkeypatch.setattr(spinney.fits.run, "noise_source", lambda _: WildSource(OUTCOMES[outcome], seed))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", FewRowsWarning)  # the ones that an answer decides
        warnings.simplefilter("ignore", UnitsWarning)
        warnings.simplefilter("ignore", LoosePromiseWarning)  # follows from what is typed
        return model.fit(rows).release_


def check(release, domain, k):
    assert release.centers.shape == (k, domain.n_features)
    assert (release.centers >= domain.lower).all()
    assert (release.centers <= domain.upper).all()
    if release.tightened is not None:
        lower, upper = np.array(release.tightened["lower"]), np.array(release.tightened["upper"])
        assert (domain.lower <= lower).all()
        assert (lower < upper).all()
        assert (upper <= domain.upper).all()
    Release.from_dict(release.to_dict())  # refuses what is not finite


@covering("outcome, space, case", OUTCOMES, SPACES, CASES, indirect=["case"])
@pytest.mark.matrix
def test_no_answer_makes_a_fit_raise_or_warn(outcome, space, case, monkeypatch):
    # Objectives, relations and budgets take turns.
    seed = (list(OUTCOMES).index(outcome) + list(SPACES).index(space)) % 3
    estimator, adjacency, epsilon, delta = [
        (PrivateKMeans, "add-remove", 1.0, 0.0),
        (PrivateKMedian, "replace", 1e-9, 0.0),
        (PrivateKMeans, "replace", 1e6, 0.5),
    ][seed]
    domain = SPACES[space].domain(case.n_features)
    model = estimator(3, epsilon=epsilon, delta=delta, bounds=SPACES[space], adjacency=adjacency, random_state=seed)
    rows = domain.sample(40 * seed, np.random.default_rng(seed))
    check(fit(model.set_params(**case.asked), rows, outcome, seed, monkeypatch), domain, 3)


@covering("outcome, space, d, is_rich", OUTCOMES, SPACES, [4, 16, 40], [False, True])
@pytest.mark.matrix
def test_no_answer_makes_a_step_of_the_default_raise_or_warn(outcome, space, d, is_rich, monkeypatch):
    seed = (list(OUTCOMES).index(outcome) + list(SPACES).index(space)) % 4
    estimator, adjacency, delta = [
        (PrivateKMeans, "add-remove", 0.0),
        (PrivateKMedian, "replace", 1e-6),
        (PrivateKMeans, "replace", 1e-6),
        (PrivateKMedian, "add-remove", 0.0),
    ][seed]
    domain, k = SPACES[space].domain(d), (1, 7)[seed % 2]
    asked = {"epsilon": 1e6 if is_rich else 1e-3, "delta": delta, "adjacency": adjacency, "tighten": seed == 2}
    model = estimator(k, bounds=SPACES[space], random_state=seed, **asked)
    check(fit(model, domain.sample(30 * seed, np.random.default_rng(seed)), outcome, seed, monkeypatch), domain, k)


ODD_SPACES = {
    "plain": SPACE,
    "one point": FiniteMetric.from_points([[0.5]]),
    "one place": FiniteMetric.from_matrix(np.zeros((7, 7))),
    "narrow": FiniteMetric.from_points(np.random.default_rng(0).random((9, 1)) * 1e-99, candidates=[2, 5, 8]),
    "wide": FiniteMetric.from_points(np.random.default_rng(0).random((9, 2)) * 1e99, "manhattan"),
}


@covering("outcome, space, case", OUTCOMES, ODD_SPACES, SITES, indirect=["case"])
@pytest.mark.matrix
def test_no_answer_makes_a_fit_of_sites_raise_or_warn(outcome, space, case, monkeypatch):
    seed = (list(OUTCOMES).index(outcome) + list(ODD_SPACES).index(space)) % 4
    adjacency, epsilon, delta = [
        ("add-remove", 1.0, 0.0), ("replace", 1e-9, 0.0), ("replace", 1e6, 0.5), ("add-remove", 1.0, 5e-324),
    ][seed]  # fmt: skip
    where = ODD_SPACES[space]
    k = min(2, len(where.candidates))
    existing = [0] if where.n_points > 1 and seed % 2 else []
    power = 1 + seed % 2
    model = PrivateKMedoids(
        k, epsilon=epsilon, delta=delta, adjacency=adjacency, space=where, algorithm=case.algorithm, power=power,
        existing_sites=existing, random_state=seed,
    )  # fmt: skip
    release = fit(model, np.arange(where.n_points).repeat(seed), outcome, seed, monkeypatch)
    assert str(model.plan(n_guess=100))
    release = SiteRelease.from_dict(json.loads(release.to_json()))
    assert len(set(release.sites.tolist())) == k + len(existing)
    assert np.isin(release.medoids, where.candidates).all()


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("d", [1, 3, 6])
def test_no_answer_makes_the_count_of_clusters_raise_or_warn(outcome, d, monkeypatch):
    for delta in (0.0, 1e-6):
        model = PrivateKMeans("auto", max_clusters=6, epsilon=1.0, delta=delta, bounds=(-1, 1), random_state=0)
        release = fit(model, np.zeros((40, d)), outcome, 3, monkeypatch)
        assert 1 <= len(release.centers) <= 6
        check(release, Box(-1, 1).domain(d), len(release.centers))


@pytest.mark.parametrize("inner", ["hst", "lloyd", "tree"])
@pytest.mark.parametrize("outcome", ["one barely", "any size"])
@pytest.mark.parametrize("space", ["narrow", "wide ball", "far"])
def test_no_box_makes_an_algorithm_inside_it_raise_or_warn(inner, outcome, space, monkeypatch):
    domain = SPACES[space].domain(3)
    model = PrivateKMeans(2, epsilon=1.0, bounds=SPACES[space], algorithm=inner, tighten=True, random_state=0)
    check(fit(model, domain.sample(30, np.random.default_rng(0)), outcome, 7, monkeypatch), domain, 2)


@given(
    seed=st.integers(0, 2**32),
    space=st.sampled_from(sorted(SPACES)),
    columns=st.integers(1, 4),
    noise=st.sampled_from([Noise("none", 0.0), Noise("laplace", 1e-5), Noise("laplace", 30.0), Noise("gaussian", 1e10)]),
    level=st.sampled_from([-1e18, 0.0, 1.0, 1e4, 1e18]),
)
@settings(deadline=None, derandomize=True, max_examples=80)
def test_every_noisy_histogram_makes_a_box_of_positive_width(seed, space, columns, noise, level):
    domain = SPACES[space].domain(columns)
    rng = np.random.default_rng(seed)
    counts = rng.laplace(0, max(noise.scale, 1.0), (columns, 128)).round()
    counts[rng.integers(columns), rng.integers(128)] += level
    box = tight_box(domain, counts, noise)
    assert (domain.lower <= box.lower).all()
    assert (box.lower < box.upper).all()
    assert (box.upper <= domain.upper).all()
