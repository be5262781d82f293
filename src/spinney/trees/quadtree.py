"""A binary quadtree of a box, addressed by path codes.

Every level halves one column, the one whose side is widest there, so the column of a level is the same for all cells and a
row's path is a bit string read off its grid coordinates: one 64-bit word per 64 levels.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.spaces.box import Domain, FloatArray
from spinney.spaces.grid import GRID_BITS

__all__ = ["WORD", "Cells", "Quadtree", "Splits"]

#: Levels per code word.
WORD = 64
#: The deepest level; two words.
MAX_DEPTH = 128

CodeArray = NDArray[np.uint64]


@dataclass(frozen=True)
class Splits:
    """The public order of splits of a box: at level l, bit ``shifts[l]`` of grid column ``axes[l]``."""

    domain: Domain
    axes: NDArray[np.int64]
    shifts: NDArray[np.uint64]

    @classmethod
    def of(cls, domain: Domain) -> Splits:
        """Halve the widest side first; ties go to the first column."""
        sides = domain.upper - domain.lower
        left = np.full(sides.size, GRID_BITS)
        axes, shifts = [], []
        for _ in range(min(MAX_DEPTH, GRID_BITS * sides.size)):
            axis = int(np.argmax(np.where(left > 0, sides, -1.0)))
            left[axis] -= 1
            sides[axis] /= 2
            axes.append(axis)
            shifts.append(left[axis])
        return cls(domain, np.array(axes, dtype=np.int64), np.array(shifts, dtype=np.uint64))

    @property
    def depth(self) -> int:
        """The number of levels."""
        return self.axes.size

    @property
    def words(self) -> int:
        """The number of 64-bit words of a full code."""
        return -(-self.depth // WORD)


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
        """Return the centers and the side lengths of the cells."""
        domain = self.splits.domain
        index = np.zeros((len(self), domain.n_features))
        parts = np.ones((len(self), domain.n_features))
        for level in range(int(self.depths.max(initial=0))):
            below = self.depths > level
            axis = self.splits.axes[level]
            word, bit = divmod(level, WORD)
            ones = (self.codes[below, word] >> np.uint64(WORD - 1 - bit)) & np.uint64(1)
            index[below, axis] = 2 * index[below, axis] + ones
            parts[below, axis] *= 2
        sides = (domain.upper - domain.lower) / parts
        return domain.lower + (index + 0.5) * sides, sides


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
