"""The schedule: shares of all sizes sum to one, and steps are taken where they are worth their noise."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from covering import covering
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


@settings(max_examples=300)
@given(st.integers(1, 500), st.integers(1, 60), ROWS, st.floats(0, 1e9), st.floats(0, 1), st.floats(1, 1e3))
def test_the_last_step_is_always_taken_and_noise_never_asks_for_more_steps_or_a_summary(k, d, n, std, blind, times):
    schedule, noisier = schedule_of(std, n, k, d), schedule_of(std * times, n, k, d)
    assert 0 <= schedule.first(blind) < MOST_STEPS
    assert schedule.of_one().problem.k == 1
    if not schedule.is_seen:
        assert not noisier.is_seen
    if k == 1 and d >= FEW_COLUMNS:
        assert not schedule.is_seen
    counting = replace(schedule.problem, is_counted=True)
    assert replace(schedule, problem=counting).is_seen  # or there would be nothing to count clusters on


def test_without_noise_steps_are_taken_while_they_gain_and_with_much_the_last_alone():
    assert schedule_of(0.0, 1e4).first(1) == 0
    assert schedule_of(0.0, 1e4).first(1e-3) == MOST_STEPS - 1
    assert schedule_of(1e9, 1e4).first(1) == MOST_STEPS - 1


@covering("estimator, delta, adjacency", [PrivateKMeans, PrivateKMedian], [0.0, 1e-6], ["add-remove", "replace"])
def test_the_plans_own_noise_supports_all_centers_of_more_rows_and_the_plan_tells(estimator, delta, adjacency):
    plan = estimator(20, epsilon=0.5, delta=delta, bounds=(-1, 1), adjacency=adjacency).plan(12)
    found = [plan.forecast(int(n)).centers for n in np.geomspace(1, 1e8, 60)]
    assert found == sorted(found)
    assert set(found) == {1, 20}
    assert STEPS[-1] in plan.forecast(1).paying
    assert plan.forecast(10**9).paying == STEPS[-1:]
    together = plan.preview(plan.parts[STEPS[0]].kind, *STEPS).vector_std
    assert math.isclose(Schedule(plan.problem, plan.preview, 1).noise(*STEPS), 12**0.5 * together)
