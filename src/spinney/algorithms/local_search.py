"""DP local search: swaps by the exponential mechanism (Gupta et al. 2010; Fan, Li and Li, Algorithm 7).

Letters: k sites, T steps, F_i the sites after i steps, eps the budget's epsilon, R(F) the largest distance from any point to its
second-nearest site of F.

1. F_0: public random candidates, public k-median++ on all points, or ``level l``: noisy counts of a 2-HST of half of epsilon.
2. ``swap i``  one swap of F_(i-1), by the exponential mechanism on the cost after it. The cost of one row varies over the swaps
   by at most R(F), which is public once F is, and adding a row can only raise costs: weights exp(-eps_i cost / R(F)) lose eps_i.
   The published weights divide by the diameter and by two more.
3. ``best``    one of F_0 .. F_T by the exponential mechanism on its cost.
4. ``sizes``   noisy sizes of the chosen sites' cells.

As published, every step must swap, and drifts away from a good start; ``stay=True``, the default, lets a step change nothing.

Proof: ``proofs/local_search.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from spinney.algorithms.problem import SiteProblem
from spinney.algorithms.result import Result
from spinney.algorithms.site_hst import SiteHST, ask_tree, level_parts
from spinney.algorithms.sites import SIZES, SiteAlgorithm, check_both_ways, check_options, released
from spinney.constraints import boolean, check, integer, one_of
from spinney.curators.purse import Purse
from spinney.privacy import Part
from spinney.questions import Choose, Choosing, Counting, Sets, Swaps
from spinney.solvers.seeding import seed_medoids
from spinney.solvers.service import Service
from spinney.solvers.tree_search import search_medoids
from spinney.spaces import FiniteMetric, IntArray
from spinney.trees.metric_hst import MetricHST

STARTS = ("random", "kmedian++", "hst")


def swap_parts(share: Fraction, steps: int) -> tuple[Part, ...]:
    """Return the parts of the swaps and of the last choice, which have this share together."""
    names = [*(f"swap {i}" for i in range(1, steps + 1)), "best"]
    return tuple(Choosing().part(name, share / len(names)) for name in names)


def ask_swaps(
    purse: Purse, space: FiniteMetric, first: IntArray, existing: IntArray, power: int, steps: int, stay: bool
) -> IntArray:
    """Ask for one swap after another, and return the centers that the last choice takes of all that were visited."""
    visited = [first]
    for i in range(1, steps + 1):
        options = Swaps(space, visited[-1], existing, power, stay)
        visited.append(options.after(purse.ask(f"swap {i}", Choose(options))) if len(options) else visited[-1])
    sets = Sets(tuple(np.concatenate([centers, existing]) for centers in visited), power)
    return visited[purse.ask("best", Choose(sets))]


@dataclass(frozen=True)
class LocalSearch(SiteAlgorithm):
    """Swaps by the exponential mechanism.

    Parameters
    ----------
    start : {"hst", "kmedian++", "random"}
        Where the search starts; ``hst`` spends half of epsilon on it, the others read no row.
    steps : int
        The number of swaps, T.
    stay : bool
        Whether a step may change nothing; False is the published algorithm.
    levels, allocation, tree
        Of the tree, as for `SiteHST`.
    """

    start: str = "hst"
    steps: int = 20
    stay: bool = True
    levels: int = 8
    allocation: str = "geometric"
    tree: str = "frt"

    name = "local-search"

    def __post_init__(self) -> None:
        lawful = {
            "start": one_of(STARTS, "'hst' is the published choice."),
            "steps": integer(1, "20 is the published choice.", 10_000),
            "stay": boolean("False is the published choice."),
        }
        check("LocalSearch", vars(self), lawful)
        SiteHST(self.levels, self.allocation, self.tree)  # refuses what it does not know

    def parts(self, problem: SiteProblem) -> tuple[Part, ...]:
        check_options(self.steps * problem.k * len(problem.space.candidates), "The algorithm 'local-search'")
        if self.start == "hst":
            check_both_ways(problem.space, "The start 'hst' of 'local-search'")
        tree = (1 - SIZES) / 2 if self.start == "hst" else Fraction(0)
        return (
            *(level_parts(tree, self.levels, self.allocation) if tree else ()),
            *swap_parts(1 - SIZES - tree, self.steps),
            Counting().part("sizes", SIZES),
        )

    def guarantee(self, problem: SiteProblem) -> str | None:
        """Return the printed bound: it is about more steps than are taken here, unless they are asked for."""
        if problem.power == 2 or problem.space.is_one_sided:
            return None
        steps, cited = ("k log log n", "Fan, Li and Li, Theorem 4.3") if self.start == "hst" else ("k log n", "Gupta et al.")
        return (
            f"After O({steps}) steps for n points, of which it takes {self.steps}, the cost is at most 6 times the best one plus "
            f"O(k^2 D log^2 n / epsilon) for diameter D; constant not explicit ({cited})."
        )

    def run(self, purse: Purse, problem: SiteProblem, rng: np.random.Generator) -> Result:
        first = self._first(purse, problem, rng)
        found = ask_swaps(purse, problem.space, first, problem.existing, problem.power, self.steps, self.stay)
        return released(purse, problem, found)

    def _first(self, purse: Purse, problem: SiteProblem, rng: np.random.Generator) -> IntArray:
        """Return the sites that the search starts from."""
        space, k = problem.space, problem.k
        if self.start == "hst":
            tree = MetricHST.carved(self.tree, space, rng, self.levels)
            counts = ask_tree(purse, tree, self.levels)
            return search_medoids(space, tree, counts, k, problem.power, problem.existing)
        if self.start == "kmedian++":
            return seed_medoids(Service.of(space, np.ones(space.n_points), problem.power), k, rng, problem.existing)
        return rng.choice(np.setdiff1d(space.candidates, problem.existing), k, replace=False)
