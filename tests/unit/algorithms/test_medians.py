"""Steps toward medians: what they ask for, where they lead, and what they refuse."""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest

from opening import purse_over
from spinney import Box, ParameterError, PrivateKMedian
from spinney.algorithms import HST, PointProblem, Stable
from spinney.algorithms.medians import MEDIAN_STEPS, median_parts, move_to_medians
from spinney.fits.record import algorithm_of, plain_parameters
from spinney.privacy import Budget, Unit, compose

STEPS = pytest.mark.parametrize("median_step", MEDIAN_STEPS)
OTHERS = pytest.mark.parametrize("median_step", MEDIAN_STEPS[1:])
WITH_STEPS = pytest.mark.parametrize("kind", [HST, Stable])


def problem_of(d, budget, k=1, power=1):
    return PointProblem(k=k, power=power, budget=budget, unit=Unit(), domain=Box(-4, 4).domain(d))


def moved(rows, centers, radii, median_step, epsilon=1.0, delta=0.0):
    budget = Budget.of(epsilon, delta)
    problem = problem_of(rows.shape[1], budget, len(centers))
    charges = compose(budget, median_parts("step", Fraction(1), problem, median_step))
    purse = purse_over(rows, problem, charges)
    found = move_to_medians(purse, problem, centers, radii, "step", median_step)
    assert purse.names == ()
    assert purse.curator.ledger.entries == charges  # each once, in their order
    return found


@STEPS
@pytest.mark.parametrize(("d", "delta"), [(1, 0.0), (2, 1e-6), (6, 0.0), (20, 1e-6)])
def test_steps_come_nearer_to_the_medians_of_many_rows(median_step, d, delta):
    rng = np.random.default_rng(d)
    medians = np.array([np.full(d, -1.5), np.full(d, 1.5)])
    rows = np.concatenate([median + rng.standard_t(3, (20_000, d)) * 0.3 for median in medians])
    direction = rng.normal(size=d) / np.sqrt(d)
    spread = 0.3 * np.sqrt(d)
    centers = medians + 0.4 * direction
    found = moved(rows, centers, np.full(2, spread), median_step, delta=delta).centers
    before, after = (np.sqrt(((these - medians) ** 2).sum(axis=1)) for these in (centers, found))
    assert (after < 0.6 * before).all()


@WITH_STEPS
def test_minima_of_too_many_columns_are_refused_in_the_plan(kind):
    model = PrivateKMedian(20, epsilon=1.0, bounds=(0, 1), algorithm=kind(median_step="objective"))
    assert model.plan(n_features=200).charges
    with pytest.raises(ParameterError, match=r"(?s)clusters times squared columns.*Hint: 'weiszfeld'"):
        model.plan(n_features=300)


@OTHERS
@WITH_STEPS
def test_a_release_tells_the_step_and_can_be_repeated_but_says_nothing_of_the_default(kind, median_step):
    assert "median_step" not in plain_parameters(kind())
    chosen = dataclasses.replace(kind(), median_step=median_step)
    assert plain_parameters(chosen)["median_step"] == median_step
    assert algorithm_of(chosen.name, plain_parameters(chosen), "points") == chosen


def test_the_release_of_a_minimum_says_that_it_is_proved_over_the_reals_only():
    rows = np.random.default_rng(0).normal(size=(300, 2))
    model = PrivateKMedian(2, epsilon=1.0, bounds=(-3, 3), algorithm=Stable("lloyd", median_step="objective"))
    release = model.fit(rows).release_
    assert release.statement.endswith("one row, proved over the reals only")
    (told,) = (one for one in release.mechanisms if one["question"] == "minimize")
    assert told["proved"] == "over the reals only"
    assert any("proved over the reals only" in line for line in str(model.plan(n_features=2)).splitlines())
    other = PrivateKMedian(2, epsilon=1.0, bounds=(-3, 3), algorithm=Stable("lloyd", median_step="gradient")).fit(rows).release_
    assert "reals" not in other.to_json()
