"""A public random subspace that rows are seen in, and the way back: a private mean of each of its clusters, in all columns.

Letters: d columns, m directions, B the m x d basis, c the middle of the domain, y a point of the subspace.

Rows x are seen as B(x - c). A point y is lifted to c + B'y, and because the rows of B are orthonormal the lifted point that is
nearest to x is that of the nearest y: clusters of the subspace are the Voronoi cells of lifted points, and all questions can be
asked about them. A lifted point knows nothing of the other d - m directions; the mean of its rows does.

Proof: ``proofs/hst.md``, "Projection".
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from spinney.algorithms.candidates import subspace_of
from spinney.algorithms.problem import PointProblem
from spinney.algorithms.step import Moved, ask_distances, move
from spinney.curators.purse import Purse
from spinney.privacy import Part
from spinney.questions import Counting, Summing
from spinney.spaces import Domain, FloatArray

#: A row independent of the subspace hardly ever lies this many standard deviations of its projection from the middle.
REACH = 4.0
#: The part of a step to the means that pays for its radii.
RADII_PART = Fraction(1, 10)


def few_dimensions(k: int) -> int:
    """Return how many dimensions are enough: about the logarithm of k, for every level of every dimension adds noise."""
    return max(math.ceil(math.log(k)), 2)


@dataclass(frozen=True)
class Subspace:
    """A public subspace: a basis (m, d), the domain of rows, and the domain that projected rows are clipped to."""

    basis: FloatArray
    outer: Domain
    domain: Domain

    @classmethod
    def random(cls, outer: Domain, dimensions: int, rng: np.random.Generator) -> Subspace:
        """Draw a subspace of fewer dimensions than there are columns.

        Its domain holds all rows that do not know the subspace, up to a few in a hundred thousand: a projection is about
        half_diagonal / sqrt(d) long in each direction, or less.
        """
        basis = subspace_of(outer.n_features, dimensions, rng)
        widest = np.minimum(np.abs(basis) @ (outer.upper / 2 - outer.lower / 2), outer.radius)
        half = np.minimum(widest, REACH * outer.half_diagonal / math.sqrt(outer.n_features))
        return cls(basis, outer, Domain(-half, half, np.inf))

    def view(self, purse: Purse) -> Purse:
        """Return a purse whose rows are seen in the subspace."""
        return purse.projected(self.basis, self.domain)

    def lift(self, points: FloatArray) -> FloatArray:
        """Return points of the subspace as points of all columns, which may lie outside the domain."""
        return np.asarray(self.outer.center + points @ self.basis)


def mean_parts(share: Fraction, problem: PointProblem) -> tuple[Part, ...]:
    """Return the parts of the way back, which have this share together."""
    return (
        Counting().part("lift radii", RADII_PART * share),
        Summing("mean", problem.n_features).part("lift", (1 - RADII_PART) * share),
    )


def ask_means(purse: Purse, problem: PointProblem, lifted: FloatArray) -> Moved:
    """Ask for the noisy mean of the rows of each lifted point, whatever the objective is.

    The mean of a cluster costs at most twice what its median costs, if costs are distances.
    """
    means = replace(problem, power=2)
    return move(purse, means, lifted, ask_distances(purse, means, lifted, "lift radii"), "lift")
