"""Cells as data: what is measured, from ``benchmarks/cells.toml``.

A suite has the fields of a cell, each a value or a list of values, and lines that say them anew: a line is the product of its
lists. ``bar`` is what the mean of its first algorithm must not be above, one for all or one for each epsilon.
"""

from __future__ import annotations

import itertools
import math
import tomllib
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

PATH = Path(__file__).parent / "cells.toml"


@dataclass(frozen=True)
class Cell:
    """One table and budget, and what is run there."""

    table: str
    k: int
    epsilon: float
    delta: float
    power: int
    algorithm: str = "auto"

    @property
    def title(self) -> str:
        """As `benchmarks.compare` names it, whatever runs there."""
        return f"{self.table}, k {self.k}, epsilon {self.epsilon:g}, delta {self.delta:g}, power {self.power}"


FIELDS = tuple(field.name for field in fields(Cell))


@dataclass(frozen=True)
class Suite:
    """Cells that belong together: how they are measured, how often, and what must hold."""

    name: str
    what: str
    runs: dict[Cell, int]
    bars: dict[Cell, float]
    measure: str
    #: The number of the first run, which seeds public draws.
    first: int
    #: Whether noise has a seed too, so that algorithms are compared run by run.
    is_paired: bool
    #: Runs of a cell whose mean is within two standard errors of its bar.
    more: int
    #: How near to the lowest mean of a cell an algorithm must be for how many runs, step by step; empty: all run alike.
    race: tuple[tuple[float, int], ...]

    @property
    def cells(self) -> tuple[Cell, ...]:
        """All cells, in order."""
        return tuple(self.runs)

    def rivals(self, cell: Cell) -> list[Cell]:
        """Return all cells that are like one but for the algorithm."""
        return [one for one in self.runs if (*_facts(one)[:-1],) == (*_facts(cell)[:-1],)]


def _facts(cell: Cell) -> tuple[Any, ...]:
    return tuple(getattr(cell, name) for name in FIELDS)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _suite(name: str, own: dict[str, Any]) -> Suite:
    runs: dict[Cell, int] = {}
    bars: dict[Cell, float] = {}
    defaults = {"delta": 0.0, "power": 2, "algorithm": "auto", "runs": 10, "bar": math.inf}
    for line in own.get("lines", [{}]):
        said = defaults | own | line
        if "tables" in said:  # numbered ones, from the first to before the last
            title, first, last = said["tables"]
            said["table"] = [f"{title} {number}" for number in range(first, last)]
        epsilons, algorithms = _list(said["epsilon"]), _list(said["algorithm"])
        barred = dict(zip(epsilons, _list(said["bar"]) * (1 if isinstance(said["bar"], list) else len(epsilons)), strict=True))
        for values in itertools.product(*(_list(said[field]) for field in FIELDS)):
            cell = Cell(*values)
            runs[cell] = said["runs"] if isinstance(said["runs"], int) else said["runs"].get(cell.algorithm, 10)
            if cell.algorithm == algorithms[0] and math.isfinite(barred[cell.epsilon]):
                bars[cell] = barred[cell.epsilon]
    race = tuple((float(within), int(most)) for within, most in own.get("race", ()))
    return Suite(
        name, own["what"], runs, bars, own.get("measure", "cost"), own.get("first", 0), own.get("paired", False),
        own.get("more", 0), race,
    )  # fmt: skip


@cache
def suites() -> dict[str, Suite]:
    """Return all suites by name."""
    return {name: _suite(name, own) for name, own in tomllib.loads(PATH.read_text()).items()}
