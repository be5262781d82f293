"""Reading the edges of a public network from a scipy sparse matrix into flat arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.exceptions import ParameterError
from spinney.spaces.box import WIDEST, FloatArray

__all__ = ["read_edges"]

IntArray = NDArray[np.int64]

#: Lengths of one edge given more than once may differ by this share: rounding.
ROUNDING = 1e-9

_LARGEST = (
    "keep the largest component: labels = scipy.sparse.csgraph.connected_components(graph, directed=False)[1]; "
    "keep = np.flatnonzero(labels == np.bincount(labels).argmax()); graph = graph.tocsr()[keep][:, keep]."
)


def _wrong(expected: str, got: object, hint: str) -> ParameterError:
    return ParameterError.wrong("graph", "FiniteMetric", expected, got, hint)


def read_edges(graph: Any) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the arrays of a connected undirected network: where each node's edges start, where they lead, how long they are."""
    from scipy.sparse import coo_array, issparse  # type: ignore[import-untyped]

    if not issparse(graph):
        raise _wrong("a scipy sparse matrix of edge lengths", type(graph).__name__, "scipy.sparse.coo_array((lengths, (u, v))).")
    if graph.ndim != 2 or graph.shape[0] != graph.shape[1] or graph.shape[0] == 0:
        raise _wrong("square, with at least one point", graph.shape, "give the matrix shape=(n, n) when you build it.")
    triples = coo_array(graph)
    n = int(triples.shape[0])
    tails, heads = (np.asarray(axis, dtype=np.int64) for axis in triples.coords)
    lengths = np.asarray(triples.data, dtype=np.float64)
    if not (np.abs(lengths) < WIDEST).all():
        raise _wrong(f"finite lengths below {WIDEST}", "others", "leave out edges that do not exist.")
    if (lengths < 0).any():
        raise _wrong("lengths that are not negative", float(lengths.min()), "distances are lengths.")
    low, high, lengths = _each_edge_once(np.minimum(tails, heads), np.maximum(tails, heads), lengths)
    arrays = _both_ways(n, low, high, lengths)
    _check_connected(n, low, high)
    for array in arrays:
        array.flags.writeable = False
    return arrays


def _each_edge_once(low: IntArray, high: IntArray, lengths: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Drop loops and merge repeated edges, which must agree on their length."""
    apart = low < high
    low, high, lengths = low[apart], high[apart], lengths[apart]
    order = np.lexsort((lengths, high, low))
    low, high, lengths = low[order], high[order], lengths[order]
    again = np.zeros(len(low), dtype=bool)
    again[1:] = (low[1:] == low[:-1]) & (high[1:] == high[:-1])
    if (lengths[1:] - lengths[:-1] > ROUNDING * lengths[1:])[again[1:]].any():
        raise _wrong(
            "one length per edge", "different lengths of one edge",
            "edges count in both directions: give each once, or take the shorter, graph.minimum(graph.T) where both are stored.",
        )  # fmt: skip
    return low[~again], high[~again], lengths[~again]


def _both_ways(n: int, low: IntArray, high: IntArray, lengths: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    tails, ends, both = np.concatenate([low, high]), np.concatenate([high, low]), np.concatenate([lengths, lengths])
    order = np.lexsort((ends, tails))
    starts = np.zeros(n + 1, dtype=np.int64)
    starts[1:] = np.cumsum(np.bincount(tails, minlength=n))
    return starts, ends[order], both[order]


def _check_connected(n: int, low: IntArray, high: IntArray) -> None:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]

    links = coo_array((np.ones(len(low), dtype=np.int8), (low, high)), shape=(n, n))
    components = int(connected_components(links, directed=False, return_labels=False))
    if components > 1:
        raise _wrong("connected", f"{components} components", _LARGEST)
