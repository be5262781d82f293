import math
import re

import numpy as np
import pytest

from covering import covering
from registered import REGISTERED
from spinney import PrivateKMeans, PrivateKMedian
from spinney.algorithms.registry import choose, find
from spinney.algorithms.tighten import Tightened
from spinney.curators.gate import Curator

ALGORITHMS = {name: find(name, "points") for name in REGISTERED["points"]}


def make(estimator=PrivateKMeans, **changes):
    return estimator(**{"n_clusters": 5, "epsilon": 0.7, "bounds": (0, 1), **changes})


@covering(
    "estimator, algorithm, adjacency, delta", [PrivateKMeans, PrivateKMedian], sorted(ALGORITHMS), ["add-remove", "replace"],
    [0.0, 1e-6],
)  # fmt: skip
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
    assert any("about 10000 rows" in line for line in lines[-3:])
    assert repr(plan) == text


def test_an_infinite_budget_is_said_to_be_not_private():
    text = str(make(epsilon=math.inf).plan(2, n_guess=100))
    assert "NOT PRIVATE" in text
    assert "none: not private" in text


def test_groups_are_named_and_cost_more():
    alone, grouped = make().plan(2), make(max_rows_per_group=7).plan(2)
    assert "one group of at most 7 counted rows" in str(grouped)
    assert grouped.expected_size_error == pytest.approx(7 * alone.expected_size_error, rel=0.05)


@pytest.mark.parametrize("n_features", [1, 9])
def test_a_row_moves_the_columns_question_once_per_column(n_features):
    plan = make().plan(n_features)
    stds = {charge.name: plan.noise(charge).std * charge.amount for charge in plan.charges if charge.question == "counts"}
    assert stds["columns"] == pytest.approx(n_features * stds["leaves"], rel=0.01)


def test_the_registry_knows_its_algorithms_by_name():
    assert {name: algorithm.name for name, algorithm in ALGORITHMS.items()} == {
        name: "tree" if name == "moments" else name for name in ALGORITHMS
    }
    assert choose(ALGORITHMS["hst"], "points") is ALGORITHMS["hst"]
    assert choose("hst", "points", tighten=True) == Tightened(ALGORITHMS["hst"])
    assert all("memory" in algorithm.backends for algorithm in ALGORITHMS.values())


def test_moments_is_another_name_of_the_same_program():
    models = [make(algorithm=name, noise_seed=0, random_state=0).fit(np.full((300, 30), 0.5)) for name in ("tree", "moments")]
    assert models[0].release_.to_json() == models[1].release_.to_json()


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
