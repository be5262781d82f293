"""Networks and demand of the papers on sites: graphs of ten clusters, roads, and squares of streets."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from benchmarks.data import folder
from spinney.spaces.metric import FiniteMetric

__all__ = ["all_distances", "clusters_graph", "corner_demand", "demands", "network", "road", "streets", "tabulated", "undirected"]

#: The papers' demand.
DEMAND = 500


def undirected(edges: np.ndarray, n: int) -> sp.coo_array:
    """Return the graph of rows (u, v, length), in which a repeated edge's last length counts."""
    lengths = {(min(u, v), max(u, v)): length for u, v, length in edges.tolist()}
    pairs = np.array(list(lengths), dtype=np.int64)
    return sp.coo_array((np.array(list(lengths.values()), dtype=float), (pairs[:, 0], pairs[:, 1])), shape=(n, n))


def clusters_graph(reach: float, n: int = 3000, seed: int = 0) -> tuple[FiniteMetric, np.ndarray]:
    """Return the papers' graph and its clusters: 10 of them, linked inside with probability 0.2, 10 links for each pair."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, 10, n)
    tails, heads, lengths = [], [], []
    for a in range(10):
        inside = np.flatnonzero(label == a)
        one, two = np.triu_indices(len(inside), 1)
        kept = rng.random(len(one)) < 0.2
        tails.append(inside[one[kept]])
        heads.append(inside[two[kept]])
        lengths.append(rng.random(int(kept.sum())))
        for b in range(a):
            tails.append(rng.choice(inside, 10, replace=False))
            heads.append(rng.choice(np.flatnonzero(label == b), 10, replace=False))
            lengths.append(rng.uniform(0.5, reach, 10))
    edges = (np.concatenate(lengths), (np.concatenate(tails), np.concatenate(heads)))
    return FiniteMetric.from_graph(sp.coo_array(edges, shape=(n, n))), label


def streets(side: int) -> FiniteMetric:
    """Return a square of streets of random lengths."""
    rng = np.random.default_rng(0)
    node = np.arange(side * side).reshape(side, side)
    tails = np.concatenate([node[:, :-1].ravel(), node[:-1].ravel()])
    heads = np.concatenate([node[:, 1:].ravel(), node[1:].ravel()])
    return FiniteMetric.from_graph(sp.coo_array((rng.uniform(1, 3, len(tails)), (tails, heads)), shape=(side * side,) * 2))


def all_distances(space: FiniteMetric, kind: type = np.float64) -> np.ndarray:
    """Return the table of all distances."""
    table = np.empty((space.n_points, space.n_points), dtype=kind)
    for part, block in space.blocks():
        table[part] = block
    return np.minimum(table, table.T, out=table)


def tabulated(space: FiniteMetric) -> FiniteMetric:
    """Return the same space with all distances in a table: faster to ask often, and its diameter is exact."""
    return FiniteMetric.from_matrix(all_distances(space))


def demands(label: np.ndarray, seed: int, rows: int = DEMAND) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the papers' demand: 500 points of all clusters, and of clusters 0 and 8 only."""
    rng = np.random.default_rng(seed)
    for name, inside in (("balanced", np.ones(len(label), dtype=bool)), ("imbalanced", np.isin(label, [0, 8]))):
        chosen = rng.choice(np.flatnonzero(inside), rows, replace=False)
        yield name, np.bincount(chosen, minlength=len(label)).astype(float)


def road(name: str) -> FiniteMetric:
    """Return a road network."""
    file = np.load(folder() / {"Oldenburg": "road_oldenburg.npz", "Rome": "road_rome99.npz"}[name])
    return FiniteMetric.from_graph(undirected(np.column_stack([file["edges"], file["weights"]]).astype(float), int(file["n"])))


def corner_demand(space: FiniteMetric, seed: int, rows: int = DEMAND) -> np.ndarray:
    """Draw demand from the quarter of the nodes that are nearest to two random nodes."""
    rng = np.random.default_rng(seed)
    near = space.distances(rng.choice(space.n_points, 2, replace=False)).min(axis=0)
    return rng.choice(np.argsort(near, kind="stable")[: space.n_points // 4], rows, replace=False)


@lru_cache(maxsize=1)
def _road_table(name: str) -> FiniteMetric:
    return tabulated(road(name))


def network(name: str, seed: int) -> tuple[FiniteMetric, np.ndarray]:
    """Return a network with all distances in a table, and its demand: "graph r=1", "road Rome", or one of them with "whole".

    A graph is drawn by the seed, and so is demand. It comes from two clusters of a graph, from a quarter of a road network, or
    from all of it.
    """
    kind, which, *how = name.split()
    space, label = (_road_table(which), None) if kind == "road" else clusters_graph(float(which.removeprefix("r=")), seed=seed)
    space = space if label is None else tabulated(space)
    if "whole" in how:
        rows = np.random.default_rng(seed).choice(space.n_points, DEMAND, replace=False)
    else:
        rows = corner_demand(space, seed) if label is None else np.flatnonzero(dict(demands(label, seed))["imbalanced"])
    return space, rows
