"""A binary quadtree of a box, addressed by path codes.

Every level halves one column, the same for all cells of the level, so a row's path is a bit string read off its grid
coordinates: one 64-bit word per 64 levels. Which column comes next follows from how the rows spread along each column, as far
as that is public: evenly, if nothing is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.spaces.box import Domain, FloatArray
from spinney.spaces.grid import GRID_BITS

__all__ = ["BIN_BITS", "WORD", "Cells", "Quadtree", "Splits"]

#: Levels per code word.
WORD = 64
#: The deepest level; two words.
MAX_DEPTH = 128
#: Densities are given over 2**BIN_BITS equal bins of each column.
BIN_BITS = 7
#: Densities are taken to be even in this share, so that no bin is empty for certain.
EVEN_SHARE = 0.01

CodeArray = NDArray[np.uint64]


@dataclass(frozen=True)
class Splits:
    """The public order of splits of a box: at level l, bit ``shifts[l]`` of grid column ``axes[l]``."""

    domain: Domain
    axes: NDArray[np.int64]
    shifts: NDArray[np.uint64]
    densities: FloatArray

    @classmethod
    def of(cls, domain: Domain, densities: FloatArray | None = None) -> Splits:
        """Order the splits: always halve the column whose rows vary most within its cells; ties go to the first.

        Parameters
        ----------
        domain : Domain
        densities : array of shape (d, 2**BIN_BITS), optional
            Public estimate of the share of rows in each bin of each column; without it rows are taken to be spread evenly,
            and the widest side is halved.
        """
        even = np.full((domain.n_features, 2**BIN_BITS), 0.5**BIN_BITS)
        densities = even if densities is None else EVEN_SHARE * even + (1 - EVEN_SHARE) * densities
        spreads = [_spreads(*column) for column in zip(densities, domain.upper - domain.lower, strict=True)]
        used = np.zeros(domain.n_features, dtype=np.int64)
        axes, shifts = [], []
        for _ in range(min(MAX_DEPTH, GRID_BITS * domain.n_features)):
            widths = [spread[bits] if bits < GRID_BITS else -1.0 for spread, bits in zip(spreads, used, strict=True)]
            axis = int(np.argmax(widths))
            used[axis] += 1
            axes.append(axis)
            shifts.append(GRID_BITS - used[axis])
        return cls(domain, np.array(axes, dtype=np.int64), np.array(shifts, dtype=np.uint64), densities)

    @property
    def depth(self) -> int:
        """The number of levels."""
        return self.axes.size

    @property
    def words(self) -> int:
        """The number of 64-bit words of a full code."""
        return -(-self.depth // WORD)


def _moments(cuts: FloatArray, density: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the integrals of 1, x and x^2 up to each cut, for a density that is even within equal bins of [0, 1]."""
    bins = density.size
    edges = np.linspace(0.0, 1.0, bins + 1)
    place = np.minimum((cuts * bins).astype(np.int64), bins - 1)
    moments = []
    for power in (1, 2, 3):
        steps = density * bins * (edges[1:] ** power - edges[:-1] ** power) / power
        below = np.concatenate([[0.0], np.cumsum(steps)])
        moments.append(below[place] + density[place] * bins * (cuts**power - edges[place] ** power) / power)
    return moments[0], moments[1], moments[2]


def _means(lower: FloatArray, upper: FloatArray, density: FloatArray) -> FloatArray:
    """Return the mean place of the rows between two cuts."""
    (low0, low1, _), (high0, high1, _) = _moments(lower, density), _moments(upper, density)
    return np.clip((high1 - low1) / np.maximum(high0 - low0, 1e-300), lower, upper)


def _spreads(density: FloatArray, width: float) -> FloatArray:
    """Return the mean variance of a column's rows within its cells after 0, 1, 2, ... halvings.

    Below the bins rows are spread evenly, so each further halving divides the variance by four.
    """
    spreads = np.empty(GRID_BITS)
    moments = _moments(np.linspace(0.0, 1.0, density.size + 1), density)
    for bits in range(BIN_BITS + 1):
        zeroth, first, second = (np.diff(moment[:: 2 ** (BIN_BITS - bits)]) for moment in moments)
        spreads[bits] = width**2 * max(float(np.sum(second - first**2 / np.maximum(zeroth, 1e-300))), 1e-18)
    spreads[BIN_BITS + 1 :] = spreads[BIN_BITS] * 0.25 ** np.arange(1, GRID_BITS - BIN_BITS)
    return spreads


@dataclass(frozen=True)
class Cells:
    """Disjoint cells in the order of their codes. Bits of a code below its cell's depth are zero."""

    splits: Splits
    codes: CodeArray
    depths: NDArray[np.int64]

    @classmethod
    def grid(cls, splits: Splits, depth: int) -> Cells:
        """Return all cells of one level; its depth is at most one word."""
        codes = np.zeros((2**depth, splits.words), dtype=np.uint64)
        if depth:
            codes[:, 0] = np.arange(2**depth, dtype=np.uint64) << np.uint64(WORD - depth)
        return cls(splits, codes, np.full(2**depth, depth, dtype=np.int64))

    def __len__(self) -> int:
        return self.depths.size

    def children(self, chosen: NDArray[np.bool_]) -> Cells:
        """Return the two halves of each chosen cell; all cells have one depth, below the last level."""
        depth = int(self.depths[0])
        codes = np.repeat(self.codes[chosen], 2, axis=0)
        word, bit = divmod(depth, WORD)
        codes[1::2, word] |= np.uint64(1) << np.uint64(WORD - 1 - bit)
        return Cells(self.splits, codes, np.full(len(codes), depth + 1, dtype=np.int64))

    def boxes(self) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper corners of the cells."""
        domain = self.splits.domain
        width = domain.upper - domain.lower
        lower, upper = self._unit_boxes()
        return domain.lower + lower * width, domain.lower + upper * width

    def representatives(self) -> FloatArray:
        """Return, for each cell, the point where its rows are on average if columns are independent inside it."""
        domain = self.splits.domain
        lower, upper = self._unit_boxes()
        means = [_means(*column) for column in zip(lower.T, upper.T, self.splits.densities, strict=True)]
        return domain.lower + np.column_stack(means) * (domain.upper - domain.lower)

    def _unit_boxes(self) -> tuple[FloatArray, FloatArray]:
        index = np.zeros((len(self), self.splits.domain.n_features))
        parts = np.ones_like(index)
        for level in range(int(self.depths.max(initial=0))):
            below = self.depths > level
            axis = self.splits.axes[level]
            word, bit = divmod(level, WORD)
            ones = (self.codes[below, word] >> np.uint64(WORD - 1 - bit)) & np.uint64(1)
            index[below, axis] = 2 * index[below, axis] + ones
            parts[below, axis] *= 2
        return index / parts, (index + 1) / parts


@dataclass(frozen=True)
class Quadtree:
    """A private tree as flat arrays, level by level: public, because its splits were released.

    ``parent`` and ``first_child`` are -1 for roots and leaves; the second child follows the first.
    """

    cells: Cells
    parent: NDArray[np.int64]
    first_child: NDArray[np.int64]

    @property
    def leaves(self) -> Cells:
        """The leaf cells, in the order of their codes."""
        leaf = np.flatnonzero(self.first_child < 0)
        codes = self.cells.codes[leaf]
        order = np.lexsort(codes.T[::-1])
        return Cells(self.cells.splits, codes[order], self.cells.depths[leaf[order]])
