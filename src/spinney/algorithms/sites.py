"""What the algorithms for sites share: nearest sites, and the question about their sizes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from spinney.algorithms.problem import Algorithm, SiteProblem
from spinney.curators.gate import Curator
from spinney.privacy.charges import Charge
from spinney.questions.counts import CountAnswer, Counts
from spinney.questions.partitions import Labels
from spinney.spaces.metric import FiniteMetric, IntArray

__all__ = ["SIZES", "SiteAlgorithm", "ask_sizes", "nearest_site"]

#: The part of epsilon that pays for the final sizes.
SIZES = Fraction(5, 100)


class SiteAlgorithm(Algorithm):
    """An algorithm over a finite metric."""

    solves = "sites"
    backends = ("memory",)


def nearest_site(space: FiniteMetric, sites: IntArray) -> IntArray:
    """Return, for every point, the place of its nearest site; ties go to the first."""
    label, closest = np.zeros(space.n_points, dtype=np.int64), np.full(space.n_points, np.inf)
    for part, block in space.blocks(sites):
        for place, row in zip(range(part.start, part.stop), block, strict=True):
            nearer = row < closest
            label[nearer], closest[nearer] = place, row[nearer]
    return label


def ask_sizes(curator: Curator, problem: SiteProblem, medoids: IntArray, charge: Charge) -> CountAnswer:
    """Ask how many rows each chosen site serves, and then each existing one."""
    sites = np.concatenate([medoids, problem.existing])
    return curator.ask(Counts(Labels(nearest_site(problem.space, sites), len(sites))), charge)
