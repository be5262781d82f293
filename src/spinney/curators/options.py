"""Public options that a site curator chooses from: swaps of a center, whole sets of centers, sets that cover points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spinney.spaces.box import FloatArray
from spinney.spaces.metric import FiniteMetric, IntArray

__all__ = ["Balls", "Cover", "Family", "Sets", "Swaps"]

#: The stage of a set that never covers a point.
NEVER = 255


@dataclass(frozen=True)
class Swaps:
    """Exchanges of one center for another candidate.

    Parameters
    ----------
    space : FiniteMetric
    centers : array of int
        The present centers, different candidates.
    existing : array of int
        Centers that stay.
    power : {1, 2}
    stay : bool
        Whether to change nothing is an option too: the first one.
    """

    space: FiniteMetric
    centers: IntArray
    existing: IntArray
    power: int = 1
    stay: bool = False

    @cached_property
    def newcomers(self) -> IntArray:
        """The candidates that are no centers."""
        return np.setdiff1d(self.space.candidates, np.concatenate([self.centers, self.existing]), assume_unique=False)

    def __len__(self) -> int:
        return len(self.centers) * len(self.newcomers) + self.stay

    def after(self, option: int) -> IntArray:
        """Return the centers after an option is taken."""
        centers = self.centers.copy()
        if not self.stay or option:
            x, y = divmod(option - self.stay, len(self.newcomers))
            centers[x] = self.newcomers[y]
        return centers


@dataclass(frozen=True)
class Sets:
    """Whole sets of centers, existing ones included."""

    sets: tuple[IntArray, ...]
    power: int = 1

    def __len__(self) -> int:
        return len(self.sets)


class Cover(Protocol):
    """A public family of sets, whose members may grow from stage to stage."""

    @property
    def n_sets(self) -> int:
        """The number of sets."""

    @property
    def steps(self) -> tuple[int, ...]:
        """How many sets are chosen at each stage, at most 255 stages."""

    def first_stages(self, points: IntArray) -> NDArray[np.uint8]:
        """Return the first stage at which each set covers each of these points: a row per point, NEVER if at none."""


@dataclass(frozen=True)
class Balls:
    """Balls around candidates, with radii that grow from stage to stage.

    Parameters
    ----------
    space : FiniteMetric
    radii : array of shape (stages,)
        Growing.
    steps : tuple of int
    """

    space: FiniteMetric
    radii: FloatArray
    steps: tuple[int, ...]

    @property
    def n_sets(self) -> int:
        """One ball per candidate."""
        return len(self.space.candidates)

    def first_stages(self, points: IntArray) -> NDArray[np.uint8]:
        """Return the first stage at which each ball holds each of these points."""
        stages = np.empty((len(points), self.n_sets), dtype=np.uint8)
        for part, block in self.space.blocks(points, self.space.candidates, oriented=True):
            stages[part] = np.searchsorted(self.radii, block.ravel()).reshape(block.shape)
        stages[stages == len(self.radii)] = NEVER
        return stages


@dataclass(frozen=True)
class Family:
    """Any sets, all at one stage.

    Parameters
    ----------
    members : scipy sparse matrix of shape (n_points, n_sets), in rows
        Nonzero where a set covers a point.
    steps : tuple of int
        The number of sets to choose, alone.
    """

    members: Any
    steps: tuple[int, ...]

    @property
    def n_sets(self) -> int:
        """The number of sets."""
        return int(self.members.shape[1])

    def first_stages(self, points: IntArray) -> NDArray[np.uint8]:
        """Return 0 where a set covers a point, NEVER elsewhere."""
        stages = np.full((len(points), self.n_sets), NEVER, dtype=np.uint8)
        part = self.members[points].tocoo()
        stages[part.row, part.col] = np.where(part.data != 0, 0, NEVER)
        return stages
