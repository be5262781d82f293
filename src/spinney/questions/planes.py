"""Cells of a public tree of planes: each node cuts space into two half-spaces, and its leaves are the cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spinney.questions.arrays import LONGEST, freeze, require
from spinney.questions.ground import Ground
from spinney.spaces import FloatArray

#: Most nodes of a tree of planes.
MOST_NODES = 2**24


@dataclass(frozen=True, eq=False)
class PlaneCells:
    """The leaves of a public binary tree of planes, in the order of their nodes.

    A row goes to the second child of a node if its product with the node's normal is at least the node's offset, else to the
    first. So it ends in one leaf, whatever the planes are.

    Parameters
    ----------
    normals : array of shape (m, d)
    planes : array of int of shape (nodes,)
        Which normal a node cuts along; of no account at a leaf.
    offsets : array of shape (nodes,)
        Where it cuts.
    first_child : array of int of shape (nodes,)
        Behind its node, the second child behind it; -1 for a leaf. The first node is the root.
    """

    family = "planes"

    normals: FloatArray
    planes: NDArray[np.int64]
    offsets: FloatArray
    first_child: NDArray[np.int64]

    def __post_init__(self) -> None:
        freeze(self, "normals", "offsets")
        freeze(self, "planes", "first_child", as_places=True)

    @classmethod
    def root(cls, normals: FloatArray) -> PlaneCells:
        """Return one cell: everything."""
        return cls(normals, np.zeros(1, np.int64), np.zeros(1), np.full(1, -1))

    @property
    def leaves(self) -> NDArray[np.int64]:
        """The nodes that are cells."""
        return np.flatnonzero(self.first_child < 0)

    def __len__(self) -> int:
        return self.leaves.size

    def split(self, chosen: NDArray[np.bool_], planes: NDArray[np.int64], offsets: FloatArray) -> PlaneCells:
        """Cut the chosen cells. The others keep their order, and come first; then come the two children of each chosen cell.

        Parameters
        ----------
        chosen : array of bool
            One per cell.
        planes, offsets : arrays
            One entry per chosen cell.
        """
        nodes, more = self.leaves[chosen], 2 * int(chosen.sum())
        link, own, place = self.first_child.copy(), self.planes.copy(), self.offsets.copy()
        link[nodes] = link.size + np.arange(0, more, 2)
        own[nodes], place[nodes] = planes, offsets
        return PlaneCells(
            self.normals,
            np.concatenate([own, np.zeros(more, np.int64)]),
            np.concatenate([place, np.zeros(more)]),
            np.concatenate([link, np.full(more, -1)]),
        )

    def grows_from(self, other: PlaneCells) -> bool:
        """Whether every cut of the other tree is one of this one, so that a walk may go on where it ended there."""
        inner = np.flatnonzero(other.first_child >= 0)
        if other.first_child.size > self.first_child.size or not np.array_equal(self.normals, other.normals):
            return False
        return all(
            np.array_equal(getattr(self, name)[inner], getattr(other, name)[inner])
            for name in ("planes", "offsets", "first_child")
        )

    def check(self, ground: Ground) -> None:
        """Raise a ValueError unless every walk from the root ends at a leaf, along columns of the ground."""
        normals, nodes = self.normals, np.arange(self.first_child.size)
        shaped = normals.ndim == 2 and len(normals) and normals.shape[1] == ground.n_features
        require(shaped and (np.abs(normals) < LONGEST).all(), "planes must have finite normals with one entry per column")
        alike = self.planes.shape == self.offsets.shape == self.first_child.shape == (nodes.size,)
        require(alike and 1 <= nodes.size <= MOST_NODES, "a tree of planes must have as many planes, offsets and links as nodes")
        require(not np.isnan(self.offsets).any(), "offsets of planes must be numbers")
        inside = ((self.planes >= 0) & (self.planes < len(normals))).all()
        down = (self.first_child == -1) | ((self.first_child > nodes) & (self.first_child < nodes.size - 1))
        require(inside and down.all(), "nodes of a tree of planes must have planes, and children behind them")
