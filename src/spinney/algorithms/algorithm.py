"""What an algorithm is: parts of a budget, and a run over private answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from spinney.algorithms.forecast import Forecast, Preview
from spinney.algorithms.result import Result
from spinney.curators.purse import Purse
from spinney.privacy import Charge, Part


class Algorithm(ABC):
    """A published algorithm: named parts of a budget, from public facts, and a run over a curator's answers."""

    #: What users type.
    name: str
    #: The kind of problem it solves: "points" or "sites".
    solves: ClassVar[str] = "points"
    #: Where rows may be.
    backends: ClassVar[tuple[str, ...]] = ("memory", "parquet", "spark", "cuda")
    #: A method that returns every charge of a problem, in the order of asking, from public facts alone; None: parts say it all.
    plan: ClassVar[Callable[..., tuple[Charge, ...]] | None] = None

    @abstractmethod
    def parts(self, problem: Any) -> tuple[Part, ...]:
        """Return the share and the kind of every question, in the order of asking, from public facts alone."""

    def counts(self, problem: Any) -> bool:
        """Whether it can find out how many clusters there are: nothing it asks before reads k, but as the most there may be."""
        return False

    def forecast(self, problem: Any, preview: Preview, n_guess: int) -> Forecast | None:
        """Return what is known of the last step with `n_guess` rows; None if nothing is known but the plan."""
        return None

    def guarantee(self, problem: Any) -> str | None:
        """Return in a sentence what is proved of the cost, with the theorem: in numbers where a proof page has the constants.

        None says that nothing is proved.
        """
        return None

    def memory(self, problem: Any) -> str | None:
        """Return in a sentence what memory its own work takes at most, from public facts alone; None: little."""
        return None

    def typical_radius(self, problem: Any) -> float:
        """Return what a clipping radius would be about, if rows were spread evenly over the domain: half a cluster's diagonal."""
        return float(problem.domain.half_diagonal * problem.k ** (-1 / problem.n_features))

    @abstractmethod
    def run(self, purse: Purse, problem: Any, rng: np.random.Generator) -> Result:
        """Ask through the purse, by the names of the parts, and return what may be released."""


@dataclass(frozen=True)
class Around(Algorithm):
    """An algorithm that asks something besides what another one asks."""

    inner: Algorithm

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.inner.name

    @property
    def backends(self) -> tuple[str, ...]:  # type: ignore[override]
        return self.inner.backends

    def memory(self, problem: Any) -> str | None:
        return self.inner.memory(problem)
