"""What a plan says is proved of the cost: one sentence with its theorem, in numbers where a proof page has the constants."""

import itertools
import math
import re

import numpy as np
import pytest
from scipy.sparse import csr_array

from registered import REGISTERED
from spinney import FiniteMetric, PrivateKMeans, PrivateKMedian, PrivateKMedoids
from spinney.algorithms import HST, Coverage, LocalSearch, Plan, Stable
from spinney.algorithms.max_coverage import CoverProblem, MaxCoverage
from spinney.mechanisms.coverage import step_epsilon
from spinney.privacy import Budget, Unit
from spinney.questions.cover import Family
from spinney.solvers.weighted import total_cost

NONE = "No bound on the cost"
SPACE = FiniteMetric.from_points(np.random.default_rng(0).random((30, 2)))


def of(algorithm, estimator=PrivateKMedian, d=2, **changes):
    return estimator(3, **{"epsilon": 1.0, "bounds": (-1, 1), "algorithm": algorithm, **changes}).plan(d)


def at_sites(algorithm, power=1, delta=1e-6):
    return PrivateKMedoids(3, epsilon=1.0, delta=delta, space=SPACE, algorithm=algorithm, power=power).plan()


def plans():
    for name, estimator, d, delta in itertools.product(
        REGISTERED["points"], (PrivateKMeans, PrivateKMedian), (2, 7), (0.0, 1e-6)
    ):
        yield of(name, estimator, d, delta=delta)
    for algorithm in (HST(repairs=3), HST(projection=2), Stable(HST(repairs=2)), Stable("lloyd")):
        yield from (of(algorithm, estimator, 7) for estimator in (PrivateKMeans, PrivateKMedian))
    for name, power, delta in itertools.product(REGISTERED["sites"], (1, 2), (0.0, 1e-6)):
        yield at_sites(name, power, delta)


def test_every_plan_says_what_is_proved_with_the_theorem_and_whether_constants_are_explicit():
    for plan in plans():
        said = plan.guarantee
        assert said.endswith(".")
        assert "\n" not in said
        if NONE in said:
            continue
        assert re.search(r"(Theorem|Corollary|Lemma) \d|et al\.", said), said
        assert ("constant not explicit" in said) != bool(re.search(r"at most [\d,]+ times the best one, plus", said)), said
        assert said in str(plan)


def test_which_algorithms_have_a_bound():
    def has(plan):
        return not plan.guarantee.startswith(NONE)

    assert has(of("hst")) and has(of(HST(repairs=1), PrivateKMeans)) and has(at_sites("coverage"))  # noqa: PT018
    for plan in (
        of("tree"),
        of("lloyd"),
        of("hst", PrivateKMeans),
        of(Stable("tree")),
        at_sites("cells"),
        at_sites("coverage", delta=0),
    ):
        assert not has(plan)
    assert "Corollary 17" in of("coverage").guarantee
    assert "not inherited" in of("coverage").guarantee
    assert "Theorem 4.3" in of(Stable(HST(repairs=2)), PrivateKMeans).guarantee
    assert "Theorem 5.4" in of(Stable("hst")).guarantee
    assert "solver's factor" in at_sites(Coverage(solver=print)).guarantee
    assert "of which it takes 7" in at_sites(LocalSearch(steps=7)).guarantee
    assert of("hst", tighten=True).guarantee.startswith("Of rows clipped to its private box: ")


def numbers(text):
    return [float(one.replace(",", "")) for one in re.findall(r"\d[\d,]*\.?\d*(?:e[+-]\d+)?", text)]


def test_the_tree_keeps_its_bound_without_noise():
    rng = np.random.default_rng(0)
    rows = rng.uniform(-0.8, 0.8, (3, 2))[rng.integers(0, 3, 500)] + rng.normal(0, 0.02, (500, 2))
    rows = np.clip(rows, -1, 1)
    algorithm = HST(alpha=3, rounds=0)
    factor, fixed, _, each = numbers(of(algorithm, epsilon=math.inf).guarantee)[:4]
    assert factor == 3 * (3 * 2**3) * (3 * 2)  # 3 A d alpha, A = 3 * 2^alpha for a cube
    assert (fixed, each) == (0, pytest.approx((2 / 3) ** 3 * math.sqrt(8), rel=0.01))
    best = min(total_cost(rows, rng.choice(rows, 3, replace=False), 1) for _ in range(200))
    costs = [
        total_cost(
            rows,
            PrivateKMedian(3, epsilon=math.inf, bounds=(-1, 1), algorithm=algorithm, random_state=seed)
            .fit(rows)
            .cluster_centers_,
            1,
        )
        for seed in range(10)
    ]
    assert np.mean(costs) <= factor * best + 500 * each


def test_a_cover_keeps_its_bound_in_exact_expectation():
    members = np.array([[1, 0, 0, 1], [1, 1, 0, 0], [0, 1, 1, 0]], dtype=bool).T
    counts, k = np.array([9, 5, 4, 1]), 2
    problem = CoverProblem(k=k, power=1, budget=Budget.of(1.0, 1e-3), unit=Unit(), family=Family(csr_array(members), (k,)))
    algorithm = MaxCoverage()
    (charge,) = algorithm.plan(problem)
    rate = float(step_epsilon(charge, Unit(), k))

    def expected(left, steps):
        """Return the mean number of rows that so many steps of the exponential mechanism cover."""
        gains = left @ members
        shares = np.exp(rate * gains) / np.exp(rate * gains).sum()
        more = [expected(left * ~members[:, i], steps - 1) if steps > 1 else 0.0 for i in range(3)]
        return float(shares @ (gains + more))

    most = max(counts[members[:, list(pair)].any(axis=1)].sum() for pair in itertools.combinations(range(3), 2))
    factor, lost = numbers(Plan(algorithm, problem).guarantee)[:2]
    assert factor == pytest.approx(0.75)
    assert lost == pytest.approx(k * math.log(3) / rate, rel=1e-3)
    assert expected(counts, k) >= factor * most - lost
