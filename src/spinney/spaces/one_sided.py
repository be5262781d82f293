"""Costs that are known from demand to sites alone: one-way streets, and tables of demand points times candidates.

They are no metrics. Privacy does not rest on that: what a row costs is a function of its point and of public facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.spaces.box import FloatArray
from spinney.spaces.distances import BLOCK_ENTRIES, ROUNDING, IntArray, Network


@dataclass(frozen=True, eq=False)
class OneWay:
    """Edges in one direction: those that leave each node, and, turned around, those that lead to it; as `Network` has them."""

    starts: IntArray
    ends: IntArray
    lengths: FloatArray
    back_starts: IntArray
    back_ends: IntArray
    back_lengths: FloatArray

    def seen(self, of_demand: bool) -> Network:
        """Return the edges to follow from demand, or from sites against the traffic."""
        if of_demand:
            return Network(self.starts, self.ends, self.lengths)
        return Network(self.back_starts, self.back_ends, self.back_lengths)


@dataclass(frozen=True, eq=False)
class CostTable:
    """Costs from demand points to candidates: rows are the first points of the space, and columns the points after them.

    Two demand points are as far apart as the candidate that tells them apart most: a row that moves between them changes no cost
    by more. Two candidates likewise.
    """

    values: NDArray[Any]

    def fill(self, sources: IntArray, targets: IntArray, out: FloatArray) -> None:
        """Write the distances from sources to targets."""
        from scipy.spatial.distance import cdist  # type: ignore[import-untyped]

        n = len(self.values)
        for of_site, to_site in product((False, True), repeat=2):
            rows, columns = np.flatnonzero((sources >= n) == of_site), np.flatnonzero((targets >= n) == to_site)
            one, other = sources[rows] - n * of_site, targets[columns] - n * to_site
            table = self.values.T if of_site else self.values
            found = table[np.ix_(one, other)] if of_site != to_site else cdist(table[one], table[other], "chebyshev")
            out[np.ix_(rows, columns)] = found

    def obeys_triangles(self) -> bool:
        """Return whether these could be distances of a metric, up to rounding."""
        slack, n = np.inf, len(self.values)
        step = max(1, BLOCK_ENTRIES // n)
        for start in range(0, n, step):
            part = np.arange(start, min(start + step, n))
            apart = np.empty((len(part), n))
            self.fill(part, np.arange(n), apart)
            for column in self.values.T:
                slack = min(slack, float((column[part, None] + column - apart).min()))
        return slack >= -ROUNDING[self.values.dtype] * float(self.values.max())
