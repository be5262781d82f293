"""Fan, Li and Li with other numbers of steps and epsilons; their example graphs: ``python -m experiments.fan_li_li_more``.

The papers report T = 20 swaps at epsilon 1 and say that other T and epsilon compare alike. Here both vary, on their graphs, with
the tree, the noise and the swaps as printed. Writes ``experiments/results/fan_li_li_more`` and the page
``experiments/fan_li_li_more.md``. Parts: ``runs`` and ``page``, by default both; what is in the table is not run again.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import warnings
from pathlib import Path as File
from typing import Any

import numpy as np

from benchmarks.networks import clusters_graph
from benchmarks.pages import into_page, markdown
from experiments.figures import save_sheet, sheet
from experiments.published import LEVELS, STEPS, PrintedCurator, SearchOnTree, run
from experiments.runs import EPSILON, STARTS, along
from experiments.tasks import SPACES, demand_sets, make_space
from experiments.verdicts import clear_sign
from spinney.solvers.service import Service
from spinney.trees.metric_hst import MetricHST

__all__ = ["SWEEPS", "main", "run_repetition", "write_page"]

RESULTS = File(__file__).parent / "results" / "fan_li_li_more"
PAGE = "experiments/fan_li_li_more.md"
GRAPHS = ("graph-r1", "graph-r100")
#: What varies, the other one as published; the papers have 3,000 nodes, and k from 2 to 20.
SWEEPS: dict[str, tuple[float, ...]] = {"T": (5, 10, 20, 40, 80), "epsilon": (0.25, 0.5, 1.0, 2.0, 4.0)}
NODES, K, REPETITIONS = 3000, 10, 10
COLUMNS = ("space", "demand", "T", "epsilon", "repetition", "method", "initial", "average", "best", "final")
METHODS = tuple(f"DP-{start}" for start in STARTS)
KINDS = ("balanced", "imbalanced")


def printed_curator(steps: int) -> type[PrintedCurator]:
    """Return a curator whose swaps have the printed weights for a number of steps."""
    return type("PrintedFor", (PrintedCurator,), {"steps": steps})


def tasks() -> list[tuple[int, float]]:
    """Return the pairs of T and epsilon, each once."""
    pairs = [(int(steps), EPSILON) for steps in SWEEPS["T"]] + [(STEPS, epsilon) for epsilon in SWEEPS["epsilon"]]
    return list(dict.fromkeys(pairs))


def run_repetition(name: str, repetition: int, nodes: int = NODES, pairs: Any = None) -> list[dict[str, Any]]:
    """Run all methods on one graph, for both kinds of demand and every pair of T and epsilon."""
    space, label = make_space(name, repetition, nodes)
    tree, records = MetricHST.printed(space, np.random.default_rng(repetition), LEVELS), []
    for kind, rows in demand_sets(label, repetition, min(500, nodes // 6)):
        service = Service.of(space, np.bincount(rows, minlength=space.n_points).astype(float))
        service.tabulate()
        for (steps, epsilon), (place, start) in itertools.product(pairs or tasks(), enumerate(STARTS.values())):
            search = SearchOnTree(start, steps, False, LEVELS, made=tree)
            seed = 10_000 * repetition + 10 * steps + place
            path = run(search, space, rows, K, epsilon, seed, printed_curator(steps))
            costs = {key: value for key, value in along(service, path).items() if key in COLUMNS}
            where = (SPACES[name], kind, steps, epsilon, repetition, METHODS[place])
            records.append(dict(zip(COLUMNS, where, strict=False)) | costs)
    return records


def read_runs(path: File) -> list[dict[str, Any]]:
    """Read the table of runs; none if there is no table."""
    if not path.exists():
        return []
    kinds = {"space": str, "demand": str, "method": str, "T": int, "repetition": int}
    with path.open(newline="") as file:
        return [{key: kinds.get(key, float)(value) for key, value in row.items()} for row in csv.DictReader(file)]


def write_runs(path: File, runs: list[dict[str, Any]]) -> None:
    """Write the table of runs, costs with five digits."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for one in sorted(runs, key=lambda one: tuple(one[name] for name in COLUMNS[:6])):
            writer.writerow(one | {name: f"{one[name]:.5g}" for name in COLUMNS[6:]})


def gaps(
    runs: list[dict[str, Any]], space: str, kind: str, pair: tuple[int, float], other: str
) -> tuple[float, int | None] | None:
    """Return the mean cost over T steps of DP-HST over another start's, and whether their difference is clear."""
    costs: dict[str, dict[int, float]] = {"DP-HST": {}, other: {}}
    for one in runs:
        if (one["space"], one["demand"], one["T"], one["epsilon"]) == (space, kind, *pair) and one["method"] in costs:
            costs[one["method"]][one["repetition"]] = one["average"]
    both = sorted(set(costs["DP-HST"]) & set(costs[other]))
    if not both:
        return None
    ours, theirs = (np.array([costs[method][repetition] for repetition in both]) for method in ("DP-HST", other))
    return float(ours.mean() / theirs.mean()), clear_sign(ours - theirs)


def ratio_table(runs: list[dict[str, Any]]) -> str:
    """Return the ratios of DP-HST to both other starts for every T and epsilon; clear differences are bold."""
    lines = []
    for pair in sorted(tasks()):
        line = [str(pair[0]), f"{pair[1]:g}"]
        for name, kind, other in itertools.product(GRAPHS, KINDS, METHODS[:2]):
            found = gaps(runs, SPACES[name], kind, pair, other)
            text = f"{found[0]:.2f}" if found else ""
            line.append(f"**{text}**" if found and found[1] else text)
        lines.append(line)
    columns = [f"{SPACES[n]}, {kind}, {other}" for n, kind, other in itertools.product(GRAPHS, KINDS, METHODS[:2])]
    return markdown(["T", "epsilon", *columns], lines)


def verdict_text(runs: list[dict[str, Any]]) -> str:
    """Return whether other T and epsilon compare as T = 20 at epsilon 1 does."""
    turned, clear, cells = 0, 0, 0
    for name, kind, other in itertools.product(GRAPHS, KINDS, METHODS[:2]):
        first = gaps(runs, SPACES[name], kind, (STEPS, EPSILON), other)
        for pair in tasks():
            found = gaps(runs, SPACES[name], kind, pair, other)
            if found and first and pair != (STEPS, EPSILON):
                cells += 1
                turned += (found[0] < 1) != (first[0] < 1)
                clear += bool(found[1]) and bool(first[1]) and found[1] != first[1]
    if not cells:
        return "not measured"
    said = "holds" if clear == 0 and turned <= 0.2 * cells else "not contradicted" if clear == 0 else "does not hold"
    return (
        f"**{said}**: in {cells - turned} of {cells} cells DP-HST lies on the same side of the other start as with T = 20 at "
        f"epsilon 1, and in {clear} the difference is clear at both and turned around."
    )


def draw_sweeps(runs: list[dict[str, Any]], folder: File) -> None:
    """Draw mean costs over T steps along both sweeps."""
    figure, axes = sheet(len(GRAPHS), 2 * len(SWEEPS))
    for row, name in enumerate(GRAPHS):
        for axis, (kind, sweep) in zip(axes[row], itertools.product(KINDS, SWEEPS), strict=True):
            fixed, value = ("epsilon", EPSILON) if sweep == "T" else ("T", STEPS)
            for method in METHODS:
                where = (SPACES[name], kind, method, value)
                own: dict[float, list[float]] = {}
                for one in runs:
                    if (one["space"], one["demand"], one["method"], one[fixed]) == where:
                        own.setdefault(one[sweep], []).append(one["average"])
                points = [(at, float(np.mean(costs))) for at, costs in sorted(own.items())]
                if points:
                    axis.plot(*zip(*points, strict=True), marker=".", label=method)
            axis.set(xscale="log", xlabel=sweep)
            axis.set_title(f"{SPACES[name]}, {kind}: mean over T", fontsize=8)
    save_sheet(figure, axes, folder / "sweeps.png")


def draw_examples(folder: File, size: int = 50) -> dict[str, float]:
    """Draw subgraphs of 50 nodes by their two main coordinates; return how far clusters are apart, in their own widths."""
    figure, axes = sheet(1, len(GRAPHS), 4.0)
    found = {}
    for axis, name in zip(axes[0], GRAPHS, strict=True):
        space, label = clusters_graph(float(name.removeprefix("graph-r")), 1000)
        chosen = np.random.default_rng(0).choice(1000, size, replace=False)
        table = space.distances_between(chosen, chosen)
        same = label[chosen][:, None] == label[chosen]
        found[SPACES[name]] = float(table[~same].mean() / table[same & (table > 0)].mean())
        middle = np.eye(size) - 1 / size
        values, vectors = np.linalg.eigh(-middle @ table**2 @ middle / 2)
        places = vectors[:, -2:] * np.sqrt(np.maximum(values[-2:], 0))
        near = np.argwhere(np.triu(table <= np.quantile(table, 0.15), 1))
        for one, two in near:
            weight = 1 - table[one, two] / table[tuple(near.T)].max()
            axis.plot(*places[[one, two]].T, color=str(0.8 * (1 - weight)), lw=0.3 + 1.2 * weight, zorder=1)
        axis.scatter(*places.T, c=label[chosen], cmap="tab10", s=18, zorder=2)
        axis.set_title(f"{SPACES[name]}, 50 nodes", fontsize=9)
    save_sheet(figure, axes, folder / "examples.png")
    return found


def write_page(folder: File = RESULTS, page: str = PAGE) -> None:
    """Draw the figures, and put tables and the verdict into the page."""
    runs, apart = read_runs(folder / "runs.csv"), draw_examples(folder)
    if runs:
        draw_sweeps(runs, folder)
    numbers = {SPACES[name]: len({one["repetition"] for one in runs if one["space"] == SPACES[name]}) for name in GRAPHS}
    into_page("repetitions", ", ".join(f"{title}: {number}" for title, number in numbers.items()), page)
    into_page("verdict", verdict_text(runs), page)
    into_page("ratios", ratio_table(runs), page)
    into_page("examples", ", ".join(f"{title}: {value:.1f}" for title, value in apart.items()), page)


def main() -> None:
    """Run the parts named on the command line, or both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=["runs", "page"], help="runs, page")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / "runs.csv"
    for repetition, name in itertools.product(range(chosen.repetitions if "runs" in chosen.parts else 0), GRAPHS):
        runs = read_runs(path)
        if not any((one["space"], one["repetition"]) == (SPACES[name], repetition) for one in runs):
            write_runs(path, [*runs, *run_repetition(name, repetition)])
            print(name, repetition, flush=True)
    if "page" in chosen.parts:
        write_page()


if __name__ == "__main__":
    main()
