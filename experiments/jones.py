"""The additive error of k-medians by maximum coverage (Jones, Nguyen and Nguyen 2021): ``python -m experiments.jones``.

Additive error is what is paid where the best solution costs nothing: all rows lie on k of n public points, as in the lower
bound of Gupta et al. How many rows lie on each is not part of the bound, so the worst of several numbers counts. Costs are in
units of the largest distance. Writes ``experiments/results/jones``, and verdicts into the page ``experiments/jones.md``. Parts:
``runs`` and ``page``, by default both; what is in the table already is not run again.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.pages import into_page, markdown
from experiments.figures import save_sheet, sheet
from experiments.published import run as run_sites
from experiments.shapes import Exponent, Judged, compared, judged
from spinney.algorithms.coverage import Coverage
from spinney.algorithms.registry import find
from spinney.spaces.metric import FiniteMetric

__all__ = ["METHODS", "SWEEPS", "Setting", "main", "run_setting", "write_page"]

RESULTS = Path(__file__).parent / "results" / "jones"
PAGE = "experiments/jones.md"
REPETITIONS, DELTA = 10, 1e-6
#: What is compared: the paper's algorithm, Gupta et al.'s as the library corrects it, and the default.
METHODS = ("coverage", "local-search", "cells")
#: Points at random in a square, and points that are all equally far from each other: the lower bound's.
METRICS = ("square", "uniform")
#: Rows on each of the k points, in units of 1 / epsilon: the worst of these counts.
LOADS = (2, 4, 8, 16, 32, 64, 128, 256)
BOUND = "k ln(n) ln(e/delta) / eps"
#: How often repetitions are drawn again for the standard error of an exponent.
DRAWS = 100
COLUMNS = ("metric", "k", "n", "epsilon", "load", "repetition", "method", "cost")


@dataclass(frozen=True)
class Setting:
    """One instance's public facts and promise; `load` times 1 / epsilon is the number of rows on each of k points."""

    metric: str
    k: int = 8
    n: int = 500
    epsilon: float = 1.0
    load: int = 8


#: What varies, one after the other.
SWEEPS: dict[str, tuple[float, ...]] = {
    "k": (2, 4, 8, 16, 32),
    "n": (125, 250, 500, 1000, 2000),
    "epsilon": (0.25, 0.5, 1.0, 2.0),
}


@lru_cache(maxsize=4)
def space_of(metric: str, n: int, repetition: int) -> FiniteMetric:
    """Return n public points; every repetition has points of its own."""
    if metric == "uniform":
        return FiniteMetric.from_matrix(1.0 - np.eye(n))
    points = np.random.default_rng(repetition).random((n, 2))
    return FiniteMetric.from_matrix(np.sqrt(((points[:, None] - points) ** 2).sum(axis=2)))


def run_setting(setting: Setting, repetition: int, methods: Iterable[str]) -> list[dict[str, Any]]:
    """Return one run of each method on rows that k points would serve at no cost."""
    space = space_of(setting.metric, setting.n, repetition)
    places = np.random.default_rng(1000 + repetition).choice(setting.n, setting.k, replace=False)
    rows, found = np.repeat(places, round(setting.load / setting.epsilon)), []
    facts = [repetition, setting.k, setting.n, round(1000 * setting.epsilon), setting.load, METRICS.index(setting.metric)]
    seed = int(np.random.SeedSequence(facts).generate_state(1)[0])  # every setting has noise of its own
    for method in methods:
        algorithm = Coverage() if method == "coverage" else find(method, "sites")
        path = run_sites(algorithm, space, rows, setting.k, setting.epsilon, seed, delta=DELTA)
        sites = path.visited[path.chosen]
        nearest = space.distances_between(places, sites).min(axis=1)
        cost = float(nearest.sum()) * len(rows) / setting.k / space.diameter
        found.append(asdict(setting) | dict(zip(COLUMNS[5:], (repetition, method, cost), strict=True)))
    return found


def settings(sweep: str) -> list[Setting]:
    """Return the settings of a sweep."""
    return [
        replace(Setting(metric), load=load, **{sweep: value})  # type: ignore[arg-type]
        for metric, value, load in itertools.product(METRICS, SWEEPS[sweep], LOADS)
    ]


def read_runs(path: Path) -> list[dict[str, Any]]:
    """Read the table of runs; none if there is no table."""
    if not path.exists():
        return []
    kinds = {"metric": str, "method": str, "epsilon": float, "cost": float}
    with path.open(newline="") as file:
        return [{key: kinds.get(key, int)(value) for key, value in row.items()} for row in csv.DictReader(file)]


def key_of(run: dict[str, Any]) -> tuple[Any, ...]:
    """Return what names a run."""
    return tuple(run[name] for name in COLUMNS[:7])


def write_runs(path: Path, runs: list[dict[str, Any]]) -> None:
    """Write the table of runs, costs with five digits."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(run | {"cost": f"{run['cost']:.5g}"} for run in sorted(runs, key=key_of))


def run_all(path: Path, methods: Iterable[str], repetitions: int) -> None:
    """Run what is missing, one repetition of everything after the other, and write the table after each sweep."""
    known = {key_of(run): run for run in read_runs(path)}
    for repetition, sweep in itertools.product(range(repetitions), SWEEPS):
        before = len(known)
        for setting in settings(sweep):
            mine = asdict(setting) | {"repetition": repetition}
            todo = [method for method in methods if key_of(mine | {"method": method}) not in known]
            known |= {key_of(run): run for run in run_setting(setting, repetition, todo)} if todo else {}
        if len(known) > before:
            write_runs(path, list(known.values()))
            print(f"repetition {repetition}, {sweep}", flush=True)


@dataclass(frozen=True)
class Measured:
    """Costs of all repetitions, by setting and method."""

    costs: dict[tuple[Setting, str], dict[int, float]]

    @classmethod
    def of(cls, runs: list[dict[str, Any]]) -> Measured:
        """Sort runs by what they are of."""
        found: dict[tuple[Setting, str], dict[int, float]] = {}
        for run in runs:
            setting = Setting(*(run[name] for name in COLUMNS[:5]))
            found.setdefault((setting, run["method"]), {})[run["repetition"]] = run["cost"]
        return cls(found)

    def again(self, rng: np.random.Generator) -> Measured:
        """Return as many repetitions, drawn again from those there are."""
        numbers = sorted({number for each in self.costs.values() for number in each})
        drawn = rng.choice(numbers, len(numbers))
        return Measured(
            {key: {place: each[n] for place, n in enumerate(drawn) if n in each} or each for key, each in self.costs.items()}
        )

    def additive(self, setting: Setting, method: str) -> tuple[float, float]:
        """Return the additive error, the largest mean cost over loads, and its standard error; not numbers if there is none."""
        worst = (math.nan, math.nan)
        for load in LOADS:
            costs = list(self.costs.get((replace(setting, load=load), method), {}).values())
            if costs and not np.mean(costs) <= worst[0]:
                worst = (
                    float(np.mean(costs)),
                    float(np.std(costs, ddof=1) / math.sqrt(len(costs))) if len(costs) > 1 else math.nan,
                )
        return worst

    def along(self, metric: str, sweep: str, method: str) -> list[tuple[float, Setting, float]]:
        """Return the values of a sweep that were run, with settings and errors."""
        found = []
        for value in SWEEPS[sweep]:
            setting = replace(Setting(metric), **{sweep: value})  # type: ignore[arg-type]
            error = self.additive(setting, method)[0]
            if not math.isnan(error):
                found.append((value, setting, error))
        return found

    def slope(self, metric: str, sweep: str, method: str, without: float | None = None) -> float:
        """Return the exponent of the additive error along a sweep, one value of it left out on request."""
        found = [one for one in self.along(metric, sweep, method) if one[0] != without]
        if len(found) < 2:
            return math.nan
        return float(np.polyfit(np.log([v for v, _, _ in found]), np.log([max(e, 1e-9) for _, _, e in found]), 1)[0])


def exponent(measured: Measured, metric: str, sweep: str, method: str) -> Exponent:
    """Measure an exponent; its error is by drawing repetitions again."""
    return Exponent.of([one.slope(metric, sweep, method) for one in drawn(measured)])


def gaps(measured: Measured, metric: str, sweep: str, first: str, second: str) -> dict[float | None, Exponent]:
    """Measure by how much one method's exponent exceeds another's: of all values (None), and with each of them left out.

    Repetitions are drawn together, for both methods had the same instances: the error is that of the difference.
    """
    every, ways = drawn(measured), (None, *SWEEPS[sweep])
    return {
        without: Exponent.of([
            one.slope(metric, sweep, first, without) - one.slope(metric, sweep, second, without) for one in every
        ])
        for without in ways
    }  # fmt: skip


def drawn(measured: Measured) -> list[Measured]:
    """Return what was measured, and the same with repetitions drawn again."""
    rng = np.random.default_rng(0)
    return [measured, *(measured.again(rng) for _ in range(DRAWS))]


def allowed(setting: Setting) -> float:
    """Return k ln(n) ln(e / delta) / epsilon: Corollary 13 with constant 1, in units of the largest distance."""
    return setting.k * math.log(setting.n) * math.log(math.e / DELTA) / setting.epsilon


def needed(setting: Setting) -> float:
    """Return k ln(n / k) / epsilon: the lower bound of Gupta et al. with constant 1."""
    return setting.k * math.log(setting.n / setting.k) / setting.epsilon


def shape_of(measured: Measured, metric: str, sweep: str, method: str) -> Judged:
    """Return the additive error along a sweep beside the bound."""
    found = measured.along(metric, sweep, method)
    errors, bounds = [max(error, 1e-9) for _, _, error in found], [allowed(setting) for _, setting, _ in found]
    return Judged([value for value, _, _ in found], errors, bounds, [True] * len(found))


def shape_table(measured: Measured) -> str:
    """Return, along each sweep, the constant that the bound needs and how the measured error grows beside the bound."""
    lines = []
    for method, metric, sweep in itertools.product(METHODS, METRICS, SWEEPS):
        shape = shape_of(measured, metric, sweep, method)
        if len(shape.values) > 1:
            lines.append([f"`{method}`", metric, sweep, *shape.words])
    return markdown(["method", "metric", "along", "constant needed, by value", "exponent: measured / bound", "verdict"], lines)


def error_table(measured: Measured) -> str:
    """Return the additive error of every method in every setting."""
    lines = []
    for metric, sweep in itertools.product(METRICS, SWEEPS):
        for value in SWEEPS[sweep]:
            setting = replace(Setting(metric), **{sweep: value})  # type: ignore[arg-type]
            entries = [measured.additive(setting, method) for method in METHODS]
            texts = [
                "" if math.isnan(mean) else f"{mean:.1f}" + ("" if math.isnan(error) else f" ± {error:.1f}")
                for mean, error in entries
            ]
            lines.append([metric, f"{sweep} = {value:g}", *texts, f"{needed(setting):.0f}", f"{allowed(setting):.0f}"])
    return markdown(["metric", "setting", *(f"`{m}`" for m in METHODS), "k ln(n/k) / eps", BOUND], lines)


def claims_table(measured: Measured) -> str:
    """Return a verdict on each claim of the paper, by metric."""
    lines = []
    for metric in METRICS:
        shapes = {sweep: shape_of(measured, metric, sweep, "coverage") for sweep in SWEEPS}
        k, n, epsilon = (exponent(measured, metric, sweep, "coverage") for sweep in SWEEPS)
        most = max(used for shape in shapes.values() for used in shape.used)
        apart = gaps(measured, metric, "k", "coverage", "local-search")
        alone = ", ".join(f"without {value:g} {gap}" for value, gap in apart.items() if value is not None)
        for claim, value, said in (
            (
                f"additive error at most {BOUND}, constant 1",
                f"constant {most:.2f}",
                f"**{'holds' if most <= 1 else 'does not hold'}**",
            ),
            ("linear in k (exponent at most 1.1)", f"exponent {k}", judged(k, 1.1, shapes["k"])),
            (
                "better in k than local search, whose bound has k^1.5 or k^2",
                f"difference of exponents {apart[None]}; {alone}",
                compared(apart),
            ),
            ("logarithmic in n (exponent at most 0.25)", f"exponent {n}", judged(n, 0.25, shapes["n"])),
            (
                "as 1 / eps (at most 1.1 in 1 / eps)",
                f"exponent {epsilon}",
                judged(replace(epsilon, value=-epsilon.value), 1.1, shapes["epsilon"]),
            ),
        ):
            lines.append([metric, claim, value, said])
    return markdown(["metric", "claim", "measured", "verdict"], lines)


def draw(measured: Measured, folder: Path) -> None:
    """Draw the additive error along each sweep, with both bounds."""
    figure, axes = sheet(len(METRICS), len(SWEEPS))
    for row, metric in enumerate(METRICS):
        for axis, sweep in zip(axes[row], SWEEPS, strict=True):
            for method in METHODS:
                found = measured.along(metric, sweep, method)
                if found:
                    axis.plot([v for v, _, _ in found], [max(e, 1e-2) for _, _, e in found], marker=".", label=method)
            bounds = [replace(Setting(metric), **{sweep: value}) for value in SWEEPS[sweep]]  # type: ignore[arg-type]
            axis.plot(SWEEPS[sweep], [needed(s) for s in bounds], "k:", lw=1, label="k ln(n/k) / eps")
            axis.plot(SWEEPS[sweep], [allowed(s) for s in bounds], "k--", lw=1, label=BOUND)
            axis.set(xscale="log", yscale="log", xlabel=sweep)
            axis.set_title(f"additive error, {metric}", fontsize=8)
    save_sheet(figure, axes, folder / "additive.png")


def write_page(folder: Path = RESULTS, page: str = PAGE) -> None:
    """Draw the figure, and put tables and verdicts into the page."""
    runs = read_runs(folder / "runs.csv")
    measured = Measured.of(runs)
    draw(measured, folder)
    repetitions = {method: len({run["repetition"] for run in runs if run["method"] == method}) for method in METHODS}
    into_page("repetitions", ", ".join(f"`{method}` {number}" for method, number in repetitions.items()), page)
    into_page("claims", claims_table(measured), page)
    into_page("shapes", shape_table(measured), page)
    into_page("errors", error_table(measured), page)


def main() -> None:
    """Run the parts named on the command line, or both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["runs", "page"], help="runs, page")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    RESULTS.mkdir(parents=True, exist_ok=True)
    if "runs" in chosen.parts:
        run_all(RESULTS / "runs.csv", chosen.methods, chosen.repetitions)
    if "page" in chosen.parts:
        write_page()


if __name__ == "__main__":
    main()
