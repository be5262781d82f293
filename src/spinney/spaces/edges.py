"""A public network, in any of the forms that people have one in, as flat arrays of edges, each once and both ways.

Whoever passes private rows by mistake reads of types alone: no message repeats a value, a shape or a number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from numbers import Integral, Real
from typing import Any

import numpy as np

from spinney.exceptions import ParameterError
from spinney.spaces.box import WIDEST, FloatArray
from spinney.spaces.distances import IntArray, Network
from spinney.spaces.graphs import EdgeColumns, is_networkx, networkx_edges
from spinney.spaces.one_sided import OneWay
from spinney.spaces.plain_values import LARGEST_WHOLE

#: Columns of a table of edges.
COLUMNS = ("from", "to", "length")
#: Lengths of one edge given more than once may differ by this share: rounding.
ROUNDING = 1e-9

_FORMS = "edges, as triples of two ends and a length, a table of such, a networkx graph or a scipy sparse matrix"
_BOTH_WAYS = "a network whose edges count in both directions"
_TRIPLES = "for example [('Mill', 'Bridge', 1.5), ('Bridge', 'Church', 2.0)]."
_MATRIX = "scipy.sparse.coo_array(matrix) if 0 means no edge; FiniteMetric.from_matrix if these are all distances."
_LARGEST = (
    "keep the largest component: labels = scipy.sparse.csgraph.connected_components(graph, directed=False)[1]; "
    "keep = np.flatnonzero(labels == np.bincount(labels).argmax()); graph = graph.tocsr()[keep][:, keep]."
)
_MISSING = "add the edges that are missing, or keep the largest part alone."
_STRONG = "keep the largest strong part: graph.subgraph(max(networkx.strongly_connected_components(graph), key=len))."


@dataclass(frozen=True, eq=False)
class EdgeList:
    """Edges between points 0 to n - 1, and what the points are called if they have names.

    They lead from tails to heads alone if they are `directed`; of `parallel` ones the shortest counts.
    """

    n_points: int
    tails: IntArray
    heads: IntArray
    lengths: FloatArray
    names: tuple[str, ...] | None = None
    directed: bool = False
    parallel: bool = False


def _wrong(expected: str, got: str, hint: str) -> ParameterError:
    """Return the error about a network; `got` says of what kind it is, not what is in it."""
    return ParameterError.wrong("graph", "FiniteMetric", expected, got, hint)


def read_edges(graph: Any, weight: str | None = None) -> tuple[Network | OneWay, tuple[str, ...] | None]:
    """Return a connected network, one-way if the graph is directed, and the names of its points if they have some."""
    edges = _edge_list(graph, weight)
    n, lengths = edges.n_points, edges.lengths
    if not (np.abs(lengths) < WIDEST).all():
        raise _wrong(f"a network with finite lengths below {WIDEST}", "others", "leave out edges that do not exist.")
    if (lengths < 0).any():
        raise _wrong("a network with lengths that are not negative", "others", "distances are lengths.")
    if edges.directed:
        ways = _each_edge_once(edges.tails, edges.heads, lengths, may_differ=True)
        _check_connected(n, ways[0], ways[1], _STRONG, one_way=True)
        tails, heads, lengths = ways
        return OneWay(*_by_tail(n, tails, heads, lengths), *_by_tail(n, heads, tails, lengths)), edges.names
    low, high = np.minimum(edges.tails, edges.heads), np.maximum(edges.tails, edges.heads)
    low, high, lengths = _each_edge_once(low, high, lengths, edges.parallel)
    _check_connected(n, low, high, _LARGEST if hasattr(graph, "tocsr") else _MISSING)
    both = np.concatenate([low, high]), np.concatenate([high, low]), np.concatenate([lengths, lengths])
    return Network(*_by_tail(n, *both)), edges.names


def _edge_list(graph: Any, weight: str | None) -> EdgeList:
    """Return the edges of a network as they were given, repeated ones and loops too.

    Points are numbered as their labels say if these are 0 to n - 1, and else in the order of their first appearance.
    """
    from scipy.sparse import coo_array, issparse  # type: ignore[import-untyped]

    if weight is not None and not is_networkx(graph):
        raise ParameterError.wrong("weight", "FiniteMetric", "left out", weight, "only edges of a networkx graph have names.")
    if issparse(graph):
        if graph.ndim != 2 or graph.shape[0] != graph.shape[1] or graph.shape[0] == 0:
            hint = "give the matrix shape=(n, n) when you build it."
            raise _wrong("square, with at least one point", "a matrix of another shape", hint)
        triples = coo_array(graph)
        tails, heads = (np.asarray(axis, dtype=np.int64) for axis in triples.coords)
        _check_ways(tails, heads)
        return EdgeList(int(triples.shape[0]), tails, heads, _lengths(triples.data))
    if is_networkx(graph):
        read = networkx_edges(graph, weight)
    elif hasattr(graph, "columns") or hasattr(graph, "column_names"):
        read = EdgeColumns((), *_frame_columns(graph))
    else:
        read = EdgeColumns((), *_triple_columns(graph))
    edges = _numbered(read.nodes, read.tails, read.heads, _lengths(read.lengths))
    return replace(edges, directed=read.directed, parallel=read.parallel)


def _check_ways(tails: IntArray, heads: IntArray) -> None:
    """Raise if a matrix has some edges in both directions and others in one: it is of a directed graph."""
    ways = np.unique(np.stack([tails, heads], axis=1)[tails != heads], axis=0)
    edges, counts = np.unique(np.sort(ways, axis=1), axis=0, return_counts=True)
    if 0 < np.count_nonzero(counts == 2) < len(edges):
        hint = "matrix.maximum(matrix.T) takes each edge in both directions, if it is as long in both."
        raise _wrong(_BOTH_WAYS, "edges in one direction and in both", hint)


def _frame_columns(frame: Any) -> list[Any]:
    names = list(frame.column_names if hasattr(frame, "column_names") else frame.columns)
    named = [name for name in COLUMNS if name in names]
    places = [names.index(name) for name in COLUMNS] if len(named) == len(COLUMNS) else [0, 1, 2]
    if len(names) < len(COLUMNS) or 0 < len(named) < len(COLUMNS):
        raise _wrong("a table with the columns from, to, length", f"{type(frame).__name__} without them", "select them.")
    if hasattr(frame, "iloc"):
        return [frame.iloc[:, place].to_numpy() for place in places]
    if hasattr(frame, "to_series"):
        return [frame.to_series(place).to_numpy() for place in places]
    if hasattr(frame, "column"):
        return [frame.column(place).to_numpy() for place in places]
    raise _wrong(_FORMS, type(frame).__name__, "a pandas or polars frame, or an Arrow table.")


def _triple_columns(graph: Any) -> list[Any]:
    if isinstance(graph, np.ndarray):
        if graph.ndim == 2 and graph.shape[0] == graph.shape[1] != 3:
            raise _wrong(_FORMS, "a square array", _MATRIX)
        fits = graph.ndim == 2 and graph.shape[1] == 3
        columns = list(graph.T) if fits else []
    elif isinstance(graph, list | tuple):
        fits = all(isinstance(triple, list | tuple | np.ndarray) and len(triple) == 3 for triple in graph)
        columns = [list(column) for column in zip(*graph, strict=True)] if fits else []
    else:
        raise _wrong(_FORMS, type(graph).__name__, _TRIPLES)
    if not columns or not len(columns[0]):
        raise _wrong(_FORMS, f"{type(graph).__name__} of something else", _TRIPLES)
    numbers = [_whole(column) for column in columns]
    if len(columns[0]) == 3 and all(column is not None for column in numbers):
        matrix = np.array(numbers)
        if (matrix == matrix.T).all() and not matrix.diagonal().any():  # as edges: one of them twice, and a loop
            raise _wrong(_FORMS, "what looks like a matrix of three points", _MATRIX)
    return columns


def _whole(labels: Any) -> IntArray | None:
    """Return labels as whole numbers if all of them are."""
    kind = labels.dtype.kind if isinstance(labels, np.ndarray) else "O"
    if kind == "O":
        if not all(isinstance(label, Integral) and not isinstance(label, bool) for label in labels):
            return None
        labels = np.array([int(label) for label in labels])  # of other kinds if one is too large
    elif kind not in "iuf" or not ((labels == np.trunc(labels)) & (np.abs(labels) <= LARGEST_WHOLE)).all():
        return None
    whole = labels.astype(np.int64) if labels.dtype.kind in "iuf" else None
    return whole if whole is not None and (whole == labels).all() else None


def _text(label: Any) -> str | None:
    """Return what a point is called; None for what is no label, such as a missing value."""
    if isinstance(label, str):
        return str(label) if label.strip() else None
    if isinstance(label, bool | np.bool_):
        return None
    if isinstance(label, Integral):
        return str(int(label))
    if isinstance(label, Real):
        number = float(label)
        return str(int(number)) if abs(number) <= LARGEST_WHOLE and number.is_integer() else None
    return str(label) if isinstance(label, tuple) else None


def _lengths(values: Any) -> FloatArray:
    """Return lengths as floats; raise unless each is a number."""
    array = np.asarray(values)
    numeric = array.dtype.kind in "iuf"
    if array.dtype.kind == "O":
        numeric = all(isinstance(value, Real) and not isinstance(value, bool) for value in array.ravel())
    if array.ndim != 1 or not (numeric or array.size == 0):
        raise _wrong("edges with a length for every edge", "others", "a length is a number of at least 0, such as 12.5.")
    return np.asarray(array, dtype=np.float64)


def _numbered(nodes: Sequence[Any], tails: Any, heads: Any, lengths: FloatArray) -> EdgeList:
    """Return edges between numbered points; `nodes` come first, in their order."""
    known, first, second = (_whole(labels) for labels in (nodes, tails, heads))
    m = len(lengths)
    if known is not None and first is not None and second is not None:
        labels = np.concatenate([known, np.stack([first, second], axis=1).ravel()])  # edge by edge
        found, firsts, places = np.unique(labels, return_index=True, return_inverse=True)
        order = np.argsort(firsts)
        n = len(found)
        if n and found[0] == 0 and found[-1] == n - 1:
            places, names = labels, None
        else:
            places, names = np.argsort(order)[places], tuple(map(str, found[order].tolist()))
    else:
        texts = [_text(label) for label in chain(nodes, chain.from_iterable(zip(tails, heads, strict=True)))]
        if None in texts:
            raise _wrong("edges between labeled points", "others", "a label is a text or a whole number.")
        index = {text: place for place, text in enumerate(dict.fromkeys(texts))}
        places, names = np.array([index[text] for text in texts], dtype=np.int64), tuple(str(text) for text in index)
        n = len(index)
    if n == 0:
        raise _wrong(_FORMS, "no edge", _TRIPLES)
    ends = places[len(nodes) :].reshape(m, 2)
    return EdgeList(n, ends[:, 0].copy(), ends[:, 1].copy(), lengths, names)


def _each_edge_once(
    low: IntArray, high: IntArray, lengths: FloatArray, may_differ: bool
) -> tuple[IntArray, IntArray, FloatArray]:
    """Drop loops and keep the shortest of repeated edges, which must agree on their length unless they may differ."""
    apart = low != high
    low, high, lengths = low[apart], high[apart], lengths[apart]
    order = np.lexsort((lengths, high, low))
    low, high, lengths = low[order], high[order], lengths[order]
    again = np.zeros(len(low), dtype=bool)
    again[1:] = (low[1:] == low[:-1]) & (high[1:] == high[:-1])
    if not may_differ and (lengths[1:] - lengths[:-1] > ROUNDING * lengths[1:])[again[1:]].any():
        raise _wrong(
            "a network with one length per edge", "different lengths of one edge",
            "edges count in both directions: give each once, or the shorter length both times.",
        )  # fmt: skip
    return low[~again], high[~again], lengths[~again]


def _by_tail(n: int, tails: IntArray, heads: IntArray, lengths: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Return where the edges of each node start, where they lead and how long they are, in arrays that cannot be written to."""
    order = np.lexsort((heads, tails))
    starts = np.zeros(n + 1, dtype=np.int64)
    starts[1:] = np.cumsum(np.bincount(tails, minlength=n))
    found = starts, heads[order], lengths[order]
    for array in found:
        array.flags.writeable = False
    return found


def _check_connected(n: int, low: IntArray, high: IntArray, hint: str, one_way: bool = False) -> None:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]

    links = coo_array((np.ones(len(low), dtype=np.int8), (low, high)), shape=(n, n))
    if connected_components(links, directed=one_way, connection="strong", return_labels=False) > 1:
        raise _wrong("connected", "a network of several parts", hint)
