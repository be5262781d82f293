"""How many rows a method needs to come within 10% of the plain cost on separated blobs.

Rows are doubled until the mean of all repetitions is within 10%. A number of rows is given up as soon as no further repetition
can bring the mean there, so that what fails has fewer runs. Blobs are those of `benchmarks.drawn`, by seeds from 100 on.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Callable, Mapping
from pathlib import Path as File
from typing import Any

import numpy as np

from benchmarks.drawn import separated_blobs
from benchmarks.pages import markdown
from spinney.solvers.weighted import improve, total_cost

__all__ = ["STARTS", "read", "run", "table"]

#: Where doubling starts and ends, by method.
STARTS = {"tree": (625, 80_000), "stable": (625, 80_000), "sample-aggregate": (2_500, 320_000), "local": (62_500, 4_000_000)}
OBJECTIVES, DIMENSIONS = ("k-means", "k-median"), (2, 4)
WITHIN, FIRST_SEED = 0.10, 100
COLUMNS = ("objective", "d", "method", "n", "repetition", "ratio")


def read(path: File) -> list[dict[str, Any]]:
    """Read the runs; none if there is no file."""
    if not path.exists():
        return []
    kinds: dict[str, Callable[[str], Any]] = {"d": int, "n": int, "repetition": int, "ratio": float}
    with path.open(newline="") as file:
        return [{key: kinds.get(key, str)(value) for key, value in row.items()} for row in csv.DictReader(file)]


def write(path: File, runs: list[dict[str, Any]]) -> None:
    """Write the runs, ratios with six digits."""
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(one | {"ratio": f"{one['ratio']:.6g}"} for one in sorted(runs, key=lambda one: tuple(one.values())))


def numbers_of(method: str) -> list[int]:
    """Return the numbers of rows that are tried."""
    start, end = STARTS[method]
    return list(itertools.takewhile(lambda n: n <= end, (start * 2**i for i in itertools.count())))


def is_lost(ratios: list[float], repetitions: int) -> bool:
    """Whether the mean cannot come within 10% any more, for no ratio is far below 1."""
    return sum(max(ratio - 1, 0) for ratio in ratios) > WITHIN * repetitions


def passes(ratios: list[float], repetitions: int) -> bool:
    """Whether all repetitions were run, and their mean is within 10%."""
    return len(ratios) >= repetitions and float(np.mean(ratios)) <= 1 + WITHIN


def run(path: File, methods: Mapping[str, Any], setting: Callable[..., Any], repetitions: int) -> None:
    """Run what is missing, and write the runs after each number of rows."""
    runs = read(path)
    for objective, d, method in itertools.product(OBJECTIVES, DIMENSIONS, STARTS):
        for n in numbers_of(method):
            found = [one["ratio"] for one in runs if _is_of(one, objective, d, method) and one["n"] == n]
            while len(found) < repetitions and not is_lost(found, repetitions):
                asked, seed = setting(objective, n=n, d=d), FIRST_SEED + len(found)
                rows, centers = separated_blobs(n, d, seed)
                plain = improve(rows, np.ones(n), centers, asked.power, 20, 1e-6, 1e-9).cost
                found.append(total_cost(rows, methods[method](rows, asked, seed), asked.power) / plain)
                runs.append(dict(zip(COLUMNS, (objective, d, method, n, len(found) - 1, found[-1]), strict=True)))
            write(path, runs)
            print(objective, d, method, n, len(found), round(float(np.mean(found)), 3), flush=True)
            if passes(found, repetitions):
                break


def _is_of(one: dict[str, Any], objective: str, d: int, method: str) -> bool:
    return (one["objective"], one["d"], one["method"]) == (objective, d, method)


def table(runs: list[dict[str, Any]]) -> str:
    """Return the least number of rows tried whose mean is within 10%, with that mean."""
    lines, repetitions = [], max((one["repetition"] for one in runs), default=0) + 1
    for objective, d in itertools.product(OBJECTIVES, DIMENSIONS):
        line = []
        for method in STARTS:
            ratios: dict[int, list[float]] = {}
            for one in runs:
                if _is_of(one, objective, d, method):
                    ratios.setdefault(one["n"], []).append(one["ratio"])
            enough = [n for n, each in sorted(ratios.items()) if passes(each, repetitions)]
            most = f"more than {max(ratios):,}" if ratios else "not measured"
            line.append(f"{enough[0]:,} ({np.mean(ratios[enough[0]]):.3f})" if enough else most)
        lines.append([objective, str(d), *line])
    return markdown(["objective", "columns", *(f"`{method}`" for method in STARTS)], lines)
