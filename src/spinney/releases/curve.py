"""The estimated cost of each number of clusters, as a release tells it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spinney._shown import Showable, offered


@dataclass(frozen=True)
class CostCurve(Showable):
    """Estimated costs of the best found centers for each number of clusters, and the number that was chosen, if one was."""

    objective: str
    clusters: tuple[int, ...]
    costs: tuple[float, ...]
    statement: str = ""
    chosen: int | None = None

    def __str__(self) -> str:
        first = max(self.costs[0], 1e-300)
        lines = ["  k   cost / cost of one cluster"]
        for k, cost in zip(self.clusters, self.costs, strict=True):
            lines.append(f"{k:3d}   {cost / first:6.4f} {'#' * round(50 * cost / first)}{' <- chosen' * (k == self.chosen)}")
        return "\n".join(lines)

    def plot(self) -> Any:
        """Draw the curve with matplotlib and return the axes; notebooks show them."""
        return offered("plot")(self)
