"""Which private step toward medians wins where: ``python -m benchmarks.medians`` (SPINNEY_DATA set); writes docs/medians.md.

The first table has 1-medians of one made-up cluster, from a center that is half the median distance off, the whole budget for
the step. The second has whole k-median fits on shared data, the step being one part of the algorithm. All steps of a run have
the same seeds, so they are compared run by run: what comes before the step is the same.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import warnings
from fractions import Fraction
from typing import Any

import numpy as np

from benchmarks.data import load
from benchmarks.tables import RESULTS, into_page, markdown
from spinney import Box, PrivateKMedian
from spinney.algorithms import HST, Stable, Tree
from spinney.algorithms.medians import MEDIAN_STEPS, median_parts, move_to_medians
from spinney.algorithms.problem import PointProblem
from spinney.curators.gate import Curator
from spinney.curators.memory import MemoryBackend
from spinney.mechanisms.source import SeededSource
from spinney.privacy.budget import Budget
from spinney.privacy.composition import compose
from spinney.privacy.fit_ledger import FitLedger
from spinney.privacy.pricing import Unit
from spinney.questions.ground import Ground

EPSILONS, DELTAS = (0.25, 0.5, 1.0), (1e-6, 0.0)
COLUMNS, ROWS, RUNS = (1, 2, 8, 32), (300, 3_000, 30_000), 10
#: Shared sets with the runs of each, and the number of clusters.
SETS, K = {"s1": 8, "shuttle": 8, "higgs_11k": 8, "skin": 4}, 10
#: What was measured.
PATH = RESULTS / "medians.json"
#: Costs that differ by a smaller part are taken as equal.
SAME = 5e-4


def cluster(n: int, d: int, skewed: bool) -> np.ndarray:
    """Return one cluster with heavy tails; a third of it lies to one side if it is skewed."""
    rng = np.random.default_rng([n, d])
    rows = rng.standard_t(3, (n, d))
    rows[rng.random(n) < (1 / 3 if skewed else 0)] += 4 / math.sqrt(d)
    return rows.clip(-10, 10)


def mean_distance(rows: np.ndarray, center: np.ndarray) -> float:
    """Return the cost of one center."""
    return float(np.sqrt(((rows - center) ** 2).sum(axis=1)).mean())


def median_of(rows: np.ndarray) -> np.ndarray:
    """Return the median by many Weiszfeld steps."""
    center = np.median(rows, axis=0)
    for _ in range(200):
        weights = 1 / np.maximum(np.sqrt(((rows - center) ** 2).sum(axis=1)), 1e-9)
        center = weights @ rows / weights.sum()
    return center


def one_median(rows: np.ndarray, start: np.ndarray, radius: float, budget: Budget, median_step: str, seed: int) -> np.ndarray:
    """Return the private median of one cluster, for the whole budget."""
    problem = PointProblem(k=1, power=1, budget=budget, unit=Unit(), domain=Box(-10, 10).domain(rows.shape[1]))
    charges = compose(budget, median_parts("step", Fraction(1), problem, median_step))
    source = SeededSource(seed)
    backend = MemoryBackend(rows, Ground(problem.domain), Unit(), source.key)
    curator = Curator(backend, Unit(), FitLedger(budget, charges), source)
    by_name = {charge.name: charge for charge in charges}
    return move_to_medians(curator, problem, start[None, :], np.array([radius]), by_name, "step", median_step).centers[0]


def one_cluster_cells() -> list[dict[str, Any]]:
    """Measure 1-medians: the cost over the best one, of every run."""
    found = []
    for d, n, skewed in itertools.product(COLUMNS, ROWS, (False, True)):
        rows = cluster(n, d, skewed)
        center = median_of(rows)
        distances, best = np.sqrt(((rows - center) ** 2).sum(axis=1)), mean_distance(rows, center)
        starts = []
        for run in range(RUNS):
            direction = np.random.default_rng([run, d]).normal(size=d)
            starts.append(center + 0.5 * np.median(distances) * direction / np.linalg.norm(direction))
        radius = float(np.quantile(distances, 0.4))
        for epsilon, delta in itertools.product(EPSILONS, DELTAS):
            ratios = {
                step: [
                    mean_distance(rows, one_median(rows, start, radius, Budget.of(epsilon, delta), step, run)) / best
                    for run, start in enumerate(starts)
                ]
                for step in MEDIAN_STEPS
            }
            found.append({"columns": d, "rows": n, "skewed": skewed, "epsilon": epsilon, "delta": delta, "ratios": ratios})
    return found


def fitted_cells(name: str) -> list[dict[str, Any]]:
    """Measure whole fits on one shared set: the mean distance, of every run."""
    rows = load(name)
    found = []
    for kind, epsilon in itertools.product((Tree, Stable, HST), EPSILONS):
        if kind is Tree and rows.shape[1] < 5:  # it takes no step there
            continue
        costs: dict[str, list[float]] = {}
        for step in MEDIAN_STEPS:
            model = PrivateKMedian(K, epsilon=epsilon, delta=1e-6, bounds=(-1, 1), algorithm=kind(median_step=step))
            costs[step] = []
            for run in range(SETS[name]):
                fitted = model.set_params(random_state=run, noise_seed=run).fit(rows)
                costs[step].append(-float(fitted.score(rows)) / len(rows))
        found.append({"data": name, "algorithm": kind.name, "epsilon": epsilon, "costs": costs})
        print(found[-1]["data"], kind.name, epsilon, {step: round(float(np.mean(c)), 4) for step, c in costs.items()}, flush=True)
    return found


def against(ratios: dict[str, list[float]], step: str) -> tuple[float, float]:
    """Return the mean log of a step's cost over the default's, run by run, and its standard error."""
    logs = np.log(ratios[step]) - np.log(ratios[MEDIAN_STEPS[0]])
    return float(logs.mean()), float(logs.std(ddof=1) / math.sqrt(len(logs)))


def won(ratios: dict[str, list[float]]) -> str:
    """Return the step of the least mean cost, and those within two standard errors of it."""
    means = {step: float(np.mean(runs)) for step, runs in ratios.items()}
    best = min(means, key=lambda step: means[step])
    gaps = {step: np.subtract(runs, ratios[best]) for step, runs in ratios.items() if step != best}
    close = [
        step for step, gap in gaps.items() if gap.mean() <= max(2 * gap.std(ddof=1) / math.sqrt(len(gap)), 5e-4 * means[best])
    ]
    return ", ".join([f"**{best}**", *close])


def verdict(cells: list[dict[str, list[float]]]) -> list[list[str]]:
    """Return, for each step, how it compares with the default over all cells."""
    lines = []
    for step in MEDIAN_STEPS[1:]:
        found = [against(cell, step) for cell in cells]
        mean = math.exp(float(np.mean([log for log, _ in found])))
        better, worse = (sum(sign * log > max(2 * error, SAME) for log, error in found) for sign in (-1, 1))
        most = math.exp(max(log for log, _ in found))
        lines.append([step, f"{mean:.4f}", f"{better} of {len(cells)}", f"{worse} of {len(cells)}", f"{most:.3f}"])
    return lines


HEAD = ["step", "cost over the Weiszfeld step's, geometric mean", "cells lower", "cells higher", "highest cell"]


def write(one: list[dict[str, Any]], fits: list[dict[str, Any]]) -> None:
    """Write the tables into the page."""
    lines = []
    for d, n, delta in itertools.product(COLUMNS, ROWS, DELTAS):
        own = [cell for cell in one if (cell["columns"], cell["rows"], cell["delta"]) == (d, n, delta)]
        joined = {step: [r for cell in own for r in cell["ratios"][step]] for step in MEDIAN_STEPS}
        means = [f"{100 * (np.mean(joined[step]) - 1):.2f}" for step in MEDIAN_STEPS]
        lines.append([str(d), f"{n:,}", f"{delta:g}", *means, won(joined)])
    table = markdown(["columns", "rows", "delta", *MEDIAN_STEPS, "least"], lines)
    into_page("one median", f"{table}\n\n{markdown(HEAD, verdict([cell['ratios'] for cell in one]))}", "docs/medians.md")
    rows = [
        [
            c["data"],
            c["algorithm"],
            f"{c['epsilon']:g}",
            *(f"{np.mean(c['costs'][step]):.4f}" for step in MEDIAN_STEPS),
            won(c["costs"]),
        ]
        for c in fits
    ]
    table = markdown(["data", "algorithm", "epsilon", *MEDIAN_STEPS, "least"], rows)
    into_page("whole fits", f"{table}\n\n{markdown(HEAD, verdict([cell['costs'] for cell in fits]))}", "docs/medians.md")


def keep(record: dict[str, list[dict[str, Any]]]) -> None:
    """Write what was measured, one cell a line."""

    def line(cell: dict[str, Any]) -> str:
        return json.dumps(json.loads(json.dumps(cell), parse_float=lambda text: round(float(text), 6)))

    parts = (f'"{part}": [\n' + ",\n".join(map(line, cells)) + "\n]" for part, cells in record.items())
    PATH.write_text("{" + ",\n".join(parts) + "}\n")


def main() -> None:
    """Measure what is asked for, keep it, and write the page of all that was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=["one", *SETS], default=["one", *SETS], help="what to measure anew")
    only = parser.parse_args().only
    warnings.simplefilter("ignore")
    record = json.loads(PATH.read_text()) if PATH.exists() else {"one": [], "fits": []}
    if "one" in only:
        record["one"] = one_cluster_cells()
        keep(record)
    for name in SETS:
        if name in only:
            record["fits"] = [cell for cell in record["fits"] if cell["data"] != name] + fitted_cells(name)
            keep(record)
    if record["one"] and record["fits"]:
        write(record["one"], record["fits"])


if __name__ == "__main__":
    main()
