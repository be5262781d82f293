import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney.curators.entrance import CLIPPED, PLACES, RAW, STEPS, Near, enter
from spinney.curators.kernels import count_columns, count_rings, find_nearest, sum_offsets
from spinney.curators.walks import LEAST_TILE, TILE_NUMBERS, walk_codes
from spinney.spaces.box import Ball, Box
from spinney.spaces.grid import GRID_BITS, door
from spinney.spaces.nearest import BLOCK, SLAB_POINTS, nearest, scale_centers
from spinney.trees.quadtree import Splits

NO_MASK = np.empty(0, np.uint8)
DOMAINS = [Box((-1, 0), (1, 3)).domain(2), Ball(1.5, (0.5, 1)).domain(2)]


def raw_rows(n, seed=0):
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-2, 4, (n, 2))
    rows[::7, 0], rows[3::11, 1], rows[5::13, 1] = np.nan, np.inf, -np.inf
    return rows


def entered(rows, mask, domain, nan_to_center, form):
    """Return all rows as they came in, and which of them count."""
    values, alive = [np.empty((0, 2))], [np.empty(0, bool)]
    for one in enter(rows, mask, door(domain, nan_to_center), form):
        came = one.slab[:, :, :BLOCK].transpose(0, 2, 1).reshape(-1, 2)[: one.size].copy()
        values.append(np.floor(came) if form == STEPS else came)  # of a place on the grid its whole part is read
        alive.append(one.alive)
    return np.concatenate(values), np.concatenate(alive)


def expected(rows, domain, form):
    clean = np.isfinite(rows).all(axis=1)
    values = np.where(clean[:, None], rows, domain.center)
    if form == RAW:
        return values, clean
    values = np.clip(values, domain.lower, domain.upper)
    if domain.radius < np.inf:
        gaps = values - domain.center
        lengths = np.sqrt(np.maximum((gaps**2).sum(axis=1), 1e-300))
        values = domain.center + gaps * np.minimum(1.0, domain.radius / lengths)[:, None]
    if form == CLIPPED:
        return values, clean
    width, last = domain.upper - domain.lower, 2.0**GRID_BITS - 1
    values = np.clip(values, domain.lower, domain.upper)
    steps = np.minimum(np.floor((values - domain.lower) * (2.0**GRID_BITS / width)), last)
    return steps if form == STEPS else domain.lower + (steps + 0.5) * (width / 2.0**GRID_BITS), clean


SIZES = [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, SLAB_POINTS - 1, SLAB_POINTS, SLAB_POINTS + 1, 2 * SLAB_POINTS + 300]
LAYOUTS = {
    "by column": np.asfortranarray,
    "every other row": lambda rows: np.repeat(rows, 2, axis=0)[::2],
    "every other column": lambda rows: np.repeat(rows, 2, axis=1)[:, ::2],
    "backward": lambda rows: rows[::-1].copy()[::-1],
}


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("form", [RAW, CLIPPED, STEPS, PLACES])
@pytest.mark.parametrize("domain", DOMAINS)
def test_rows_are_checked_clipped_and_floored(domain, form, n):
    rows = raw_rows(n)
    mask = (np.arange(n) % 5 > 0).astype(np.uint8)
    for nan_to_center in (False, True):
        values, alive = entered(rows, NO_MASK, domain, nan_to_center, form)
        wanted, clean = expected(rows, domain, form)
        np.testing.assert_array_equal(values, wanted)
        np.testing.assert_array_equal(alive, clean | nan_to_center)
        _, masked = entered(rows, mask, domain, nan_to_center, form)
        np.testing.assert_array_equal(masked, alive & (mask > 0))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_of_any_layout_come_in_alike(layout):
    rows = raw_rows(SLAB_POINTS + 77).astype(np.float32)
    for kind in (np.float32, np.float64):
        for domain in DOMAINS:
            mine = entered(rows.astype(kind), NO_MASK, domain, False, PLACES)
            theirs = entered(LAYOUTS[layout](rows.astype(kind)), NO_MASK, domain, False, PLACES)
            np.testing.assert_array_equal(mine[0], theirs[0])
            np.testing.assert_array_equal(mine[1], theirs[1])


def test_no_value_is_heard_of():
    rows = raw_rows(50).astype(np.float32)
    rows[3] = np.array([0x7FA00000, 0x7F800001], dtype=np.uint32).view(np.float32)  # signaling: a cast of them is invalid
    with np.errstate(all="raise"):
        for domain in DOMAINS:
            _, alive = entered(rows, NO_MASK, domain, False, STEPS)
            assert not alive[3]
        nearest(rows, np.ones((1, 2)))


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e12])
def test_labels_are_those_of_clipped_rows(scale):
    rows = scale * raw_rows(4 * BLOCK)
    centers = scale * np.random.default_rng(1).uniform(-3, 5, (9, 2))
    for low, high in [((-1, 0), (1, 3)), ((0.3, 0.3), (0.30001, 4))]:
        domain = Box(tuple(scale * x for x in low), tuple(scale * x for x in high)).domain(2)
        values, alive = entered(rows, NO_MASK, domain, False, CLIPPED)
        labels = find_nearest(rows, NO_MASK, door(domain, False), scale_centers(centers))
        np.testing.assert_array_equal(labels, np.where(alive, nearest(values, centers)[1], -1))


@given(
    d=st.sampled_from([1, 3, TILE_NUMBERS // BLOCK, TILE_NUMBERS // BLOCK + 1, TILE_NUMBERS // LEAST_TILE, 999]),
    n=st.integers(1, 2 * BLOCK + 3),
    is_ball=st.booleans(),
    nan_to_center=st.booleans(),
    kind=st.sampled_from(["f2", "f4", "f8"]),
    seed=st.integers(0, 99),
)
def test_parts_of_the_rows_add_up_to_all_however_many_columns_they_have(d, n, is_ball, nan_to_center, kind, seed):
    """Wide rows are taken fewer at a time, and made 64-bit in stretches; where one stands among others changes nothing."""
    rng = np.random.default_rng(seed)
    rows, mask = rng.normal(size=(n, d)) / np.sqrt(d), rng.integers(2, size=n).astype(np.uint8)
    rows[rng.integers(n, size=n // 9), rng.integers(d, size=n // 9)] = np.nan
    rows = rows.astype(kind)
    domain = (Ball(0.9, [0.1] * d) if is_ball else Box([-0.2] * d, [0.3] * d)).domain(d)
    outer, centers, splits = door(domain, nan_to_center), rng.normal(size=(3, d)) / np.sqrt(d), Splits.of(domain)
    widths = rng.uniform(0.5, 2, d)

    def answers(rows, mask):
        labels, codes = np.empty(len(rows), np.int32), np.empty((len(rows), splits.words), np.uint64)
        near = Near(scale_centers(centers), labels)
        rings = count_rings(rows, mask, outer, near, centers, np.array([0.1, 0.5, 1.0]), widths)
        sums = sum_offsets(rows, mask, outer, labels, centers, np.array([0.1, 0.9, 2.0]), widths, "mean")
        kept = walk_codes(rows, mask, outer, splits.route, splits.words, codes)
        return rings, *sums, count_columns(rows, mask, outer), labels, codes[:kept]

    cuts = np.unique(rng.integers(n, size=5))
    parts = map(answers, np.split(rows, cuts), np.split(mask, cuts))
    for place, (found, *each) in enumerate(zip(answers(rows.astype(np.float64), mask), *parts, strict=True)):
        np.testing.assert_array_equal(found, np.concatenate(each) if place > 3 else sum(each))
