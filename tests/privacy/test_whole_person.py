"""Rule 13: a person's rows move together, at most the cap of them count, and no one else's rows move with them."""

import itertools
from decimal import Decimal
from enum import Enum
from fractions import Fraction

import numpy as np
import pytest
from asking import CENTERS, QUESTIONS, RADII
from cases import CASES, ESTIMATORS, SITES
from hypothesis import given, settings
from hypothesis import strategies as st

from covering import covering
from spinney import PrivateKMeans
from spinney.audit import epsilon_lower_bound, replay
from spinney.curators.groups import kept_rows
from spinney.mechanisms.source import SecureSource, SeededSource
from spinney.privacy import Adjacency, Unit
from spinney.questions import Counts, Whole

KEY = bytes(range(16))


class Ward(str, Enum):  # noqa: UP042  (a text whose str() is not itself, as older code has them)
    X = "x"


NAMES = {
    "integers": st.integers(-(2**62), 2**62),
    "texts": st.text(max_size=3),
    "mixed": st.one_of(st.integers(0, 3), st.text(max_size=2), st.none(), st.floats(0, 2), st.booleans()),
}


def mask_of(names, cap, rows=None, key=KEY):
    """Return which rows count; rows are all different if none are given."""
    rows = np.arange(float(len(names)))[:, None] if rows is None else rows
    return kept_rows(names, lambda: [rows], Unit(max_rows=cap), key)


def kept_values(people, values, kept):
    """Return the values that each person's kept rows have: equal rows of one person are alike."""
    return sorted(zip(people[kept].tolist(), values[kept, 0].tolist(), strict=True))


def as_objects(names):
    column = np.empty(len(names), dtype=object)
    column[:] = names
    return column


@pytest.mark.parametrize("kind", NAMES)
@given(data=st.data())
@settings(deadline=None, derandomize=True, max_examples=60)
def test_kept_rows_of_a_group_do_not_change_when_another_group_goes(kind, data):
    people = data.draw(st.lists(NAMES[kind], min_size=1, max_size=5, unique_by=lambda name: (type(name) is str, name)))
    rows = data.draw(st.lists(st.sampled_from(range(len(people))), min_size=1, max_size=25))
    cap = data.draw(st.integers(1, 4))
    names = as_objects([people[i] for i in rows]) if kind == "mixed" else [people[i] for i in rows]
    values = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows))), dtype=float)[:, None]
    mask = mask_of(names, cap, values)
    for person in set(rows):
        mine = np.array(rows) == person
        assert mask[mine].sum() == (0 if people[person] is None else min(cap, mine.sum()))
        if not mine.all():
            left = names[~mine] if kind == "mixed" else [name for name, own in zip(names, mine, strict=True) if not own]
            kept = mask_of(left, cap, values[~mine]) == 1
            assert kept_values(np.array(rows)[~mine], values[~mine], kept) == kept_values(
                np.array(rows), values, ~mine & (mask == 1)
            )


def test_one_name_among_others_of_another_type_merges_no_two_people():
    # Two people whose names a float cannot tell apart, and a third whose name is a float.
    people = [2**53, 2**53 + 1]
    assert mask_of(people, 1).tolist() == [1, 1]
    assert mask_of([*people, 0.5], 1).tolist() == [1, 1, 1]
    assert mask_of([*people, float("nan")], 1).tolist() == [1, 1, 0]
    assert mask_of([2**63, 2**63 + 1, -1], 1).tolist() == [1, 1, 1]
    # A number and its text are two people, whoever else is there.
    assert mask_of([1, "1"], 1).tolist() == [1, 1]


def test_names_of_several_columns_are_refused():
    # Read row by row they would be twice as many names as rows, and the cap would fall on the wrong ones.
    rows, names = np.zeros((6, 2)), np.array([[1, 2]] * 6)
    model = PrivateKMeans(2, epsilon=1.0, bounds=(-1, 1), max_rows_per_group=1)
    for groups in (names, names.tolist()[0], {0: 1}, "abcdef", 3):
        with pytest.raises(ValueError, match="groups"):
            model.fit(rows, groups=groups)


@pytest.mark.parametrize(
    "spellings",
    [
        [Decimal("7"), Decimal("7.0"), Decimal("7.00"), 7, 7.0, np.int8(7), np.float32(7), Fraction(7), 7 + 0j],
        [(1, 2), (1.0, 2), (np.int64(1), Decimal(2))],
        [0.5, Fraction(1, 2), Decimal("0.5"), np.longdouble(0.5)],
        [True, 1, np.True_],
        ["x", np.str_("x"), Ward.X],
    ],
)
def test_one_person_spelled_in_several_ways_has_one_cap(spellings):
    assert mask_of(spellings, 1).sum() == 1


@pytest.mark.parametrize(
    "name",
    [10**5000, (10**5000,), Fraction(10**400), Decimal("sNaN"), Decimal("1e999999999"), object(), {1: 2}],
    ids=["integer", "tuple", "fraction", "signaling", "exponent", "object", "dict"],
)
def test_no_name_raises(name):
    assert mask_of(as_objects([name, "x", "x"]), 1)[1:].sum() == 1


def test_a_tuple_is_one_name():
    assert mask_of([("a", 1), ("a", 1), ("a", 2), "b"], 1).sum() == 3


def test_which_rows_are_kept_is_a_secret_even_draw():
    names = ["a"] * 6 + ["b"] * 2
    masks = np.array([mask_of(names, 2, key=SecureSource().key()) for _ in range(1500)])
    assert (masks[:, 6:] == 1).all()
    assert np.abs(masks[:, :6].mean(axis=0) - 1 / 3).max() < 0.06


NAMED = ("whole", "cells", "columns", "rings", "levels", "mean", "core", "median", "second moment", "box", "squared cost")
NAMED += ("box, in widths", "mean, in widths", "columns, in a view", "mean, in a view")
EACH = pytest.mark.parametrize(("question", "ask"), [QUESTIONS[name] for name in NAMED], ids=NAMED)
#: On the radius of the second center.
EDGE = 0.5 + RADII[1] / np.sqrt(2)


@EACH
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.matrix
def test_moving_all_rows_of_a_person_stays_within_the_charge(question, ask, adjacency, spy, charge, privacy_loss):
    rng = np.random.default_rng(6)
    people = rng.integers(0, 7, 40)
    rows = rng.uniform(-1, 1, (40, 2))
    rows[people == 3] = EDGE  # all in one cell
    for cap, measure in itertools.product((1, 2, 4), ("epsilon", "rho")):
        asked = charge(question, measure)
        options = {"adjacency": adjacency, "max_rows": cap}
        before = spy(ask, rows, asked, groups=people, **options)
        worst = Fraction(0)
        for person in range(7):
            if adjacency == "replace":
                moved = np.where((people == person)[:, None], CENTERS[:1], rows)
                after = spy(ask, moved, asked, groups=people, **options)
            else:
                after = spy(ask, rows[people != person], asked, groups=people[people != person], **options)
            worst = max(worst, sum(privacy_loss(before, after)))
        assert worst <= asked.amount
        assert worst > 0 or (ask, adjacency) == (QUESTIONS["whole"][1], "replace")  # a replacement keeps the number of rows


UNNAMED = [None, float("nan"), np.datetime64("NaT"), object()]


@EACH
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.matrix
def test_a_person_without_a_name_moves_nothing(question, ask, adjacency, spy, charge):
    rows = np.random.default_rng(7).uniform(-1, 1, (12, 2))
    named = as_objects(["a"] * 4 + ["b"] * 4)
    for cap, measure in itertools.product((1, 3), ("epsilon", "rho")):
        options = {"adjacency": adjacency, "max_rows": cap}
        alone = spy(ask, rows[:8], charge(question, measure), groups=named, **options)
        for count in (1, 2, 4):
            groups = np.concatenate([named, as_objects(UNNAMED[:count])])
            assert spy(ask, rows[: 8 + count], charge(question, measure), groups=groups, **options) == alone


@EACH
@pytest.mark.matrix
def test_a_person_without_a_name_who_gets_one_is_within_the_charge_of_a_replacement(question, ask, spy, charge, privacy_loss):
    # All ways to give three rows on and off the radius, missing and far ones, to a person whose rows had no name before.
    theirs = [(EDGE, EDGE), (-EDGE, -EDGE), (np.nan, 0.0), (40.0, -40.0)]
    others, names = np.array([[0.1, 0.2], [-0.5, -0.4]]), ["a", "b"]
    for cap, measure in itertools.product((1, 2, 3), ("epsilon", "rho")):
        asked, reached = charge(question, measure), Fraction(0)
        for mine in itertools.combinations_with_replacement(theirs, 3):
            rows = np.concatenate([others, mine])
            drawn = [spy(ask, rows, asked, groups=[*names, *[who] * 3], adjacency="replace", max_rows=cap) for who in (None, "c")]
            loss = sum(privacy_loss(*drawn))
            assert loss == sum(privacy_loss(*drawn[::-1])) <= asked.amount
            reached = max(reached, loss)
        assert reached > 0


@covering("case, estimator, adjacency", CASES | SITES, ESTIMATORS, ["add-remove", "replace"], indirect=["case"])
@pytest.mark.matrix
def test_the_order_of_the_rows_decides_nothing(estimator, case, adjacency):
    rng, d = np.random.default_rng(2), case.n_features
    rows, people = rng.normal(-0.6, 0.1, (400, d)), as_objects([f"p{i}" for i in rng.integers(0, 60, 400)])
    people[::17] = None
    if d:
        rows[::9], rows[::13, 0], rows[5::20, -1] = rows[0], np.nan, 40.0
    else:
        rows = rng.integers(-1, 62, 400)
    model = case.model(estimator, epsilon=3.0, adjacency=adjacency, max_rows_per_group=2, noise_seed=1)
    release = model.fit(rows, groups=people).release_.to_json()
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(400)
        assert model.fit(rows[order], groups=people[order]).release_.to_json() == release


@covering("case, estimator, adjacency, delta", CASES | SITES, ESTIMATORS, Adjacency, [0.0, 1e-6], indirect=["case"])
@pytest.mark.matrix
def test_a_whole_person_gone_changes_no_question_and_no_release(estimator, case, adjacency, delta):
    rows = case.rows
    people = np.random.default_rng(1).integers(0, 90, len(rows))
    model = case.model(estimator, epsilon=3.0, delta=delta, adjacency=adjacency, max_rows_per_group=2)
    gone = people != 5
    finding = replay(model, rows, rows[gone], first_groups=people, second_groups=people[gone])
    assert finding.faults == ()
    assert 0 <= finding.bound <= 3


@pytest.mark.slow
def test_a_person_of_many_rows_is_within_epsilon_as_measured(curator, charge, alarm):
    rows = np.zeros((12, 2))
    people = np.array([0] * 8 + [1, 2, 3, 4])
    asked = charge("counts", amount=1)

    def run(mask, source):
        private = curator(rows[mask], [asked], source, max_rows=3, groups=people[mask])
        return int(private.ask(Counts(Whole()), asked).private_counts[0])

    everyone, without = np.ones(12, dtype=bool), people != 0
    secure = [[run(mask, SecureSource()) for _ in range(500)] for mask in (everyone, without)]
    assert epsilon_lower_bound(*secure, confidence=1 - alarm) <= 1.0
    seeded = [[run(mask, SeededSource(2 * i + mask[0])) for i in range(500)] for mask in (everyone, without)]
    assert epsilon_lower_bound(*seeded, confidence=0.9999) > 0.3
