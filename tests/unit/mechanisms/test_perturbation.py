"""The constants of private minima, worked out a second time, and what who watches is told of their draws."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.mechanisms import Drawn, Noise, SeededSource, Watched
from spinney.mechanisms import perturbation as module
from spinney.mechanisms.perturbation import (
    BEND_SHARE,
    LEAST_PULL,
    POINT_SHARE,
    POINT_STEPS,
    SLOPE_STEPS,
    Perturbation,
    minimized,
    perturbation,
    point_sensitivity,
)
from spinney.privacy import Charge, Measure, Unit

UNITS = st.builds(Unit, st.sampled_from(["add-remove", "replace"]), st.integers(1, 5))
NEAR = 1e-6


@given(st.fractions(Fraction(1, 1000), 30), st.sampled_from(Measure), UNITS, st.integers(1, 40))
def test_a_charge_buys_each_share_of_its_epsilon_and_no_more(amount, measure, unit, columns):
    found = perturbation(Charge("a", "minimize", measure, amount), unit, columns)
    epsilon = float(amount) if measure is Measure.PURE else math.sqrt(2 * amount)
    moved = unit.max_rows * (2 if unit.adjacency == "replace" else 1)
    apart = columns + 2 * math.ceil(math.sqrt(columns))  # rounded to steps, and a step of length each
    bends = unit.max_rows * columns * math.log1p(1 / found.pull)
    losses = moved / found.scale, bends, apart * moved / found.points.scale
    assert found.losses(unit) == pytest.approx(losses, rel=1e-12)
    assert sum(losses) <= float(found.epsilon) <= epsilon
    assert float(found.epsilon) == pytest.approx(epsilon, rel=NEAR)
    slopes = 1 - float(BEND_SHARE) - float(POINT_SHARE)
    assert losses[0] == pytest.approx(slopes * epsilon, rel=NEAR)
    assert losses[2] == pytest.approx(float(POINT_SHARE) * epsilon, rel=NEAR)
    if found.pull > LEAST_PULL:
        assert bends == pytest.approx(float(BEND_SHARE) * epsilon, rel=NEAR)
    else:
        assert found.pull == LEAST_PULL == 0.0625
        assert bends <= float(BEND_SHARE) * epsilon * (1 + NEAR)
    assert found.tolerance == found.pull / POINT_STEPS


@given(st.fractions(Fraction(1, 100), 10), UNITS, st.integers(1, 12))
def test_conditions_are_checked_where_minima_are_made(amount, unit, columns):
    """Whatever is a little too small is refused before a row is looked at; larger noise is not."""
    found = perturbation(Charge("a", "minimize", Measure.PURE, amount), unit, columns)
    less = 0.9 * (1 - POINT_SHARE)

    def never(at):
        raise AssertionError("rows were looked at")

    for wrong in (
        replace(found, scale=less * found.scale),
        replace(found, points=Noise("laplace", found.points.scale / 50)),
        replace(found, epsilon=found.epsilon * Fraction(9, 10)),
        replace(found, pull=0.0),
        replace(found, pull=-found.pull),
        *([replace(found, pull=found.pull / 2)] if found.pull > LEAST_PULL else []),
    ):
        with pytest.raises(ValueError, match="within its epsilon"):
            minimized(never, 1, wrong, SeededSource(0), unit)
    replace(found, scale=2 * found.scale, pull=2 * found.pull).check(unit)


@settings(max_examples=30, deadline=None)
@given(UNITS, st.integers(1, 3), st.integers(1, 3))
def test_who_watches_is_told_how_far_a_whole_unit_moves_each_draw(unit, columns, cells):
    found = perturbation(Charge("a", "minimize", Measure.PURE, Fraction(1)), unit, columns)
    events = []
    shape, zeros = (cells, columns), np.zeros((cells, columns, columns), dtype=np.int64)

    def slopes(at):
        return np.zeros(shape, dtype=np.int64), np.zeros(cells, dtype=np.int64), zeros

    minimized(slopes, cells, found, Watched(SeededSource(0), events.append), unit)
    first, second = (event.draw for event in events if isinstance(event, Drawn))
    moved = unit.moved_rows
    assert (first.distribution, first.norm, first.part) == ("radial", "length of a cell", "slopes")
    assert (first.scale, first.sensitivity) == (found.scale * SLOPE_STEPS, SLOPE_STEPS * moved)
    assert (second.distribution, second.norm, second.part) == ("laplace", "l1", "points")
    assert (second.scale, second.sensitivity) == (found.points.scale, point_sensitivity(columns) * moved)


def test_no_noise_is_the_minimum_and_loses_everything():
    found = perturbation(Charge("a", "minimize", Measure.PURE, math.inf), Unit(), 2)
    assert found == Perturbation(math.inf, 2, 0.0, LEAST_PULL, Noise("none", 0.0))
    assert found.losses(Unit()) == (math.inf,) * 3


def test_a_descent_that_runs_out_of_rounds_stays_where_it_came_nearest(monkeypatch):
    found = perturbation(Charge("a", "minimize", Measure.PURE, Fraction(1)), Unit("add-remove"), 1)
    rows = np.array([-0.5, 0.25, 0.75])

    def slopes(points):
        apart = points - rows
        length = np.sqrt(apart**2 + 1)
        parts = apart / length, 1 / length, 1 / length**3
        gradient, weight, bend = (np.rint(part.sum(axis=1) * SLOPE_STEPS) for part in parts)
        return gradient[:, None], weight, bend[:, None, None]

    gaps = []
    for rounds in (1, 2, 200):
        monkeypatch.setattr(module, "ROUNDS", rounds)
        here = module._descent(slopes, np.full((1, 1), 0.5), found)
        gaps.append(abs(float(slopes(here)[0][0, 0] / SLOPE_STEPS + found.pull * here[0, 0] + 0.5)))
    assert gaps[0] >= gaps[1] >= gaps[2]
    assert gaps[2] <= found.tolerance + 3 / SLOPE_STEPS < gaps[0]
