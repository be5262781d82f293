"""Rules 3 to 7 at once for sites: the exact law of all answers of a fit, for all small data sets in a tiny space."""

import functools
import itertools

import numpy as np
import pytest

import spinney.algorithms.cells
import spinney.algorithms.coverage
import spinney.solvers.goals
from registered import REGISTERED
from spinney.algorithms import Cells, Coverage, LocalSearch, SiteHST
from spinney.algorithms.problem import SiteProblem, planned
from spinney.algorithms.reading import Occupancy
from spinney.audit.exact import Explorer
from spinney.audit.tiny import data_sets, demand_curators, neighbors
from spinney.curators.purse import Purse
from spinney.privacy import Adjacency, Budget, FitLedger, Unit
from spinney.solvers.medoids import solve_medoids
from spinney.spaces.metric import FiniteMetric
from spinney.trees.metric_hst import MetricHST
from spinney.trees.nested_cells import NestedCells

#: Two pairs far apart: the upper levels of any tree have two cells.
LINE = np.array([[0.0], [0.01], [1.0], [1.02]])
SPACES = {
    "all": FiniteMetric.from_points(LINE),
    "two candidates": FiniteMetric.from_points(LINE, candidates=[1, 3]),
    "matrix": FiniteMetric.from_matrix(np.abs(LINE - LINE.T)),
}


#: Each algorithm, small: its space, k, and the charges after which it depends on earlier answers through its next question alone.
CASES = {
    "cells": (Cells(), "all", 1, {"coarse"}),  # remembers more; each second question is followed once all the same
    "hst": (SiteHST(levels=1), "all", 2, set()),
    "hst, two levels": (SiteHST(levels=2, tree="printed"), "matrix", 1, set()),
    "local-search, random": (LocalSearch(start="random", steps=2), "all", 2, set()),
    "local-search, kmedian++, must swap": (LocalSearch(start="kmedian++", steps=2, stay=False), "matrix", 1, set()),
    "local-search, hst": (LocalSearch(start="hst", steps=1, levels=1), "two candidates", 1, {"level 1"}),
    "coverage": (Coverage(growth=0.95), "two candidates", 1, {"cover"}),
}


@functools.cache
def explored(name, adjacency, epsilon, delta, reach, related=None):
    """Return the loss of each pair of neighbors, over all answers of a fit at this budget."""
    algorithm, space, k, forgets = CASES[name]
    unit = Unit(Adjacency(adjacency))
    problem = SiteProblem(
        k=k, power=1, space=SPACES[space], existing=np.empty(0, dtype=np.int64), budget=Budget.of(epsilon, delta), unit=unit
    )
    charges = planned(algorithm, problem)
    FitLedger(problem.budget, charges)

    def run(curator):
        return algorithm.run(Purse(curator), problem, np.random.default_rng(0))

    data = data_sets(4, 3)
    curators = demand_curators(data, problem.space, unit, charges)
    explorer = Explorer(run, curators, neighbors(data, related or adjacency), reach, forgets)
    return explorer.losses(), charges


def remembered(function):
    """Return a function of public values that computes each result once, and leaves a generator where the function does."""
    known = {}

    def of(value):
        if isinstance(value, np.random.Generator):
            return repr(value.bit_generator.state)
        if isinstance(value, np.ndarray):
            return (value.dtype.str, value.shape, value.tobytes())
        return id(value) if isinstance(value, FiniteMetric) else repr(value)

    def remember(*arguments, **options):
        given = (*arguments, *options.values())
        key = (*map(of, given), *options)
        generators = [one.bit_generator for one in given if isinstance(one, np.random.Generator)]
        if key not in known:
            found = function(*arguments, **options)
            for value in vars(found).values():
                if isinstance(value, np.ndarray):
                    value.setflags(write=False)
            known[key] = found, [one.state for one in generators], given  # kept, so that no other space gets its id
        for one, state in zip(generators, known[key][1], strict=True):
            one.state = state
        return known[key][0]

    return remember


@pytest.fixture(scope="module")
def public_steps():
    """What runs again and again with the same public values, while all answers are tried."""
    return {
        (MetricHST, "build"): remembered(MetricHST.build),
        (MetricHST, "printed"): remembered(MetricHST.printed),
        (NestedCells, "carve"): remembered(NestedCells.carve),
        (Occupancy, "of"): remembered(Occupancy.of),
        # One search is enough for so few points.
        (spinney.solvers.goals, "solve_medoids"): remembered(functools.partial(solve_medoids, restarts=1)),
        (spinney.algorithms.coverage, "solve_medoids"): remembered(functools.partial(solve_medoids, restarts=1)),
    }


@pytest.fixture(autouse=True)
def few_cells(monkeypatch, public_steps):
    # So that all counts of cells can be tried.
    monkeypatch.setattr(spinney.algorithms.cells, "N_COARSE", 2)
    monkeypatch.setattr(spinney.algorithms.cells, "FINE", 0.8)
    for (home, name), step in public_steps.items():
        monkeypatch.setattr(home, name, step)


def test_every_algorithm_is_enumerated():
    assert {case[0].name for case in CASES.values()} == set(REGISTERED["sites"])


@pytest.mark.parametrize(("name", "adjacency"), list(zip(CASES, itertools.cycle(reversed(Adjacency)))))  # relations take turns
@pytest.mark.matrix
def test_no_transcript_loses_more_than_epsilon(name, adjacency):
    # With Laplace noise the loss is constant beyond all exact counts, so a narrow grid of answers shows the worst one.
    losses, charges = explored(name, adjacency, 2.0, 0.0, 0.4)
    worst = max(loss.largest for loss in losses.values())
    assert worst <= 2.0 + 1e-9
    assert worst > 0.2 * 2.0
    assert sum(charge.amount for charge in charges) == 2


@pytest.mark.parametrize("name", ["cells", "hst", "local-search, kmedian++, must swap", "coverage"])
def test_replaced_rows_at_the_price_of_added_ones_would_be_noticed(name):
    losses, _ = explored(name, "add-remove", 2.0, 0.0, 0.4, "replace")
    assert max(loss.largest for loss in losses.values()) > 2.0


@pytest.mark.parametrize(("name", "adjacency"), list(zip(CASES, itertools.cycle(Adjacency))))  # the other one here
@pytest.mark.matrix
def test_all_transcripts_together_stay_within_epsilon_and_delta(name, adjacency):
    # As far out as answers must be followed for what is cut off to stay small.
    reach = {"cells": 1.6, "coverage": 3.5, "hst": 3.5, "local-search, hst": 3.5}.get(name, 2.0)
    losses, _ = explored(name, adjacency, 3.0, 0.2, reach)
    cut_off = max(loss.cut_off for loss in losses.values())
    worst = max(loss.delta(3.0) for loss in losses.values())
    assert cut_off < 0.1
    assert worst <= 0.2
    # At a much smaller epsilon the same transcripts do not pass: something is released.
    assert max(loss.delta(0.1) for loss in losses.values()) - cut_off > 0.05
