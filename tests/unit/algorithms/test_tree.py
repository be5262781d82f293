import math
import re

import numpy as np
import pytest

from spinney import PrivateKMeans, PrivateKMedian
from spinney.algorithms.problem import MORE
from spinney.algorithms.tree import (
    FEW_COLUMNS,
    FEW_COLUMNS_SHARES,
    MANY_COLUMNS,
    MANY_COLUMNS_SHARES,
    ONE_STEP_SHARES,
    OVER,
    SHARES,
    SOME_COLUMNS,
    Tree,
    is_stepped,
)
from spinney.curators.gate import Curator
from spinney.privacy.charges import Measure
from spinney.questions.sums import Sums
from spinney.verification import verify

BOTH = pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])


def blobs(d, n=500):
    rng = np.random.default_rng(0)
    middles = rng.uniform(-0.8, 0.8, (4, d))
    return middles, np.concatenate([rng.normal(middle, 0.05, (n, d)) for middle in middles])


def assert_found(centers, middles, tolerance):
    gaps = np.linalg.norm(centers[:, None] - middles, axis=2)
    assert sorted(gaps.argmin(axis=1)) == [0, 1, 2, 3]
    assert gaps.min(axis=1).max() < tolerance


@pytest.mark.parametrize("shares", [FEW_COLUMNS_SHARES, SHARES, ONE_STEP_SHARES, MANY_COLUMNS_SHARES])
def test_shares_sum_to_one_hundred(shares):
    assert sum(shares.values()) == 100


@pytest.mark.parametrize(("delta", "in_between"), [(0.0, 1), (1e-6, 2)])
@pytest.mark.parametrize("d", [1, FEW_COLUMNS - 1, FEW_COLUMNS, MANY_COLUMNS - 1, MANY_COLUMNS, 60])
def test_more_columns_and_gaussian_noise_get_more_steps(d, delta, in_between):
    plan = PrivateKMeans(4, epsilon=1.0, delta=delta, bounds=(-1, 1), algorithm="tree").plan(d)
    names = [charge.name for charge in plan.charges]
    steps = 0 if d < FEW_COLUMNS else in_between if d < MANY_COLUMNS else 2
    assert sum(charge.question == "sums" and charge.name not in MORE for charge in plan.charges) == steps
    assert [name for name in names if name in MORE] == list(MORE if steps else ())
    assert [part.name for part in Tree().parts(plan.problem)] == names


@BOTH
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_with_four_columns_steps_that_noise_would_hide_leave_their_budget_to_the_leaves(estimator, delta, tmp_path):
    rows = np.random.default_rng(0).uniform(-1, 1, (2000, FEW_COLUMNS))
    for epsilon, is_taken in ((0.02, False), (5.0, True)):
        model = estimator(6, epsilon=epsilon, delta=delta, bounds=(-1, 1), algorithm="tree")
        plan, release = model.plan(FEW_COLUMNS), model.fit(rows).release_
        assert any(charge.question == "sums" for charge in release.charges) == is_taken
        assert sum(charge.amount for charge in release.charges) == sum(charge.amount for charge in plan.charges)
        (tmp_path / "release.json").write_text(release.to_json(), encoding="utf-8")
        assert verify(tmp_path / "release.json").holds
        charges = {charge.name: charge for charge in plan.charges}
        assert (plan.algorithm.supports(plan.problem, charges, 2000) is not None) == is_taken
        assert is_stepped(plan.problem, charges, 2000) == is_taken == (release.supported_centers is not None)


@BOTH
@pytest.mark.parametrize("d", [SOME_COLUMNS, MANY_COLUMNS])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.matrix
def test_a_first_step_that_supports_too_few_centers_leaves_its_budget_to_the_last(estimator, d, delta, tmp_path):
    rows = np.random.default_rng(0).uniform(-1, 1, (2000, d))
    for epsilon in (0.02, 5.0):
        model = estimator(6, epsilon=epsilon, delta=delta, bounds=(-1, 1), algorithm="tree")
        plan, release = model.plan(d), model.fit(rows).release_
        planned, asked = plan.charges, release.charges
        names = [re.sub("(choice|rival|more .) [+] ", "", charge.name) for charge in asked if charge.question == "sums"]
        names = [name for name in names if name not in MORE]
        if epsilon > 1:
            steps = [charge for charge in planned if charge.question == "sums" and charge.name not in MORE]
            is_pooled = len(steps) == 2 and d < MANY_COLUMNS and steps[0].measure is Measure.PURE  # which is then less noise
            assert names == (["polish 1 + polish 2"] if is_pooled else [charge.name for charge in steps])
        elif d == MANY_COLUMNS or delta > 0:
            assert names == ["polish 1 + polish 2"]
            assert "radii 1 + radii 2" in [charge.name for charge in asked]
        assert sum(charge.amount for charge in asked) == sum(charge.amount for charge in planned)
        (tmp_path / "release.json").write_text(release.to_json(), encoding="utf-8")
        assert verify(tmp_path / "release.json").holds
        assert plan.algorithm.supports(plan.problem, {charge.name: charge for charge in planned}, 2000) <= 6


@pytest.mark.parametrize(
    ("estimator", "d"), [(PrivateKMeans, 2), (PrivateKMedian, 2), (PrivateKMeans, MANY_COLUMNS), (PrivateKMedian, 30)]
)
def test_without_noise_blobs_are_found(estimator, d):
    middles, rows = blobs(d)
    model = estimator(4, epsilon=math.inf, bounds=(-1, 1), algorithm="tree", random_state=0).fit(rows)
    assert_found(model.cluster_centers_, middles, 0.05)
    np.testing.assert_array_equal(model.cluster_sizes_, [500] * 4)


@BOTH
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_with_noise_blobs_in_many_columns_are_found(estimator, adjacency):
    middles, rows = blobs(16, n=4000)
    settings = {"adjacency": adjacency, "random_state": 0, "noise_seed": 0, "algorithm": "tree"}
    assert_found(estimator(4, epsilon=2.0, delta=1e-6, bounds=(-1, 1), **settings).fit(rows).cluster_centers_, middles, 0.5)


def test_the_first_of_two_steps_moves_half_as_many_centers_again(monkeypatch):
    asked = []
    ask = Curator.ask

    def spy(self, question, charge):
        if isinstance(question, Sums):
            asked.append((charge.name.replace("choice + ", ""), len(question.centers)))
        return ask(self, question, charge)

    monkeypatch.setattr(Curator, "ask", spy)
    for k in (1, 5):
        asked.clear()
        PrivateKMeans(k, epsilon=1.0, bounds=(-1, 1), algorithm="tree", noise_seed=0).fit(blobs(13)[1])
        assert asked == [("polish 1", math.ceil(OVER * k)), ("more 1 + more 2 + more 3 + polish 2", k)]


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("epsilon", [1e-9, 1.0, math.inf])
def test_few_rows_in_many_columns_give_k_centers_inside_the_domain(n, epsilon):
    model = PrivateKMeans(7, epsilon=epsilon, bounds=(-1, 1), algorithm="tree", random_state=0).fit(blobs(15)[1][:n])
    assert model.cluster_centers_.shape == (7, 15)
    assert (np.abs(model.cluster_centers_) <= 1).all()
