"""The tasks of Fan, Li and Li: MNIST under two metrics, graphs of ten clusters, and demand that is balanced or not."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from benchmarks.data import folder
from benchmarks.networks import all_distances, clusters_graph, demands, tabulated
from spinney.spaces.metric import FiniteMetric

__all__ = ["DEMAND", "KS", "SPACES", "demand_sets", "make_space"]

#: What users type, and what tables say.
SPACES = {"mnist-l2": "MNIST l2", "mnist-l1": "MNIST l1", "graph-r1": "graph r=1", "graph-r100": "graph r=100"}
#: The papers' numbers of centers, and of rows of demand.
KS = (2, 5, 10, 15, 20)
DEMAND = 500


#: The nodes of a graph, and how many of the 10,000 images are drawn for a repetition; the papers draw 10,000 of 70,000.
NODES, IMAGES = 3000, 5000


@lru_cache(maxsize=1)
def _mnist(metric: str) -> tuple[np.ndarray, np.ndarray]:
    """Return all distances between images, and their digits."""
    file = np.load(folder() / "mnist_test10k.npz")
    points = FiniteMetric.from_points(file["X"] / 255.0, metric)  # type: ignore[arg-type]
    return all_distances(points, np.float32), file["y"].astype(int)


def make_space(name: str, repetition: int, n: int | None = None) -> tuple[FiniteMetric, np.ndarray]:
    """Return a space and the cluster of each of its points; every repetition has a graph, or a sample of images, of its own.

    Parameters
    ----------
    name : str
        A key of SPACES.
    repetition : int
    n : int, optional
        The number of points.
    """
    if name.startswith("mnist"):
        distances, label = _mnist("euclidean" if name.endswith("l2") else "manhattan")
        chosen = np.random.default_rng(repetition).choice(len(label), n or IMAGES, replace=False)
        return FiniteMetric.from_matrix(distances[np.ix_(chosen, chosen)]), label[chosen]
    graph, label = clusters_graph(float(name.removeprefix("graph-r")), n or NODES, seed=repetition)
    return tabulated(graph), label


def demand_sets(label: np.ndarray, repetition: int, rows: int = DEMAND) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the papers' demand, as indices of points: from all clusters, and from clusters 0 and 8 only."""
    for name, weights in demands(label, repetition, rows):
        yield name, np.flatnonzero(weights)
