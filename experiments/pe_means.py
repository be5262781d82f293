"""PE-means of Humphries et al. 2026 beside the default: ``python -m experiments.pe_means`` writes the tables of its page.

Runs are those of ``python -m benchmarks run pe-means``, in the store of the benchmarks. The published figures are facts, in
``experiments/results/pe_means/published.csv``: those of the tables of the paper's artifact.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path as File

import numpy as np

from benchmarks.cells import Cell, suites
from benchmarks.pages import into_page, markdown
from benchmarks.store import Store, standard_error

PUBLISHED = File(__file__).parent / "results" / "pe_means" / "published.csv"
PAGE = "experiments/pe_means.md"
SUITE = "pe-means"
#: How the suite names the default, and the method as it is built here.
OURS, HERE = "auto", "spinney.baselines.pe_means:PEMeans"
#: The published figures that are compared with, and how many digits they have.
RIVALS = ("PE-means", "projected", "Google", "FastLloyd", "diffprivlib", "Balcan")
HALF_DIGIT = 5e-5


@dataclass(frozen=True)
class Area:
    """The area under the mean loss over epsilon, by the trapezoid rule, and its standard error."""

    value: float
    error: float


def area(epsilons: Iterable[float], losses: Iterable[list[float]]) -> Area:
    """Return the area under the means of some runs at each epsilon."""
    at, runs = np.array(list(epsilons)), list(losses)
    gaps = np.diff(at)
    weights = (np.append(gaps, 0) + np.append(0, gaps)) / 2
    errors = np.array([standard_error(each) for each in runs])
    return Area(float(weights @ [np.mean(each) for each in runs]), float(np.sqrt(((weights * errors) ** 2).sum())))


def verdict(ours: Area, published: float) -> str:
    """Return how an area compares with a published figure, which has four digits and no standard error."""
    if ours.value + 2 * ours.error < published - HALF_DIGIT:
        return "lower"
    return "**higher**" if ours.value - 2 * ours.error > published + HALF_DIGIT else "not clear"


def sets() -> dict[str, dict[str, str]]:
    """Return the published figures of each set."""
    with PUBLISHED.open() as file:
        return {line["set"]: line for line in csv.DictReader(file)}


def published_name(cell: Cell) -> str:
    """Return how the paper's artifact calls a table of the suite."""
    found = re.match(r"(\d+) blobs of \d+ x (\d+)", cell.table)
    return f"sklearn_{found[1]}_{found[2]}" if found else cell.table.split()[0]


def losses(store: Store, algorithm: str) -> dict[str, dict[float, list[float]]]:
    """Return the cost of each run over the number of rows, by set and epsilon; only sets that were run at every epsilon."""
    told, found = sets(), dict[str, dict[float, list[float]]]()
    for cell in (one for one in suites()[SUITE].cells if one.algorithm == algorithm):
        name, values = published_name(cell), store.values(SUITE, cell)
        found.setdefault(name, {})[cell.epsilon] = [value / int(told[name]["n"]) for value in values]
    return {name: each for name, each in found.items() if all(each.values())}


def plain(store: Store, name: str) -> float:
    """Return the area of the best non-private solution of a set that was found here."""
    cells = [one for one in suites()[SUITE].cells if published_name(one) == name and one.algorithm == OURS]
    (line, *_), epsilons = store.of(SUITE, cells[0]), [one.epsilon for one in cells]
    return float(line["plain"]) / int(sets()[name]["n"]) * (max(epsilons) - min(epsilons))


def areas(store: Store, algorithm: str) -> dict[str, Area]:
    """Return the area of each set."""
    return {name: area(each, each.values()) for name, each in losses(store, algorithm).items()}


def best(line: dict[str, str]) -> float:
    """Return the better one of the two published variants of PE-means."""
    return min(float(line[name]) for name in RIVALS[:2] if line[name])


def settings_table(store: Store) -> str:
    """Return the areas of all sets: the default's, the method's as it is built here, and the published ones."""
    told, here, lines = sets(), areas(store, HERE), []
    for name, ours in areas(store, OURS).items():
        line = told[name]
        own = f"{here[name].value:.4f}" if name in here else ""
        base = [name, line["d"], line["k"], f"{plain(store, name):.4f} ({line['plain']})"]
        found = [f"**{ours.value:.4f}** ± {ours.error:.4f}", own, *(line[rival] for rival in RIVALS)]
        lines.append([*base, *found, f"{ours.value / best(line):.2f}", verdict(ours, best(line))])
    head = ["set", "columns", "k", "not private (theirs)", "default", "PE-means here", *RIVALS, "ratio", "default is"]
    return markdown(head, lines)


def verdict_text(store: Store) -> str:
    """Return how many sets the default is lower in, in a sentence, and where it is not."""
    ours, told = areas(store, OURS), sets()
    said = {name: verdict(one, best(told[name])) for name, one in ours.items()}
    each = [one.value / best(told[name]) for name, one in ours.items()]
    counts = {word: sum(one == word for one in said.values()) for word in ("lower", "not clear", "**higher**")}
    lost = ", ".join(f"`{name}`" for name, word in said.items() if word != "lower") or "none"
    return (
        f"Of {len(said)} sets the default is lower by two standard errors in {counts['lower']}, not clearly either in "
        f"{counts['not clear']}, and higher in {counts['**higher**']}.\n"
        f"Its area over that of the better published variant: geometric mean {np.exp(np.log(each).mean()):.2f}, "
        f"from {min(each):.2f} to {max(each):.2f}. Not lower: {lost}."
    )


def epsilon_table(store: Store) -> str:
    """Return losses at each epsilon over that of the best non-private solution: the default's, and of PE-means here."""
    ours, here = losses(store, OURS), losses(store, HERE)
    lines = []
    for name, each in ours.items():
        base = plain(store, name) / (max(each) - min(each))
        for title, found in (("default", ours), ("PE-means here", here)):
            if name in found:
                shown = [f"{np.mean(runs) / base:.3f} ± {standard_error(runs) / base:.3f}" for runs in found[name].values()]
                lines.append([name, title, *shown])
    return markdown(["set", "method", *(f"epsilon {epsilon:g}" for epsilon in next(iter(ours.values())))], lines)


def main(page: str = PAGE) -> None:
    """Write the tables from the store."""
    store = Store()
    into_page("verdict", verdict_text(store), page)
    into_page("settings", settings_table(store), page)
    into_page("epsilons", epsilon_table(store), page)


if __name__ == "__main__":
    main()
