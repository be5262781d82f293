"""The plan: every question with its charge and its noise, known before any row is read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from spinney._shown import Showable
from spinney.algorithms.algorithm import Algorithm
from spinney.algorithms.forecast import Forecast
from spinney.algorithms.margins import COVER
from spinney.algorithms.problem import PointProblem, Problem, planned
from spinney.privacy import Charge, Measure, Part, Randomness, total_epsilon
from spinney.questions import Summing
from spinney.questions.question import Kind
from spinney.questions.sums import RADIUS_STEPS
from spinney.spaces import Column, FloatArray

#: From this number of columns on, pure noise is much larger than Gaussian noise.
MANY_COLUMNS = 30
#: Most columns whose margins are printed.
SHOWN_COLUMNS = 8


@dataclass(frozen=True)
class Plan(Showable):
    """What a fit will ask and spend. Made from public facts alone; printing it shows a table to sign.

    Parameters
    ----------
    algorithm : Algorithm
    problem : Problem
        Of the algorithm's kind.
    n_guess : int, optional
        A public guess of the number of rows, for the expected errors.
    grouped : bool
        Whether the unit is a group of rows, of which at most the cap count.
    """

    algorithm: Algorithm
    problem: Problem
    n_guess: int | None = None
    grouped: bool = False

    @cached_property
    def charges(self) -> tuple[Charge, ...]:
        """The charges, in the order of asking."""
        return planned(self.algorithm, self.problem)

    @property
    def epsilon(self) -> float:
        """What the charges spend together, at the budget's delta."""
        return float(total_epsilon(self.charges, self.problem.budget.delta))

    @cached_property
    def parts(self) -> dict[str, Part]:
        """The parts by name."""
        return {part.name: part for part in self.algorithm.parts(self.problem)}

    @property
    def guarantee(self) -> str:
        """What is proved of the cost, in a sentence: in numbers where a proof page derives the constants, or that nothing is."""
        return self.algorithm.guarantee(self.problem) or f"No bound on the cost of {self.algorithm.name!r} is proved."

    def noise(self, charge: Charge) -> Any:
        """Return the noise that a charge buys, as the question's kind knows it."""
        return self.parts[charge.name].kind.noise(charge, self.problem.unit)

    def preview(self, kind: Kind, *names: str) -> Any:
        """Return the noise that a question of this kind would have if these charges paid for it together.

        Those in another measure than the last one do not count.
        """
        named = [charge for charge in self.charges if charge.name in names]
        paying = [charge for charge in named if charge.measure is named[-1].measure]
        amount = sum((charge.amount for charge in paying[1:]), start=paying[0].amount)
        return kind.noise(replace(paying[-1], amount=amount), self.problem.unit)

    def forecast(self, n_guess: int) -> Forecast | None:
        """Return what the algorithm knows of its last step with `n_guess` rows; by default the last sum is that step."""
        found = self.algorithm.forecast(self.problem, self.preview, n_guess)
        sums = [charge.name for charge in self.charges if isinstance(self.parts[charge.name].kind, Summing)]
        return found if found is not None or not sums else Forecast((sums[-1],), self.problem.k)

    def _step_noise(self, n_guess: int) -> Any:
        """Return the noise of the last step; None if there is none."""
        found = self.forecast(n_guess)
        return None if found is None else self.preview(self.parts[found.paying[-1]].kind, *found.paying)

    @property
    def expected_size_error(self) -> float:
        """Standard deviation of the noise in each released cluster size, in rows."""
        return float(self.noise([c for c in self.charges if c.question == "counts"][-1]).std)

    def expected_center_error(self, n_guess: int) -> float:
        """Standard deviation of the noise in a coordinate of an average cluster's center, in clipping radii.

        Where no step is taken, the noise of the counts with the largest budget: one cell at that distance moves the center so.
        """
        step, counts = self._step_noise(n_guess), [c for c in self.charges if c.question == "counts"]
        std = self.noise(max(counts, key=lambda charge: charge.amount)).std if step is None else step.vector_std
        return float(std) * self.problem.k / max(n_guess, 1)

    def expected_margins(self, n_guess: int) -> FloatArray | None:
        """Return the 95% margins of an average cluster's center, a column each in the user's units; None if no step is taken.

        As if rows were spread evenly over the bounds: clipping radii follow from the rows, and are smaller where clusters are. Of
        the noise what `expected_center_error` says.
        """
        step = self._step_noise(n_guess)
        if step is None or not isinstance(self.problem, PointProblem):
            return None
        units = np.ones(self.problem.n_features) if self.problem.schema is None else self.problem.schema.units
        noise = step.vectors.quantile(COVER) / RADIUS_STEPS
        return np.asarray(noise * self.algorithm.typical_radius(self.problem) * self.problem.k / max(n_guess, 1) * units)

    def _margins(self, n_guess: int) -> list[str]:
        """Return the expected margins in a line, if columns have names: bounds for all of them may be made up in a plan."""
        margins = self.expected_margins(n_guess)
        if margins is None or not isinstance(self.problem, PointProblem) or self.problem.names is None:
            return []
        schema, names = self.problem.schema, self.problem.names
        facts = [Column(None, "number")] * len(margins) if schema is None else schema.of_titles
        told = [f"{name} +- {fact.shown_margin(one)}" for name, fact, one in zip(names, facts, margins.tolist(), strict=True)]
        more = f" and {len(told) - SHOWN_COLUMNS} more columns" if len(told) > SHOWN_COLUMNS else ""
        return [f"With rows spread evenly over the bounds, 95% margins of its center: {', '.join(told[:SHOWN_COLUMNS])}{more}."]

    def _words(self, charge: Charge) -> str:
        if self.problem.budget.is_infinite:
            return Randomness.NONE
        kind = self.parts[charge.name].kind
        return "" if kind is None else str(kind.words(charge, self.problem.unit))

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The table of the plan, headings first: number, name, question, charge and noise of each charge."""
        each = enumerate(self.charges, start=1)
        return [
            ("#", "name", "question", "charge", "noise (standard deviation)"),
            *((str(i), c.name, c.question, f"{c.measure.value} {float(c.amount):.6g}", self._words(c)) for i, c in each),
        ]

    def _table(self) -> list[str]:
        widths = [max(map(len, column)) for column in zip(*self.rows, strict=True)]
        return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in self.rows]

    def _expected(self, n_guess: int) -> list[str]:
        """Return what to expect of about `n_guess` rows."""
        problem = self.problem
        lines = problem.expected(lambda name: self.noise(next(c for c in self.charges if c.name == name)), n_guess)
        if lines is not None:
            return lines + self._few(n_guess)
        if any(charge.question == "reports" for charge in self.charges):
            std = max(self.noise(charge).std for charge in self.charges if not charge.delta)
            return [f"If there are about {n_guess} users: each count +- {std * max(n_guess, 1) ** 0.5:.3g} users or more."]
        text = f"If there are about {n_guess} rows: each cluster size +- {self.expected_size_error:.3g} rows"
        if any(charge.question == "sums" for charge in self.charges):
            center = self.expected_center_error(n_guess)
            text += f"; each coordinate of an average cluster's center +- {center:.3g} of its clipping radius by the last noise"
        lines = [f"{text}.", *self._margins(n_guess)]
        step = self.forecast(n_guess)
        if step is not None and step.centers < problem.k:
            lines.append(f"Too few for {problem.k} clusters: {step.centers} of their centers would rest on a private step.")
        return lines + self._few(n_guess)

    def _few(self, n_guess: int) -> list[str]:
        """Return a line if `n_guess` rows are few."""
        problem = self.problem
        few = problem.few_rows * problem.unit.max_rows * (2 if problem.unit.replaces else 1)  # noise grows with the unit
        if n_guess * float(problem.budget.epsilon) >= few * problem.k:
            return []
        return [f"That is few: below about {few} / epsilon rows per cluster expect poor {problem.what}."]

    @property
    def title(self) -> str:
        """What is planned, in a line."""
        return f"Plan of {self.problem.title}, algorithm {self.algorithm.name!r}: {self.problem.size}"

    @property
    def promise(self) -> str:
        """What will be promised, in a line."""
        problem = self.problem
        unit = f"group of at most {problem.rows_of_group} counted rows" if self.grouped else "row"
        change = "replace" if problem.unit.replaces else "add or remove"
        return f"Promise: epsilon {float(problem.budget.epsilon):g}, delta {float(problem.budget.delta):g}; {change} one {unit}"

    @property
    def notes(self) -> list[str]:
        """The total, and what to expect."""
        problem = self.problem
        lines = [
            f"Total: epsilon {self.epsilon:.9g} of {float(problem.budget.epsilon):g}"
            if not problem.budget.is_infinite
            else "Total: epsilon inf; NOT PRIVATE"
        ]
        if problem.budget.delta > 0 and all(charge.measure is Measure.PURE and not charge.delta for charge in self.charges):
            lines.append("Delta is not used: here pure noise is smaller, so the release will promise delta 0.")
        if problem.row_times is not None:
            lines.append(f"A row counts by its weight, up to {problem.row_times} times: noise and sizes are in such times.")
        if problem.budget.loose is not None:
            lines.append(" ".join(problem.budget.loose.split()))
        if isinstance(problem, PointProblem) and problem.counted_as is not None:
            lines.append(f"{problem.counted_as.capitalize()}.")
        if self.n_guess is not None:
            lines += self._expected(self.n_guess)
        if self.algorithm.guarantee(problem) is not None:
            lines.append(self.guarantee)
        if (memory := self.algorithm.memory(problem)) is not None:
            lines.append(memory)
        if problem.n_features >= MANY_COLUMNS and problem.budget.delta == 0 and not problem.budget.is_infinite:
            lines.append("Every column adds noise to the centers; with this many columns, a delta such as 1e-6 lowers it much.")
        return lines

    def __str__(self) -> str:
        return "\n".join([self.title, self.promise, "", *self._table(), "", *self.notes])

    __repr__ = __str__
