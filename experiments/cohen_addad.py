"""The experiments of Cohen-Addad et al. 2022 on k-median, repeated: ``python -m experiments.cohen_addad`` (SPINNEY_DATA set).

Writes a table of runs for each data set and the figures into ``experiments/results/cohen_addad``, and verdicts into the page
``experiments/cohen_addad.md``. Parts: ``runs`` and ``page``, by default both. Runs are pieces, the cheap ones first; what is in
the tables already is not run again, and the page says what was not run. ``--data`` names some sets, ``--epsilons`` and
``--methods`` some cells only, ``--repetitions`` how many runs a cell gets (10; the full protocol takes days on one core).
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import higgs_part, load
from benchmarks.pages import into_page, markdown
from benchmarks.scale import HIGGS_ROWS as ROWS
from benchmarks.store import standard_error
from experiments.cohen_addad_figures import draw_costs, draw_leaves, leaf_distances
from experiments.grid import DEFAULT, METHODS, PAPER_PLAIN, PLAIN, PUBLISHED, Cell, Runs, cells_of, fill, plain_cells

__all__ = ["CLAIMS", "SETS", "Claim", "main", "write_page"]

RESULTS = Path(__file__).parent / "results" / "cohen_addad"
PAGE = "experiments/cohen_addad.md"
#: What users type, and the paper's names with rows and columns here.
SETS = {
    "s1": "SYNTHETIC 5,000 x 2",
    "skin": "SKYNTYPE 245,057 x 3",
    "shuttle": "SHUTTLE 58,000 x 9",
    "covtype54": "COVERTYPE 581,012 x 54",
    "higgs": "HIGGS 11,000,000 x 28",
}
KS, EPSILONS = (5, 10, 20, 30, 40), (0.25, 0.5, 1.0)
#: The epsilon of Figures 2 and 3.
SHOWN = 0.5
#: What runs on each set: everything, but on the two large ones what the paper runs, and the default.
LARGE = (DEFAULT, "stable", "hst", PUBLISHED, "hst, projected", "lsh", "k-variates")
#: The paper's algorithm in its own variants, and the name of the best of them on a set: with the least mean cost over all cells.
VARIANTS, BEST = ("hst", PUBLISHED, "hst, projected"), "the paper's best tree"
PRIVATE = tuple(method for method in METHODS if method not in ("tree", "hst, repaired"))  # the default, and one for k-means alone


def methods_of(data: str) -> tuple[str, ...]:
    """Return the private methods that are run on a set."""
    return LARGE if data in ("covtype54", "higgs") else PRIVATE


@lru_cache(maxsize=1)
def rows_of(name: str) -> np.ndarray:
    """Return the rows of a set; those of HIGGS as 32-bit floats."""
    if name != "higgs":
        return load(name)
    step = 2**19
    return np.concatenate([higgs_part(start, min(step, ROWS - start)) for start in range(0, ROWS, step)])


@dataclass(frozen=True)
class Claim:
    """What the paper says about one set: of two methods' costs, or of one and the plain baseline's; `most` is the bar."""

    text: str
    data: str
    first: str
    second: str
    most: float = 1.0
    ks: tuple[int, ...] = KS
    epsilons: tuple[float, ...] = (SHOWN,)

    def ratios(self, runs: Runs) -> dict[Cell, tuple[float, float]]:
        """Return the ratio of means in each cell that was run, with its standard error."""
        found = {}
        for cell in cells_of([self.data], ["k-median"], self.ks, self.epsilons):
            costs = [_costs(runs, cell, method) for method in self._methods(runs)]
            if all(costs):
                means = [float(np.mean(each)) for each in costs]
                errors = [
                    standard_error(each) / mean if len(each) > 1 else np.inf for each, mean in zip(costs, means, strict=True)
                ]
                found[cell] = means[0] / means[1], means[0] / means[1] * float(np.hypot(*errors))
        return found

    def _methods(self, runs: Runs) -> list[str]:
        """Return which methods are compared: one variant stands for the paper's best tree in all cells of a set."""
        return [best_tree(runs, self.data) if method == BEST else method for method in (self.first, self.second)]

    def verdict(self, runs: Runs) -> list[str]:
        """Return a line of the table: in how many cells it is true, the ratios, the verdict."""
        ratios = self.ratios(runs)
        text = self.text + (f" (`{best_tree(runs, self.data)}`)" if BEST in (self.first, self.second) else "")
        if not ratios:
            return [self.text, SETS[self.data], "0", "", "", "**not run**"]
        true = sum(ratio <= self.most for ratio, _ in ratios.values())
        clear = sum(ratio - 2 * error > self.most for ratio, error in ratios.values())
        only = [ratio for ratio, _ in ratios.values()]
        if true == len(ratios):
            said = "holds"
        elif clear == 0:
            single = any(ratio > self.most and np.isinf(error) for ratio, error in ratios.values())
            said = "false in single runs, not tested" if single else "not contradicted"
        else:
            said = "holds in part" if true > 0 else "does not hold"
        if len(ratios) < len(self.ks) * len(self.epsilons):
            said += ", as far as it was run"
        spread = f"{min(only):.2f} to {max(only):.2f}"
        return [text, SETS[self.data], f"{true} of {len(ratios)}", spread, str(clear), f"**{said}**"]


def _costs(runs: Runs, cell: Cell, method: str) -> list[float]:
    return runs.costs.get((cell._replace(epsilon=0.0) if method in (PLAIN, PAPER_PLAIN) else cell, method), [])


def best_tree(runs: Runs, data: str) -> str:
    """Return the variant of the paper's algorithm with the least geometric mean cost over the cells where all were run."""
    logs: dict[str, list[float]] = {method: [] for method in VARIANTS}
    for cell in cells_of([data], ["k-median"], KS, EPSILONS):
        costs = {method: _costs(runs, cell, method) for method in VARIANTS}
        for method, each in costs.items() if all(costs.values()) else ():
            logs[method].append(float(np.log(np.mean(each))))
    return min(VARIANTS, key=lambda method: float(np.mean(logs[method])) if logs[method] else 0.0)


def _claims() -> tuple[Claim, ...]:
    small = ("skin", "shuttle")
    return (
        *(Claim("`hst` costs less than `balcan`", data, "hst", "balcan") for data in small),
        *(Claim("`lsh` costs less than `balcan`", data, "lsh", "balcan") for data in small),
        Claim("`hst` is as good as the plain baseline, to 5%", "skin", "hst", PAPER_PLAIN, 1.05),
        *(Claim("`hst` is within five times the plain baseline", data, "hst", PAPER_PLAIN, 5.0) for data in SETS),
        *(
            claim
            for tree, name in ((BEST, "the paper's best tree"), ("hst", "`hst`, without a projection,"))
            for claim in (
                Claim(f"{name} costs less than `lsh`", "higgs", tree, "lsh"),
                Claim(f"{name} costs less than `k-variates`", "higgs", tree, "k-variates"),
                Claim(f"{name} is comparable to `lsh`, to 5%", "covtype54", tree, "lsh", 1.05),
                Claim(f"`lsh` costs less than {name} for large k (the paper: slightly)", "covtype54", "lsh", tree, ks=(30, 40)),
                Claim(f"{name} costs less than `k-variates`", "covtype54", tree, "k-variates"),
            )
        ),
        *(
            Claim("ours: the default costs less than `hst`", data, DEFAULT, "hst", epsilons=EPSILONS) for data in SETS
        ),
        *(
            Claim("ours: `hst` costs less than with the published constants", data, "hst", PUBLISHED, epsilons=EPSILONS)
            for data in SETS
        ),
    )  # fmt: skip


CLAIMS = _claims()


def claims_table(runs: Runs) -> str:
    """Return one line for each claim."""
    head = ["claim", "set", "true in cells", "ratio of costs", "clearly false in", "verdict"]
    return markdown(head, [claim.verdict(runs) for claim in CLAIMS])


def costs_table(runs: Runs) -> str:
    """Return every method's mean cost over the least plain cost, geometric mean over k, for each set and epsilon."""
    columns = list(itertools.product(SETS, EPSILONS))
    lines = []
    for method in (PAPER_PLAIN, *METHODS):
        line = [f"`{method}`"]
        for data, epsilon in columns:
            cells = [cell for cell in cells_of([data], ["k-median"], KS, [epsilon]) if _costs(runs, cell, method)]
            logs = [np.log(float(np.mean(_costs(runs, cell, method))) / runs.plain(cell)) for cell in cells]
            few = "" if len(cells) == len(KS) else f" (k = {', '.join(str(cell.k) for cell in cells)})"
            line.append(f"{float(np.exp(np.mean(logs))):.2f}{few}" if logs else "")
        if any(line[1:]):
            lines.append(line)
    return markdown(["method", *(f"{SETS[data].split()[0]}, {epsilon:g}" for data, epsilon in columns)], lines)


def done_table(runs: Runs) -> str:
    """Return how many repetitions of how many cells were run on each set."""
    lines = []
    for data, title in SETS.items():
        cells, methods = cells_of([data], ["k-median"], KS, EPSILONS), methods_of(data)
        numbers = [len(_costs(runs, cell, method)) for cell in cells for method in methods]
        missing = ", ".join(f"`{method}`" for method in methods if not any(_costs(runs, cell, method) for cell in cells))
        ran, full = sum(n > 0 for n in numbers), sum(n >= 10 for n in numbers)
        lines.append([title, f"{ran} of {len(numbers)}", str(full), str(max(numbers, default=0)), missing])
    return markdown(["set", "cells that were run", "with 10 repetitions", "most repetitions", "methods not run at all"], lines)


def factor_text(runs: Runs) -> str:
    """Return by how much the tree improves on Balcan et al. at most."""
    found = [ratio for data in ("skin", "shuttle") for ratio, _ in Claim("", data, "balcan", "hst").ratios(runs).values()]
    return f"{max(found):.1f}" if found else "not measured"


def write_page(runs: Runs, folder: Path = RESULTS, page: str = PAGE, leaves: Callable[[], np.ndarray] | None = None) -> None:
    """Draw the figures, and put tables and verdicts into the page."""
    draw_costs(runs, SETS, KS, EPSILONS, folder)
    rows = leaves() if leaves else rows_of("s1")
    draw_leaves(rows, folder)
    into_page("done", done_table(runs), page)
    into_page("claims", claims_table(runs), page)
    into_page("leaves", leaf_distances(rows), page)
    into_page("factor", factor_text(runs), page)
    into_page("costs", costs_table(runs), page)


def read_all(folder: Path = RESULTS) -> Runs:
    """Return the runs of all sets."""
    return Runs.read(*(folder / f"runs_{data}.csv" for data in SETS))


def run(data: str, ks: Any, epsilons: Any, methods: Any, repetitions: int) -> None:
    """Run what is missing on one set."""
    runs = Runs.read(RESULTS / f"runs_{data}.csv")
    cells = cells_of([data], ["k-median"], ks, epsilons)
    fill(runs, plain_cells(cells), lambda cell: [PAPER_PLAIN, PLAIN] if data != "higgs" else [PAPER_PLAIN], 1, rows_of)
    fill(runs, plain_cells(cells), lambda cell: [PAPER_PLAIN], min(repetitions, 1 if data == "higgs" else 10), rows_of)
    for most in sorted({min(1, repetitions), min(3, repetitions), repetitions}):
        fill(runs, cells, lambda cell: [one for one in methods_of(data) if methods is None or one in methods], most, rows_of)


def main() -> None:
    """Run the parts named on the command line, or both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["runs", "page"], help="runs, page")
    parser.add_argument("--data", nargs="+", choices=list(SETS), default=list(SETS))
    parser.add_argument("--ks", nargs="+", type=int, default=KS)
    parser.add_argument("--epsilons", nargs="+", type=float, default=(SHOWN, 0.25, 1.0))
    parser.add_argument("--methods", nargs="+", choices=list(METHODS))
    parser.add_argument("--repetitions", type=int, default=10)
    chosen = parser.parse_args()
    RESULTS.mkdir(parents=True, exist_ok=True)
    for data in chosen.data if "runs" in chosen.parts else ():
        run(data, chosen.ks, chosen.epsilons, chosen.methods, chosen.repetitions)
    if "page" in chosen.parts:
        write_page(read_all())


if __name__ == "__main__":
    main()
