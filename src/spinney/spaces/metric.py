"""The public domain of k-medoids: finitely many points and the distances between them.

Distances come from a matrix, from coordinates, or from shortest paths in a network; the last two are computed when they are
asked for, so that a space of n points takes memory in proportion to its description and not to n^2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from spinney.spaces.box import FloatArray
from spinney.spaces.degrees import column_names, east_first, refuse_degrees
from spinney.spaces.diameters import diameter_bound
from spinney.spaces.distances import (
    BLOCK_ENTRIES,
    ROUNDING,
    Coordinates,
    IntArray,
    Matrix,
    Network,
    as_array,
    as_floats,
    checked_candidates,
    checked_names,
    frozen_copy,
    numbers,
    places_of,
    symmetric,
    wrong,
)
from spinney.spaces.one_sided import CostTable, OneWay
from spinney.spaces.snapping import nearest_points
from spinney.spaces.sphere import Sphere, on_globe, on_sphere
from spinney.threads import each, n_threads

__all__ = ["BLOCK_ENTRIES", "Coordinates", "FiniteMetric", "IntArray", "Matrix", "Network", "nearest_site"]

Given = ArrayLike | None
Names = Sequence[str] | None
Measure = Literal["euclidean", "manhattan", "haversine"]
Source = Matrix | Coordinates | Sphere | Network | OneWay | CostTable


@dataclass(frozen=True, eq=False, repr=False)
class FiniteMetric:
    """Finitely many public points with distances; made by `from_matrix`, `from_points`, `from_graph` or `from_costs`.

    Different points may be at distance 0. A matrix need not obey the triangle inequality, and neither one-way streets nor tables
    of costs do: privacy does not rest on it, but the quality promised by the papers does; `is_metric` checks it.

    Attributes
    ----------
    n_points : int
    candidates : array of int
        Where a center may be: sorted indices of points.
    coordinates : array of shape (n_points, d) or None
        Where the points are drawn.
    names : tuple of str or None
        What the points are called: one different text each.
    degrees : bool
        Whether coordinates are longitude and latitude.
    diameter : float
        A public upper bound on every distance: exact for a matrix, else mostly within a few percent of the largest distance,
        and never more than twice it, one-way streets apart.
    """

    source: Source
    n_points: int
    candidates: IntArray
    coordinates: FloatArray | None
    names: tuple[str, ...] | None = None
    degrees: bool = False

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
            In units of length, or longitudes and latitudes for ``"haversine"``. A frame whose columns are called longitude and
            latitude is refused as a plane, and read by these names on the globe.
        metric : {"euclidean", "manhattan", "haversine"}
            Straight lines, lines along a grid of streets, or great circles in meters.
        candidates : array of int, or of names, optional
            Where a center may be; by default everywhere.
        names : sequence of str, optional
            What the points are called.
        """
        if not isinstance(metric, str) or metric not in get_args(Measure):
            raise wrong("metric", "'euclidean', 'manhattan' or 'haversine'", metric, "for others, use from_matrix.")
        read = numbers("points", points, "from_points")
        if metric == "haversine":
            table = frozen_copy(on_globe("points", east_first(points, read)[0]))
            return cls._made(Sphere(frozen_copy(on_sphere(table))), len(table), candidates, table, names, degrees=True)
        refuse_degrees(column_names(points), "FiniteMetric.from_points", "or measure great circles with metric='haversine'.")
        table = frozen_copy(read)
        return cls._made(Coordinates(table, metric == "manhattan"), len(table), candidates, table, names)

    @classmethod
    def from_graph(
        cls, graph: Any, candidates: Given = None, coordinates: Given = None, *, names: Names = None, weight: str | None = None
    ) -> FiniteMetric:
        """Measure lengths of shortest paths in a connected network.

        Parameters
        ----------
        graph : edges of the network
            A list or an array of triples, (u, v, length); a pandas or polars frame or an Arrow table with the columns ``from``,
            ``to`` and ``length``, or else its first three; a networkx graph; a scipy sparse matrix with a length at (u, v). A
            dense array is read as triples, never as a matrix. An edge counts in both directions and may be given in one, or more
            than once, with one length. Length 0 is allowed; in a sparse matrix it must be stored. Edges from a point to itself do
            not matter. A sparse matrix with some edges in both directions and some in one is refused.

            A directed graph of networkx has one-way streets: demand travels along them to the sites. If sites serve demand where
            it is, as ambulances do, pass ``graph.reverse()``; ``graph.to_undirected()`` drops directions. Of parallel edges of a
            multigraph the shortest counts.

            Ends that are the numbers 0 to n - 1 are indices. Others are names: points are then numbered by first appearance.
        candidates : array of int, or of names, optional
            Where a center may be; by default everywhere.
        coordinates : array of shape (n, d), or what `read_places` returns, optional
            Where the points are, in their order or by name; distances do not depend on it. By default the ``x`` and ``y`` of the
            nodes of a graph, if all have them. A frame with the columns longitude and latitude says that they are degrees.
        names : sequence of str, optional
            What the points are called, if the edges do not say so.
        weight : str, optional
            The attribute of networkx edges that holds their length, such as ``travel_time``; numbers may be written as texts. By
            default ``length`` or ``weight``, or else all edges count 1.
        """
        from spinney.spaces.edges import read_edges
        from spinney.spaces.graphs import named_coordinates, node_coordinates

        source, own = read_edges(graph, weight)
        if own is not None and names is not None:
            raise wrong("names", "None, because the edges name their points", type(names).__name__, "leave names out.")
        called, n = names if own is None else own, len(source.starts) - 1
        drawn, degrees = node_coordinates(graph) if coordinates is None else named_coordinates(coordinates, called, n)
        return cls._made(source, n, candidates, drawn, called, degrees=degrees)

    @classmethod
    def from_costs(cls, costs: ArrayLike, *, names: Names = None, candidate_names: Names = None) -> FiniteMetric:
        """Read what it costs to serve each of n demand points from each of m candidates: minutes, money or lengths.

        Demand points are points 0 to n - 1, and candidates points n to n + m - 1. Costs need not be distances, and no bound on
        the cost of any algorithm is left then; `is_metric` says whether they could be.

        Parameters
        ----------
        costs : array of shape (n, m)
            Finite and not negative.
        names, candidate_names : sequence of str, optional
            What demand points and candidates are called; both or none, and all different.
        """
        values = numbers("costs", costs, "from_costs")
        if float(values.min()) < 0:
            raise wrong("costs", "not negative", "negative ones", "add the same to all of them.")
        n, m = values.shape
        if (names is None) != (candidate_names is None):
            raise wrong("candidate_names", "given with names, or not at all", "one of them", "name demand points and candidates.")
        called = None if names is None or candidate_names is None else [*names, *candidate_names]
        return cls._made(CostTable(frozen_copy(values, values.dtype)), n + m, np.arange(n, n + m), None, called)

    @classmethod
    def _made(
        cls, source: Source, n: int, candidates: Given, coordinates: Given, names: Names, *, degrees: bool = False
    ) -> FiniteMetric:
        called = checked_names(names, n)
        chosen = checked_candidates(places_of(candidates, called, "candidates", "FiniteMetric"), n)
        drawn = None
        if coordinates is not None:
            read, is_named = east_first(coordinates, numbers("coordinates", coordinates, "FiniteMetric"))
            if len(read) != n:
                raise wrong("coordinates", f"an array with {n} rows, one per point", coordinates, "leave them out if unknown.")
            degrees = degrees or is_named
            drawn = frozen_copy(on_globe("coordinates", read) if degrees else read)
        return cls(source, n, chosen, drawn, called, degrees)

    def __repr__(self) -> str:
        kind = type(self.source).__name__.lower()
        return f"FiniteMetric(from a {kind}: {self.n_points} points, {len(self.candidates)} candidates)"

    @property
    def described(self) -> dict[str, Any]:
        """What a release says of the space: its kind, and how many points and candidates it has."""
        kind = {Matrix: "matrix", Coordinates: "points", Sphere: "points", Network: "graph", OneWay: "graph", CostTable: "matrix"}
        return {"kind": kind[type(self.source)], "n_points": self.n_points, "n_candidates": len(self.candidates)}

    @property
    def is_one_sided(self) -> bool:
        """Whether what is known is the way from demand to sites: one-way streets, and tables of costs."""
        return isinstance(self.source, OneWay | CostTable)

    def nearest(self, positions: ArrayLike, limit: float | None = None) -> IntArray:
        """Return the nearest point of each of some public positions, by its coordinates; ties go to the lowest index.

        Parameters
        ----------
        positions : array of shape (m, d)
            As the coordinates of the space are: longitudes and latitudes if these are degrees.
        limit : float, optional
            How far the nearest point may be, in units of the coordinates, or in meters if these are degrees; farther positions
            have the index -1. So have those that are missing.
        """
        if self.coordinates is None:
            raise wrong("coordinates", "known", None, "make the space with coordinates=, one row per point.")
        if limit is not None and not (isinstance(limit, int | float) and limit >= 0):
            raise wrong("limit", "None, or not negative", limit, "meters, if coordinates are degrees.")
        read, is_named = east_first(positions, as_floats(positions))
        if read.ndim != 2 or read.shape[1] != self.coordinates.shape[1] or is_named > self.degrees:
            raise wrong("positions", "as the coordinates of the space are", positions, "a row each, longitude before latitude.")
        return nearest_points(self.coordinates, self.degrees, read, limit)

    def distances(self, sources: ArrayLike) -> FloatArray:
        """Return the distances from some points to all points, one row per source."""
        return self.distances_between(sources, np.arange(self.n_points))

    def distances_between(
        self, sources: ArrayLike, targets: ArrayLike, oriented: bool = False, of_demand: bool = False, within: float = np.inf
    ) -> FloatArray:
        """Return the distances from some points to some others, one row per source.

        The length of a path is added up from one of its ends, and which one may change its last bit. `oriented` always starts
        from the source, so that a distance depends on its two points alone and not on what else is asked. In one-way streets the
        sources are sites, and the way to them counts; if they are `of_demand`, or `oriented`, the way from them. Points that are
        at least `within` apart may be said to be infinitely far: a network is not searched so far.
        """
        rows, columns = self._indices("sources", sources), self._indices("targets", targets)
        turned = not oriented and self._turns(len(rows), len(columns))
        return self._measure(rows, columns, turned, oriented or of_demand, within)

    def _turns(self, n_sources: int, n_targets: int) -> bool:
        """Whether to search from the targets: in a network, if they are fewer."""
        return isinstance(self.source, Network | OneWay) and n_sources > n_targets

    def _measure(self, rows: IntArray, columns: IntArray, turned: bool, of_demand: bool, within: float = np.inf) -> FloatArray:
        """Return the distances from rows to columns, added up from the columns if `turned`."""
        if turned:
            return np.ascontiguousarray(self._measure(columns, rows, False, not of_demand, within).T)
        source = self.source.seen(of_demand) if isinstance(self.source, OneWay) else self.source
        fill = partial(source.fill, within=within) if isinstance(source, Network) else source.fill
        out = np.empty((len(rows), len(columns)))
        if out.size < BLOCK_ENTRIES // 8 or len(rows) < (threads := n_threads()):
            fill(rows, columns, out)
            return out
        step = -(-len(rows) // (4 * threads))  # a number of parts that is fixed would leave some without rows
        parts = [slice(start, start + step) for start in range(0, len(rows), step)]
        list(each(lambda part: fill(rows[part], columns, out[part]), parts))
        return out

    def blocks(
        self,
        sources: ArrayLike | None = None,
        targets: ArrayLike | None = None,
        entries: int | None = None,
        oriented: bool = False,
        of_demand: bool = False,
    ) -> Iterator[tuple[slice, FloatArray]]:
        """Yield the rows of `distances_between`, at most about `entries` numbers at a time, each with its place.

        Parameters
        ----------
        sources, targets : array of int, optional
            By default all points.
        entries : int, optional
            By default `BLOCK_ENTRIES`.
        oriented, of_demand : bool
            As for `distances_between`.
        """
        everything = np.arange(self.n_points)
        rows = everything if sources is None else self._indices("sources", sources)
        columns = everything if targets is None else self._indices("targets", targets)
        step = max(1, (BLOCK_ENTRIES if entries is None else entries) // max(1, len(columns)))
        turned = not oriented and self._turns(min(step, len(rows)), len(columns))  # one end for all blocks, the last one too
        for start in range(0, len(rows), step):
            part = slice(start, min(start + step, len(rows)))
            yield part, self._measure(rows[part], columns, turned, oriented or of_demand)

    @cached_property
    def diameter(self) -> float:
        """A public upper bound on every distance: exact for a table, else mostly within a few percent of the largest one."""
        if isinstance(self.source, Matrix | CostTable):
            return float(self.source.values.max())
        return diameter_bound(self.n_points, self._ways)

    def _ways(self, place: int) -> tuple[FloatArray, FloatArray]:
        """Return how far it is from all points to one of them, and back."""
        there = self.distances([place])[0]
        one, everything = np.array([place]), np.arange(self.n_points)
        return there, self._measure(one, everything, False, True)[0] if self.is_one_sided else there

    def is_metric(self) -> bool:
        """Return whether the triangle inequality holds up to rounding; for a matrix, in n^3 steps."""
        if isinstance(self.source, CostTable):
            return self.source.obeys_triangles()
        if not isinstance(self.source, Matrix):
            return not self.is_one_sided
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
