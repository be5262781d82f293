"""The claims of Shechner 2021 on separated clusters, measured: ``python -m experiments.shechner``.

Writes ``experiments/results/shechner/runs.csv`` and ``rows.csv`` (how many rows each method needs), figures beside them, and
tables into ``experiments/shechner.md``. Parts: ``runs``, ``rows`` and ``page``, by default all. What is in the tables already is
not run again; ``--methods`` runs some methods only, ``--repetitions`` more or fewer. A method is a function of rows, a setting
and a seed that returns centers: one line in `METHODS` adds it to all sweeps.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path as File
from typing import Any

import numpy as np

from benchmarks.drawn import places
from benchmarks.pages import into_page, markdown
from experiments import needs
from experiments.separation import Measured, phi_text, shape_table, verdict_table
from spinney import PrivateKMeans, PrivateKMedian
from spinney.algorithms import Stable
from spinney.local import StableLocal
from spinney.solvers.stability import Clustered, wasserstein
from spinney.solvers.weighted import improve, solve, total_cost

__all__ = ["METHODS", "SWEEPS", "Setting", "main", "run_setting", "write_page"]

RESULTS = File(__file__).parent / "results" / "shechner"
PAGE = "experiments/shechner.md"
REPETITIONS = 10
#: Centers are at least so far apart in [-1, 1]^d; the standard deviation of a cluster is this over `apart`. Two are in opposite
#: corners, so far out in each column, and `apart` is about their distance: OPT_1 is as large as the theorems ask of it.
GAP, CORNER = 0.32, 0.9
#: Smaller excesses are drawn as this.
LEAST_EXCESS = 1e-4


@dataclass(frozen=True)
class Setting:
    """One kind of mixture and promise: `apart` is the least distance between two centers in standard deviations."""

    objective: str
    n: int = 20_000
    d: int = 4
    k: int = 10
    epsilon: float = 1.0
    apart: float = 8.0

    @property
    def power(self) -> int:
        """1 for k-median, 2 for k-means."""
        return 2 if self.objective == "k-means" else 1

    @property
    def reach(self) -> float:
        """The radius of the domain, Lambda."""
        return math.sqrt(self.d)


#: These numbers of users are asked by local methods alone, in fewer repetitions.
USERS, FEW = (1_000_000, 2_000_000), 5
#: What varies, one after the other: a field of the setting, the first word. The last `apart` makes phi as small as the theorems
#: ask; so do all values of the sweeps in brackets.
SWEEPS: dict[str, tuple[float, ...]] = {
    "apart": (4.0, 6.0, 8.0, 16.0, 32.0, 256.0),
    "n": (2_500, 5_000, 10_000, 20_000, 80_000, *USERS),
    "d": (2, 4, 8, 16),
    "k": (3, 5, 10, 20, 40),
    "epsilon": (0.1, 0.25, 0.5, 1.0, 2.0),
    "n (small phi)": (2_500, 5_000, 20_000, 80_000, *USERS),
    "epsilon (small phi)": (0.25, 0.5, 1.0, 2.0, 4.0),
    "n (two clusters)": (50_000, 500_000, 5_000_000),
}
#: What is not as usual in a sweep.
AROUND: dict[str, dict[str, Any]] = {
    "n (small phi)": {"apart": 256.0},
    "epsilon (small phi)": {"apart": 256.0},
    "n (two clusters)": {"apart": 114.0, "k": 2, "d": 2, "epsilon": 4.0},
}
OBJECTIVES = ("k-means", "k-median")


def by(algorithm: Any, rows: np.ndarray, setting: Setting, seed: int, **more: Any) -> np.ndarray:
    """Return the centers of one fit with an algorithm of the library."""
    estimator = PrivateKMeans if setting.power == 2 else PrivateKMedian
    model = estimator(setting.k, epsilon=setting.epsilon, bounds=(-1, 1), algorithm=algorithm, random_state=seed, **more)
    return np.asarray(model.fit(rows).cluster_centers_)


#: Method -> what returns its centers.
METHODS: dict[str, Callable[[np.ndarray, Setting, int], np.ndarray]] = {
    "tree": partial(by, "tree"),
    "stable": partial(by, "stable"),
    "stable, one more step": partial(by, Stable("tree", 1)),
    "hst": partial(by, "hst"),
    "stable over hst": partial(by, Stable("hst")),
    "sample-aggregate": partial(by, "sample-aggregate"),
    "local": partial(by, "auto", model="local", adjacency="replace"),
    "local, published": partial(by, StableLocal(anchored=False), model="local", adjacency="replace", delta=1e-6),
}
#: What is run on two clusters, for k-means alone: there theorems ask for a large OPT_1.
CENTRAL = ("tree", "stable", "sample-aggregate")
#: Each stable method and its base.
BASES = {"stable": "tree", "stable over hst": "hst"}
COLUMNS = ("objective", "n", "d", "k", "epsilon", "apart", "repetition", "method", "phi", "plain", "cost", "distance")


def mixture(rng: np.random.Generator, n: int, d: int, k: int, apart: float) -> tuple[np.ndarray, np.ndarray]:
    """Draw the true centers, and rows around them."""
    gap = GAP if k > 2 else 2 * CORNER * math.sqrt(d)
    true = places(d, rng, k, GAP / 0.04) if k > 2 else np.array([[-CORNER] * d, [CORNER] * d])
    return true, np.clip(true[np.arange(n) % k] + rng.normal(0, gap / apart, (n, d)), -1, 1)


@cache
def one_center(objective: str, d: int, k: int, apart: float) -> float:
    """Return the mean cost of a row at the best single center, of a few mixtures: what no bound above it says anything about."""
    found = []
    for repetition in range(3):
        rows = mixture(np.random.default_rng(repetition), 5_000, d, k, apart)[1]
        power, weights = 2 if objective == "k-means" else 1, np.ones(len(rows))
        found.append(improve(rows, weights, rows.mean(axis=0)[None], power, 100, 1e-6, 1e-9).cost / len(rows))
    return float(np.mean(found))


@cache
def task(objective: str, n: int, d: int, k: int, apart: float, repetition: int) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Return rows, the best plain centers, their cost, and phi: the best of a descent from the true centers and of restarts."""
    rng = np.random.default_rng(repetition)
    (true, rows), power = mixture(rng, n, d, k, apart), 2 if objective == "k-means" else 1
    weights, few = np.ones(n), rows[rng.choice(n, min(n, 20_000), replace=False)]
    found = [improve(rows, weights, true, power, 100, 1e-6, 1e-9)]
    found.append(improve(rows, weights, solve(few, np.ones(len(few)), k, power, rng, few[:k]).centers, power, 100, 1e-6, 1e-9))
    best = min(found, key=lambda one: one.cost)
    squares = ((best.centers[:, None] - best.centers) ** 2).sum(axis=2) + np.diag([np.inf] * k)
    sizes = Clustered(rows, weights, best.centers, power).sizes
    first = int(np.argmin(sizes * squares.min(axis=1)))  # the center that is cheapest to take away
    start = np.delete(best.centers, first, axis=0)
    fewer = [improve(rows, weights, start, power, 100, 1e-6, 1e-9).cost]
    fewer.append(total_cost(rows, solve(few, np.ones(len(few)), k - 1, power, rng, few[: k - 1]).centers, power))
    return rows, best.centers, best.cost, (best.cost / min(fewer)) ** (1 / power)


def run_setting(setting: Setting, repetition: int, methods: tuple[str, ...]) -> list[dict[str, Any]]:
    """Return one run of each method."""
    rows, centers, plain, phi = task(setting.objective, setting.n, setting.d, setting.k, setting.apart, repetition)
    found = []
    for method in methods:
        own = METHODS[method](rows, setting, repetition)
        cost, distance = total_cost(rows, own, setting.power), wasserstein(own, centers)
        found.append(asdict(setting) | dict(zip(COLUMNS[6:], (repetition, method, phi, plain, cost, distance), strict=True)))
    return found


def at(objective: str, sweep: str, value: float) -> Setting:
    """Return the setting of a sweep at a value."""
    return replace(Setting(objective, **AROUND.get(sweep, {})), **{sweep.split(" ")[0]: value})  # type: ignore[arg-type]


def settings(sweep: str) -> list[Setting]:
    """Return the settings of a sweep."""
    return [at(objective, sweep, value) for objective in OBJECTIVES for value in SWEEPS[sweep]]


def read_runs(path: File) -> list[dict[str, Any]]:
    """Read the table of runs; none if there is no table."""
    if not path.exists():
        return []
    kinds = {"n": int, "d": int, "k": int, "repetition": int, "objective": str, "method": str}
    with path.open(newline="") as file:
        return [{key: kinds.get(key, float)(value) for key, value in row.items()} for row in csv.DictReader(file)]


def key_of(run: dict[str, Any]) -> tuple[Any, ...]:
    """Return what names a run."""
    return tuple(run[name] for name in COLUMNS[:8])


def write_runs(path: File, runs: list[dict[str, Any]]) -> None:
    """Write the table of runs, numbers with six digits."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for run in sorted(runs, key=key_of):
            writer.writerow({name: f"{value:.6g}" if isinstance(value, float) else value for name, value in run.items()})


def repeated(setting: Setting, method: str, repetitions: int) -> int:
    """Return how often a method is run in a setting: the published local protocol where users are many, others where few."""
    if setting.k == 2:
        return min(repetitions, FEW) if method in CENTRAL and setting.power == 2 else 0
    if setting.n >= USERS[0]:
        return min(repetitions, FEW) if method.startswith("local") else 0
    return 0 if method == "local, published" else repetitions


def run_all(path: File, methods: tuple[str, ...], repetitions: int) -> None:
    """Run what is missing, and write the table after each setting."""
    known = {key_of(run): run for run in read_runs(path)}
    for sweep in SWEEPS:
        for setting in settings(sweep):
            for repetition in range(repetitions):
                mine = asdict(setting) | {"repetition": repetition}
                wanted = (method for method in methods if repetition < repeated(setting, method, repetitions))
                todo = tuple(method for method in wanted if key_of(mine | {"method": method}) not in known)
                known |= {key_of(run): run for run in run_setting(setting, repetition, todo)} if todo else {}
            task.cache_clear()
            write_runs(path, list(known.values()))
            print(sweep, setting, flush=True)


def cells(runs: list[dict[str, Any]], sweep: str, objective: str, method: str) -> list[tuple[float, dict[str, float]]]:
    """Return, for each value of a sweep, means over its runs: the ratio of costs, the excess, the distance and phi."""
    found = []
    for value in SWEEPS[sweep]:
        own = asdict(at(objective, sweep, value))
        mine = [run for run in runs if run["method"] == method and all(run[name] == one for name, one in own.items())]
        if mine:
            means = {
                "ratio": float(np.mean([run["cost"] / run["plain"] for run in mine])),
                "excess": max(float(np.mean([run["cost"] - run["plain"] for run in mine])), 0.0),
                **{name: float(np.mean([run[name] for run in mine])) for name in ("plain", "distance", "phi")},
            }
            found.append((value, means))
    return found


def along(runs: list[dict[str, Any]]) -> Measured:
    """Return, by method, objective and sweep, the values that were run with settings, means and one center's excess."""
    found: Measured = {}
    for method, objective, sweep in itertools.product(METHODS, OBJECTIVES, SWEEPS):
        for value, means in cells(runs, sweep, objective, method):
            setting = at(objective, sweep, value)
            most = setting.n * one_center(objective, setting.d, setting.k, setting.apart) - means["plain"]
            found.setdefault((method, objective, sweep), []).append((value, setting, means | {"most": most}))
    return found


def cost_table(runs: list[dict[str, Any]], column: str) -> str:
    """Return ratios of costs, or distances, of all methods along all sweeps."""
    shown = [method for method in METHODS if any(run["method"] == method for run in runs)]
    lines = []
    for objective in OBJECTIVES:
        for sweep, values in SWEEPS.items():
            found = {method: dict(cells(runs, sweep, objective, method)) for method in shown}
            for value in values:
                line = [
                    f"{found[method][value][column]:{'.3f' if column == 'ratio' else '.3g'}}" if value in found[method] else ""
                    for method in shown
                ]
                phi = next((f"{found[method][value]['phi']:.2g}" for method in shown if value in found[method]), "")
                lines += [[objective, f"{sweep} = {value:g}", phi, *line]] if phi else []
    return markdown(["objective", "setting", "phi", *(f"`{method}`" for method in shown)], lines)


def gain_table(runs: list[dict[str, Any]]) -> str:
    """Return the cost of each stable method over that of its base with the whole budget, geometric mean over each sweep."""
    lines = []
    for objective in OBJECTIVES:
        for sweep in SWEEPS:
            line = []
            for method, base in BASES.items():
                ours, theirs = dict(cells(runs, sweep, objective, method)), dict(cells(runs, sweep, objective, base))
                logs = [math.log(ours[value]["ratio"] / theirs[value]["ratio"]) for value in ours if value in theirs]
                line.append(f"{math.exp(np.mean(logs)):.3f} ({sum(one < 0 for one in logs)} of {len(logs)})" if logs else "")
            lines += [[objective, sweep, *line]] if any(line) else []
    return markdown(["objective", "along", *(f"`{method}` over `{base}`" for method, base in BASES.items())], lines)


def draw(runs: list[dict[str, Any]], folder: File) -> None:
    """Draw costs and distances along each sweep of the usual phi."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, StrMethodFormatter
    from PIL import Image

    sweeps = [sweep for sweep in SWEEPS if sweep not in AROUND]
    for column, label in (("ratio", "cost over the best plain cost, less 1"), ("distance", "Wasserstein distance")):
        colors = ("#222222", "#d62728", "#ff9896", "#1f77b4", "#9ecae1", "#2ca02c", "#9467bd", "#c5b0d5")
        figure, axes = plt.subplots(len(OBJECTIVES), len(sweeps), figsize=(3.0 * len(sweeps), 5.6), squeeze=False, dpi=75)
        for row, objective in enumerate(OBJECTIVES):
            for axis, sweep in zip(axes[row], sweeps, strict=True):
                for method, color in zip(METHODS, colors, strict=False):
                    found = cells(runs, sweep, objective, method)
                    if found:
                        shown = [m[column] if column == "distance" else max(m[column] - 1, LEAST_EXCESS) for _, m in found]
                        axis.plot([v for v, _ in found], shown, marker=".", lw=1.2, label=method, color=color)
                axis.set(xscale="log", yscale="log", xlabel=sweep)
                axis.minorticks_off()
                axis.set_xticks(SWEEPS[sweep], [f"{value:g}" for value in SWEEPS[sweep]])
                axis.yaxis.set_major_locator(LogLocator())
                axis.grid(axis="y", lw=0.3)
                axis.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
                axis.set_title(f"{objective}: {label}" if sweep == "apart" else objective, fontsize=8)
                axis.tick_params(labelsize=7, which="both")
        handles = axes[0, 0].get_legend_handles_labels()
        figure.legend(*handles, loc="lower center", ncol=8, fontsize=8, frameon=False)
        figure.tight_layout(rect=(0, 0.05, 1, 1))
        figure.canvas.draw()
        pixels = np.asarray(figure.canvas.buffer_rgba())[:, :, :3]  # type: ignore[attr-defined]
        Image.fromarray(pixels).quantize(96).save(folder / f"{column}.png", optimize=True)
        plt.close(figure)


def write_page(folder: File = RESULTS, page: str = PAGE) -> None:
    """Make figures of the saved runs, and put tables and verdicts into the page."""
    runs = read_runs(folder / "runs.csv")
    draw(runs, folder)
    into_page("repetitions", f"{len({run['repetition'] for run in runs})} repetitions of each setting.", page)
    into_page("phi", phi_text({name: min(run["phi"] for run in runs if run["objective"] == name) for name in OBJECTIVES}), page)
    into_page("rows", needs.table(needs.read(folder / "rows.csv")), page)
    into_page("verdicts", verdict_table(along(runs)), page)
    into_page("shapes", shape_table(along(runs)), page)
    into_page("gains", gain_table(runs), page)
    into_page("ratios", cost_table(runs, "ratio"), page)
    into_page("distances", cost_table(runs, "distance"), page)


def main() -> None:
    """Run the parts named on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["runs", "rows", "page"], help="runs, rows, page")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS))
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    RESULTS.mkdir(parents=True, exist_ok=True)
    if "runs" in chosen.parts:
        run_all(RESULTS / "runs.csv", tuple(chosen.methods), chosen.repetitions)
    if "rows" in chosen.parts:
        needs.run(RESULTS / "rows.csv", METHODS, Setting, chosen.repetitions)
    if "page" in chosen.parts:
        write_page()


if __name__ == "__main__":
    main()
