"""Mean travel to sites: what it is of, that it stays a public length whatever comes out, and what a far row shows in it."""

import contextlib
import json
import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outliers import shown_epsilons

from spinney import (
    BudgetError,
    Capacities,
    FiniteMetric,
    Ledger,
    ParameterError,
    PrivateKMedoids,
    ReleaseError,
    SeededNoiseWarning,
    SiteRelease,
    WithinReach,
    verify,
)
from spinney.algorithms import Cells, SiteHST
from spinney.algorithms.result import Result
from spinney.algorithms.travel import SHARE, _mean_travel
from spinney.audit import demand_pairs, replay_pairs
from spinney.mechanisms import Noise
from spinney.privacy import Unit
from spinney.questions.sums import RADIUS_STEPS
from spinney.questions.totals import TotalAnswer

LINE = FiniteMetric.from_points([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
GOALS = st.sampled_from([None, None, Capacities(9.0), WithinReach(0.6)])


@st.composite
def spaces(draw):
    """Points, some of them on each other, as a plane, one place, one-way streets or a table of costs."""
    rng, n = np.random.default_rng(draw(st.integers(0, 2**32))), draw(st.integers(3, 14))
    kind = draw(st.sampled_from(["points", "place", "far", "costs", "matrix"]))
    if kind == "costs":
        return FiniteMetric.from_costs(rng.uniform(0, 3, (n, 4)) * draw(st.sampled_from([1.0, 1e-150, 1e99])))
    places = rng.integers(0, 3, (n, 2)) * {"place": 0.0, "far": 1e99}.get(kind, 1.0)
    if kind == "matrix":
        return FiniteMetric.from_matrix(np.abs(places[:, :1] - places[:, :1].T) + rng.integers(0, 2) * (1 - np.eye(n)))
    return FiniteMetric.from_points(places)


@given(space=spaces(), goal=GOALS, data=st.data())
@settings(deadline=None, max_examples=60, derandomize=True)
def test_means_are_those_of_the_rows_that_go_to_each_site_and_always_public_lengths(space, goal, data):
    n, adjacency = space.n_points, data.draw(st.sampled_from(["add-remove", "replace"]))
    known = st.integers(0, n - 1)
    rows = np.array(data.draw(st.lists(known | st.sampled_from([-1.0, math.nan, math.inf, 0.5, n + 0.0]), max_size=60)), float)
    names, weights = data.draw(st.booleans()), data.draw(st.booleans())
    free = np.setdiff1d(space.candidates, [0])
    if space.is_one_sided or goal is not None or data.draw(st.booleans()):
        algorithm = "cells"
    else:
        algorithm = data.draw(st.sampled_from(["hst", "coverage", "local-search"]))
    more = {"groups": np.arange(len(rows)) % 7} if names else {}
    more |= {"row_weights": np.resize([1.0, 9.0, math.nan, -1.0, 2.7], len(rows))} if weights else {}
    model = PrivateKMedoids(
        min(3, len(free)), space=space, goal=goal, adjacency=adjacency, algorithm=algorithm, power=data.draw(st.integers(1, 2)),
        travel=True, delta=data.draw(st.sampled_from([0.0, 1e-6])), random_state=0, max_rows_per_group=2 if names else None,
        max_row_weight=3.0 if weights else None, existing_sites=[0] if not space.is_one_sided else [],
    )  # fmt: skip
    for epsilon in (data.draw(st.sampled_from([1e-6, 0.5, 40.0])), math.inf):
        model.set_params(epsilon=epsilon)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            release = model.fit(rows, **more).release_
            labels = model.predict(np.arange(n))
        assert SiteRelease.from_dict(release.to_dict()).digest == release.digest
        apart = space.distances(release.sites)
        if algorithm not in ("cells", "coverage") and (np.diff(np.sort(apart, axis=0)[:2], axis=0) == 0).any():
            return  # rows between two sites are counted at the one that was found first, and a release has them sorted
        own = np.array([apart[label, point] if label >= 0 else np.nan for point, label in enumerate(labels)])
        for site, (mean, margin) in enumerate(zip(release.travel, release.travel_margins, strict=True)):
            lengths = own[labels == site]
            assert np.isnan(mean) == np.isnan(margin)
            if not np.isnan(mean):
                assert lengths.min() * (1 - 1e-12) <= mean <= lengths.max() * (1 + 1e-12)
                assert margin >= 0
                assert margin == 0 or np.ptp(lengths) > 0
    if names or not len(rows):  # a secret draws which rows of a person count
        return
    times = np.clip(np.floor(np.nan_to_num(more.get("row_weights", np.ones(len(rows))), nan=0.0)), 0, 3)
    is_known = np.isin(rows, np.arange(n))
    places = np.where(is_known, rows, 0).astype(int)
    loads = np.bincount(places, times * (is_known | (adjacency == "replace")), n)
    for site, mean in enumerate(release.travel):
        here = labels == site
        assert np.isnan(mean) == (loads[here].sum() == 0)
        if not np.isnan(mean):
            assert mean == pytest.approx(np.average(own[here], weights=loads[here]), abs=1e-6 * np.ptp(own[here]))


@given(seed=st.integers(0, 2**32), totals=st.lists(st.integers(-(2**61), 2**61), min_size=3, max_size=3))
@settings(deadline=None, max_examples=100, derandomize=True)
def test_any_answer_gives_lengths_of_the_catchment_and_all_of_its_range_is_asked_about(seed, totals):
    rng = np.random.default_rng(seed)
    labels, distances = rng.integers(-1, 3, 9), rng.integers(0, 4, 9) * rng.choice([1e-200, 1.0, 1e99])
    sizes, asked = rng.integers(0, 60, 3) ** 2, []

    class Stub:
        def ask(self, name, question):
            asked.append(question)
            return TotalAnswer(np.array(totals) / RADIUS_STEPS, Noise("laplace", 10.0 * RADIUS_STEPS))

    result = Result(np.arange(3), sizes, Noise("laplace", 20.0), np.empty(0), np.empty(0))
    means, margins = _mean_travel(Stub(), result, labels, distances)
    for site in range(3):
        lengths, steps = distances[labels == site], asked[0].steps[labels == site]
        if not len(lengths):
            assert np.isnan(means[site])
            continue
        ends = {-RADIUS_STEPS, RADIUS_STEPS} if np.ptp(lengths) > 0 else {0}
        assert {steps.min(), steps.max()} == ends
        assert np.isnan(means[site]) == np.isnan(margins[site]) == (sizes[site] <= 2 * Noise("laplace", 20.0).std)
        assert np.isnan(means[site]) or lengths.min() <= means[site] <= lengths.max()
    assert (asked[0].steps[labels < 0] == 0).all()


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("delta", [0.0, 1e-3])
def test_persons_with_weights_are_replayed_without_a_fault(adjacency, delta):
    given = {"space": LINE, "epsilon": 1.0, "delta": delta, "adjacency": adjacency, "max_rows_per_group": 2}
    model = PrivateKMedoids(2, **given, travel=True, algorithm=SiteHST(levels=2), max_row_weight=3.0)

    class Weighted:
        """Each row counts as often as its point says."""

        def prepare(self, rows, groups=None):
            known = np.nan_to_num(np.asarray(rows, dtype=float), nan=0.0, posinf=0.0, neginf=0.0)
            return model.prepare(rows, groups, known % 5 - 1)

    found = replay_pairs(Weighted(), list(demand_pairs(6, Unit(adjacency, 2), 16, grouped=True)))
    assert found.faults == ()
    assert "travel" in model.plan().parts
    assert 0.2 < found.bound <= 1.0 + 1e-9


def statistics(release):
    """Return what a far row could show itself in."""
    far = int(np.argmax(release.medoids))
    known = np.nan_to_num(np.concatenate([release.travel, release.travel_margins]), nan=-1.0)
    return {"mean": known[far], "margin": known[2 + far], "sum": known[:2].sum(), "told": np.isfinite(release.travel).sum()}


@pytest.mark.slow
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_a_far_row_shows_no_more_than_epsilon_in_travel(adjacency, alarm):
    crowd = [0] * 30
    near = [*crowd, 0] if adjacency == "replace" else crowd
    given = {"space": LINE, "epsilon": 1.0, "adjacency": adjacency, "random_state": 0, "existing_sites": [3]}
    model = PrivateKMedoids(1, **given, algorithm=SiteHST(levels=1), travel=True)

    def run(rows, seed):
        return statistics(model.fit(rows).release_)

    assert max(shown_epsilons(run, ([*crowd, 5], near), 1 - alarm / 4).values()) <= 1.0


@pytest.mark.parametrize(
    "more",
    [{}, {"delta": 1e-3, "epsilon": 0.3}, {"adjacency": "replace"}, {"max_rows_per_group": 2}, {"max_row_weight": 2.0}],
    ids=str,
)
def test_means_are_within_their_margins_as_often_as_is_said(more):
    # By a seed: 400 means or more, of which 0.95 lie within, give or take 0.022 (two standard deviations).
    rng = np.random.default_rng(0)
    space = FiniteMetric.from_points(rng.random((80, 2)))
    rows = rng.integers(0, 80, 4000)
    asked = {"groups": np.arange(len(rows)) // 2} if "max_rows_per_group" in more else {}
    asked |= {"row_weights": np.full(len(rows), 2.0)} if "max_row_weight" in more else {}
    within, known = 0, 0
    for seed in range(110):
        model = PrivateKMedoids(4, **{"epsilon": 0.5, "space": space, "algorithm": SiteHST(levels=1), **more}, travel=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            release = model.set_params(noise_seed=seed).fit(rows, **asked).release_
        labels = model.predict(rows)
        apart = space.distances(release.sites)[labels, rows]
        true = np.bincount(labels, apart, 4) / np.maximum(np.bincount(labels, minlength=4), 1)
        told = np.isfinite(release.travel)
        known += told.sum()
        within += (np.abs(true - release.travel) <= release.travel_margins)[told].sum()
    assert known >= 400
    assert 0.928 <= within / known <= 0.98, within / known


def test_travel_is_paid_for_by_a_share_and_nothing_is_asked_without_it(tmp_path):
    demand = np.arange(300) % 6
    given = {"space": LINE, "epsilon": 1.0, "noise_seed": 3, "random_state": 0}
    plain, with_travel = (PrivateKMedoids(2, **given, travel=travel) for travel in (False, True))
    parts = [model.plan().parts for model in (plain, with_travel)]
    assert list(parts[1]) == [*parts[0], "travel"]
    assert [parts[1][name].share / (1 - SHARE) for name in parts[0]] == [part.share for part in parts[0].values()]
    assert parts[1]["travel"].share == SHARE
    assert with_travel.plan().epsilon == 1.0
    with pytest.warns(SeededNoiseWarning):
        releases = [model.fit(demand).release_ for model in (plain, with_travel)]
    assert not {"travel", "travel_margins"} & releases[0].to_dict().keys()
    assert releases[1].algorithm == releases[0].algorithm == "cells"
    assert releases[1].parameters == releases[0].parameters
    assert PrivateKMedoids.from_release(releases[1], LINE).travel
    assert not PrivateKMedoids.from_release(releases[0], LINE).travel

    private = PrivateKMedoids(2, space=LINE, epsilon=1.0, travel=True).fit(demand).release_
    record = private.to_dict()
    path = tmp_path / "release.json"
    private.to_json(path)
    assert verify(path).holds
    wrong = [
        {"travel": None, "travel_margins": None}, {"travel_margins": None}, {"travel": [1.0]}, {"travel": [None, 1.0]},
        {"charges": record["charges"][:-1], "mechanisms": record["mechanisms"][:-1]}, {"travel_margins": [-1.0, 1.0]},
    ]  # fmt: skip
    for changed in wrong:
        release = {name: value for name, value in (record | changed).items() if value is not None or name not in changed}
        path.write_text(json.dumps(release))
        with contextlib.suppress(ReleaseError):
            assert not verify(path).holds, changed


class OwnPlan(Cells):
    """An algorithm that charges what it wants."""

    def plan(self, problem):
        raise AssertionError


class OwnTravel(Cells):
    """An algorithm that has a part of this name."""

    def parts(self, problem):
        first, *others = super().parts(problem)
        return (first.kind.part("travel", first.share), *others)


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"travel": 1}, ParameterError),
        ({"travel": "yes"}, ParameterError),
        ({"travel": np.array([True, False])}, ParameterError),
        ({"algorithm": OwnPlan()}, ParameterError),
        ({"algorithm": OwnTravel()}, (ParameterError, BudgetError, ValueError)),
        ({"algorithm": OwnTravel, "epsilon": 1.0}, ParameterError),
    ],
    ids=["a number", "a text", "an array", "an own plan", "an own part", "a class"],
)
def test_what_leaves_nothing_for_travel_is_refused_before_anything_is_charged(asked, error, tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl", epsilon=9)
    model = PrivateKMedoids(2, **{"space": LINE, "epsilon": 1.0, "travel": True, **asked})
    with pytest.raises(error):
        model.fit(np.arange(60) % 6, ledger=ledger)
    assert not ledger.entries
