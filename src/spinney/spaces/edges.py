"""The edges of a public network as flat arrays, each once and both ways."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.spaces.box import WIDEST, FloatArray
from spinney.spaces.edge_lists import read_edge_list, wrong_graph

__all__ = ["read_edges"]

IntArray = NDArray[np.int64]

#: Lengths of one edge given more than once may differ by this share: rounding.
ROUNDING = 1e-9

_LARGEST = (
    "keep the largest component: labels = scipy.sparse.csgraph.connected_components(graph, directed=False)[1]; "
    "keep = np.flatnonzero(labels == np.bincount(labels).argmax()); graph = graph.tocsr()[keep][:, keep]."
)
_MISSING = "add the edges that are missing, or keep the largest part alone."


def read_edges(graph: Any) -> tuple[IntArray, IntArray, FloatArray, tuple[str, ...] | None]:
    """Return the arrays of a connected undirected network: where each node's edges start, where they lead, how long they are.

    The names of its points come last, if they have some.
    """
    edges = read_edge_list(graph)
    n, lengths = edges.n_points, edges.lengths
    if not (np.abs(lengths) < WIDEST).all():
        raise wrong_graph(f"a network with finite lengths below {WIDEST}", "others", "leave out edges that do not exist.")
    if (lengths < 0).any():
        raise wrong_graph("a network with lengths that are not negative", "others", "distances are lengths.")
    low, high, lengths = _each_edge_once(np.minimum(edges.tails, edges.heads), np.maximum(edges.tails, edges.heads), lengths)
    arrays = _both_ways(n, low, high, lengths)
    _check_connected(n, low, high, _LARGEST if hasattr(graph, "tocsr") else _MISSING)
    for array in arrays:
        array.flags.writeable = False
    return *arrays, edges.names


def _each_edge_once(low: IntArray, high: IntArray, lengths: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Drop loops and merge repeated edges, which must agree on their length."""
    apart = low < high
    low, high, lengths = low[apart], high[apart], lengths[apart]
    order = np.lexsort((lengths, high, low))
    low, high, lengths = low[order], high[order], lengths[order]
    again = np.zeros(len(low), dtype=bool)
    again[1:] = (low[1:] == low[:-1]) & (high[1:] == high[:-1])
    if (lengths[1:] - lengths[:-1] > ROUNDING * lengths[1:])[again[1:]].any():
        raise wrong_graph(
            "a network with one length per edge", "different lengths of one edge",
            "edges count in both directions: give each once, or the shorter length both times.",
        )  # fmt: skip
    return low[~again], high[~again], lengths[~again]


def _both_ways(n: int, low: IntArray, high: IntArray, lengths: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    tails, ends, both = np.concatenate([low, high]), np.concatenate([high, low]), np.concatenate([lengths, lengths])
    order = np.lexsort((ends, tails))
    starts = np.zeros(n + 1, dtype=np.int64)
    starts[1:] = np.cumsum(np.bincount(tails, minlength=n))
    return starts, ends[order], both[order]


def _check_connected(n: int, low: IntArray, high: IntArray, hint: str) -> None:
    from scipy.sparse import coo_array  # type: ignore[import-untyped]
    from scipy.sparse.csgraph import connected_components  # type: ignore[import-untyped]

    links = coo_array((np.ones(len(low), dtype=np.int8), (low, high)), shape=(n, n))
    if connected_components(links, directed=False, return_labels=False) > 1:
        raise wrong_graph("connected", "a network of several parts", hint)
