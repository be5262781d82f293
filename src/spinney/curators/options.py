"""Public options that a site curator chooses from: swaps of a center, whole sets of centers, sets that cover points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.curators.gate import real_array, whole_array, whole_number
from spinney.spaces.box import FloatArray
from spinney.spaces.metric import Coordinates, FiniteMetric, IntArray, Matrix, Network

__all__ = ["Balls", "Family", "Sets", "Swaps", "check_space", "read_cover", "read_options"]

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


@dataclass(frozen=True)
class Balls:
    """Balls around candidates, with radii that grow from stage to stage.

    Parameters
    ----------
    space : FiniteMetric
    radii : array of shape (stages,)
        Growing; at most 254.
    steps : tuple of int
        How many sets are chosen at each stage.
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


def check_space(space: FiniteMetric) -> None:
    """Raise unless a space is made of the library's own types, whose arrays fit together: it is asked about the rows' points."""
    what = "a space must be a FiniteMetric as from_matrix, from_points or from_graph make it"
    if type(space) is not FiniteMetric or type(space.source) not in (Matrix, Coordinates, Network):
        raise ValueError(what)
    n, source = whole_number(space.n_points, 1, 2**40, what), space.source
    arrays: list[Any] = [space.candidates, *vars(source).values()]
    if any(type(array) is not np.ndarray for array in arrays if type(array) is not bool):
        raise ValueError(what)
    if whole_array(space.candidates, 0, n - 1, what).size == 0:
        raise ValueError(what)
    if isinstance(source, Network):
        starts, ends = whole_array(source.starts, 0, len(source.ends), what), whole_array(source.ends, 0, n - 1, what)
        fits = len(starts) == n + 1 and starts[0] == 0 and starts[-1] == len(ends) and not (np.diff(starts) < 0).any()
        fits = fits and source.lengths.shape == ends.shape and bool((source.lengths >= 0).all())
    elif isinstance(source, Matrix):
        fits = source.values.shape == (n, n) and source.values.dtype.kind == "f"
    else:
        fits = source.points.ndim == 2 and len(source.points) == n and source.points.dtype == np.float64
    if not fits:
        raise ValueError(what)


def _read_steps(steps: Any, stages: int) -> tuple[int, ...]:
    what = "steps must say how many sets are chosen at each stage, one at least"
    if not isinstance(steps, tuple | list) or len(steps) != stages:
        raise ValueError(what)
    numbers = tuple(whole_number(number, 0, 2**31, what) for number in steps)
    if not sum(numbers):
        raise ValueError(what)
    return numbers


def read_cover(sets: Balls | Family, n_points: int) -> Balls | Family:
    """Return a checked copy of a public family of sets; only the library's own are asked about the rows' points."""
    if type(sets) is Balls:
        check_space(sets.space)
        radii = real_array(sets.radii, 1, "radii must be growing distances")
        if sets.space.n_points != n_points or not 1 <= len(radii) < NEVER or (np.diff(radii) < 0).any():
            raise ValueError("balls must lie in the curator's own space, with growing radii, fewer than 255")
        return Balls(sets.space, radii, _read_steps(sets.steps, len(radii)))
    from scipy.sparse import csr_array, csr_matrix  # type: ignore[import-untyped]

    if type(sets) is not Family or type(sets.members) not in (csr_array, csr_matrix) or sets.members.shape[0] != n_points:
        raise ValueError("sets to cover with must be Balls or a Family, with a compressed matrix by rows of all points")
    members = csr_array(sets.members, copy=True)
    members.check_format()
    return Family(members, _read_steps(sets.steps, 1))


def read_options(options: Swaps | Sets, space: FiniteMetric) -> Swaps | Sets:
    """Return a checked copy of the options of a choice in this space: at least one."""
    what = "options must be Swaps or Sets of points of the space, at least one"
    n = space.n_points - 1
    if type(options) is Sets:
        power = whole_number(options.power, 1, 2, "the power must be 1 or 2")
        sets = tuple(whole_array(one, 0, n, what) for one in options.sets) if isinstance(options.sets, tuple | list) else ()
        if not sets or not all(one.size for one in sets):
            raise ValueError(what)
        return Sets(sets, power)
    if type(options) is not Swaps:
        raise ValueError(what)
    if options.space is not space:
        raise ValueError("swaps must be of the curator's own space")
    power = whole_number(options.power, 1, 2, "the power must be 1 or 2")
    centers, existing = whole_array(options.centers, 0, n, what), whole_array(options.existing, 0, n, what)
    swaps = Swaps(space, centers, existing, power, bool(options.stay))
    if not centers.size or not len(swaps):
        raise ValueError(what)
    return swaps
