"""The schedule: shares of all sizes sum to one, and steps are taken where they are worth their noise."""

import math
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney import PrivateKMeans, PrivateKMedian
from spinney.algorithms.default import stages
from spinney.algorithms.schedule import FEW_COLUMNS, MOST_STEPS, RADII, STEPS, Schedule

KS, DS = st.integers(1, 5_000), st.integers(1, 5_000)
ESTIMATORS = st.sampled_from([PrivateKMeans, PrivateKMedian])
ROWS = st.floats(1, 1e12)


def problem_of(k=4, d=8, estimator=PrivateKMeans, **more):
    return estimator(k, **{"epsilon": 1.0, "bounds": (-1, 1), **more}).plan(d).problem


def schedule_of(vector_std, n, k=4, d=8):
    """Return a schedule whose steps have this noise, less the more of them pay, as Laplace noise is."""

    def preview(kind, *names):
        return SimpleNamespace(vector_std=vector_std / sum(2.0 ** STEPS.index(name) for name in names))

    return Schedule(problem_of(k, d), preview, n)


@settings(max_examples=200)
@given(KS, DS, ESTIMATORS, st.sampled_from([0.0, 1e-9, 1e-3]))
def test_shares_are_positive_and_sum_to_one_whatever_the_sizes(k, d, estimator, delta):
    parts = stages(problem_of(k, d, estimator, delta=delta))
    assert sum(part.share for part in parts) == 1
    assert all(part.share > 0 for part in parts)
    names = [part.name for part in parts]
    assert len(set(names)) == len(names)
    assert names[:4] == ["rows", "columns", "splits", "leaves"]
    assert names[-1] == "sizes"
    between = [name for pair in zip(RADII, STEPS, strict=True) for name in pair]
    assert names[4:-1] == (between if d >= FEW_COLUMNS else [])
    assert {part.question for part in parts if part.name in STEPS} <= {"sums"}


@settings(max_examples=200)
@given(KS, st.integers(1, 200), st.integers(1, 200))
def test_the_more_columns_and_the_fewer_clusters_the_more_steps_get(k, d, more):
    def part_of(k, d):
        return sum(part.share for part in stages(problem_of(k, d)) if part.name in (*RADII, *STEPS))

    assert part_of(k, d + more) >= part_of(k, d)
    assert part_of(k + more, d) <= part_of(k, d)


@settings(max_examples=200)
@given(KS, st.integers(FEW_COLUMNS, 300))
def test_each_step_is_paid_twice_what_the_one_before_it_is(k, d):
    shares = {part.name: part.share for part in stages(problem_of(k, d))}
    for names in (STEPS, RADII):
        assert all(shares[after] == 2 * shares[before] for before, after in pairwise(names))
    assert len({shares[step] / shares[radii] for radii, step in zip(RADII, STEPS, strict=True)}) == 1


@settings(max_examples=200)
@given(st.integers(1, 500), st.integers(1, 60), ROWS, st.floats(1e-9, 1e9), st.floats(1, 1e3))
def test_at_least_one_and_at_most_all_centers_are_supported_and_less_noise_and_more_rows_support_more(k, d, n, std, times):
    found = schedule_of(std, n, k, d).supported
    assert 1 <= found <= k
    assert schedule_of(std * times, n, k, d).supported <= found <= schedule_of(std, n * times, k, d).supported
    assert schedule_of(0.0, n, k, d).supported == k
    assert schedule_of(std, n, k, d).is_seen == (d < FEW_COLUMNS or found > 1)
    counting = replace(schedule_of(std, n, k, d).problem, is_counted=True)
    assert replace(schedule_of(std, n, k, d), problem=counting).is_seen  # or there would be nothing to count clusters on


def test_what_is_passed_on_to_a_step_later_supports_no_center_more():
    stds = iter([30.0, 1e-3])
    schedule = Schedule(problem_of(), lambda kind, *names: SimpleNamespace(vector_std=next(stds, 1e-3)), 100.0)
    assert not schedule.is_seen
    assert schedule.noise(*STEPS) < 0.01  # a summary that was not made pays too
    assert schedule.supported == 1


@settings(max_examples=300)
@given(st.integers(1, 500), st.integers(1, 60), ROWS, st.floats(0, 1e9), st.floats(0, 1), st.floats(0, 1))
def test_some_step_comes_first_and_the_more_a_summary_misses_the_more_steps(k, d, n, std, blind, other):
    schedule = schedule_of(std, n, k, d)
    low, high = sorted([blind, other])
    assert 0 <= schedule.first_step(high) <= schedule.first_step(low) < MOST_STEPS
    if 1 < schedule.supported < k:
        assert schedule.first_step(blind) == MOST_STEPS - 1


@settings(max_examples=300)
@given(st.integers(1, 60), st.integers(1, 60), ROWS, st.floats(1e-6, 1e6), st.floats(0, 1), st.floats(1, 1e3))
def test_less_noise_never_means_fewer_steps_where_all_centers_are_moved(k, d, n, std, blind, times):
    """Only there: the more centers are supported, the more noise their steps have together."""
    loud, quiet = schedule_of(std * times, n, k, d), schedule_of(std, n, k, d)
    if loud.supported == quiet.supported:
        assert quiet.first_step(blind) <= loud.first_step(blind)


def test_without_noise_all_steps_are_taken_and_with_much_the_last_alone():
    assert schedule_of(0.0, 1e4).first_step(0.5) == 0
    assert schedule_of(1e9, 1e4).first_step(0.5) == MOST_STEPS - 1


def test_where_the_summary_sees_everything_no_noise_is_added_that_need_not_be():
    assert schedule_of(10.0, 1e6).first_step(0.0) == MOST_STEPS - 1


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_the_plans_own_noise_supports_more_centers_of_more_rows_and_the_plan_tells(estimator, delta, adjacency):
    plan = estimator(20, epsilon=0.5, delta=delta, bounds=(-1, 1), adjacency=adjacency).plan(12)
    found = [Schedule(plan.problem, plan.preview, n).supported for n in np.geomspace(1, 1e8, 60)]
    assert found == sorted(found)
    assert (found[0], found[-1]) == (1, 20)
    assert len(set(found)) > 5
    for n in (10, 1_000, 30_000, 10**8):
        assert plan.forecast(n).centers == Schedule(plan.problem, plan.preview, n).supported
    assert plan.forecast(1).paying == STEPS  # one center, one step
    assert plan.forecast(10**9).paying == STEPS[-1:]
    assert math.isclose(
        Schedule(plan.problem, plan.preview, 1).noise(*STEPS), 12**0.5 * plan.preview(_sum(plan), *STEPS).vector_std
    )


def _sum(plan):
    return plan.parts[STEPS[0]].kind
