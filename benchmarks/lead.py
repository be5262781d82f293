"""The default against every other algorithm on every shared set: ``python -m benchmarks.lead`` (SPINNEY_DATA set).

Writes ``benchmarks/results/lead``, a file for each set, and the page ``docs/utility.md``. Parts: ``runs`` and ``page``, both by
default. What is in the files already is not run again; ``--data`` names some sets only. It is a race: every method runs once in a
cell, those within 1.25 times the lowest mean 3 times, and those within 1.1 times up to ``--repetitions`` (10).
"""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from benchmarks.compare import standard_error
from benchmarks.grid import DEFAULT, METHODS, OBJECTIVES, PLAIN, PLAIN_STARTS, PUBLISHED, Cell, Runs, cells_of, fill, plain_cells
from benchmarks.tables import RESULTS, into_page, markdown

FOLDER, PAGE = RESULTS / "lead", "docs/utility.md"
#: Those that run fast come first.
SETS = ("s1", "digits", "adult", "shuttle", "uk_accidents", "skin", "covtype", "mnist_test10k")
KS, EPSILONS = (5, 10, 20), (0.25, 0.5, 1.0, 2.0)
#: How near to the lowest mean one must be for how many runs; the last ones run as often as the command line says.
RACE = ((math.inf, 1), (1.25, 3), (1.1, math.inf))
#: What must hold: the default within so much of the lowest mean, or two standard errors, in so many cells, and nowhere above.
CLOSE, SHARE, FAR = 0.01, 0.95, 0.03
#: What the default is: moments with many columns, tree elsewhere. The same algorithm is not compared with itself.
MANY_COLUMNS = ("digits", "mnist_test10k")
#: Blocks of 784 columns take half a minute a fit, and cost three times as much as the default.
LEFT_OUT = {("mnist_test10k", "sample-aggregate")}


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


def rivals(cell: Cell) -> list[str]:
    """Return the methods that are compared on a data set."""
    same = "moments" if cell.data in MANY_COLUMNS else "tree"
    return [method for method in METHODS if method not in (same, PUBLISHED) and (cell.data, method) not in LEFT_OUT]


def judge(runs: Runs, cell: Cell) -> Verdict | None:
    """Return how the default stands; None where a method has not run, or the default and the winner not three times."""
    found = runs.of(cell)
    if any(method not in found for method in rivals(cell)):
        return None
    winner = min(found, key=lambda method: float(np.mean(found[method])))
    if min(len(found[DEFAULT]), len(found[winner])) < RACE[1][1]:
        return None
    least = float(np.mean(found[winner]))
    own, other = (standard_error(found[method]) / least for method in (DEFAULT, winner))
    excess = float(np.mean(found[DEFAULT])) / least - 1
    clear = winner != DEFAULT and excess > 2 * math.hypot(own, other)
    return Verdict(cell, winner, excess, other, clear, min(len(found[DEFAULT]), len(found[winner])))


def verdicts(runs: Runs) -> list[Verdict]:
    """Return all verdicts that can be given."""
    return [found for cell in cells_of(SETS, OBJECTIVES, KS, EPSILONS) if (found := judge(runs, cell))]


def bar_text(found: list[Verdict], repetitions: int = 10) -> str:
    """Return whether the bar holds, and how many cells were measured."""
    close, far = sum(one.is_close for one in found), [one for one in found if one.is_far]
    full = sum(one.repetitions >= repetitions for one in found)
    won, clear = sum(one.winner == DEFAULT for one in found), sum(one.is_clear for one in found)
    holds = len(found) > 0 and close >= SHARE * len(found) and not far
    cells = len(SETS) * len(OBJECTIVES) * len(KS) * len(EPSILONS)
    share = f"{close / max(len(found), 1):.1%}"
    lines = [
        ["cells that were measured", f"{len(found)} of {cells}", "all"],
        [f"of them with {repetitions} repetitions", str(full), "all"],
        ["the default has the lowest mean", str(won), ""],
        [f"the default is within {CLOSE:.0%} or two standard errors of the lowest mean", share, f"{SHARE:.0%}"],
        [f"the default is more than {FAR:.0%} above the lowest mean", str(len(far)), "none"],
        ["the default loses clearly", str(clear), ""],
    ]  # fmt: skip
    said = "The bar holds in these cells." if holds else "The bar does not hold."
    return markdown(["what", "measured", "must be"], lines) + f"\n\n**{said}**"


def lead_table(runs: Runs) -> str:
    """Return the default's cost over the best plain cost, and the best other method's in brackets, for each cell."""
    lines = []
    for data in SETS:
        for objective in OBJECTIVES:
            for k in KS:
                cells = [Cell(data, objective, k, epsilon) for epsilon in EPSILONS]
                if any(runs.of(cell) for cell in cells):
                    lines.append([data, objective, str(k), *(_entry(runs, cell) for cell in cells)])
    return markdown(["data", "objective", "k", *(f"epsilon {epsilon:g}" for epsilon in EPSILONS)], lines)


def _entry(runs: Runs, cell: Cell) -> str:
    verdict, plain = judge(runs, cell), runs.plain(cell)
    if verdict is None:
        return "not run"
    found = runs.of(cell)
    ours = float(np.mean(found[DEFAULT])) / plain
    other = min((method for method in found if method != DEFAULT), key=lambda method: float(np.mean(found[method])))
    text = f"{ours:.3f} ({other} {float(np.mean(found[other])) / plain:.3f})"
    return text if verdict.is_close and not verdict.is_far else f"**{text}**"


def method_table(runs: Runs) -> str:
    """Return each method's cost over the default's, geometric mean over the cells of a data set, and in how many it is lower."""
    lines = []
    for method in (one for one in METHODS if one != PUBLISHED):
        line = [f"`{method}`"]
        for data in SETS:
            ratios = []
            for cell in cells_of([data], OBJECTIVES, KS, EPSILONS):
                found = runs.of(cell)
                if DEFAULT in found and method in found:
                    ratios.append(float(np.mean(found[method]) / np.mean(found[DEFAULT])))
            lower = sum(ratio < 1 for ratio in ratios)
            line.append(f"{float(np.exp(np.mean(np.log(ratios)))):.2f} ({lower} of {len(ratios)})" if ratios else "")
        if method != DEFAULT:
            lines.append(line)
    return markdown(["method", *SETS], lines)


def loss_table(found: list[Verdict]) -> str:
    """Return the cells that miss the bar: who wins there, by how much."""
    lines = [
        [
            *(str(one.cell.data), one.cell.objective, str(one.cell.k), f"{one.cell.epsilon:g}"), f"`{one.winner}`",
            f"{one.excess:.1%}", f"{one.error:.1%}", "yes" if one.is_clear else "no", str(one.repetitions),
        ]
        for one in sorted(found, key=lambda one: -one.excess)
        if one.is_far or not one.is_close
    ]  # fmt: skip
    head = ["data", "objective", "k", "epsilon", "winner", "default above it", "its standard error", "clear", "repetitions"]
    return markdown(head, lines)


def write_page(runs: Runs, page: str = PAGE) -> None:
    """Put tables into the page."""
    found = verdicts(runs)
    winners = Counter(one.winner for one in found if one.is_far or not one.is_close)
    into_page("bar", bar_text(found), page)
    into_page("methods", method_table(runs), page)
    into_page("winners", ", ".join(f"`{name}` {n}" for name, n in winners.most_common()) or "none", page)
    into_page("losses", loss_table(found), page)
    into_page("lead", lead_table(runs), page)


def run(runs: Runs, data: Iterable[str], repetitions: int, losses: bool = False) -> None:
    """Run what is missing on some sets: plain solutions, every method once, then those that may win; or cells of losses alone."""
    cells = cells_of(data, OBJECTIVES, KS, EPSILONS)
    if losses:
        cells = [cell for cell in cells if (found := judge(runs, cell)) and (found.is_far or not found.is_close)]
    fill(runs, plain_cells(cells), lambda cell: [PLAIN], PLAIN_STARTS)
    fill(runs, cells, rivals, 1)
    for within, most in RACE[1:]:
        fill(runs, cells, lambda cell, within=within: runs.near(cell, within), int(min(most, repetitions)))


def main() -> None:
    """Run the parts named on the command line, or both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["runs", "page"], help="runs, page")
    parser.add_argument("--data", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument(
        "--losses", action="store_true", help="run cells that miss the bar alone: more repetitions may say otherwise"
    )
    chosen = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for data in chosen.data if "runs" in chosen.parts else ():
        run(Runs.read(FOLDER / f"{data}.csv"), [data], chosen.repetitions, chosen.losses)
    runs = Runs.read(*(FOLDER / f"{data}.csv" for data in SETS))
    if "page" in chosen.parts:
        write_page(runs)
    print(bar_text(verdicts(runs)))


if __name__ == "__main__":
    main()
