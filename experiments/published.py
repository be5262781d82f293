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

from spinney.algorithms.algorithm import Algorithm
from spinney.algorithms.local_search import LocalSearch
from spinney.algorithms.problem import SiteProblem, planned
from spinney.algorithms.site_hst import ask_tree
from spinney.curators.demand import DemandBackend
from spinney.curators.gate import Curator
from spinney.curators.purse import Purse
from spinney.mechanisms.source import SeededSource
from spinney.privacy.budget import Budget
from spinney.privacy.charges import Charge, Measure
from spinney.privacy.fit_ledger import FitLedger
from spinney.privacy.pricing import Unit
from spinney.questions.choose import SITE_STEPS, Choose, Sets
from spinney.questions.counts import Counts
from spinney.questions.question import Question
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


class Recorder(Curator):
    """A curator that remembers the sets it was asked to choose from."""

    path: Path | None = None

    def ask(self, question: Question, charge: Charge) -> Any:
        """Answer as the library does."""
        return self._remember(question, super().ask(question, charge))

    def _remember(self, question: Question, answer: Any) -> Any:
        if isinstance(question, Choose) and isinstance(question.options, Sets):
            self.path = Path(question.options.sets, answer)
        return answer


class PrintedCurator(Recorder):
    """A curator that takes the printed noise, whatever a charge says."""

    #: T, on which the printed weights of swaps depend.
    steps = STEPS

    @property
    def _epsilon(self) -> Fraction:
        return Fraction(self.ledger.budget.epsilon)

    def ask(self, question: Question, charge: Charge) -> Any:
        """Choose by weights exp(-eps cost / (4 D (T + 1))); a level of depth l has Laplace noise of scale 2^l / (eps / 2)."""
        if isinstance(question, Choose):
            self.ledger.spend(charge, "choose")
            costs, _ = self._rows.exact(question.options)
            return self._remember(question, self._source.select(-costs, float(4 * (self.steps + 1) * SITE_STEPS / self._epsilon)))
        if not (isinstance(question, Counts) and charge.name.startswith("level")):
            return super().ask(question, charge)
        self.ledger.spend(charge, "counts")
        printed = Charge(charge.name, "counts", Measure.PURE, self._epsilon / 2 / 2 ** int(charge.name.split()[1]))
        return question.answer(self._rows, self.ground, printed, self.unit, self._source)


def printed_epsilon(epsilon: float, levels: int = LEVELS) -> dict[str, float]:
    """Return what the printed algorithm spends: on its tree, on swaps and the choice, and together."""
    tree = epsilon / 2 * sum(2.0**-depth for depth in range(levels + 1))
    return {"tree": tree, "swaps": epsilon / 2, "together": tree + epsilon / 2}


@dataclass(frozen=True)
class SearchOnTree(LocalSearch):
    """Local search that starts on a tree made before, so that runs may share it."""

    made: MetricHST | None = None

    def _first(self, purse: Purse, problem: SiteProblem, rng: Any) -> IntArray:
        if self.start != "hst" or self.made is None:
            return super()._first(purse, problem, rng)
        return search_medoids(problem.space, self.made, ask_tree(purse, self.made, self.levels), problem.k)


def run(
    algorithm: Algorithm,
    space: FiniteMetric,
    rows: IntArray,
    k: int,
    epsilon: float,
    seed: int,
    curator: type[Recorder] = Recorder,
    delta: float = 0.0,
) -> Path:
    """Run an algorithm and return what it visited."""
    existing = np.empty(0, dtype=np.int64)
    problem = SiteProblem(k=k, power=1, space=space, existing=existing, budget=Budget.of(epsilon, delta), unit=Unit())
    public, noise = np.random.SeedSequence(seed).generate_state(2).tolist()
    source = SeededSource(noise)
    backend = DemandBackend(rows, problem.ground, problem.unit, source.key)
    gate = curator(backend, problem.unit, FitLedger(problem.budget, planned(algorithm, problem)), source)
    result = algorithm.run(Purse(gate), problem, np.random.default_rng(public))
    return gate.path or Path((result.centers,), 0)
