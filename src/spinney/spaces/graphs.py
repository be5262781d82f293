"""Graphs of networkx, OSMnx's too, which is never imported: edges with any weight, one-way streets, where nodes are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from spinney.exceptions import ParameterError
from spinney.spaces.box import FloatArray

#: Attributes of an edge that may hold its length, the first one first.
LENGTHS = ("length", "weight")
#: Attributes of a node that say where it is, and whether they are degrees whatever the graph says of itself.
PLACES = ((("x", "y"), False), (("longitude", "latitude"), True), (("lon", "lat"), True), (("lng", "lat"), True))
#: What says that ``x`` and ``y`` are degrees.
DEGREES = ("4326", "crs84", "wgs 84", "wgs84")


class EdgeColumns(NamedTuple):
    """Labels of nodes and of the two ends of each edge, and lengths; as `EdgeList` says of directions and parallel edges."""

    nodes: Sequence[Any]
    tails: Any
    heads: Any
    lengths: Any
    directed: bool = False
    parallel: bool = False


def is_networkx(graph: Any) -> bool:
    """Return whether this is a graph of networkx."""
    return all(hasattr(graph, name) for name in ("is_directed", "nodes", "edges")) and callable(graph.edges)


def networkx_edges(graph: Any, weight: str | None = None) -> EdgeColumns:
    """Return the edges of a graph, with this attribute as their length."""
    edges = list(graph.edges(data=True))
    lengths = edge_lengths([data for *_, data in edges], weight)
    parallel = bool(getattr(graph, "is_multigraph", bool)())
    return EdgeColumns(
        list(graph.nodes), [u for u, *_ in edges], [v for _, v, _ in edges], lengths, graph.is_directed(), parallel
    )


def edge_lengths(edges: Sequence[Mapping[str, Any]], weight: str | None = None) -> list[Any]:
    """Return the length of each edge from its attributes: a number, or a text that says one; 1 each if none has a length."""
    key = weight if weight is not None else next((name for name in LENGTHS if any(name in data for data in edges)), None)
    if weight is not None and edges and not any(weight in data for data in edges):
        raise ParameterError.wrong("weight", "FiniteMetric", "an attribute of the edges", "another name", "for example 'length'.")
    return [1.0 if key is None else as_number(data.get(key)) for data in edges]


def as_number(value: Any) -> Any:
    """Return the number that a text says; anything else as it is."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def node_coordinates(graph: Any) -> tuple[FloatArray | None, bool]:
    """Return where the nodes of a graph are, if all of them say so, and whether that is in degrees."""
    if not is_networkx(graph):
        return None, False
    about = getattr(graph, "graph", None)
    return coordinates_of([graph.nodes[node] for node in graph.nodes], about.get("crs") if isinstance(about, Mapping) else None)


def named_coordinates(given: Any, names: Sequence[str] | None, n: int) -> tuple[Any, bool]:
    """Return where n points are, and whether it is said to be in degrees: a table as it is given, or rows of places by name."""
    if not all(hasattr(given, name) for name in ("names", "coordinates", "degrees")):
        return given, False
    known, wanted = {name: line for line, name in enumerate(given.names)}, names or tuple(map(str, range(n)))
    missing = [name for name in wanted if name not in known]
    if missing:
        words = f"{len(missing)} points have no coordinates: {str(missing[0])[:40]!r} is one."
        raise ParameterError(words, "give places for every point of the network, by its name.")
    return given.coordinates[[known[name] for name in wanted]], bool(given.degrees)


def coordinates_of(nodes: Sequence[Mapping[str, Any]], crs: Any = None) -> tuple[FloatArray | None, bool]:
    """Return coordinates from attributes of nodes, if all of them have some, and whether they are degrees.

    Names say so, or the reference system of the whole graph, such as ``epsg:4326``.
    """
    for axes, are_degrees in PLACES:
        found = [[as_number(node.get(axis)) for axis in axes] for node in nodes]
        try:
            table = np.array(found, dtype=np.float64)
        except (TypeError, ValueError):
            continue
        if table.size and np.isfinite(table).all():
            return table, are_degrees or any(word in str(crs).lower() for word in DEGREES)
    return None, False


@dataclass(frozen=True, eq=False, repr=False)
class PlainGraph:
    """A graph that was read from a file, with the methods of networkx that are used here; edges may be parallel."""

    nodes: Mapping[str, Mapping[str, Any]]
    links: Sequence[tuple[str, str, Mapping[str, Any]]]
    directed: bool = False
    crs: Any = None

    @property
    def graph(self) -> dict[str, Any]:
        """What is said of the whole graph."""
        return {"crs": self.crs}

    def is_directed(self) -> bool:
        """Whether edges lead one way."""
        return self.directed

    def is_multigraph(self) -> bool:
        """Whether edges may be parallel."""
        return True

    def edges(self, data: bool = True) -> Sequence[tuple[str, str, Mapping[str, Any]]]:
        """Return the edges with their attributes."""
        return self.links

    def largest_part(self) -> PlainGraph:
        """Return the largest part that is connected, both ways if edges lead one way."""
        from scipy.sparse import coo_array  # type: ignore[import-untyped]
        from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]

        place = {name: i for i, name in enumerate(self.nodes)}
        ends = np.array([(place[u], place[v]) for u, v, _ in self.links], dtype=np.int64).reshape(-1, 2).T
        links = coo_array((np.ones(ends.shape[1]), tuple(ends)), shape=(len(place), len(place)))
        _, labels = connected_components(links, directed=self.directed, connection="strong")
        inside = labels == np.bincount(labels).argmax()
        kept = {name: about for name, about in self.nodes.items() if inside[place[name]]}
        return replace(self, nodes=kept, links=[link for link in self.links if link[0] in kept and link[1] in kept])
