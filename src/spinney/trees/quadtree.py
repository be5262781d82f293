"""A binary quadtree of a box, addressed by path codes.

Every level cuts one column, the same for all cells of the level and at the same share of each cell's side, so a row's path is
a bit string computed from its grid coordinates: one 64-bit word per 64 levels. There are two kinds. Halving: the path is read
off the coordinates' bits, and which column comes next follows from how the rows spread along each column, as far as that is
public: evenly, if nothing is known. Random: columns take turns, and each level is cut at a random share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spinney.spaces.box import Domain, FloatArray
from spinney.spaces.grid import GRID_BITS

#: Levels per code word.
WORD = 64
#: The deepest level of a tree, and of one that halves columns, of which no cell with rows is ever cut so often; two words.
MAX_DEPTH, MOST_HALVINGS = 2**14, 128
#: Boxes of cells are made this many numbers at a time.
PART = 2**18
#: Densities are given over 2**BIN_BITS equal bins of each column.
BIN_BITS = 7
#: Densities are taken to be even in this share, so that no bin is empty for certain.
EVEN_SHARE = 0.01

CodeArray = NDArray[np.uint64]


def _closed(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy that cannot be written to."""
    copied: NDArray[Any] = np.array(array)
    copied.setflags(write=False)
    return copied


class Route(NamedTuple):
    """How a level splits a cell, for the compiled kernels: at level l, column ``axes[l]`` of the grid.

    A side of ``w`` grid steps is cut after ``w * fractions[l] >> GRID_BITS`` of them. If all fractions are one half, that is
    to read bit ``shifts[l]`` of the coordinate; else there are no shifts.
    """

    axes: NDArray[np.int64]
    shifts: NDArray[np.uint64]
    fractions: NDArray[np.int64]

    def until(self, last: int) -> Route:
        """Return the first levels."""
        return Route(self.axes[:last], self.shifts[:last], self.fractions[:last])

    def copied(self) -> Route:
        """Return a copy that cannot be written to."""
        return Route(*map(_closed, self))

    def equals(self, other: Route) -> bool:
        """Whether both split alike."""
        return all(np.array_equal(mine, theirs) for mine, theirs in zip(self, other, strict=True))


@dataclass(frozen=True)
class Splits:
    """The public order and places of the splits of a box."""

    domain: Domain
    route: Route
    densities: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "route", Route(*self.route).copied())
        object.__setattr__(self, "densities", _closed(self.densities))

    @classmethod
    def of(cls, domain: Domain, densities: FloatArray | None = None) -> Splits:
        """Order the splits: always halve the column whose rows vary most within its cells; ties go to the first.

        ``densities``, of shape (d, 2**BIN_BITS), are a public estimate of the share of rows in each bin of each column; without
        them rows are taken to be spread evenly, and the widest side is halved.
        """
        even = np.full((domain.n_features, 2**BIN_BITS), 0.5**BIN_BITS)
        densities = even if densities is None else EVEN_SHARE * even + (1 - EVEN_SHARE) * densities
        spreads = _spreads(densities, domain.upper - domain.lower).tolist()
        ahead = [iter([*later, -1.0]) for _, *later in spreads]
        widths, used = [spread[0] for spread in spreads], [0] * domain.n_features
        axes, shifts = [], []
        for _ in range(min(MOST_HALVINGS, GRID_BITS * domain.n_features)):
            axis = widths.index(max(widths))
            widths[axis] = next(ahead[axis])
            used[axis] += 1
            axes.append(axis)
            shifts.append(GRID_BITS - used[axis])
        halves = np.full(len(axes), 2 ** (GRID_BITS - 1))
        return cls(domain, Route(np.array(axes, dtype=np.int64), np.array(shifts, dtype=np.uint64), halves), densities)

    @classmethod
    def random(cls, domain: Domain, depth: int, rng: np.random.Generator) -> Splits:
        """Cut the columns in turn, each level at one public random place in the middle third of its cells' sides."""
        axes = np.arange(min(depth, MAX_DEPTH)) % domain.n_features
        fractions = (rng.uniform(1 / 3, 2 / 3, axes.size) * 2**GRID_BITS).astype(np.int64)
        even = np.full((domain.n_features, 2**BIN_BITS), 0.5**BIN_BITS)
        return cls(domain, Route(axes, np.empty(0, dtype=np.uint64), fractions), even)

    def check(self, n_features: int) -> None:
        """Raise a ValueError unless these are plain arrays of splits of `n_features` columns."""
        route, depth = self.route, self.depth
        arrays = ((route.axes, np.int64), (route.shifts, np.uint64), (route.fractions, np.int64))
        plain = all(type(array) is np.ndarray and array.ndim == 1 and array.dtype == dtype for array, dtype in arrays)
        if not (type(route) is Route and plain and 1 <= depth <= MAX_DEPTH):
            raise ValueError("splits must be arrays of one to MAX_DEPTH levels")
        sizes = route.fractions.size == depth and route.shifts.size in (0, depth)
        inside = (route.axes >= 0).all() and (route.axes < n_features).all() and (route.shifts < GRID_BITS).all()
        if not (sizes and inside and (route.fractions > 0).all() and (route.fractions < 2**GRID_BITS).all()):
            raise ValueError("splits must cut columns that are there")

    @property
    def depth(self) -> int:
        """The number of levels."""
        return self.route.axes.size

    @property
    def words(self) -> int:
        """The number of 64-bit words of a full code."""
        return -(-self.depth // WORD)


def _moments(cuts: FloatArray, density: FloatArray) -> list[FloatArray]:
    """Return the integrals of 1, x and x^2 up to each cut, density even within equal bins of [0, 1].

    There may be several densities, a row each.
    """
    bins = density.shape[-1]
    edges = np.linspace(0.0, 1.0, bins + 1)
    place = np.minimum((cuts * bins).astype(np.int64), bins - 1)
    heights, starts, moments = density[..., place] * bins, edges[place], []
    ends, cut, start = edges, cuts, starts  # their powers
    for power in (1, 2, 3):
        below = np.zeros((*density.shape[:-1], bins + 1))
        np.cumsum(density * bins * np.diff(ends) / power, axis=-1, out=below[..., 1:])
        moments.append(below[..., place] + heights * (cut - start) / power)
        ends, cut, start = ends * edges, cut * cuts, start * starts
    return moments


def _placed(lower: FloatArray, upper: FloatArray, density: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean place and the variance of the rows between two cuts; there may be several densities, a row each."""
    shares, *sums = (np.subtract(*np.split(moment, 2, axis=-1)) for moment in _moments(np.concatenate([upper, lower]), density))
    means, squares = (found / np.maximum(shares, 1e-300) for found in sums)
    return np.clip(means, lower, upper), np.maximum(squares - means**2, 0.0)


def _spreads(densities: FloatArray, widths: FloatArray) -> FloatArray:
    """Return the mean variance of each column's rows within its cells after 0, 1, 2, ... halvings.

    Below the bins rows are spread evenly, so each further halving divides the variance by four.
    """
    spreads = np.empty((len(densities), GRID_BITS))
    moments = np.array(_moments(np.linspace(0.0, 1.0, densities.shape[1] + 1), densities))
    for bits in range(BIN_BITS + 1):
        zeroth, first, second = np.diff(moments[:, :, :: 2 ** (BIN_BITS - bits)])
        variances = np.sum(second - first**2 / np.maximum(zeroth, 1e-300), axis=1)
        spreads[:, bits] = widths**2 * np.maximum(variances, 1e-18)
    spreads[:, BIN_BITS + 1 :] = spreads[:, BIN_BITS, None] * 0.25 ** np.arange(1, GRID_BITS - BIN_BITS)
    return spreads


@dataclass(frozen=True)
class TreeCells:
    """Disjoint cells in the order of their codes. Bits of a code below its cell's depth are zero."""

    #: What releases call counts of such cells.
    family = "tree"

    splits: Splits
    codes: CodeArray
    depths: NDArray[np.int64]

    def __post_init__(self) -> None:
        for name in ("codes", "depths"):
            view: NDArray[Any] | None = None
            with suppress(Exception):  # numpy quotes what it cannot read, and how many there are
                view = np.asarray(getattr(self, name)).view()
            if view is None:
                raise ValueError("cells of a tree are arrays of codes and depths")
            view.setflags(write=False)  # one kind of array, so that each kernel is compiled once
            object.__setattr__(self, name, view)

    @classmethod
    def grid(cls, splits: Splits, depth: int) -> TreeCells:
        """Return all cells of one level; its depth is at most one word."""
        codes = np.zeros((2**depth, splits.words), dtype=np.uint64)
        if depth:
            codes[:, 0] = np.arange(2**depth, dtype=np.uint64) << np.uint64(WORD - depth)
        return cls(splits, codes, np.full(2**depth, depth, dtype=np.int64))

    def __len__(self) -> int:
        return self.depths.size

    def children(self, chosen: NDArray[np.bool_]) -> TreeCells:
        """Return the two children of each chosen cell; none of these is at the last level."""
        codes, depths = np.repeat(self.codes[chosen], 2, axis=0), self.depths[chosen]
        word, bit = np.divmod(depths, WORD)
        codes[np.arange(1, len(codes), 2), word] |= np.uint64(1) << (WORD - 1 - bit).astype(np.uint64)
        return TreeCells(self.splits, codes, np.repeat(depths + 1, 2))

    def boxes(self) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper corners of the cells."""
        domain, (cut, lower, width) = self.splits.domain, self._sides()
        corners = np.zeros((len(self), domain.n_features)), np.ones((len(self), domain.n_features))
        for corner, ends in zip(corners, (lower, lower + width), strict=True):
            corner[:, cut] = ends.T / 2.0**GRID_BITS
            corner *= domain.upper - domain.lower
            corner += domain.lower
        return corners

    def diameters(self) -> FloatArray:
        """Return the lengths of the cells' diagonals."""
        lengths = np.empty(len(self))
        for part, lower, upper in self._parts():
            lengths[part] = np.sqrt(((upper - lower) ** 2).sum(axis=1))
        return lengths

    def middles(self) -> FloatArray:
        """Return the middles of the cells."""
        middles = np.empty((len(self), self.splits.domain.n_features))
        for part, lower, upper in self._parts():
            middles[part] = lower / 2 + upper / 2
        return middles

    def _parts(self) -> Iterator[tuple[slice, FloatArray, FloatArray]]:
        """Yield the boxes of some cells at a time: those of all would take more memory than the cells."""
        size = max(PART // self.splits.domain.n_features, 1)
        for start in range(0, len(self), size):
            part = slice(start, start + size)
            yield part, *TreeCells(self.splits, self.codes[part], self.depths[part]).boxes()

    def take(self, places: NDArray[np.int64]) -> TreeCells:
        """Return some of the cells."""
        return TreeCells(self.splits, self.codes[places], self.depths[places])

    def representatives(self) -> FloatArray:
        """Return the mean place of the rows of each cell, if columns are independent inside it."""
        return self.placed()[0]

    def placed(self) -> tuple[FloatArray, FloatArray]:
        """Return the representatives of the cells, and the root mean square distances of their rows from them."""
        domain, densities, (cut, *sides) = self.splits.domain, self.splits.densities, self._sides()
        scale = domain.upper - domain.lower
        whole, variances = (found[:, 0] for found in _placed(np.zeros(1), np.ones(1), densities))
        points = np.repeat((domain.lower + whole * scale)[None, :], len(self), axis=0)
        squares = np.full(len(self), np.delete(variances, cut) @ np.delete(scale, cut) ** 2)
        for axis, lower, width in zip(cut.tolist(), *sides, strict=True):
            known, places = np.unique((lower << WORD // 2) | width, return_inverse=True)  # few: a column is cut a few times
            start, side = known >> WORD // 2, known & (2 ** (WORD // 2) - 1)
            means, spreads = _placed(start / 2.0**GRID_BITS, (start + side) / 2.0**GRID_BITS, densities[axis])
            points[:, axis] = (domain.lower[axis] + means * scale[axis])[places]
            squares += (spreads * scale[axis] ** 2)[places]
        return points, np.sqrt(squares)

    def _sides(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the columns that are cut, and the lower ends and the widths of the cells' sides in steps of the grid.

        There is a row for each of these columns. All sides along the others are whole.
        """
        route, deepest = self.splits.route, int(self.depths.max(initial=0))
        cut, rows = np.unique(route.axes[:deepest], return_inverse=True)
        lower = np.zeros((len(cut), len(self)), dtype=np.int64)
        width = np.full_like(lower, 2**GRID_BITS)
        for level, row in enumerate(rows.tolist()):
            word, bit = divmod(level, WORD)
            below = self.depths > level
            is_upper = (self.codes[:, word] & np.uint64(1 << (WORD - 1 - bit))) != 0
            side = width[row]
            part = (side * route.fractions[level]) >> GRID_BITS
            lower[row] += np.where(is_upper & below, part, 0)
            width[row] = np.where(below, np.where(is_upper, side - part, part), side)
        return cut, lower, width


@dataclass(frozen=True)
class Quadtree:
    """A private tree as flat arrays, level by level: public, because its splits were released.

    ``parent`` and ``first_child`` are -1 for roots and leaves; the second child follows the first.
    """

    cells: TreeCells
    parent: NDArray[np.int64]
    first_child: NDArray[np.int64]

    @classmethod
    def visit(cls, splits: Splits, start: int, decide: Callable[[TreeCells, int], NDArray[np.bool_]]) -> Quadtree:
        """Return the tree below all cells of level `start` in which those cells are split that `decide` chooses.

        ``decide(cells, depth)`` is asked once a level, about all its cells in the order of their codes; at the last level
        of the splits it chooses none.
        """
        cells, first = TreeCells.grid(splits, start), 0
        levels, parents, links = [cells], [np.full(len(cells), -1)], []
        while True:
            chosen = decide(cells, int(cells.depths[0]))
            link = np.full(len(cells), -1)
            link[chosen] = first + len(cells) + 2 * np.arange(int(chosen.sum()))
            links.append(link)
            if not chosen.any():
                break
            parents.append(first + np.repeat(np.flatnonzero(chosen), 2))
            first += len(cells)
            cells = cells.children(chosen)
            levels.append(cells)
        codes = np.concatenate([level.codes for level in levels])
        depths = np.concatenate([level.depths for level in levels])
        return cls(TreeCells(splits, codes, depths), np.concatenate(parents), np.concatenate(links))

    @property
    def leaves(self) -> TreeCells:
        """The leaf cells, in the order of their codes."""
        leaf = np.flatnonzero(self.first_child < 0)
        codes = self.cells.codes[leaf]
        order = np.lexsort(codes.T[::-1])
        return TreeCells(self.cells.splits, codes[order], self.cells.depths[leaf[order]])
