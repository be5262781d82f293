"""The shape of the rows, for many columns: private moments, histograms of columns, the leaves of a shallow tree around the mean.

Everything here but the questions is post-processing of noisy answers and public noise levels.

Proof: ``proofs/moments.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from spinney.algorithms.columns import ask_densities, bins_of, inner_box, narrowed, spreads, with_ends
from spinney.algorithms.leaves import first_stage, place_halves, staged_leaves
from spinney.algorithms.polish import ask_rings
from spinney.algorithms.problem import Charges, PointProblem
from spinney.algorithms.totals import Total
from spinney.curators.gate import Curator
from spinney.questions.sums import Sums
from spinney.spaces.box import Domain, FloatArray
from spinney.trees.quadtree import Splits, TreeCells

__all__ = ["Shape", "is_binned", "measure", "shallow_leaves"]

#: Histograms are asked for below so many columns and from such an epsilon on, if each may have at least 2**ENOUGH_BITS bins. A
#: tree cuts some ten columns: the fewer there are, the more lies in these. With the 64 columns of digits costs rise by 1 percent,
#: and with pure noise, which grows with the number of columns and not with its root, everywhere. At epsilon 0.1 separated
#: clusters are lost by it about as often as they are found, and of few bins mean, spread and shares of halves tell more.
MANY_TO_BIN, LEAST_EPSILON, ENOUGH_BITS = 64, 0.2, 5
#: Squared coordinates are clipped to a vector of this length times the typical squared distance over the root of d.
SPREAD_RADIUS = 2.5
#: The tree's box reaches so many standard deviations from the mean: halving a column then puts points where halves have theirs.
SPAN = 1.6
#: Centers that the tree cannot give lie around the mean, so many standard deviations apart.
FILLER_SPREAD = 0.3


@dataclass(frozen=True)
class Shape:
    """Private moments of the rows: how many, where, how far from there, and how spread along each column.

    And the shares of the rows in equal bins of each column, if histograms were asked for.
    """

    n: float
    mean: FloatArray
    distance: float
    spread: FloatArray
    densities: FloatArray | None = None

    def box(self, domain: Domain) -> Domain:
        """Return the box around the mean that holds most rows, inside the domain, and ends of columns where rows lie together."""
        corners = self.mean - SPAN * self.spread, self.mean + SPAN * self.spread
        return inner_box(domain, *(corners if self.densities is None else with_ends(self.densities, domain, *corners)))

    def fillers(self, count: int, domain: Domain, rng: np.random.Generator) -> FloatArray:
        """Draw public points around the mean."""
        reach = math.sqrt(3) * FILLER_SPREAD * self.spread  # a uniform draw has a third of its squared reach as variance
        return domain.clip(rng.uniform(self.mean - reach, self.mean + reach, (count, self.mean.size)))


def is_binned(problem: PointProblem) -> bool:
    """Whether histograms of the columns may be asked for, by public facts."""
    return problem.budget.delta > 0 and problem.budget.epsilon >= LEAST_EPSILON and problem.n_features < MANY_TO_BIN


def measure(curator: Curator, problem: PointProblem, charges: Charges, total: Total) -> Shape:
    """Ask for the moments of the rows around their mean."""
    domain, mean, n, densities = problem.domain, total.mean(problem.domain), total.n, None
    distance = ask_rings(curator, problem, mean, charges["distance"]).typical_distance()
    bits = bins_of(curator, problem, n, charges["spread"]) if is_binned(problem) else 0
    if bits >= ENOUGH_BITS:
        densities = ask_densities(curator, problem, n, bits, charges["spread"])
        spread = spreads(densities, domain)
    else:
        square = SPREAD_RADIUS * distance**2 / math.sqrt(domain.n_features)
        question = Sums(mean, "second-moment", np.array([math.sqrt(square)]))
        answer = curator.ask(question, curator.pool([charges["spread"]], "sums"))
        noise = square * answer.noise.vector_std / n
        # What does not stand out of the noise is taken to spread as far as the noise could hide; nothing beyond the domain.
        spread = np.sqrt(np.maximum(square * answer.private_vectors[0] / n, noise / 2))
    widths = domain.upper - domain.lower
    return Shape(n, mean[0], distance, np.clip(spread, 1e-6 * widths, widths), densities)


def shallow_leaves(curator: Curator, shape: Shape, problem: PointProblem, charges: Charges) -> tuple[FloatArray, FloatArray]:
    """Count the rows in the leaves of a shallow tree around the mean; return leaves that are not empty as weighted points."""
    domain = problem.domain
    inner = shape.box(domain)
    view = curator.within(inner)
    splits = Splits.of(inner, None if shape.densities is None else narrowed(shape.densities, domain, inner))
    found = staged_leaves(view, splits, shape.n, charges["cells"], charges["leaves"], charges.get("deeper"), problem.k)
    points = [_points(leaf.cells, shape.mean) for leaf in found]
    levels, noise = first_stage(view, splits, shape.n, charges["cells"])
    if shape.densities is None and noise.distribution == "gaussian":
        variance = 2**levels * (noise.std / shape.n) ** 2
        place_halves(points, found, domain, shape.mean, SPAN / 2 * shape.spread, levels, variance)
    return np.vstack(points), np.concatenate([leaf.weights for leaf in found])


def _points(cells: TreeCells, mean: FloatArray) -> FloatArray:
    """Return where the rows of cells of one level are, in columns that are not cut the mean."""
    points = cells.representatives()
    unseen = np.setdiff1d(np.arange(mean.size), cells.splits.route.axes[: int(cells.depths.max(initial=0))])
    points[:, unseen] = mean[unseen]
    return points
