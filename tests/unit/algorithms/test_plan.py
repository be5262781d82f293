import math
import re
from fractions import Fraction

import numpy as np
import pytest

from covering import covering
from registered import REGISTERED
from spinney import Ball, PrivateKMeans, PrivateKMedian
from spinney.algorithms.default import Tree
from spinney.algorithms.registry import choose, find
from spinney.algorithms.tighten import Tightened
from spinney.curators.gate import Curator
from spinney.privacy.charges import Measure
from spinney.privacy.composition import total_epsilon

ALGORITHMS = {name: find(name, "points") for name in REGISTERED["points"]}


def make(estimator=PrivateKMeans, **changes):
    return estimator(**{"n_clusters": 5, "epsilon": 0.7, "bounds": (0, 1), **changes})


@pytest.mark.parametrize(
    ("estimator", "adjacency", "delta"),
    [
        (PrivateKMeans, "add-remove", 0.0),
        (PrivateKMeans, "replace", 0.0),
        (PrivateKMedian, "add-remove", 0.0),
        (PrivateKMedian, "replace", 1e-6),
    ],
)
@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_the_table_shows_every_question_and_charge(estimator, algorithm, adjacency, delta):
    plan = make(estimator, algorithm=algorithm, adjacency=adjacency, delta=delta).plan(4, n_guess=10_000)
    text = str(plan)
    lines = text.splitlines()
    for number, charge in enumerate(plan.charges, start=1):
        (line,) = [line for line in lines if line.startswith(f"{number} ")]
        assert charge.name in line
        assert charge.question in line
        assert f"{charge.measure.value} {float(charge.amount):.6g}" in line
    assert ("k-means" if estimator is PrivateKMeans else "k-median") in lines[0]
    assert repr(ALGORITHMS[algorithm].name) in lines[0]
    assert "5 clusters, 4 columns" in lines[0]
    assert f"epsilon 0.7, delta {delta:g}; {'replace' if adjacency == 'replace' else 'add or remove'} one row" in lines[1]
    assert any("about 10000 rows" in line for line in lines[-2:])
    assert repr(plan) == text


@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
@pytest.mark.parametrize("epsilon", [0.1, 1 / 3, 2.5, 10])
@pytest.mark.parametrize("n_features", [1, 3, 50])
@pytest.mark.parametrize("k", [1, 64])
def test_pure_charges_sum_exactly_to_epsilon(algorithm, epsilon, n_features, k):
    plan = make(algorithm=algorithm, epsilon=epsilon, n_clusters=k).plan(n_features)
    assert {charge.measure for charge in plan.charges} == {Measure.PURE}
    assert sum(charge.amount for charge in plan.charges) == Fraction(repr(float(epsilon)))
    assert len({charge.name for charge in plan.charges}) == len(plan.charges)
    assert all(charge.amount > 0 for charge in plan.charges)


@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
@pytest.mark.parametrize("n_features", [2, 300])
def test_charges_with_delta_stay_within_epsilon(algorithm, n_features):
    plan = make(algorithm=algorithm, delta=1e-8).plan(n_features)
    spent = total_epsilon(plan.charges, Fraction(1, 10**8))
    assert Fraction(6999, 10000) < spent <= Fraction(7, 10)
    assert plan.epsilon == pytest.approx(float(spent))


@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_an_infinite_budget_is_said_to_be_not_private(algorithm):
    text = str(make(algorithm=algorithm, epsilon=math.inf).plan(2, n_guess=100))
    assert "NOT PRIVATE" in text
    assert "none: not private" in text


def test_groups_are_named_and_cost_more():
    alone, grouped = make().plan(2), make(max_rows_per_group=7).plan(2)
    assert "one group of at most 7 counted rows" in str(grouped)
    assert grouped.expected_size_error == pytest.approx(7 * alone.expected_size_error, rel=0.05)


def test_expected_errors_fall_with_epsilon_and_rows():
    poor, rich = make(epsilon=0.1).plan(2), make(epsilon=1.0).plan(2)
    assert poor.expected_size_error > 9 * rich.expected_size_error
    assert rich.expected_center_error(1000) == pytest.approx(10 * rich.expected_center_error(10_000))


def test_without_a_guess_nothing_is_said_about_rows():
    assert "If there are about" not in str(make().plan(3))


def test_a_ball_is_planned_too():
    assert make(bounds=Ball(1.0)).plan(3).charges == make().plan(3).charges


@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_a_fit_spends_planned_charges_in_order(algorithm):
    rows = [[0.1 * i % 1, 0.07 * i % 1] for i in range(200)]
    model = make(algorithm=algorithm, noise_seed=0)
    planned = model.plan(2).charges
    spent = model.fit(rows).release_.charges
    names = [name for charge in spent for name in charge.name.split(" + ")]  # some may be put together
    paid = [charge for charge in planned if charge.name in names]
    assert sorted(names) == sorted(charge.name for charge in paid)
    assert sum(charge.amount for charge in spent) == sum(charge.amount for charge in paid)
    assert [c for c in planned if c in spent] == [c for c in spent if c in planned]
    assert model.release_.epsilon == pytest.approx(float(sum(c.amount for c in spent)))
    assert model.release_.promised_epsilon == 0.7


@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
def test_a_fit_never_says_that_it_spent_more_than_it_promised(algorithm):
    release = make(algorithm=algorithm, noise_seed=0).fit([[0.5, 0.5]] * 100).release_
    assert release.epsilon <= release.promised_epsilon


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS.keys())
def test_parts_share_the_budget_and_become_the_charges(algorithm):
    plan = make(algorithm=algorithm.name).plan(3)
    parts = algorithm.parts(plan.problem)
    assert sum(part.share for part in parts) == 1
    assert [(part.name, part.question) for part in parts] == [(charge.name, charge.question) for charge in plan.charges]
    assert [part.share * plan.problem.budget.epsilon for part in parts] == [charge.amount for charge in plan.charges]


@pytest.mark.parametrize("n_features", [1, 9])
def test_a_row_moves_the_columns_question_once_per_column(n_features):
    plan = make().plan(n_features)
    stds = {charge.name: plan.noise(charge).std * charge.amount for charge in plan.charges if charge.question == "counts"}
    assert stds["columns"] == pytest.approx(n_features * stds["leaves"], rel=0.01)


def test_the_registry_knows_its_algorithms_by_name():
    assert {name: algorithm.name for name, algorithm in ALGORITHMS.items()} == {
        name: "tree" if name == "moments" else name for name in ALGORITHMS
    }
    assert type(choose("auto", "points")) in map(type, ALGORITHMS.values())
    assert type(choose("lloyd", "points")) is type(ALGORITHMS["lloyd"])
    assert choose(ALGORITHMS["hst"], "points") is ALGORITHMS["hst"]
    assert choose("hst", "points", tighten=True) == Tightened(ALGORITHMS["hst"])
    assert all("memory" in algorithm.backends for algorithm in ALGORITHMS.values())


@pytest.mark.parametrize("n_features", [1, 3, 4, 25, 300])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("tighten", [False, True])
def test_auto_means_tree_whatever_is_asked_for(delta, n_features, tighten):
    plan = make(delta=delta, tighten=tighten).plan(n_features)
    assert isinstance(plan.algorithm, Tightened) == tighten
    assert type(plan.algorithm.inner if tighten else plan.algorithm) is Tree
    assert plan.algorithm.name == "tree"
    assert plan.charges == make(delta=delta, tighten=tighten, algorithm="tree").plan(n_features).charges


@pytest.mark.parametrize("n_features", [2, 30])
def test_moments_is_another_name_of_the_same_program(n_features):
    rows = np.random.default_rng(0).uniform(0, 1, (300, n_features))
    names = ("tree", "moments")
    plans = [make(algorithm=name).plan(n_features, n_guess=300) for name in names]
    assert str(plans[0]) == str(plans[1])
    releases = [make(algorithm=name, noise_seed=0, random_state=0).fit(rows).release_ for name in names]
    assert releases[0].to_json() == releases[1].to_json()
    assert releases[1].algorithm == "tree"


@covering("algorithm, tighten, adjacency, delta", sorted(ALGORITHMS), [False, True], ["add-remove", "replace"], [0.0, 1e-3])
@pytest.mark.matrix
def test_the_noise_shown_is_the_noise_added(monkeypatch, algorithm, tighten, adjacency, delta):
    added = {}
    ask = Curator.ask

    def spy(self, question, charge):
        answer = ask(self, question, charge)
        if charge.question in ("counts", "levels"):
            added[charge] = answer.noise.std
        elif charge.question == "sums":
            added[charge] = answer.noise.vector_std
        return answer

    monkeypatch.setattr(Curator, "ask", spy)
    model = make(algorithm=algorithm, tighten=tighten, adjacency=adjacency, delta=delta, noise_seed=0)
    turns = np.arange(40_000)[:, None]  # too many for steps to be pooled
    model.fit(turns * [0.1, 0.07, 0, 0, 0] % 1 + [0, 0, 0.3, 0.4, 0.5])
    plan = model.plan(5)
    lines = str(plan).splitlines()
    assert {charge.question for charge in added} == {charge.question for charge in plan.charges} & {"counts", "levels", "sums"}
    for charge, std in added.items():
        *_, name = charge.name.split(" + ")  # what need not be asked lessens the noise of what it is put together with
        (line,) = [line for line in lines if re.match(rf"\d+ +{name} ", line)]
        assert f"+- {std:.3g} " in line if name == charge.name else std < float(line.split("+- ")[1].split()[0])


@pytest.mark.parametrize("cap", [1, 4])
def test_a_plan_for_groups_says_so(cap):
    model = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), max_rows_per_group=cap)
    assert f"add or remove one group of at most {cap} counted rows" in str(model.plan(2))
    assert "add or remove one row" in str(model.set_params(max_rows_per_group=None).plan(2))


def test_what_few_rows_are_grows_with_the_unit():
    n_guess = 1000  # per cluster, at epsilon 1: enough for single rows
    text = "That is few: below about"
    assert text not in str(make(n_clusters=1).plan(2, n_guess))
    assert f"{text} 1500 / epsilon" in str(make(n_clusters=1, max_rows_per_group=5).plan(2, n_guess))
    assert f"{text} 600 / epsilon" in str(make(n_clusters=1, adjacency="replace").plan(2, 599))


def test_a_plan_with_many_columns_suggests_a_delta():
    text = "a delta such as 1e-6"
    assert text in str(make().plan(30))
    assert text not in str(make().plan(29))
    assert text not in str(make(delta=1e-6).plan(30))
