"""How the default stands among all algorithms: the tables of docs/utility.md."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

from benchmarks.cells import Cell, suites
from benchmarks.pages import markdown
from benchmarks.store import Store, standard_error

DEFAULT, NAME = "auto", "lead"
#: What must hold: within this of the lowest mean, or two standard errors, in this share of cells, never further than the last.
CLOSE, SHARE, FAR = 0.01, 0.95, 0.03
#: The default and the winner must have run so often.
LEAST_RUNS, ALL_RUNS = 3, 10
OBJECTIVES = {2: "k-means", 1: "k-median"}


@dataclass(frozen=True)
class Verdict:
    """How the default stands in one cell: the method with the lowest mean, the default's mean over it, that one's error."""

    cell: Cell
    winner: str
    excess: float
    error: float
    is_clear: bool
    repetitions: int

    @property
    def is_close(self) -> bool:
        """Whether the default is within 1%, or two standard errors of the lowest mean."""
        return self.excess <= max(CLOSE, 2 * self.error)

    @property
    def is_far(self) -> bool:
        """Whether the default is more than 3% above."""
        return self.excess > FAR


def judge(found: dict[Cell, list[float]]) -> Verdict | None:
    """Return how the default, the first cell, stands; None where one has not run, or it or the winner not three times."""
    if not all(found.values()):
        return None
    first, *_ = found
    winner = min(found, key=lambda cell: float(np.mean(found[cell])))
    repetitions = min(len(found[first]), len(found[winner]))
    if repetitions < LEAST_RUNS:
        return None
    least = float(np.mean(found[winner]))
    own, other = (standard_error(found[cell]) / least for cell in (first, winner))
    excess = float(np.mean(found[first])) / least - 1
    is_clear = winner != first and excess > 2 * math.hypot(own, other)
    return Verdict(first, winner.algorithm, excess, other, is_clear, repetitions)


def _firsts() -> list[Cell]:
    return [cell for cell in suites()[NAME].cells if cell.algorithm == DEFAULT]


def ratios(store: Store, cell: Cell) -> dict[Cell, list[float]]:
    """Return the ratios of every algorithm in a cell."""
    return {one: store.ratios(NAME, one) for one in suites()[NAME].rivals(cell)}


def verdicts(store: Store) -> list[Verdict]:
    """Return all verdicts that can be given."""
    return [found for cell in _firsts() if (found := judge(ratios(store, cell)))]


def misses(store: Store) -> list[Verdict]:
    """Return the cells that miss the bar, the worst first."""
    return sorted((one for one in verdicts(store) if one.is_far or not one.is_close), key=lambda one: -one.excess)


def bar_text(store: Store) -> str:
    """Return whether the bar holds, and how many cells were measured."""
    found, cells = verdicts(store), len(_firsts())
    close, far = sum(one.is_close for one in found), [one for one in found if one.is_far]
    full = sum(one.repetitions >= ALL_RUNS for one in found)
    won, clear = sum(one.winner == DEFAULT for one in found), sum(one.is_clear for one in found)
    holds = len(found) > 0 and close >= SHARE * len(found) and not far
    share = f"{close / max(len(found), 1):.1%}"
    lines = [
        ["cells that were measured", f"{len(found)} of {cells}", "all"],
        [f"of them with {ALL_RUNS} repetitions", str(full), "all"],
        ["the default has the lowest mean", str(won), ""],
        [f"the default is within {CLOSE:.0%} or two standard errors of the lowest mean", share, f"{SHARE:.0%}"],
        [f"the default is more than {FAR:.0%} above the lowest mean", str(len(far)), "none"],
        ["the default loses clearly", str(clear), ""],
    ]  # fmt: skip
    said = "The bar holds in these cells." if holds else "The bar does not hold."
    return markdown(["what", "measured", "must be"], lines) + f"\n\n**{said}**"


def lead_table(store: Store) -> str:
    """Return the default's cost over the best plain cost, and the best other method's in brackets, for each cell."""
    lines: dict[tuple[str, ...], list[str]] = {}
    for cell in sorted(_firsts(), key=lambda cell: -cell.power):
        lines.setdefault((cell.table, OBJECTIVES[cell.power], str(cell.k)), []).append(_entry(store, cell))
    tables = list(dict.fromkeys(cell.table for cell in _firsts()))
    epsilons = dict.fromkeys(f"epsilon {cell.epsilon:g}" for cell in _firsts())
    rows = sorted(lines, key=lambda row: tables.index(row[0]))
    return markdown(["data", "objective", "k", *epsilons], [[*row, *lines[row]] for row in rows])


def _entry(store: Store, cell: Cell) -> str:
    found = ratios(store, cell)
    verdict = judge(found)
    if verdict is None:
        return "not run"
    other = min((one for one in found if one != cell), key=lambda one: float(np.mean(found[one])))
    text = f"{np.mean(found[cell]):.3f} ({other.algorithm} {np.mean(found[other]):.3f})"
    return text if verdict.is_close and not verdict.is_far else f"**{text}**"


def method_table(store: Store) -> str:
    """Return each method's cost over the default's, geometric mean over the cells of a set, and in how many it is lower."""
    tables = dict.fromkeys(cell.table for cell in _firsts())
    lines: dict[str, dict[str, list[float]]] = {}
    for cell in _firsts():
        for one, found in ratios(store, cell).items():
            if one != cell and found:
                ratio = float(np.mean(found)) / store.mean(NAME, cell)
                lines.setdefault(one.algorithm, {}).setdefault(cell.table, []).append(ratio)

    def entry(found: list[float] | None) -> str:
        if not found:
            return ""
        return f"{math.exp(float(np.mean(np.log(found)))):.2f} ({sum(one < 1 for one in found)} of {len(found)})"

    return markdown(["method", *tables], [[f"`{name}`", *(entry(own.get(one)) for one in tables)] for name, own in lines.items()])


def winners(store: Store) -> str:
    """Return which methods win where the bar is missed, and how often."""
    return ", ".join(f"`{name}` {n}" for name, n in Counter(one.winner for one in misses(store)).most_common()) or "none"


def loss_table(store: Store) -> str:
    """Return the cells that miss the bar: who wins there, by how much."""
    lines = [
        [
            *(one.cell.table, OBJECTIVES[one.cell.power], str(one.cell.k), f"{one.cell.epsilon:g}"), f"`{one.winner}`",
            f"{one.excess:.1%}", f"{one.error:.1%}", "yes" if one.is_clear else "no", str(one.repetitions),
        ]
        for one in misses(store)
    ]  # fmt: skip
    head = ["data", "objective", "k", "epsilon", "winner", "default above it", "its standard error", "clear", "repetitions"]
    return markdown(head, lines)
