"""Rules 3, 6 to 11, 13 and 16 for sites: whole fits of `PrivateKMedoids` with every algorithm."""

import json
import logging
import math
import pickle
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outliers import EARLY_LOOKS, LOOKS, shown_epsilons

import spinney.curators.demand
import spinney.fits.run
from alarms import check_frequencies
from covering import covering
from registered import REGISTERED
from spinney import (
    BudgetError,
    FewRowsWarning,
    FiniteMetric,
    LoosePromiseWarning,
    ParameterError,
    PrivateKMedoids,
    SeededNoiseWarning,
)
from spinney.algorithms.cells import Cells
from spinney.algorithms.coverage import Coverage
from spinney.algorithms.local_search import STARTS, LocalSearch
from spinney.algorithms.site_hst import SiteHST
from spinney.audit import compare, demand_pairs, observe, record, replay, replay_pairs, total_loss
from spinney.audit.laws import select_law
from spinney.audit.sources import NoiselessSource
from spinney.audit.tiny import demand_curator
from spinney.mechanisms.source import SecureSource
from spinney.privacy.budget import Budget, exact
from spinney.privacy.charges import Charge, Measure
from spinney.privacy.composition import total_epsilon
from spinney.privacy.fit_ledger import FitLedger
from spinney.privacy.pricing import Unit
from spinney.questions import counts
from spinney.questions.choose import Choose, Sets, Swaps
from spinney.questions.counts import Counts
from spinney.questions.cover import Balls, Cover
from spinney.questions.partitions import Labels
from spinney.releases.sites import SiteRelease

RNG = np.random.default_rng(0)
SPACE = FiniteMetric.from_points(RNG.random((60, 2)), candidates=np.arange(0, 60, 2))
ROWS = np.concatenate([RNG.integers(0, 20, 300), RNG.integers(30, 60, 101)])
N = len(ROWS)
ALGORITHMS = {
    "cells": Cells(),
    "coverage": Coverage(growth=0.9),
    "hst": SiteHST(levels=4),
    "hst, uniform": SiteHST(levels=3, allocation="uniform", tree="printed"),
    **{f"local-search, {start}": LocalSearch(start=start, steps=4, levels=3) for start in STARTS},
    "local-search, must swap": LocalSearch(start="random", steps=3, stay=False),
}
BUDGETS = covering("algorithm, adjacency, delta", ALGORITHMS, ["add-remove", "replace"], [0.0, 1e-6], indirect=["algorithm"])


@pytest.fixture(params=ALGORITHMS)
def algorithm(request):
    return ALGORITHMS[request.param]


def model_of(algorithm, **more):
    return PrivateKMedoids(3, **{"epsilon": 1.0, "space": SPACE, "algorithm": algorithm, "random_state": 0, **more})


def test_every_algorithm_is_here():
    assert {algorithm.name for algorithm in ALGORITHMS.values()} == set(REGISTERED["sites"])


OTHERS = {
    "one row fewer": ROWS[:-1],
    "one far row more": [*ROWS, 25],
    "one row replaced": [*ROWS[1:], 25],
    "no rows": [],
    "other rows": np.random.default_rng(3).integers(0, 60, 900),
    "broken rows": [np.nan, -1, 60, "x", None, 10**400],
}


@BUDGETS
@pytest.mark.matrix
def test_replay_asks_the_same_questions_and_gives_the_same_release(algorithm, adjacency, delta):
    model = model_of(algorithm, adjacency=adjacency, delta=delta)
    first = record(model, ROWS)
    assert len(first.questions) >= 3
    for rows in OTHERS.values():
        source = first.frozen()
        assert compare(first, record(model, rows, source=source)).visible == ()
        assert source.left == 0


def test_replay_would_notice_a_question_that_follows_the_rows(algorithm, monkeypatch):
    run = type(algorithm).run

    def peek(self, purse, problem, rng):
        rng.random(int(purse.curator._rows._counts.sum()) % 7)  # public randomness moved by the number of rows
        return run(self, purse, problem, rng)

    monkeypatch.setattr(type(algorithm), "run", peek)
    # The questions of coverage need no randomness.
    assert replay(model_of(algorithm), ROWS, ROWS[:-1]).broken or isinstance(algorithm, Coverage)


@covering(
    "algorithm, adjacency, delta, grouped", ALGORITHMS, ["add-remove", "replace"], [0.0, 1e-6], [False, True],
    indirect=["algorithm"],
)  # fmt: skip
@pytest.mark.matrix
def test_no_made_up_neighbor_loses_more_than_epsilon_and_half_the_noise_is_seen(algorithm, adjacency, delta, grouped):
    unit, cap = Unit(adjacency, 2 if grouped else 1), {"max_rows_per_group": 2} if grouped else {}
    model = model_of(algorithm, adjacency=adjacency, delta=delta, **cap)
    finding = replay_pairs(model, demand_pairs(60, unit, 9 if grouped else 7, grouped=grouped))
    assert finding.faults == ()
    assert 0.1 < finding.bound <= 1.0
    for question in {charge.question for charge in model.plan().charges}:
        halved = replay_pairs(model, demand_pairs(60, unit, 1, grouped=grouped), factor={question: 0.5})
        assert any("less than its charge pays for" in fault for fault in halved.faults)


plans = st.fixed_dictionaries(
    {
        "algorithm": st.sampled_from(list(ALGORITHMS.values())),
        "n_clusters": st.integers(1, 20),
        "epsilon": st.one_of(st.sampled_from([0.1, 1.0, 3.3]), st.floats(1e-3, 100)),
        "delta": st.sampled_from([0.0, 0.0, 1e-2, 1e-6, 1e-12]),
        "adjacency": st.sampled_from(["add-remove", "replace"]),
        "max_rows_per_group": st.one_of(st.none(), st.integers(1, 50)),
        "power": st.sampled_from([1, 2]),
    }
)


@given(plans)
@settings(deadline=None, derandomize=True, max_examples=50)
def test_charges_are_exact_and_stay_within_the_budget(plan):
    charges = PrivateKMedoids(**plan, space=SPACE).plan().charges
    epsilon, delta = exact(plan["epsilon"]), exact(plan["delta"])
    assert all(isinstance(charge.amount, Fraction) and charge.amount > 0 for charge in charges)
    assert len({charge.name for charge in charges}) == len(charges)
    if all(charge.measure is Measure.PURE for charge in charges):
        assert sum(charge.amount for charge in charges) == epsilon
    assert sum(charge.delta for charge in charges) <= delta
    assert epsilon * Fraction(99_999, 100_000) < total_epsilon(charges, Fraction(delta)) <= epsilon
    FitLedger(Budget.of(plan["epsilon"], plan["delta"]), charges)


def test_charges_with_a_delta_of_their_own_may_not_exceed_the_budget():
    cover = Charge("cover", "cover", Measure.PURE, Fraction(1, 2), Fraction(1, 100))
    other = Charge("other", "counts", Measure.PURE, Fraction(1, 2))
    assert total_epsilon([cover, other], Fraction(1, 100)) == 1
    for delta in (0.0, 0.0099):
        with pytest.raises(BudgetError):
            FitLedger(Budget.of(1.0, delta), (cover, other))
    gaussian = Charge("gaussian", "counts", Measure.ZCDP, Fraction(1, 100))
    assert total_epsilon([cover, gaussian], Fraction(1, 100)) == math.inf  # no delta is left for the conversion
    assert total_epsilon([cover, gaussian], Fraction(2, 100)) == Fraction(1, 2) + total_epsilon([gaussian], Fraction(1, 100))


@BUDGETS
def test_a_fit_reports_what_it_spent_and_never_more_than_asked(algorithm, adjacency, delta):
    model = model_of(algorithm, epsilon=0.7, delta=delta, adjacency=adjacency).fit(ROWS)
    release = model.release_
    spent = total_epsilon(release.charges, exact(delta))
    assert spent <= exact(0.7)
    assert spent <= max(Fraction(release.epsilon), exact(release.epsilon)) <= spent * (1 + Fraction(1, 2**50))
    assert set(release.charges) <= set(model.plan().charges)
    uses_delta = any(charge.delta or charge.measure is Measure.ZCDP for charge in model.plan().charges)
    assert (release.promised_epsilon, release.delta) == (0.7, delta if uses_delta else 0.0)


def test_a_question_without_an_open_charge_is_not_answered():
    charge = Charge("a", "choose", Measure.PURE, Fraction(1))
    curator = demand_curator(ROWS, SPACE, Unit(), SecureSource(), FitLedger(Budget.of(1.0), (charge,)))
    sets = Sets((np.array([0]), np.array([4])))
    curator.ask(Choose(sets), charge)
    balls = Balls(SPACE, np.array([SPACE.diameter]), (1,))
    for ask in (
        lambda: curator.ask(Choose(sets), charge),
        lambda: curator.ask(Cover(balls), Charge("b", "cover", Measure.PURE, Fraction(1))),
        lambda: curator.ask(Counts(Labels(np.zeros(60, dtype=np.int64), 1)), Charge("c", "counts", Measure.PURE, Fraction(1))),
    ):
        with pytest.raises(BudgetError):
            ask()


def everything_in(thing, path="model"):
    yield path, thing
    if isinstance(thing, str | Fraction):
        return
    if isinstance(thing, dict):
        items = thing.items()
    elif isinstance(thing, list | tuple):
        items = enumerate(thing)
    elif hasattr(thing, "__dict__"):
        items = vars(thing).items()
    else:
        return
    for name, value in items:
        yield from everything_in(value, f"{path}.{name}")


def test_no_array_as_long_as_the_demand_or_the_space_is_stored(algorithm):
    model = model_of(algorithm, noise_seed=1).fit(ROWS)
    before = set(vars(PrivateKMedoids(3, epsilon=1.0, space=SPACE)))
    assert set(vars(model)) - before == {"release_", "medoid_indices_", "cluster_sizes_"}
    for path, value in everything_in(model.release_):
        size = value.size if isinstance(value, np.ndarray) else len(value) if hasattr(value, "__len__") else 0
        assert size == 0 or size % N, path
        assert not (isinstance(value, int) and value == N), path
        assert not (isinstance(value, np.ndarray) and size == SPACE.n_points), path


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.matrix
def test_pickles_of_neighbors_are_the_same_bytes_when_the_noise_is_frozen(algorithm, adjacency):
    first = record(model_of(algorithm, adjacency=adjacency), ROWS)
    pickles = []
    for rows in (ROWS, ROWS[1:] if adjacency == "add-remove" else [*ROWS[1:], np.nan]):
        model = model_of(algorithm, adjacency=adjacency)
        pickles.append(pickle.dumps(observe(model, rows, lambda event: None, source=first.frozen())))
    assert pickles[0] == pickles[1]


def test_labels_are_returned_and_not_stored(algorithm, caplog):
    with caplog.at_level(logging.DEBUG, logger="spinney"):
        model = model_of(algorithm, noise_seed=2).fit(ROWS)
    for text in (repr(model), repr(model.release_), caplog.text):
        assert str(N) not in text
    before = pickle.dumps(model)
    model.predict(ROWS)
    assert not hasattr(model, "labels_")
    assert model.fit_predict(ROWS).shape == (N,)
    assert pickle.dumps(model) == before
    assert PrivateKMedoids.fit_predict.__doc__.startswith("NOT PRIVATE")
    twin = PrivateKMedoids.from_release(SiteRelease.from_dict(json.loads(model.release_.to_json())), SPACE)
    assert set(vars(twin)) == set(vars(model))
    assert twin.release_.to_json() == model.release_.to_json()


TABLES = {
    "nan": [*ROWS, np.nan],
    "infinity": np.array([1.0, np.inf, -np.inf]),
    "outside": np.array([-1, 60, 2**62, 5]),
    "fractions": [0.5, 1.0, 1.0000001],
    "texts": ["1", "x", "", "1e999", None, b"3", True],
    "large": [10**400, -(10**400), 3],
    "unsigned": np.array([2**64 - 1, 3], dtype=np.uint64),
    "bytes": np.array([1, 255], dtype=np.uint8),
    "booleans": np.array([True, False]),
    "half precision": np.array([1.0, np.nan, 6e4], dtype=np.float16),
    "long": np.array([1.0, np.nan], dtype=np.longdouble),
    "masked": np.ma.array([1, 2, 3], mask=[0, 1, 0]),
    "column": ROWS[:, None],
    "lists of one": [[1], [2], 3, [4, 5], [], np.array([6])],
    "tuple": (1, 2, 3),
    "series": pd.Series([1, None, 3]),
    "nullable": pd.Series([1, None, 3], dtype="Int64"),
    "categories": pd.Series(["1", "2", None], dtype="category"),
    "frame": pd.DataFrame({"site": [1, 2, 70]}),
    "arrays of any shape": [np.zeros((2, 3)), np.zeros((2, 4)), 1],
    "nothing": [],
    "only broken": [np.nan] * 5,
    "complex cell": [1, 2j, np.complex128(3)],
    "date cell": [1, np.datetime64("2020-01-01")],
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_any_demand_gives_k_sites_without_a_word(table, adjacency, caplog):
    algorithm = list(ALGORITHMS.values())[list(TABLES).index(table) % len(ALGORITHMS)]
    caplog.clear()
    with warnings.catch_warnings(record=True) as said, caplog.at_level(logging.DEBUG, logger="spinney"):
        warnings.simplefilter("always")
        model = model_of(algorithm, adjacency=adjacency).fit(TABLES[table])
        model.predict(TABLES[table])
    # The one warning follows from the release.
    assert [str(w.message) for w in said] == ([SiteRelease.faint] if model.release_.looks_empty else [])
    assert [record.getMessage() for record in caplog.records] == [
        f"asking {charge.question}: {charge.name}" for charge in model.release_.charges
    ]
    assert len(set(model.medoid_indices_.tolist())) == 3
    assert np.isin(model.medoid_indices_, SPACE.candidates).all()
    assert np.isfinite(model.cluster_sizes_).all()


@pytest.mark.parametrize("broken", [np.nan, 60, -1, 0.5, "x", None, 10**400, [1, 2], b"1"], ids=repr)
def test_a_broken_row_counts_as_no_row_or_as_the_first_point(broken):
    def counted(rows, adjacency):
        answers = []
        for algorithm in (ALGORITHMS["hst"], ALGORITHMS["coverage"]):
            model = model_of(algorithm, adjacency=adjacency, noise_seed=5)
            answers.append(model.fit(rows).release_.to_json())
        return answers

    rows = ROWS.tolist()
    assert counted([*rows, broken], "add-remove") == counted(rows, "add-remove")
    assert counted([*rows, broken], "replace") == counted([*rows, 0], "replace")


def test_a_bad_shape_is_told_without_values():
    for demand in (np.array([[7316, 2], [3, 4]]), 7316, "7316", np.zeros((2, 2, 2)), {7316: 1}):
        with pytest.raises(ParameterError, match="demand") as error:
            model_of(ALGORITHMS["hst"]).fit(demand)
        assert "7316" not in str(error.value)


@pytest.mark.parametrize("missing", ["space", "epsilon"])
def test_what_is_public_is_asked_of_the_user_before_any_row_is_read(missing):
    class Unreadable:
        def __getattr__(self, name):
            raise AssertionError("the rows were read")

    with pytest.raises(ParameterError, match=missing):
        model_of("hst", **{missing: None}).fit(Unreadable())


@pytest.mark.parametrize(("adjacency", "delta"), [("add-remove", 0.0), ("replace", 1e-6)])
def test_a_whole_person_gone_changes_no_question_and_no_release(algorithm, adjacency, delta):
    people = np.random.default_rng(1).integers(0, 90, N)
    model = model_of(algorithm, delta=delta, adjacency=adjacency, max_rows_per_group=2)
    gone = people != 5
    finding = replay(model, ROWS, ROWS[gone], first_groups=people, second_groups=people[gone])
    assert finding.faults == ()
    assert 0 < finding.bound <= 1
    assert model.fit(ROWS, groups=people).release_.max_rows_per_group == 2


@BUDGETS
@pytest.mark.matrix
def test_the_transcript_of_a_fit_loses_no_more_than_the_budget(algorithm, adjacency, delta):
    model = model_of(algorithm, epsilon=1.5, delta=delta, adjacency=adjacency)
    for rows in (ROWS, np.full(200, 7)):
        first = record(model, rows)
        for neighbor in [[*rows[1:], 59], [*rows[1:], 8]] if adjacency == "replace" else [[*rows, 59], rows[1:]]:
            found = compare(first, record(model, neighbor, source=first.frozen()))
            assert found.faults == ()
            assert len(found.losses) == len(first.questions)
            assert 0 < total_loss(found.losses, Fraction(str(delta))) <= Fraction(3, 2)


OUTCOMES = {
    "nothing": lambda values, scale, rng: 0 * values,
    "all low": lambda values, scale, rng: np.full(values.size, -(2**63)),
    "all high": lambda values, scale, rng: np.full(values.size, 2**63 - 1),
    "one high": lambda values, scale, rng: np.where(np.arange(values.size) == values.size // 2, 2**61, -(2**61)),
    "one barely": lambda values, scale, rng: (np.arange(values.size) == values.size // 2) * math.ceil(min(20 * scale, 2.0**60)),
    "any size": lambda values, scale, rng: (rng.choice([-1, 1], values.size) * 2.0 ** rng.uniform(0, 61, values.size)).astype(
        np.int64
    ),
}


class WildSource:
    """Answers whatever a test wants."""

    statement = "seeded: not private"

    def __init__(self, outcome, seed):
        self._outcome, self._rng = outcome, np.random.default_rng(seed)

    def laplace(self, values, scale):
        return self._outcome(values, scale, self._rng).astype(np.int64)

    gaussian = laplace

    def select(self, scores, scale):
        return int(self._rng.choice([0, len(scores) - 1, self._rng.integers(len(scores))]))

    def key(self):
        return bytes(16)


ODD_SPACES = {
    "plain": SPACE,
    "one point": FiniteMetric.from_points([[0.5]]),
    "one place": FiniteMetric.from_matrix(np.zeros((7, 7))),
    "narrow": FiniteMetric.from_points(RNG.random((9, 1)) * 1e-99, candidates=[2, 5, 8]),
    "wide": FiniteMetric.from_points(RNG.random((9, 2)) * 1e99, "manhattan"),
}


@covering("outcome, space, algorithm", OUTCOMES, ODD_SPACES, ALGORITHMS, indirect=["algorithm"])
def test_no_answer_makes_a_fit_raise_or_warn(outcome, space, algorithm, monkeypatch):
    seed = (list(OUTCOMES).index(outcome) + list(ODD_SPACES).index(space)) % 4
    adjacency, epsilon, delta = [
        ("add-remove", 1.0, 0.0), ("replace", 1e-9, 0.0), ("replace", 1e6, 0.5), ("add-remove", 1.0, 5e-324),
    ][seed]  # fmt: skip
    monkeypatch.setattr(spinney.fits.run, "noise_source", lambda _: WildSource(OUTCOMES[outcome], seed))
    where = ODD_SPACES[space]
    k = min(2, len(where.candidates))
    existing = [0] if where.n_points > 1 and seed % 2 else []
    power = 1 + seed % 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", FewRowsWarning)  # the one that an answer decides
        warnings.simplefilter("ignore", LoosePromiseWarning)  # follows from what is typed
        model = PrivateKMedoids(
            k, epsilon=epsilon, delta=delta, adjacency=adjacency, space=where, algorithm=algorithm, power=power,
            existing_sites=existing, random_state=seed,
        ).fit(np.arange(where.n_points).repeat(seed))  # fmt: skip
        assert str(model.plan(n_guess=100))
    release = SiteRelease.from_dict(json.loads(model.release_.to_json()))
    assert len(set(release.sites.tolist())) == k + len(existing)
    assert np.isin(release.medoids, where.candidates).all()


@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(20)])
def test_costs_far_apart_neither_underflow_nor_raise(epsilon, monkeypatch):
    # A crowd so large that the best option is better by a million scales of the noise.
    crowd = int(10**6 / epsilon) + 1
    charge = Charge("test", "choose", Measure.PURE, epsilon)
    space = FiniteMetric.from_points([[0.0], [1.0], [2.0], [3.0]])
    monkeypatch.setattr(spinney.curators.demand, "count_points", lambda *_: np.array([crowd, 0, 0, 0]))
    curator = demand_curator(np.arange(1), space, Unit(), SecureSource())
    swaps = Swaps(space, np.array([3, 2]), np.empty(0, dtype=np.int64))
    assert {curator.ask(Choose(swaps), charge) % 2 for _ in range(10)} == {0}  # always the newcomer at the crowd
    sets = Sets((np.array([3]), np.array([0]), np.array([1])))
    assert {curator.ask(Choose(sets), charge) for _ in range(10)} == {1}


@pytest.mark.slow
@pytest.mark.parametrize(("measure", "amount"), [(Measure.PURE, Fraction(3, 2)), (Measure.ZCDP, Fraction(1, 4))])
def test_frequencies_of_swaps_match_the_exact_probabilities(measure, amount, alarm):
    charge = Charge("test", "choose", measure, amount)
    space = FiniteMetric.from_points([[0.0], [1.0], [2.0], [3.5]])
    swaps = Swaps(space, np.array([0, 3]), np.empty(0, dtype=np.int64), 1, True)
    rows = [1, 2, 2]
    recorder = NoiselessSource()
    demand_curator(np.array(rows), space, Unit(), recorder).ask(Choose(swaps), charge)
    (_, scale, scores) = recorder.draws[0]
    curator = demand_curator(np.array(rows), space, Unit(), SecureSource())
    picks = [curator.ask(Choose(swaps), charge) for _ in range(2000)]
    law = select_law(scores, scale)
    assert law.min() > 0.02
    check_frequencies(np.bincount(picks, minlength=len(law)), law, alarm)


LINE = FiniteMetric.from_points([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
#: Of the audit that must find what is planted; its draws have a seed.
CONFIDENCE = 1 - 1e-5


def measured_epsilons(algorithm, adjacency, confidence, seeded=False):
    """Return the epsilon that shows in several statistics of a release: a crowd, with and without one far row."""
    crowd = [0] * 30
    near = [*crowd, 0] if adjacency == "replace" else crowd
    model = PrivateKMedoids(2, epsilon=1.0, space=LINE, algorithm=algorithm, adjacency=adjacency, random_state=0)

    def statistics(rows, seed):
        release = model.set_params(noise_seed=seed).fit(rows).release_
        far = release.medoids >= 3
        return {
            "medoids there": far.sum(),
            "sizes there": release.sizes[far].sum(),
            "smallest size": release.sizes.min(),
            "summary there": release.summary_weights[release.summary_points >= 3].sum(),
        }

    looks = EARLY_LOOKS if seeded else LOOKS
    return shown_epsilons(statistics, ([*crowd, 4], near), confidence, seeded, looks=looks).values()


@pytest.mark.slow
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("name", ["cells", "coverage", "hst", "local-search, random"])
@pytest.mark.matrix
def test_lonely_outlier_shows_no_more_than_epsilon(name, adjacency, alarm):
    assert max(measured_epsilons(ALGORITHMS[name], adjacency, 1 - alarm / 4)) <= 1.0  # four statistics


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cells", "hst"])
@pytest.mark.matrix
def test_lonely_outlier_catches_noise_left_out_of_almost_empty_slots(name, monkeypatch):
    private = counts.privatize

    def skip(exact, noise, source, *declared):
        return np.where(np.abs(exact) <= 1, exact, private(exact, noise, source, *declared)).astype(np.int64)

    monkeypatch.setattr(counts, "privatize", skip)
    with pytest.warns(SeededNoiseWarning):
        assert max(measured_epsilons(ALGORITHMS[name], "add-remove", CONFIDENCE, seeded=True)) > 1.0
