"""Demand at few single points of small spaces, the setting of the papers on sites: whoever finds the points pays nothing.

Costs are divided by that of the best single site.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from benchmarks.data import folder
from benchmarks.networks import all_distances, clusters_graph, road, undirected
from spinney.spaces.metric import FiniteMetric

__all__ = ["SPACES", "atoms"]

#: Points of a space, and those that have demand.
POINTS, ATOMS = 400, 10


def _equal(rng: np.random.Generator) -> FiniteMetric:
    return FiniteMetric.from_matrix(1.0 - np.eye(POINTS))


def _star(rng: np.random.Generator) -> FiniteMetric:
    """Return a middle and its leaves, all one apart from it."""
    return FiniteMetric.from_graph([(0, leaf, 1.0) for leaf in range(1, POINTS)])


def _hamming(rng: np.random.Generator) -> FiniteMetric:
    """Return different words of 16 letters, each 0 or 1, by the number of letters that differ."""
    words = rng.choice(2**16, POINTS, replace=False)
    return FiniteMetric.from_points((words[:, None] >> np.arange(16)) & 1, "manhattan")


def _gaussian(rng: np.random.Generator) -> FiniteMetric:
    return FiniteMetric.from_points(rng.normal(size=(POINTS, 50)))


def _random(rng: np.random.Generator) -> FiniteMetric:
    return clusters_graph(1.0, POINTS, int(rng.integers(2**31)))[0]


def _part(space: FiniteMetric, rng: np.random.Generator) -> FiniteMetric:
    """Return some points of a space with their distances there."""
    chosen = rng.choice(space.n_points, POINTS, replace=False)
    return FiniteMetric.from_matrix(space.distances_between(chosen, chosen, oriented=True))


@lru_cache(maxsize=1)
def _facebook() -> FiniteMetric:
    file = np.load(folder() / "snap_facebook.npz")
    return FiniteMetric.from_graph(undirected(np.column_stack([file["edges"], file["weights"]]).astype(float), int(file["n"])))


SPACES: dict[str, Callable[[np.random.Generator], FiniteMetric]] = {
    "equal": _equal,
    "star": _star,
    "hamming": _hamming,
    "gaussian": _gaussian,
    "facebook": lambda rng: _part(_facebook(), rng),
    "Oldenburg": lambda rng: _part(road("Oldenburg"), rng),
    "Rome": lambda rng: _part(road("Rome"), rng),
    "random": _random,
}


def atoms(name: str, rows: int, seed: int) -> tuple[FiniteMetric, np.ndarray]:
    """Return a space with all distances in a table, and demand: so many rows at each of few points, drawn by the seed."""
    rng = np.random.default_rng(seed)
    space = FiniteMetric.from_matrix(all_distances(SPACES[name](rng)))
    return space, np.repeat(rng.choice(space.n_points, ATOMS, replace=False), rows)
