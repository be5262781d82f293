import math
from fractions import Fraction

import numpy as np
import pytest

from covering import covering
from registered import REGISTERED
from spinney import Ball, Box, ParameterError, PrivateKMeans, PrivateKMedian, verify
from spinney.algorithms.algorithm import Algorithm
from spinney.algorithms.default import Tree
from spinney.algorithms.hst import HST
from spinney.algorithms.result import Result
from spinney.algorithms.stable import LEAST_RADIUS, NEAR, Stable, radii
from spinney.algorithms.tighten import Tightened
from spinney.audit import replay
from spinney.baselines.lloyd import Lloyd
from spinney.questions.counts import Counting, Counts
from spinney.questions.partitions import Whole
from spinney.solvers.weighted import total_cost

BOTH = pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
BASES = [name for name in sorted(REGISTERED["points"]) if name != "stable"]
RNG = np.random.default_rng(0)
MIDDLES = np.array([[-0.6, -0.5], [0.6, -0.4], [0.0, 0.7]])
ROWS = np.concatenate([RNG.normal(middle, 0.05, (2000, 2)) for middle in MIDDLES])


class Given(Algorithm):
    """Centers that were given, whatever the rows."""

    name = "given"

    def __init__(self, centers):
        self.centers = np.asarray(centers, dtype=np.float64)

    def parts(self, problem):
        return (Counting().part("rows", Fraction(1)),)

    def run(self, curator, problem, charges, rng):
        answer = curator.ask(Counts(Whole()), charges["rows"])
        d = problem.n_features
        return Result(self.centers, np.zeros(len(self.centers)), answer.noise, np.empty((0, d)), np.empty(0))


def make(base="auto", estimator=PrivateKMeans, k=3, steps=0, **changes):
    settings = {"epsilon": 1.0, "bounds": (-1, 1), "random_state": 0, "noise_seed": 0, **changes}
    return estimator(k, algorithm=Stable(base, steps), **settings)


def holds(release, folder):
    """Whether `spinney verify` finds charges and noise as promised, those of the cost among them."""
    release.to_json(folder / "release.json")
    found = verify(folder / "release.json")
    assert any("stable cost" in str(one) for one in found.findings)
    return found.holds


def problem_of(k=3, d=2, space=(-1, 1), power=2):
    return (PrivateKMeans if power == 2 else PrivateKMedian)(k, epsilon=1.0, bounds=space).plan(d).problem


@covering(
    "base, estimator, delta, adjacency", [*BASES, HST(alpha=4, rounds=1), Tree()], [PrivateKMeans, PrivateKMedian], [0.0, 1e-6],
    ["add-remove", "replace"],
)  # fmt: skip
@pytest.mark.matrix
def test_any_base_serves_and_every_charge_is_spent(estimator, base, delta, adjacency, tmp_path):
    model = make(base, estimator, delta=delta, adjacency=adjacency)
    release = model.fit(ROWS).release_
    assert release.algorithm == "stable"
    assert release.centers.shape == (3, 2)
    planned, spent = model.plan(2).charges, release.charges
    assert " + ".join(charge.name for charge in spent) == " + ".join(charge.name for charge in planned)
    assert sum(charge.amount for charge in spent) == sum(charge.amount for charge in planned)
    assert {charge for charge in spent if " + " not in charge.name} <= set(planned)
    assert [charge.name for charge in release.charges][-3:] == ["stable step", "stable cost", "recount"]
    assert holds(make(base, estimator, delta=delta, adjacency=adjacency, noise_seed=None).fit(ROWS).release_, tmp_path)


@BOTH
def test_a_poor_start_is_moved_to_the_rows(estimator):
    rough = MIDDLES + np.array([[0.15, 0.1], [-0.1, 0.15], [0.1, -0.15]])
    for epsilon in (1.0, math.inf):
        release = make(Given(rough), estimator, epsilon=epsilon, noise_seed=None if epsilon == math.inf else 1).fit(ROWS).release_
        power = estimator()._power
        assert total_cost(ROWS, release.centers, power) < 0.5 * total_cost(ROWS, rough, power)
    np.testing.assert_allclose(release.centers, MIDDLES, atol=0.05)
    np.testing.assert_array_equal(release.sizes, [2000] * 3)


def test_a_step_that_makes_things_worse_is_not_taken():
    # Half of each cluster lies far out, where a third of the way to the next center does not reach: the core alone misleads.
    rows = np.concatenate([MIDDLES - [-0.1, 0.0], MIDDLES - [0.4, 0.0]]).repeat(1000, axis=0)
    start = MIDDLES - [0.15, 0.0]
    release = make(Given(start), epsilon=math.inf, noise_seed=None).fit(rows).release_
    np.testing.assert_array_equal(release.centers, start)


@BOTH
def test_an_extra_step_is_one_more_question(estimator):
    for steps in (1, 3):
        model = make("lloyd", estimator, steps=steps)
        release = model.fit(ROWS).release_
        names = [charge.name for charge in release.charges]
        assert names[-steps - 1 :] == [*(f"extra {i}" for i in range(1, steps + 1)), "recount"]
        assert sum(part.share for part in model.plan(2).parts.values()) == 1
    far = make(Given(MIDDLES + 0.1), estimator, steps=2, epsilon=math.inf, noise_seed=None).fit(ROWS).release_.centers
    np.testing.assert_allclose(far, MIDDLES, atol=0.02)


def test_the_parts_are_those_of_the_base_and_its_own():
    problem = problem_of(d=6)
    parts, inside = Stable("tree").parts(problem), Tree().parts(problem)
    assert [(part.name, part.kind) for part in parts[: len(inside)]] == [(part.name, part.kind) for part in inside]
    assert {one.share / other.share for one, other in zip(parts, inside, strict=False)} == {Fraction(85, 100)}
    assert sum(part.share for part in parts) == 1
    assert Stable().parts(problem) == parts


@pytest.mark.parametrize(("d", "delta"), [(3, 0.0), (50, 1e-6)])
def test_the_base_is_what_auto_takes(d, delta):
    plan = PrivateKMeans(3, epsilon=1.0, delta=delta, bounds=(0, 1)).plan(d)
    assert type(Stable().base_of(plan.problem)) is type(plan.algorithm) is Tree


@pytest.mark.parametrize(
    "wrong", ["stable", "nothing", Stable(), Tree, None, 3, ROWS, "cells"], ids=lambda one: type(one).__name__
)
def test_what_is_no_base_is_refused(wrong):
    with pytest.raises(ParameterError, match="The 'base' parameter of Stable must be"):
        Stable(wrong)


@pytest.mark.parametrize("wrong", [-1, 101, 1.5, True, None, "one"])
def test_steps_are_a_whole_number(wrong):
    with pytest.raises(ParameterError, match="The 'steps' parameter of Stable must be"):
        Stable(steps=wrong)


def test_a_base_reads_rows_where_it_can():
    class Local(Lloyd):
        backends = ("memory",)

    assert Stable(Local()).backends == ("memory",)
    assert Stable("lloyd").backends == Lloyd().backends


def test_radii_are_a_third_of_the_distance_to_the_next_center():
    centers = np.array([[0.0, 0.0], [0.3, 0.4], [-0.9, 0.0]])
    np.testing.assert_allclose(radii(problem_of(), centers, NEAR), np.array([0.5, 0.5, 0.9]) / 3)


@pytest.mark.parametrize("space", [Box(-1, 3), Ball(2.5)], ids=["box", "ball"])
@pytest.mark.parametrize("power", [1, 2])
def test_one_center_takes_the_domains_radius(space, power):
    problem = problem_of(k=1, space=space, power=power)
    np.testing.assert_array_equal(radii(problem, np.zeros((1, 2)), NEAR), [problem.domain.half_diagonal])
    rows = np.random.default_rng(1).normal(0.3, 0.1, (4000, 2))
    model = (PrivateKMeans if power == 2 else PrivateKMedian)(1, epsilon=1.0, bounds=space, algorithm="stable", noise_seed=0)
    np.testing.assert_allclose(model.fit(rows).cluster_centers_, [[0.3, 0.3]], atol=0.1)


@BOTH
@pytest.mark.parametrize("rows", [ROWS[:0], ROWS[:1], ROWS, np.full((30, 2), np.nan), np.full((500, 2), 0.25)], ids=len)
@pytest.mark.parametrize("epsilon", [1e-9, 1.0, math.inf])
@pytest.mark.matrix
def test_centers_that_coincide_and_empty_cells_give_k_centers(estimator, rows, epsilon):
    domain = problem_of().domain
    assert (radii(problem_of(), np.zeros((3, 2)), NEAR) == LEAST_RADIUS * domain.half_diagonal).all()
    for start in (np.zeros((3, 2)), [[0.25, 0.25], [0.25, 0.25], [-1, -1]], [[-1, -1], [1, 1], [1, -1]]):
        for adjacency in ("add-remove", "replace"):
            model = make(Given(start), estimator, steps=1, epsilon=epsilon, adjacency=adjacency)
            if epsilon == math.inf:
                model.set_params(noise_seed=None)
            centers = model.fit(rows).cluster_centers_
            assert centers.shape == (3, 2)
            assert (np.abs(centers) <= 1).all()


def test_rows_on_the_radius_move_the_step_by_no_more_than_the_radius():
    # Without noise the mean of a core is that of the rows within a third of the way; one on the radius counts or does not.
    start = np.array([[-0.3, 0.0], [0.3, 0.0], [0.0, 0.9]])
    crowd = np.array([[-0.3, 0.0], [0.3, 0.0], [0.0, 0.9]]).repeat(9, axis=0)
    for gap in (0.2 - 1e-6, 0.2, 0.2 + 1e-6, 0.29):
        rows = np.vstack([crowd, [[-0.3, -gap]]])
        release = make(Given(start), epsilon=math.inf, noise_seed=None).fit(rows).release_
        moved = np.abs(release.centers - start).max()
        assert moved == pytest.approx(gap / 10, rel=1e-4) if gap < 0.2 - 1e-7 else moved in (0, pytest.approx(0.02, rel=1e-4))


def test_a_base_in_a_private_box_keeps_its_box():
    release = PrivateKMeans(3, epsilon=3.0, bounds=(-9, 11), algorithm=Stable(Tightened(Tree())), noise_seed=0).fit(ROWS).release_
    assert release.tightened is not None
    assert release.charges[0].name == "bounds"


@pytest.mark.parametrize(
    ("algorithm", "parameters"),
    [
        (Stable(), {"base": "auto", "steps": 0}),
        (Stable("lloyd", 2), {"base": "lloyd", "steps": 2}),
        (
            Stable(HST(alpha=3, rounds=1)),
            {
                "base": "hst",
                "base.alpha": 3,
                "base.beta": 8.0,
                "base.consistent": True,
                "base.rounds": 1,
                "base.projection": None,
                "base.repairs": 0,
                "base.slack": 0.5,
                "steps": 0,
            },
        ),
    ],
    ids=["default", "name", "instance"],
)
def test_a_release_records_the_base_and_gives_it_back(algorithm, parameters, tmp_path):
    release = PrivateKMeans(3, epsilon=2.0, bounds=(-1, 1), algorithm=algorithm).fit(ROWS).release_
    assert release.parameters == parameters
    again = PrivateKMeans.from_release(release).algorithm
    assert again == (algorithm if algorithm != Stable() else "stable")
    assert holds(release, tmp_path)


def test_sizes_are_those_of_the_released_centers():
    release = make("lloyd", epsilon=math.inf, noise_seed=None).fit(ROWS).release_
    counts = np.bincount(((ROWS[:, None] - release.centers) ** 2).sum(axis=2).argmin(axis=1), minlength=3)
    np.testing.assert_array_equal(release.sizes, counts)


@BOTH
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.matrix
def test_a_neighbor_on_the_radius_loses_no_more_than_epsilon(estimator, adjacency, delta):
    # A third of the way from a center to the next one is 0.2: rows just within it, on it and just beyond.
    start = np.array([[-0.3, 0.0], [0.3, 0.0], [0.0, 0.9]])
    model = estimator(3, epsilon=1.0, delta=delta, bounds=(-1, 1), algorithm=Stable(Given(start), 1), adjacency=adjacency)
    step = 2.0**-30
    losses = []
    for gap in (0.2 - step, 0.2, 0.2 + step, 0.0):
        more = np.vstack([ROWS[:20], [[-0.3, -gap]]])
        others = [np.vstack([ROWS[:20], [other]]) for other in ([-0.3, gap], [0.3, gap], [0.9, 0.9], [np.nan, 0])]
        for other in others if adjacency == "replace" else [ROWS[:20]]:
            found = replay(model, more, other)
            assert not found.broken
            losses.append(found.bound)
    assert 0.05 < max(losses) <= 1
