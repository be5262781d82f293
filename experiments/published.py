"""DP local search as it is printed, and what it visits on the way. For public data only: exact costs are looked at.

As printed (Algorithms 6 and 7), with L levels, T swaps, the diameter D and epsilon = eps:

- a node of depth l gets Laplace noise of scale 2^l / (eps / 2), so level l spends (eps / 2) 2^-l and all levels from 0 to L
  together (eps / 2)(2 - 2^-L), almost eps instead of eps / 2;
- a swap, and the choice among the T + 1 visited sets, has weights exp(-eps cost / (4 D (T + 1))), and every step must swap.

A start at random or by k-median++ reads no row, and then the printed weights spend eps / 2 in all.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from spinney.algorithms.local_search import LocalSearch
from spinney.algorithms.site_hst import ask_tree
from spinney.algorithms.sites import SiteAlgorithm, SiteProblem
from spinney.curators.desk import COUNTING, CountAnswer
from spinney.curators.options import Sets, Swaps
from spinney.curators.partitions import Labels
from spinney.curators.sites import COST_STEPS, SiteCurator
from spinney.mechanisms.source import SeededSource
from spinney.privacy.budget import Budget
from spinney.privacy.charges import Charge, Measure
from spinney.privacy.ledger import FitLedger
from spinney.privacy.pricing import Unit
from spinney.solvers.tree_search import search_medoids
from spinney.spaces.metric import FiniteMetric, IntArray
from spinney.trees.metric_hst import MetricHST

__all__ = ["LEVELS", "STEPS", "Path", "PrintedCurator", "Recorder", "SearchOnTree", "printed_epsilon", "run"]

#: The papers' numbers of swaps, and of levels of a private tree.
STEPS, LEVELS = 20, 8


@dataclass(frozen=True)
class Path:
    """The sets that a search visited, and the place of the one it released; other algorithms visit one."""

    visited: tuple[IntArray, ...]
    chosen: int


class Recorder(SiteCurator):
    """A curator that remembers the sets it was asked to choose from."""

    path: Path | None = None

    def choose(self, options: Swaps | Sets, charge: Charge) -> int:
        """Answer as the library does."""
        return self._remember(options, super().choose(options, charge))

    def _remember(self, options: Swaps | Sets, option: int) -> int:
        if isinstance(options, Sets):
            self.path = Path(options.sets, option)
        return option


class PrintedCurator(Recorder):
    """A curator that takes the printed noise, whatever a charge says."""

    @property
    def _epsilon(self) -> Fraction:
        return Fraction(self.ledger.budget.epsilon)

    def choose(self, options: Swaps | Sets, charge: Charge) -> int:
        """Answer with weights exp(-eps cost / (4 D (T + 1)))."""
        self._open("choose", charge)
        costs, _ = self._swap_costs(options) if isinstance(options, Swaps) else self._set_costs(options)
        return self._remember(options, self._source.select(-costs, float(4 * (STEPS + 1) * COST_STEPS / self._epsilon)))

    def counts(self, partition: Labels, charge: Charge) -> CountAnswer:
        """Answer a level of depth l with Laplace noise of scale 2^l / (eps / 2)."""
        if not charge.name.startswith("level"):
            return super().counts(partition, charge)
        self._open("counts", charge)
        exact = np.bincount(partition.labels, self._counts, partition.n_cells).astype(np.int64)
        amount = self._epsilon / 2 / 2 ** int(charge.name.split()[1])
        return self._count(exact, COUNTING, Charge(charge.name, "counts", Measure.PURE, amount))


def printed_epsilon(epsilon: float, levels: int = LEVELS) -> dict[str, float]:
    """Return what the printed algorithm spends: on its tree, on swaps and the choice, and together."""
    tree = epsilon / 2 * sum(2.0**-depth for depth in range(levels + 1))
    return {"tree": tree, "swaps": epsilon / 2, "together": tree + epsilon / 2}


@dataclass(frozen=True)
class SearchOnTree(LocalSearch):
    """Local search that starts on a tree made before, so that runs may share it."""

    tree: MetricHST | None = None

    def _first(self, curator: SiteCurator, problem: SiteProblem, charges: tuple[Charge, ...], rng: Any) -> IntArray:
        if self.start != "hst" or self.tree is None:
            return super()._first(curator, problem, charges, rng)
        return search_medoids(problem.space, self.tree, ask_tree(curator, self.tree, charges), problem.k)


def run(
    algorithm: SiteAlgorithm,
    space: FiniteMetric,
    rows: IntArray,
    k: int,
    epsilon: float,
    seed: int,
    curator: type[Recorder] = Recorder,
) -> Path:
    """Run an algorithm and return what it visited."""
    problem = SiteProblem(k, 1, space, np.empty(0, dtype=np.int64), Budget.of(epsilon), Unit())
    charges = algorithm.plan(problem)
    public, noise = np.random.SeedSequence(seed).generate_state(2).tolist()
    desk = curator(rows, space, problem.unit, FitLedger(problem.budget, charges), SeededSource(noise))
    result = algorithm.run(desk, problem, charges, np.random.default_rng(public))
    return desk.path or Path((result.medoids,), 0)
