"""The public domain of k-medoids: finitely many points and the distances between them.

Distances come from a matrix, from coordinates, or from shortest paths in a network; the last two are computed when they are
asked for, so that a space of n points takes memory in proportion to its description and not to n^2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from spinney.spaces.box import FloatArray
from spinney.spaces.degrees import column_names, refuse_degrees
from spinney.spaces.distances import (
    BLOCK_ENTRIES,
    ROUNDING,
    Coordinates,
    IntArray,
    Matrix,
    Network,
    as_array,
    checked_candidates,
    checked_names,
    numbers,
    places_of,
    symmetric,
    wrong,
)
from spinney.threads import each, n_threads

__all__ = ["BLOCK_ENTRIES", "Coordinates", "FiniteMetric", "IntArray", "Matrix", "Network", "nearest_site"]

Given = ArrayLike | None
Names = Sequence[str] | None
Measure = Literal["euclidean", "manhattan"]

#: Diameters are rounded up by this share, far more than the error of a sum.
MARGIN = 1e-9
#: Searches for a diameter visit about SEARCHED_POINTS points together; their number is between these limits.
LEAST_SEARCHES, MOST_SEARCHES, SEARCHED_POINTS = 8, 128, 2**20


@dataclass(frozen=True, eq=False, repr=False)
class FiniteMetric:
    """Finitely many public points with distances; made by `from_matrix`, `from_points` or `from_graph`.

    Different points may be at distance 0. A matrix need not obey the triangle inequality: privacy does not rest on it, but
    the quality promised by the papers does; `is_metric` checks it.

    Attributes
    ----------
    n_points : int
    candidates : array of int
        Where a center may be: sorted indices of points.
    coordinates : array of shape (n_points, d) or None
        Where the points are drawn.
    names : tuple of str or None
        What the points are called, if they have names: one different text each.
    diameter : float
        A public upper bound on every distance: exact for a matrix, else mostly within a few percent of the largest distance,
        and never more than twice it.
    """

    source: Matrix | Coordinates | Network
    n_points: int
    candidates: IntArray
    coordinates: FloatArray | None
    names: tuple[str, ...] | None = None

    @classmethod
    def from_matrix(
        cls, distances: ArrayLike, candidates: Given = None, coordinates: Given = None, *, names: Names = None
    ) -> FiniteMetric:
        """Read all distances from a square symmetric matrix, which is copied; a 32-bit matrix stays so.

        Parameters
        ----------
        distances : array of shape (n, n)
            Finite, not negative, 0 on the diagonal. Where both directions differ by rounding, the upper triangle counts.
        candidates : array of int, or of names, optional
            Where a center may be; by default everywhere.
        coordinates : array of shape (n, d), optional
            Where the points are drawn; distances do not depend on them.
        names : sequence of str, optional
            What the points are called.
        """
        values = numbers("distances", distances, "from_matrix")
        if values.shape[0] != values.shape[1]:
            raise wrong("distances", "square", distances, "give the distance from every point to every point.")
        return cls._made(Matrix(symmetric(values)), len(values), candidates, coordinates, names)

    @classmethod
    def from_points(
        cls, points: ArrayLike, metric: Measure = "euclidean", candidates: Given = None, *, names: Names = None
    ) -> FiniteMetric:
        """Measure distances between the rows of a table of public points.

        Parameters
        ----------
        points : array of shape (n, d)
            In units of length. A frame whose columns are called longitude and latitude is refused.
        metric : {"euclidean", "manhattan"}
        candidates : array of int, or of names, optional
            Where a center may be; by default everywhere.
        names : sequence of str, optional
            What the points are called.
        """
        if not isinstance(metric, str) or metric not in ("euclidean", "manhattan"):
            raise wrong("metric", "'euclidean' or 'manhattan'", metric, "for others, compute a matrix and use from_matrix.")
        refuse_degrees(column_names(points), "FiniteMetric.from_points", "or compute a matrix of distances and use from_matrix.")
        table = np.array(numbers("points", points, "from_points"), dtype=np.float64, order="C")
        table.flags.writeable = False
        return cls._made(Coordinates(table, metric == "manhattan"), len(table), candidates, table, names)

    @classmethod
    def from_graph(cls, graph: Any, candidates: Given = None, coordinates: Given = None, *, names: Names = None) -> FiniteMetric:
        """Measure lengths of shortest paths in a connected network.

        Parameters
        ----------
        graph : edges of the network
            A list or an array of triples, (u, v, length); a pandas or polars frame or an Arrow table with the columns ``from``,
            ``to`` and ``length``, or else its first three; a networkx graph, whose edges have a ``length`` or a ``weight``, or
            all count 1; a scipy sparse matrix with a length at (u, v). A dense array is read as triples, never as a matrix.
            An edge counts in both directions and may be given in one, or more than once, with one length. Length 0 is
            allowed; in a sparse matrix it must be stored. Edges from a point to itself do not matter. A directed graph is
            refused, and so is a sparse matrix with some edges in both directions and some in one.

            Ends that are the numbers 0 to n - 1 are indices. Others are names: points are then numbered by first appearance.
        candidates : array of int, or of names, optional
            Where a center may be; by default everywhere.
        coordinates : array of shape (n, d), optional
            Where the points are drawn; distances do not depend on them.
        names : sequence of str, optional
            What the points are called, if the edges do not say so.
        """
        from spinney.spaces.edges import read_edges

        starts, ends, lengths, own = read_edges(graph)
        if own is not None and names is not None:
            raise wrong("names", "None, because the edges name their points", type(names).__name__, "leave names out.")
        return cls._made(Network(starts, ends, lengths), len(starts) - 1, candidates, coordinates, names if own is None else own)

    @classmethod
    def _made(
        cls, source: Matrix | Coordinates | Network, n: int, candidates: Given, coordinates: Given, names: Names
    ) -> FiniteMetric:
        called = checked_names(names, n)
        chosen = checked_candidates(places_of(candidates, called, "candidates", "FiniteMetric"), n)
        drawn = None
        if coordinates is not None:
            drawn = np.array(numbers("coordinates", coordinates, "FiniteMetric"), dtype=np.float64)
            if len(drawn) != n:
                raise wrong("coordinates", f"an array with {n} rows, one per point", coordinates, "leave them out if unknown.")
            drawn.flags.writeable = False
        return cls(source, n, chosen, drawn, called)

    def __repr__(self) -> str:
        kind = type(self.source).__name__.lower()
        return f"FiniteMetric(from a {kind}: {self.n_points} points, {len(self.candidates)} candidates)"

    @property
    def described(self) -> dict[str, Any]:
        """What a release says of the space: its kind, and how many points and candidates it has."""
        kind = {"Matrix": "matrix", "Coordinates": "points", "Network": "graph"}[type(self.source).__name__]
        return {"kind": kind, "n_points": self.n_points, "n_candidates": len(self.candidates)}

    def distances(self, sources: ArrayLike) -> FloatArray:
        """Return the distances from some points to all points, one row per source."""
        return self.distances_between(sources, np.arange(self.n_points))

    def distances_between(self, sources: ArrayLike, targets: ArrayLike, oriented: bool = False) -> FloatArray:
        """Return the distances from some points to some others, one row per source.

        The length of a path is added up from one of its ends, and which one may change its last bit. `oriented` always starts
        from the source, so that a distance depends on its two points alone and not on what else is asked.
        """
        rows, columns = self._indices("sources", sources), self._indices("targets", targets)
        return self._measure(rows, columns, not oriented and self._turns(len(rows), len(columns)))

    def _turns(self, n_sources: int, n_targets: int) -> bool:
        """Whether to search from the targets: in a network, if they are fewer."""
        return isinstance(self.source, Network) and n_sources > n_targets

    def _measure(self, rows: IntArray, columns: IntArray, turned: bool) -> FloatArray:
        """Return the distances from rows to columns, added up from the columns if `turned`."""
        if turned:
            return np.ascontiguousarray(self._measure(columns, rows, turned=False).T)
        out = np.empty((len(rows), len(columns)))
        if out.size < BLOCK_ENTRIES // 8 or len(rows) < (threads := n_threads()):
            self.source.fill(rows, columns, out)
            return out
        step = -(-len(rows) // (4 * threads))  # a number of parts that is fixed would leave some without rows
        parts = [slice(start, start + step) for start in range(0, len(rows), step)]
        list(each(lambda part: self.source.fill(rows[part], columns, out[part]), parts))
        return out

    def blocks(
        self,
        sources: ArrayLike | None = None,
        targets: ArrayLike | None = None,
        entries: int | None = None,
        oriented: bool = False,
    ) -> Iterator[tuple[slice, FloatArray]]:
        """Yield the rows of `distances_between`, at most about `entries` numbers at a time, each with its place.

        Parameters
        ----------
        sources, targets : array of int, optional
            By default all points.
        entries : int, optional
            By default `BLOCK_ENTRIES`.
        oriented : bool
            As for `distances_between`.
        """
        everything = np.arange(self.n_points)
        rows = everything if sources is None else self._indices("sources", sources)
        columns = everything if targets is None else self._indices("targets", targets)
        step = max(1, (BLOCK_ENTRIES if entries is None else entries) // max(1, len(columns)))
        turned = not oriented and self._turns(min(step, len(rows)), len(columns))  # one end for all blocks, the last one too
        for start in range(0, len(rows), step):
            part = slice(start, min(start + step, len(rows)))
            yield part, self._measure(rows[part], columns, turned)

    @cached_property
    def diameter(self) -> float:
        """A public upper bound on every distance: exact for a matrix, else mostly within a few percent of the largest one.

        The farthest distance from a point u is at most d(u, s) plus the farthest distance from s: the largest of the least such
        bounds holds for all pairs. The points s are taken in turn from the edge, where bounds are largest, and from the middle,
        where the distances known so far say that points are near to all (Takes and Kosters 2011).
        """
        if isinstance(self.source, Matrix):
            return float(self.source.values.max())
        upper, lower, largest = np.full(self.n_points, np.inf), np.zeros(self.n_points), 0.0
        for turn in range(max(LEAST_SEARCHES, min(MOST_SEARCHES, SEARCHED_POINTS // self.n_points))):
            place = int(np.where(upper > lower, lower, np.inf).argmin() if turn % 2 else upper.argmax())
            row = self.distances([place])[0]
            reach = float(row.max())
            upper, lower = np.minimum(upper, row + reach), np.maximum(lower, np.maximum(row, reach - row))
            upper[place], largest = reach, max(largest, reach)
            if upper.max() <= largest:
                break
        return float(upper.max()) * (1 + MARGIN)

    def is_metric(self) -> bool:
        """Return whether the triangle inequality holds up to rounding; for a matrix, in n^3 steps."""
        if not isinstance(self.source, Matrix):
            return True
        values = self.source.values
        slack = min(float(((row[:, None] + values).min(axis=0).astype(np.float64) - row).min()) for row in values)
        return slack >= -ROUNDING[values.dtype] * float(values.max())

    def _indices(self, name: str, value: ArrayLike) -> IntArray:
        places = np.atleast_1d(as_array(value))
        if places.ndim != 1 or (places.size and places.dtype.kind not in "iu"):
            raise wrong(name, "indices of points", value, f"whole numbers from 0 to {self.n_points - 1}.")
        if places.size and (places.min() < 0 or places.max() >= self.n_points):
            raise wrong(name, f"indices from 0 to {self.n_points - 1}", value, "points count from 0.")
        return places.astype(np.int64)


def nearest_site(space: FiniteMetric, sites: ArrayLike, points: ArrayLike | None = None) -> IntArray:
    """Return the place of the nearest site of each of some points, by default all; ties go to the first."""
    size = space.n_points if points is None else len(np.asarray(points))
    label, closest = np.zeros(size, dtype=np.int64), np.full(size, np.inf)
    for part, block in space.blocks(sites, points):
        best = block.argmin(axis=0)
        near = np.take_along_axis(block, best[None], axis=0)[0]
        label = np.where(near < closest, part.start + best, label)
        closest = np.minimum(closest, near)
    return label
