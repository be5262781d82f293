"""Faults that others have shipped, each planted in a faithful small model: the audit finds every one, in seconds.

Each function below promises epsilon 1 (or what its test says) and breaks it in its own way. Noise has fixed seeds: what is found
today is found tomorrow. The sound twin of a model, where it has one, passes the same audit.
"""

import math
import time

import numpy as np
import pytest

from spinney import PrivateKMeans
from spinney.audit import Pair, black_box, neighbors, replay, replay_pairs, search, table_pairs
from spinney.privacy.pricing import Unit

EPSILON = 1.0
CROWD = np.full((30, 2), -1.0)
LONELY = Pair("lonely outlier", CROWD, np.vstack([CROWD, [[1.0, 1.0]]]))


@pytest.fixture(autouse=True)
def in_under_a_minute():
    start = time.process_time()
    yield
    assert time.process_time() - start < 60


def audited(many, pair=LONELY, runs=20_000, epsilon=EPSILON, **options):
    return black_box(None, [pair], epsilon=epsilon, runs=runs, many=many, **options)


def laplace(seed, scale, shape):
    return np.random.default_rng(seed).laplace(0.0, scale, shape)


def side(table):
    """A seed of its own for each of two tables."""
    return len(table)


@pytest.mark.parametrize("skipped", [False, True])
def test_skipped_empty_clusters(skipped):
    """No noise where a cluster is empty: a lone row shows by not being an exact zero."""

    def many(table, runs):
        counts = np.array([(table[:, 0] < 0).sum(), (table[:, 0] >= 0).sum()], dtype=float)
        noise = laplace(side(table), 1 / EPSILON, (runs, 2))
        return counts + (noise * (counts > 0) if skipped else noise)

    assert audited(many, runs=2000).broken == skipped


@pytest.mark.parametrize("swapped", [False, True])
def test_swapped_budget_shares(swapped):
    """Sums of four columns and a count: 4 e_sum + e_count = 1, with e_count = 3 e_sum; swapped it spends 13/7."""
    e_sum, e_count = (3 / 7, 1 / 7) if swapped else (1 / 7, 3 / 7)
    pair = Pair("lonely outlier", np.zeros((30, 4)), np.vstack([np.zeros((30, 4)), np.ones((1, 4))]))

    def many(table, runs):
        sums = table.sum(axis=0) + laplace(side(table), 1 / e_sum, (runs, 4))
        count = len(table) + laplace([side(table), 1], 1 / e_count, (runs, 1))
        return np.hstack([sums, count])

    assert audited(many, pair, runs=100_000).broken == swapped


@pytest.mark.parametrize("factor", [1.0, 0.5])
def test_noise_scaled_by_half(factor):
    def many(table, runs):
        return len(table) + laplace(side(table), factor / EPSILON, runs)

    assert audited(many).broken == (factor < 1)


def test_noise_of_an_estimator_scaled_by_half():
    model = PrivateKMeans(2, epsilon=1.0, bounds=(-1, 1), algorithm="lloyd")
    found = replay_pairs(model, table_pairs([-1, -1], [1, 1], Unit(), 2, most=10), factor=0.5)
    assert any("less than its charge pays for" in fault for fault in found.faults)


@pytest.mark.parametrize("sensitivity", [2.0, 1.0])
def test_the_wrong_adjacency(sensitivity):
    """A sum of cells in [-1, 1] moves by 1 where a row comes, and by 2 where one is replaced, which was promised."""
    pair = Pair("far corner", np.vstack([CROWD, [[-1.0, 0]]]), np.vstack([CROWD, [[1.0, 0]]]))

    def many(table, runs):
        return table[:, 0].sum() + laplace(int(table[-1, 0]) + 5, sensitivity / EPSILON, runs)

    assert audited(many, pair).broken == (sensitivity < 2)


def test_bounds_read_from_data():
    """A mean whose noise is scaled by the range that the rows have: the scale itself tells of the outlier."""

    def many(table, runs):
        column = table[:, 0]
        width = np.ptp(column) or 1e-3
        return column.mean() + laplace(side(table), width / len(column) / EPSILON, runs)

    assert audited(many, runs=2000).broken


class Labeled(PrivateKMeans):
    """Keeps what scikit-learn's clusterers keep."""

    def fit(self, table, groups=None):
        super().fit(table, groups=groups)
        self.labels_ = self.predict(table)
        return self


def test_a_stored_label_array():
    found = replay(Labeled(2, epsilon=1.0, bounds=(-1, 1), algorithm="lloyd"), LONELY.first, LONELY.second)
    assert any("another result" in fault for fault in found.faults)


@pytest.mark.parametrize("kind", [np.float64, np.float16])
def test_a_float_sum(kind):
    """One more row lifts the running sum to where floats are coarser: each later row then counts twice.

    The bounds are [0, 64]. Half precision, so that 96 rows are enough; the same holds for doubles and very many rows.
    """
    before, later = np.full((31, 1), 64.0), np.full((64, 1), 1 + 2.0**-10)
    pair = Pair("one row more", np.vstack([before, later]), np.vstack([before, [[64.0]], later]))

    def many(table, runs):
        total = float(np.cumsum(table[:, 0].astype(kind), dtype=kind)[-1])
        return total + laplace(side(table), 64 / EPSILON, runs)

    rounded = kind is np.float16
    assert audited(many, pair, runs=40_000).broken == rounded


def test_a_crash_on_bad_cells():
    rng = np.random.default_rng(0)

    def run(table):
        if np.isnan(table).any():
            raise ValueError("Input contains NaN.")
        return table.sum() + rng.laplace(0, 1e6)

    pairs = list(table_pairs([-1, -1], [1, 1], Unit(), 100))
    bad = [pair for pair in pairs if np.isnan(np.vstack([pair.first, pair.second])).any()]
    assert bad
    assert black_box(run, bad[:1], epsilon=EPSILON, runs=100).broken
    assert search(run, neighbors([-1, -1], [1, 1], most=4), epsilon=EPSILON, examples=100).broken


@pytest.mark.parametrize("own", [True, False])
def test_rows_kept_by_order_in_a_group(own):
    """At most one row of each person counts; by an order of all rows, a newcomer changes which rows of everyone do."""
    people, cells = np.repeat(np.arange(40), 2), np.tile([0.0, 1.0], 40)
    table = np.column_stack([people, cells]).astype(float)
    pair = Pair("a whole person", table, np.vstack([[[99.0, 0.0]], table]))

    def many(table, runs):
        kept = {}
        # The order of rows in the table, as a parity of places, stands for any order that all rows share.
        for place, (person, cell) in enumerate(table.tolist()):
            if own or place % 2 == 0:
                kept.setdefault(person, cell)
        return sum(kept.values()) + laplace(side(table), 1 / EPSILON, runs)

    assert audited(many, pair, runs=2000).broken == (not own)


@pytest.mark.parametrize("shared", [False, True])
def test_a_seed_shared_by_two_mechanisms(shared):
    """Both of two releases add the same noise: their difference has none."""

    def many(table, runs):
        one = laplace(side(table), 2 / EPSILON, runs)
        other = one if shared else laplace([side(table), 1], 2 / EPSILON, runs)
        return np.column_stack([len(table) + one, (table[:, 0] > 1).sum() + other])

    assert audited(many, runs=4000).broken == shared


def select_worse(epsilon, gap, permute_and_flip):
    """The chance that the worse of two options wins, `gap` below the other."""
    return 0.5 * math.exp(-epsilon * gap / 2) if permute_and_flip else 1 / (1 + math.exp(epsilon * gap / 2))


@pytest.mark.parametrize("permute_and_flip", [False, True])
def test_permute_and_flip_charged_as_zcdp(permute_and_flip):
    """The price epsilon^2 / 8 holds for the exponential mechanism; permute-and-flip loses up to four times that."""
    steps, each, delta = 280, 0.1, 0.01
    rho = steps * each**2 / 8
    promised = rho + 2 * math.sqrt(rho * math.log(1 / delta))

    def many(table, runs):
        gap = 0 if len(table) == len(CROWD) else 2  # both scores move by one, apart
        chance = select_worse(each, gap, permute_and_flip)
        return np.random.default_rng(side(table)).binomial(steps, chance, runs)

    found = audited(many, runs=100_000, epsilon=promised, delta=delta)
    assert found.broken == permute_and_flip


def underflowing(table, rng):
    """An exponential mechanism whose weights are exp(-epsilon cost / 2), each: at a cost of 1491 they are all zero."""
    costs = np.array([float(len(table)), float(len(table)) + 1])
    weights = np.exp(-EPSILON * costs / 2)
    with np.errstate(invalid="ignore"):
        return int(rng.choice(2, p=weights / weights.sum()))


def test_an_exponential_mechanism_that_underflows():
    rng = np.random.default_rng(0)
    pair = Pair("duplicates", np.zeros((1490, 1)), np.zeros((1491, 1)))
    assert black_box(lambda table: underflowing(table, rng), [pair], epsilon=EPSILON, runs=100).broken
