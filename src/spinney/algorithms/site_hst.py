"""DP-HST: sites by tree search on noisy counts of a random 2-HST (Fan, Li and Li, Algorithm 6).

Letters: k sites, L levels, eps the budget's epsilon, N(v) the noisy count of a node v, h its height above the last level.

1. A public random 2-HST of all points, L levels deep.
2. ``level l``   N(v) of all nodes of depth l, for l = 1 .. L. A leaf above depth l is counted again among the cells of depth l.
3. Free: k disjoint subtrees with the highest N(v) 2^h, and in each the leaf reached by always following the largest count.
4. ``sizes``     noisy sizes of the chosen sites' cells.

As printed, level h gets a share eps 2^(h - L) and the shares add up to almost 2 eps; here they are normalized over the levels
that are released. The root is not released: it holds every row and no choice depends on it. The printed allocation makes the
noise of the last level as large as 2^L / eps rows; ``allocation="uniform"`` gives every level the same.

Proof: ``proofs/site_hst.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from spinney.algorithms.problem import SiteProblem
from spinney.algorithms.result import Result
from spinney.algorithms.sites import SIZES, SiteAlgorithm, check_both_ways, released
from spinney.constraints import check, integer, one_of
from spinney.curators.purse import Purse
from spinney.privacy import Part
from spinney.questions import Counting, Counts, Labels
from spinney.solvers.tree_search import search_medoids
from spinney.spaces import FloatArray
from spinney.trees.metric_hst import KINDS, MetricHST


def level_parts(share: Fraction, levels: int, allocation: str) -> tuple[Part, ...]:
    """Return the questions about a tree, which spend this share of epsilon: one per depth from 1 on."""
    weights = [Fraction(1, 2**depth) if allocation == "geometric" else Fraction(1) for depth in range(1, levels + 1)]
    return tuple(Counting().part(f"level {i}", share * w / sum(weights)) for i, w in enumerate(weights, start=1))


def ask_tree(purse: Purse, tree: MetricHST, levels: int) -> FloatArray:
    """Return noisy counts of all nodes, one question per depth; a leaf has the count of its own depth."""
    counts = np.zeros(len(tree))
    place = np.empty(len(tree.order), dtype=np.int64)
    for depth in range(1, levels + 1):
        nodes = tree.cells(min(depth, tree.levels))
        nodes = nodes[np.argsort(tree.start[nodes])]
        place[tree.order] = np.repeat(np.arange(len(nodes)), tree.stop[nodes] - tree.start[nodes])
        answer = purse.ask(f"level {depth}", Counts(Labels(place, len(nodes))))
        own = tree.depth[nodes] == depth
        counts[nodes[own]] = answer.private_counts[own]
    counts[0] = counts[tree.depth == 1].sum()
    return counts


@dataclass(frozen=True)
class SiteHST(SiteAlgorithm):
    """Sites by tree search on noisy counts of a random 2-HST.

    Parameters
    ----------
    levels : int
        The depth of the tree.
    allocation : {"geometric", "uniform"}
        How epsilon is shared among levels: halved from each to the next, as published, or evenly.
    tree : {"frt", "printed"}
        How cells are carved: with one order of the points and one factor for all of them (Fakcharoenphol, Rao and Talwar), for
        which the distortion is proved, or with a new order in each cell, as Algorithm 3 is printed.
    """

    levels: int = 8
    allocation: str = "geometric"
    tree: str = "frt"

    name = "hst"

    def __post_init__(self) -> None:
        lawful = {
            "levels": integer(1, "8 is the published choice.", 64),
            "allocation": one_of(("geometric", "uniform"), "'geometric' is the published choice."),
            "tree": one_of(KINDS, "'frt' has a proved distortion, 'printed' is the published choice."),
        }
        check("SiteHST", vars(self), lawful)

    def parts(self, problem: SiteProblem) -> tuple[Part, ...]:
        check_both_ways(problem.space, "The algorithm 'hst'")
        return (*level_parts(1 - SIZES, self.levels, self.allocation), Counting().part("sizes", SIZES))

    def guarantee(self, problem: SiteProblem) -> str | None:
        """Return the printed bound of the k-median: its proof has no constants."""
        if problem.power == 2:
            return None
        return (
            "The expected cost is O(log n) times the sum of the best one and k D log n / epsilon, for n points, diameter D and "
            "as many levels as scales of distances; constant not explicit (Fan, Li and Li, Theorem 4.2)."
        )

    def run(self, purse: Purse, problem: SiteProblem, rng: np.random.Generator) -> Result:
        tree = MetricHST.carved(self.tree, problem.space, rng, self.levels)
        counts = ask_tree(purse, tree, self.levels)
        return released(purse, problem, search_medoids(problem.space, tree, counts, problem.k, problem.power, problem.existing))
