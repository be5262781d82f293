import numpy as np
import pytest

from spinney.curators.entrance import CLIPPED, PLACES, RAW, STEPS, enter
from spinney.curators.kernels import find_nearest
from spinney.spaces.box import Ball, Box
from spinney.spaces.grid import GRID_BITS, door
from spinney.spaces.nearest import BLOCK, SLAB_POINTS, nearest, scale_centers

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
