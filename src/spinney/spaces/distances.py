"""Where the distances of a finite space come from, and checks of what a user gives: a matrix, coordinates or a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spinney.exceptions import ParameterError
from spinney.spaces.box import WIDEST, FloatArray

IntArray = NDArray[np.int64]

#: Distances in one block of `FiniteMetric.blocks`, and above which several threads compute them.
BLOCK_ENTRIES = 2**22
#: Both directions of a distance may differ by this share of the largest one: rounding.
ROUNDING = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-9}


@dataclass(frozen=True, eq=False)
class Matrix:
    """All distances, in 32 or 64 bits."""

    values: NDArray[Any]

    def fill(self, sources: IntArray, targets: IntArray, out: FloatArray) -> None:
        """Write the distances from sources to targets."""
        out[:] = self.values[np.ix_(sources, targets)]


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Points as rows of numbers."""

    points: FloatArray
    manhattan: bool

    def fill(self, sources: IntArray, targets: IntArray, out: FloatArray) -> None:
        """Write the distances from sources to targets."""
        from spinney.spaces.pairwise import pairwise

        pairwise(self.points, sources, targets, self.manhattan, out)


@dataclass(frozen=True, eq=False)
class Network:
    """Edges as flat arrays: the edges of node u lead to ``ends[starts[u]:starts[u + 1]]``."""

    starts: IntArray
    ends: IntArray
    lengths: FloatArray

    def fill(self, sources: IntArray, targets: IntArray, out: FloatArray, within: float = np.inf) -> None:
        """Write the distances from sources to targets, by a search from each source that ends at the distance `within`."""
        from spinney.spaces.shortest_paths import shortest_paths

        shortest_paths(self.starts, self.ends, self.lengths, sources, targets, within, out)


def frozen_copy(values: ArrayLike, dtype: Any = np.float64) -> Any:
    """Return a copy that cannot be written to."""
    copy = np.array(values, dtype=dtype, order="C")
    copy.flags.writeable = False
    return copy


def wrong(name: str, expected: str, got: object, hint: str) -> ParameterError:
    """Return the error about a parameter of a space."""
    return ParameterError.wrong(name, "FiniteMetric", expected, got, hint)


def as_array(value: Any) -> NDArray[Any]:
    """Return a value as an array; what cannot be one, such as a list of lists of several lengths, as an array of no kind."""
    try:
        return np.asarray(value)
    except Exception:  # whatever a value raises; a message may quote it
        return np.empty((), dtype=object)


def as_floats(value: Any) -> FloatArray:
    """Return a value as numbers; what holds others as an array of no rows."""
    try:
        return np.array(value, dtype=np.float64)
    except Exception:  # whatever a value raises; a message may quote it
        return np.empty(0)


def numbers(name: str, value: ArrayLike, maker: str) -> NDArray[Any]:
    """Read a table of finite numbers with at least one row."""
    try:
        table = np.asarray(value)
        table = table if table.dtype in ROUNDING else table.astype(np.float64)
    except Exception:  # whatever a value raises; a message may quote it
        table = np.empty(0)
    if table.ndim != 2 or table.shape[0] == 0 or table.shape[1] == 0:
        raise wrong(name, "a table of numbers with at least one row", value, f"see FiniteMetric.{maker}.")
    for start in range(0, len(table), step := max(1, BLOCK_ENTRIES // table.shape[1])):
        if not (np.abs(table[start : start + step]) < np.float64(WIDEST)).all():
            raise wrong(name, f"finite numbers below {WIDEST}", "others", "leave out the points that are not known.")
    return table


def symmetric(values: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of a matrix of distances with both directions alike, after checking it."""
    n = len(values)
    near = ROUNDING[values.dtype] * float(values.max())
    if float(values.min()) < 0:
        raise wrong("distances", "not negative", "negative ones", "distances are lengths.")
    if float(values.diagonal().max()) > near:
        raise wrong("distances", "0 on the diagonal", "others", "a point is at distance 0 of itself.")
    copy = np.array(values, order="C")
    for start in range(0, n, step := max(1, BLOCK_ENTRIES // n)):
        stop = min(start + step, n)
        if float(np.abs(values[start:stop] - values[:, start:stop].T).max()) > near:
            raise wrong(
                "distances", "symmetric", "different distances there and back",
                "take the mean (d + d.T) / 2, or the larger of both, np.maximum(d, d.T).",
            )  # fmt: skip
        copy[stop:, start:stop] = copy[start:stop, stop:].T
        square = np.triu(copy[start:stop, start:stop], 1)
        copy[start:stop, start:stop] = square + square.T
    copy.flags.writeable = False
    return copy


def checked_candidates(candidates: ArrayLike | None, n: int) -> IntArray:
    """Return where a center may be, as sorted indices of n points; everywhere if it is not said."""
    places = np.arange(n) if candidates is None else as_array(candidates)
    if places.ndim != 1 or places.size == 0 or places.dtype.kind not in "iu":
        raise wrong(
            "candidates", "a list of indices of points, not empty", candidates, "np.flatnonzero(mask) turns a mask into one."
        )
    if int(places.min()) < 0 or int(places.max()) >= n:
        raise wrong("candidates", f"indices from 0 to {n - 1}", candidates, "points count from 0.")
    chosen = np.unique(places).astype(np.int64)
    if chosen.size < places.size:
        raise wrong("candidates", "different indices", "repeated ones", "np.unique removes them.")
    chosen.flags.writeable = False
    return chosen


def _listed(values: Any) -> list[Any]:
    """Return the members of a list, an array or a column, in their order; an empty list for anything else."""
    is_list = isinstance(values, list | tuple | np.ndarray) or (hasattr(values, "to_numpy") and not hasattr(values, "columns"))
    return list(values) if is_list and getattr(values, "ndim", 1) == 1 else []


def checked_names(names: Any, n: int) -> tuple[str, ...] | None:
    """Return one different text per point, or None if none are given."""
    if names is None:
        return None
    listed = _listed(names)
    if not all(isinstance(name, str) and name.strip() for name in listed) or not len(listed) == len(set(listed)) == n:
        raise wrong("names", "one different text per point", type(names).__name__, "leave them out if there are none.")
    return tuple(str(name) for name in listed)


def places_of(wanted: Any, names: tuple[str, ...] | None, parameter: str, owner: str) -> Any:
    """Return the indices of points given by their names; what is not a list of texts stays as it is."""
    listed = _listed(wanted)
    if names is None or not listed or not all(isinstance(name, str) for name in listed):
        return wanted
    index = {name: place for place, name in enumerate(names)}
    if not all(name in index for name in listed):
        raise ParameterError.wrong(
            parameter, owner, "names or indices of points", "a name that no point has", "spell names as space.names does."
        )
    return [index[name] for name in listed]
