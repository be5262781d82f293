"""Rules 5, 13 and 17 for centers of blocks: a row moves those of one block, a replaced one those of two, and no more."""

import itertools
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from asking import asking, shares_of_charge
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney import Ball, Box, ParameterError, PrivateKMeans, SeededNoiseWarning, scan
from spinney.audit.sources import NoiselessSource
from spinney.baselines import SampleAggregate
from spinney.curators import row_blocks as gathered
from spinney.curators.memory import MemoryBackend
from spinney.curators.row_blocks import Entries, Gathering, entries_of
from spinney.privacy import Adjacency, Charge, Measure, Unit
from spinney.questions import ColumnBins, Cost, Counting, Counts, Grow, Levels, Rings, Sums
from spinney.questions.blocks import Blocking, Blocks, Tuples
from spinney.questions.ground import Ground
from spinney.spaces.grid import door
from spinney.trees.quadtree import Splits, TreeCells

KEY = b"sixteen  letters"
DOMAIN = Box(-1, 1).domain(2)
SPLITS = Splits.of(DOMAIN)
CENTERS = np.array([[-0.5, -0.5], [0.5, 0.5]])
RADII = np.array([0.25, 0.4])
POINTS = np.array([[-0.9, -0.5], [-0.1, -0.5], [0.9, 0.5], [40.0, -7.0], [np.nan, 0.2]])


def centers_of(rows, tuples, adjacency="add-remove", groups=None, most=None, key=KEY, domain=DOMAIN):
    """Return the exact centers of all blocks; `most` is another cap on the rows of a block."""
    unit = Unit(Adjacency(adjacency), 1 if groups is None else 3)
    backend = MemoryBackend(np.asarray(rows, dtype=float).reshape(-1, 2), Ground(domain), unit, lambda: key, groups)
    with pytest.MonkeyPatch.context() as patch:
        if most is not None:
            patch.setattr(Gathering, "most", most)
        return backend._blocks_over(tuples)._rows.reshape(tuples.n_blocks, tuples.k, 2)


def changed(one, other):
    return int((one != other).any(axis=(1, 2)).sum())


TABLES = st.builds(
    lambda n, kinds, seed: _table(n, kinds, np.random.default_rng(seed)),
    st.integers(0, 60), st.sampled_from(["few", "many", "one"]), st.integers(0, 2**32),
)  # fmt: skip


def _table(n, kinds, rng):
    """Rows of few or many different values, with broken and far ones."""
    pool = {"one": 1, "few": 5, "many": 1000}[kinds]
    values = rng.uniform(-1.3, 1.3, (pool, 2))
    values[rng.random(pool) < 0.1] = [np.nan, 0.0]
    return values[rng.integers(0, pool, n)]


@given(
    rows=TABLES,
    others=st.lists(st.sampled_from(["copy", "new", "nan", "far"]), min_size=2, max_size=2),
    n_blocks=st.integers(1, 9),
    k=st.integers(1, 4),
    most=st.sampled_from([None, 1, 2, 5]),
    adjacency=st.sampled_from(list(Adjacency)),
    seed=st.integers(0, 2**32),
)
@settings(deadline=None, derandomize=True, max_examples=60)
def test_one_row_changes_the_centers_of_one_block_and_a_replaced_one_of_two(rows, others, n_blocks, k, most, adjacency, seed):
    rng = np.random.default_rng(seed)
    made = {"copy": rows[:1], "new": rng.uniform(-1, 1, (1, 2)), "nan": np.full((1, 2), np.nan), "far": np.full((1, 2), 9.0)}
    first, second = (np.concatenate([rows, made[name]])[rng.permutation(len(rows) + len(made[name]))] for name in others)
    tuples = Tuples(k, n_blocks, 2, "disjoint", 3)
    before, one, other = (centers_of(table, tuples, adjacency, most=most) for table in (rows, first, second))
    assert changed(before, one) <= 1
    assert changed(one, other) <= 2


@given(rows=TABLES, count=st.integers(1, 9), seed=st.integers(0, 2**32), most=st.sampled_from([None, 2]))
@settings(deadline=None, derandomize=True, max_examples=80)
def test_a_person_changes_one_block_however_many_rows(rows, count, seed, most):
    rng = np.random.default_rng(seed)
    names = [f"p{i}" if i % 7 else None for i in rng.integers(0, 20, len(rows))]
    more, tuples = rng.uniform(-1, 1, (count, 2)), Tuples(2, 5, 1, "disjoint", 0)
    before = centers_of(rows, tuples, groups=names, most=most)
    whole = np.concatenate([more, rows])
    assert changed(before, centers_of(whole, tuples, groups=["own"] * count + names, most=most)) <= 1
    assert changed(before, centers_of(whole, tuples, groups=[None] * count + names, most=most)) == 0


QUESTIONS = {
    "cells": Counts(TreeCells.grid(SPLITS, 3)),
    "columns": Counts(ColumnBins()),
    "rings": Counts(Rings(CENTERS, np.array([0.3, 0.5]))),
    "levels": Levels(SPLITS, 1, 4, None),
    "mean": Sums(CENTERS, "mean", RADII),
    "median": Sums(CENTERS, "median", RADII),
    "cost": Cost(CENTERS, 2),
}


@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.matrix
def test_no_neighbor_moves_an_answer_about_centers_beyond_its_charge(name, adjacency, spy, charge):
    for share in shares_of_charge(spy, charge, *asking(Blocks(QUESTIONS[name], 2, 2, seed=1)), POINTS, adjacency, caps=(1,)):
        assert 0 < share <= 1


def test_two_blocks_of_a_replaced_row_would_break_the_price_of_one(spy, charge, monkeypatch):
    # The attack: with the price of one block, some replacement moves more than is paid for.
    monkeypatch.setattr(Blocking, "unit", lambda self, unit: Unit(Adjacency.REPLACE, self.k))
    blocks = asking(Blocks(Counts(TreeCells.grid(SPLITS, 6)), 2, 2, seed=1))
    assert max(shares_of_charge(spy, charge, *blocks, POINTS, Adjacency.REPLACE, caps=(1,))) > 1


@given(rows=TABLES, n_blocks=st.integers(1, 6), most=st.integers(1, 4), seed=st.integers(0, 2**32), together=st.booleans())
@settings(deadline=None, derandomize=True, max_examples=60)
def test_order_and_batches_do_not_change_a_center(rows, n_blocks, most, seed, together):
    # Rows stream by in batches and partitions of any size, in any order; what is held is dropped as soon as it may be.
    rng, tuples = np.random.default_rng(seed), Tuples(2, n_blocks, 2, "disjoint", 0)
    where, none = door(DOMAIN, True), np.empty(0, np.uint8)
    seeds = (np.nan_to_num(np.abs(rows[:, 0]) * 7).astype(np.uint64) % 5) if together else None

    def gather(parts, dropping):
        whole = Gathering(tuples, DOMAIN, together)
        for part in parts:
            whole.add(entries_of(rows[part], none, where, n_blocks, KEY, None if seeds is None else seeds[part]))
            if dropping:
                whole.entries()
        return whole

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Gathering, "most", most)
        patch.setattr(gathered, "SLICE", int(rng.integers(1, 40)))
        expected = gather([np.arange(len(rows))], False).centers()
        parts = np.array_split(rng.permutation(len(rows)), rng.integers(1, 8))
        np.testing.assert_array_equal(gather(parts, True).centers(), expected)
        joined = Gathering(tuples, DOMAIN, together)
        for part in parts:
            joined.add(Entries.from_bytes(gather([part], True).entries().to_bytes(), 2))
        np.testing.assert_array_equal(joined.centers(), expected)


@pytest.mark.parametrize("domain", [DOMAIN, Ball(1.0, [0, 0]).domain(2)], ids=["box", "ball"])
@pytest.mark.parametrize("power", [1, 2])
def test_every_block_gives_k_centers_in_the_domain(domain, power):
    rng = np.random.default_rng(0)
    tables = [
        np.empty((0, 2)), np.zeros((1, 2)), np.full((50, 2), 3.0), np.full((9, 2), np.nan), rng.normal(0, 9, (300, 2)),
        np.repeat(rng.uniform(-1, 1, (3, 2)), 40, axis=0), np.array([[1e300, -np.inf], [-1e300, 0.0], [5e-324, -0.0]]),
    ]  # fmt: skip
    for rows, adjacency, n_blocks, k in itertools.product(tables, Adjacency, (1, 7, 60), (1, 5)):
        found = centers_of(rows, Tuples(k, n_blocks, power, "disjoint", 1), adjacency, domain=domain)
        assert found.shape == (n_blocks, k, 2)
        np.testing.assert_allclose(domain.clip(found), found, atol=1e-12)
    for n in range(40):  # with replacement too, down to no rows at all
        backend = MemoryBackend(rng.normal(size=(n, 2)), Ground(domain), Unit(Adjacency.REPLACE), lambda: KEY)
        assert np.isfinite(backend._blocks_over(Tuples(3, 4, power, "replacement", 0))._rows).all()


@pytest.mark.parametrize("n", [1, 2, 3, 5, 10, 100, 10_001])
@pytest.mark.parametrize("charged", [0.01, 0.3, 1.0, 4.0, 20.0])
def test_a_row_drawn_several_times_is_paid_for(n, charged):
    kind = Blocking(Counting(), 3, "replacement")
    paid = float(kind.price(Charge("test", "blocks", Measure.PURE, Fraction(str(charged)))).amount)
    draws, p = n // 2, 1 / n
    more = draws * (math.log1p(p * math.expm1(paid)) - math.log1p(p * math.expm1(-paid)))
    assert more <= charged
    if n == 10_001 and charged <= 4:
        assert more > 0.99 * charged * draws / (n / 2) * (1 if charged <= 1 else 0.9)
    in_rho = Charge("test", "blocks", Measure.ZCDP, Fraction(str(charged**2 / 2)))
    assert kind.price(in_rho).amount <= Fraction(paid) + Fraction(1, 10**8)


@pytest.mark.parametrize(("n", "n_blocks"), [(4, 1), (4, 2), (6, 1)])
@pytest.mark.parametrize("charged", [0.5, 2.0])
@pytest.mark.matrix
def test_the_law_of_all_samples_with_replacement_is_within_the_charge(n, n_blocks, charged, spy, charge):
    # All samples of tiny tables, and the exact law of the noisy counts: the attack is a row that drags every block it is in.
    rows, asked = np.full((n, 2), -0.1), charge("blocks", "epsilon", Fraction(str(charged)))
    other, size = np.concatenate([rows[1:], [[40.0, 40.0]]]), n // (2 * n_blocks) * n_blocks
    question = Blocks(Counts(Rings(CENTERS)), 1, n_blocks, sampling="replacement")
    ((_, scale, _),) = spy(lambda curator, own: curator.ask(question, own), rows, asked, adjacency="replace")
    reach = np.arange(-60, 60)
    laws = np.zeros((2, reach.size))
    for sample in itertools.product(range(n), repeat=size):
        with pytest.MonkeyPatch.context() as patch:
            words = np.array(sample, dtype="<u8").tobytes()
            patch.setattr(gathered.hashlib, "shake_256", lambda key, words=words: SimpleNamespace(digest=lambda length: words))
            for law, table in zip(laws, (rows, other), strict=True):
                found = spy(lambda curator, own: curator.ask(question, own), table, asked, adjacency="replace")[0][2]
                # Blocks near one center have left the other: one count tells both, at twice the loss.
                law += np.exp(-2 * np.abs(reach - found[0]) / scale)
    worst = np.abs(np.log(laws[0]) - np.log(laws[1])).max()
    assert 0.2 * charged < worst <= charged


def test_samples_with_replacement_are_refused_where_the_number_of_rows_is_private(tmp_path):
    rows, model = np.zeros((30, 2)), PrivateKMeans(2, epsilon=1.0, bounds=(-1, 1), algorithm=SampleAggregate(4, "replacement"))
    with pytest.raises(ParameterError, match="tells the number of rows"):
        model.fit(rows)
    model.set_params(adjacency="replace").fit(rows)
    for cap in (1, 2):
        with pytest.raises(ParameterError, match=r"replacement|tells the number of rows"):
            model.set_params(max_rows_per_group=cap).fit(rows, groups=["a"] * 30)
    np.save(tmp_path / "rows.npy", rows)
    for table in (scan(tmp_path / "rows.npy"), tmp_path / "rows.npy"):  # whatever the size of a path
        with pytest.raises(ParameterError, match="does not run on rows"):
            model.set_params(max_rows_per_group=None).fit(table)


def test_each_question_with_replacement_draws_its_own_sample(curator, charge):
    class Keys(NoiselessSource):
        drawn = 0

        def key(self):
            self.drawn += 1
            return bytes([self.drawn]) * 16

    rows = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    for sampling, expected in (("disjoint", 1), ("replacement", 3)):
        source, charges = Keys(), [Charge(str(i), "blocks", Measure.PURE, Fraction(1)) for i in range(3)]
        private = curator(rows, charges, source, adjacency="replace")
        for own in charges:
            private.ask(Blocks(Grow(SPLITS, 2, 5), 2, 9, sampling=sampling), own)
        assert source.drawn == expected


def test_a_seeded_fit_repeats_and_says_nothing_of_exact_centers():
    rows = np.random.default_rng(0).normal(0, 0.2, (400, 2))
    for sampling in ("disjoint", "replacement"):
        model = PrivateKMeans(
            2, epsilon=1.0, bounds=(-1, 1), adjacency="replace", algorithm=SampleAggregate(30, sampling), noise_seed=1
        )
        with pytest.warns(SeededNoiseWarning):
            first, second = model.fit(rows).release_, model.fit(rows).release_
        assert first.to_json() == second.to_json()
        assert first.parameters == {"n_blocks": 30, "sampling": sampling}
