import math

import numpy as np
import pytest

from spinney import Box, BudgetError
from spinney.questions import ColumnBins, Counts, Grow, Rings, Whole
from spinney.questions.cost import Cost, cost_range
from spinney.questions.sums import RADIUS_STEPS, Sums
from spinney.trees.quadtree import BIN_BITS, Splits, TreeCells

BOX = Box([-3, -3, -3], [3, 3, 5]).domain(3)
RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(1500, 3)) * 1.5
CENTERS = BOX.sample(6, RNG)
EDGES = np.array([0.5, 1.0, 2.5])


def clipped(rows, domain=BOX):
    return domain.clip(np.asarray(rows, dtype=np.float64))


def distances(rows, centers):
    return np.sqrt(((clipped(rows)[:, None] - centers) ** 2).sum(axis=2))


@pytest.mark.parametrize("widths", [None, np.array([0.7, 2.0, 1.1])])
def test_ring_counts_are_those_of_brute_force(open_curator, widths):
    curator, ask, again = open_curator(ROWS, BOX, "counts", "counts")
    counts = curator.ask(Counts(Rings(CENTERS, EDGES, widths)), ask).private_counts
    nearest = distances(ROWS, CENTERS).argmin(axis=1)  # in plain units; how far they are is not
    gaps = (clipped(ROWS) - CENTERS[nearest]) / (1.0 if widths is None else widths)
    expected = np.zeros((6, 4), dtype=int)
    np.add.at(expected, (nearest, np.searchsorted(EDGES, np.sqrt((gaps**2).sum(axis=1)))), 1)
    np.testing.assert_array_equal(counts, expected)
    assert (expected.sum(axis=0) > 0).all()
    assert curator.ask(Counts(Rings(CENTERS)), again).private_counts.tolist() == expected.sum(axis=1).tolist()


@pytest.mark.parametrize("anchors", [None, BOX.sample(6, np.random.default_rng(3))], ids=["centers", "anchors"])
@pytest.mark.parametrize("kernel", ["mean", "core", "median"])
def test_sums_are_those_of_clipped_offsets(open_curator, kernel, anchors):
    curator, ask = open_curator(ROWS, BOX, "sums")
    radii = np.linspace(0.5, 3, 6)
    answer = curator.ask(Sums(CENTERS, kernel, radii, anchors), ask)
    labels = distances(ROWS, CENTERS).argmin(axis=1)
    offsets = clipped(ROWS) - (CENTERS if anchors is None else anchors)[labels]
    lengths = np.linalg.norm(offsets, axis=1)
    reach, beyond = np.maximum(lengths, radii[labels]), lengths > radii[labels]
    weights = radii[labels] / reach if kernel == "median" else np.where(beyond, kernel == "mean", 1.0)
    shares = offsets / reach[:, None] * (~beyond | (kernel != "core"))[:, None]
    for j in range(6):
        mine = labels == j
        steps = 1.1 * mine.sum() / RADIUS_STEPS
        np.testing.assert_allclose(answer.private_vectors[j], shares[mine].sum(axis=0), atol=steps)
        np.testing.assert_allclose(answer.private_weights[j], weights[mine].sum(), atol=steps if kernel == "median" else 0)
    assert 0 < beyond.sum() < len(ROWS)


def test_column_bins_are_those_of_a_histogram(open_curator):
    for bits in range(BIN_BITS + 1):
        curator, ask = open_curator(ROWS, BOX, "counts")
        counts = curator.ask(Counts(ColumnBins(bits)), ask).private_counts
        for t in range(3):
            expected = np.histogram(clipped(ROWS)[:, t], 2**bits, (BOX.lower[t], BOX.upper[t]))[0]
            np.testing.assert_array_equal(counts[t], expected)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("others", [1, 6, 9])
def test_a_cost_difference_is_that_of_brute_force(open_curator, power, others):
    curator, ask, again = open_curator(ROWS, BOX, "cost", "cost")
    second = BOX.sample(others, np.random.default_rng(5))
    gaps = distances(ROWS, CENTERS).min(axis=1) ** power - distances(ROWS, second).min(axis=1) ** power
    assert curator.ask(Cost(CENTERS, power, second), ask).private_cost == pytest.approx(gaps.sum(), abs=1e-4)
    assert curator.ask(Cost(second, power, CENTERS), again).private_cost == pytest.approx(-gaps.sum(), abs=1e-4)
    assert np.abs(gaps).max() <= cost_range(BOX, CENTERS, second, power)


@pytest.mark.parametrize("power", [1, 2])
def test_each_row_is_cut_off_and_the_noise_follows(open_curator, power):
    second = BOX.sample(4, np.random.default_rng(5))
    gaps = distances(ROWS, CENTERS).min(axis=1) ** power - distances(ROWS, second).min(axis=1) ** power
    most, widest = float(np.quantile(np.abs(gaps), 0.7)), cost_range(BOX, CENTERS, second, power)
    curator, ask = open_curator(ROWS, BOX, "cost")
    answer = curator.ask(Cost(CENTERS, power, second, most), ask)
    assert answer.private_cost == pytest.approx(np.clip(gaps, -most, most).sum(), abs=1e-4)
    curator, *asks = open_curator(ROWS, BOX, *["cost"] * 3, epsilon=1.0)
    stds = [curator.ask(Cost(CENTERS, power, second, m), ask).std for m, ask in zip((None, most, 2 * widest), asks, strict=True)]
    assert stds[1] / stds[0] == pytest.approx(most / widest)
    assert stds[2] == stds[0]


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_no_row_costs_more_than_the_public_range(power, seed):
    rng = np.random.default_rng(seed)
    first, second = BOX.sample(3, rng), BOX.sample(4, rng)
    corners = np.array(np.meshgrid(*zip(BOX.lower, BOX.upper, strict=True))).reshape(3, -1).T
    rows = np.concatenate([corners, BOX.sample(5000, rng), first, second])
    far, near = distances(rows, first).min(axis=1) ** power, distances(rows, second).min(axis=1) ** power
    assert far.max() <= cost_range(BOX, first, np.empty((0, 3)), power) * (1 + 1e-12)
    assert np.abs(far - near).max() <= cost_range(BOX, first, second, power) * (1 + 1e-12)


def test_the_public_range_of_a_difference_is_not_wasteful():
    rng = np.random.default_rng(0)
    for size in (1, 2, 5):
        first, none = BOX.sample(size, rng), np.empty((0, 3))
        near = first + rng.normal(0, 1e-6, first.shape)
        corners = np.array(np.meshgrid(*zip(BOX.lower, BOX.upper, strict=True))).reshape(3, -1).T
        assert cost_range(BOX, first, first, 1) == 1e-12 * BOX.half_diagonal
        assert cost_range(BOX, first, first, 2) == 1e-12 * BOX.half_diagonal**2
        moved = distances(first, near).diagonal().max()
        assert cost_range(BOX, first, near, 1) == pytest.approx(moved, rel=1e-9)
        assert 0 < cost_range(BOX, first, near, 2) <= 2 * moved * 2 * BOX.half_diagonal * (1 + 1e-3)
        farthest = distances(corners, first).max(axis=0).min()  # one center's, that which is nearest to its farthest corner
        assert cost_range(BOX, first, none, 1) == pytest.approx(farthest)
        assert cost_range(BOX, first, none, 2) == pytest.approx(farthest**2)
        # With one more center on one side, one of the two costs is never smaller.
        assert cost_range(BOX, first, np.vstack([first, near[:1]]), 1) <= cost_range(BOX, near, near[:1], 1) + 1e-5


def test_a_question_without_its_charge_is_refused_before_rows_are_read(open_curator, monkeypatch):
    curator, counts, sums = open_curator(ROWS, BOX, "counts", "sums")
    curator.ask(Counts(Whole()), counts)

    def explode(*arguments):
        raise AssertionError("rows were read")

    monkeypatch.setattr(curator._rows, "_map", explode)
    monkeypatch.setattr(curator._rows, "_map_nearest", explode)
    monkeypatch.setattr(curator._rows, "_cell_counts", explode)
    splits = Splits.of(BOX)
    for ask in (
        lambda: curator.ask(Counts(Whole()), counts),
        lambda: curator.ask(Counts(TreeCells.grid(splits, 2)), counts),
        lambda: curator.ask(Counts(Whole()), sums),
        lambda: curator.ask(Sums(CENTERS, "mean", np.ones(6)), counts),
        lambda: curator.ask(Cost(CENTERS, 2), sums),
        lambda: curator.ask(Grow(splits, 0, 0), sums),
    ):
        with pytest.raises(BudgetError):
            ask()
    assert curator.ledger.entries == (counts,)
    assert curator.ledger.epsilon == math.inf
