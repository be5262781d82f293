"""The plan: every question with its charge and its noise, known before any row is read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from spinney.algorithms.problem import Algorithm, Problem
from spinney.curators.base import step_noise
from spinney.mechanisms.additive import Sensitivity, calibrate
from spinney.mechanisms.selection import selection_epsilon
from spinney.mechanisms.splitting import split_rule
from spinney.privacy.charges import Charge, Measure
from spinney.privacy.composition import Part, total_epsilon

if TYPE_CHECKING:  # so that clustering points does not load what only sites need
    from spinney.algorithms.sites import SiteAlgorithm, SiteProblem

__all__ = ["Plan"]

#: From so many columns on, pure noise is much larger than Gaussian noise.
MANY_COLUMNS = 30


@dataclass(frozen=True)
class Plan:
    """What a fit will ask and spend. Made from public facts alone; printing it shows a table to sign.

    Parameters
    ----------
    algorithm : Algorithm or SiteAlgorithm
    problem : Problem or SiteProblem
        Of the algorithm's kind.
    n_guess : int, optional
        A public guess of the number of rows, for the expected errors.
    grouped : bool
        Whether the unit is a group of rows, of which at most the cap count.
    """

    algorithm: Algorithm | SiteAlgorithm
    problem: Problem | SiteProblem
    n_guess: int | None = None
    grouped: bool = False

    @cached_property
    def charges(self) -> tuple[Charge, ...]:
        """The charges, in the order of asking."""
        plan: Any = self.algorithm.plan
        charges: tuple[Charge, ...] = plan(self.problem)
        return charges

    @property
    def epsilon(self) -> float:
        """What the charges spend together, at the budget's delta."""
        return float(total_epsilon(self.charges, self.problem.budget.delta))

    def _part(self, charge: Charge) -> Part:
        parts: Any = self.algorithm.parts
        named: dict[str, Part] = {part.name: part for part in parts(self.problem)}
        return named[charge.name]

    def count_std(self, charge: Charge) -> float:
        """Standard deviation, in rows, of each count paid for by this charge."""
        part = self._part(charge)
        sensitivity = Sensitivity(round(part.l1), round(part.l2**2))
        return calibrate(sensitivity, self.problem.unit.count_price(charge)).std

    def vector_std(self, charge: Charge) -> float:
        """Standard deviation, in clipping radii, of each coordinate of a sum paid for by this charge."""
        problem = self.problem
        assert isinstance(problem, Problem), "only points have sums"
        return step_noise(problem.unit, self._part(charge).kernel or problem.kernel, problem.n_features, charge).vector_std

    @property
    def expected_size_error(self) -> float:
        """Standard deviation of the noise in each released cluster size, in rows."""
        return self.count_std([c for c in self.charges if c.question == "counts"][-1])

    def expected_center_error(self, n_guess: int) -> float:
        """Standard deviation of the noise in a coordinate of an average cluster's center, in clipping radii."""
        steps = [c for c in self.charges if c.question == "sums"]
        return self.vector_std(steps[-1]) * self.problem.k / max(n_guess, 1)

    def _noise(self, charge: Charge) -> str:
        if self.problem.budget.is_infinite:
            return "none: not private"
        if charge.question in ("counts", "levels"):
            return f"each count +- {self.count_std(charge):.3g} rows"
        if charge.question == "sums":
            return f"each coordinate of a sum +- {self.vector_std(charge):.3g} clipping radii"
        if charge.question == "choose":
            scale = 1 / float(selection_epsilon(self.problem.unit.value_price(charge)))
            return f"a choice, Gumbel scale {scale:.3g} of one row's range"
        if charge.question == "cover":
            return f"choices that lean toward uncovered rows; delta {float(charge.delta):.3g} of its own"
        rule = split_rule(self.problem.unit.tree_price(charge), self.problem.unit.replaces)
        return f"split decisions, Laplace scale {rule.scale / rule.steps_per_row:.3g} rows"

    def __str__(self) -> str:
        problem = self.problem
        objective, size = problem.described.split("|")
        unit = f"group of at most {problem.unit.max_rows} counted rows" if self.grouped else "row"
        change = "replace" if problem.unit.replaces else "add or remove"
        head = ("#", "name", "question", "charge", "noise (standard deviation)")
        rows = [
            (str(i), c.name, c.question, f"{c.measure.value} {float(c.amount):.6g}", self._noise(c))
            for i, c in enumerate(self.charges, start=1)
        ]
        widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]
        table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in (head, *rows)]
        lines = [
            f"Plan of {objective}, algorithm {self.algorithm.name!r}: {size}",
            f"Promise: epsilon {float(problem.budget.epsilon):g}, delta {float(problem.budget.delta):g}; {change} one {unit}",
            "",
            *table,
            "",
            f"Total: epsilon {self.epsilon:.9g} of {float(problem.budget.epsilon):g}"
            if not problem.budget.is_infinite
            else "Total: epsilon inf; NOT PRIVATE",
        ]
        if problem.budget.delta > 0 and all(charge.measure is Measure.PURE and not charge.delta for charge in self.charges):
            lines.append("Delta is not used: here pure noise is smaller, so the release will promise delta 0.")
        if self.n_guess is not None:
            expected = f"If there are about {self.n_guess} rows: each cluster size +- {self.expected_size_error:.3g} rows"
            if any(charge.question == "sums" for charge in self.charges):
                center = self.expected_center_error(self.n_guess)
                expected += (
                    f"; each coordinate of an average cluster's center +- {center:.3g} of its clipping radius by the last noise"
                )
            lines.append(f"{expected}.")
            few = problem.few_rows * problem.unit.max_rows * (2 if problem.unit.replaces else 1)  # noise grows with the unit
            if self.n_guess * float(problem.budget.epsilon) < few * problem.k:
                lines.append(f"That is few: below about {few} / epsilon rows per cluster expect poor {problem.what}.")
        if problem.n_features >= MANY_COLUMNS and problem.budget.delta == 0 and not problem.budget.is_infinite:
            lines.append("Every column adds noise to the centers: with so many, a delta such as 1e-6 lowers it much.")
        return "\n".join(lines)

    __repr__ = __str__
