"""Replay over everything: estimator x algorithm x adjacency x delta x groups, in memory, from files and on Spark.

``python -m benchmarks audit_matrix`` replays 500 pairs of made-up neighbors of each cell in memory, 100 from files and 10 on
Spark, and then halves the noise of each kind of question alone: the audit must flag every one of them. It writes
``benchmarks/results/audit_matrix.json``, cell by cell, and the table beside it.

``--pairs``, ``--files``, ``--spark`` and ``--halved`` choose other numbers of pairs, 0 for none; ``--only`` takes the cells whose
names hold one of some texts; ``--part 0/2`` every second cell, for several processes, each with ``--out`` of its own; ``--left``
goes on with the cells that the file does not have; ``--merge`` puts files together. Each cell has the commit that it was replayed
at. The exit code is 1 where a promise is broken or halved noise was not noticed.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from spinney import FiniteMetric, PrivateKMeans, PrivateKMedian, PrivateKMedoids, __version__, scan
from spinney.algorithms.registry import HOMES
from spinney.audit import Finding, Pair, demand_pairs, replay_pairs, table_pairs
from spinney.estimators.coverage import CoverModel
from spinney.estimators.description_model import DescriptionModel
from spinney.estimators.one_cluster import BallModel
from spinney.privacy.adjacency import Adjacency
from spinney.privacy.pricing import Unit

RESULTS = Path(__file__).parent / "results" / "audit_matrix.json"
EPSILON, DELTAS, CAP = 1.0, (0.0, 1e-6), 2
LOWER, UPPER = np.array([-1.0, -1.0]), np.array([1.0, 1.0])
SPACE = FiniteMetric.from_points(np.random.default_rng(1).random((12, 2)))
SETS = [[0, 1], [1, 2, 3], [4], [5, 6, 7, 8], [8, 9, 10, 11], []]
SEED = 2026


@dataclass(frozen=True)
class Cell:
    """One promise: what is fitted, and how to make neighbors for it."""

    name: str
    model: Any
    pairs: Callable[..., Iterator[Pair]]
    of_numbers: bool


def named_release(adjacency: str, cap: dict[str, int]) -> Any:
    """Return a release of three clusters of made-up rows in the column x."""
    rows = np.random.default_rng(SEED).uniform(-1, 1, (300, 2))
    model = PrivateKMeans(3, epsilon=9.0, bounds={"x": (-1, 1)}, adjacency=adjacency, **cap)
    return model.fit(frame_of(rows, None), groups=np.arange(300) if cap else None).release_


@dataclass(frozen=True)
class Framed:
    """A model that takes tables with names of columns: those in memory get them."""

    model: Any
    max_rows_per_group: int | None

    def prepare(self, table: Any, groups: Any = None) -> Any:
        """Return what is run, and where the rows are."""
        return self.model.prepare(frame_of(table, None) if isinstance(table, np.ndarray) else table, groups)


def cells() -> Iterator[Cell]:
    """Yield every estimator x algorithm x adjacency x delta x groups."""
    for adjacency, delta, grouped in product(Adjacency, DELTAS, (False, True)):
        cap = {"max_rows_per_group": CAP} if grouped else {}
        promise: dict[str, Any] = {"epsilon": EPSILON, "delta": delta, "adjacency": adjacency.value, **cap}
        unit = Unit(adjacency, CAP if grouped else 1)
        tail = f"{adjacency.value}, delta {delta:g}, {'persons' if grouped else 'rows'}"
        of_table = partial(table_pairs, LOWER, UPPER, unit, grouped=grouped)
        of_demand = partial(demand_pairs, SPACE.n_points, unit, grouped=grouped)
        points = [(name, False) for name in sorted(HOMES["points"])] + [("tree", True)]
        for estimator, (algorithm, tighten) in product((PrivateKMeans, PrivateKMedian), points):
            name = f"{estimator.__name__}, {algorithm}{' in a private box' if tighten else ''}, {tail}"
            model = estimator(3, bounds=(LOWER, UPPER), algorithm=algorithm, tighten=tighten, **promise)
            yield Cell(name, model, of_table, True)
        for algorithm in sorted(HOMES["sites"]):
            model = PrivateKMedoids(2, space=SPACE, algorithm=algorithm, **promise)
            yield Cell(f"PrivateKMedoids, {algorithm}, {tail}", model, of_demand, False)
        ball = BallModel(5, bounds=(LOWER, UPPER), candidates=3, **promise)
        yield Cell(f"one_cluster, tree and rings, {tail}", ball, of_table, True)
        description = DescriptionModel(named_release(adjacency.value, cap), None, {"y": (-1, 1)}, EPSILON, delta, 4)
        yield Cell(f"describe, histograms, {tail}", Framed(description, cap.get("max_rows_per_group")), of_table, True)
        cover = CoverModel(SETS, 4, n_items=SPACE.n_points, **promise)
        yield Cell(f"max_coverage, coverage, {tail}", cover, of_demand, False)


def frame_of(rows: np.ndarray, groups: np.ndarray | None) -> Any:
    """Return a table with named columns."""
    import pandas as pd

    frame = pd.DataFrame(rows, columns=["x", "y"])
    return frame if groups is None else frame.assign(person=groups.astype(object))


def on_disk(pair: Pair, folder: Path, place: int) -> Pair:
    """Return a pair that lies in files: Parquet and CSV in turn."""
    kind, found = ("parquet", "csv")[place % 2], []
    for side, rows, groups in (("first", pair.first, pair.first_groups), ("second", pair.second, pair.second_groups)):
        path = folder / f"{side}.{kind}"
        frame = frame_of(rows, groups)
        if kind == "csv":
            frame.to_csv(path, index=False)
        else:
            import pyarrow as pa
            import pyarrow.parquet as pq

            fields = [("x", pa.float64()), ("y", pa.float64())] + ([] if groups is None else [("person", pa.string())])
            pq.write_table(pa.Table.from_pandas(frame, pa.schema(fields), preserve_index=False), path)
        found.append(scan(path, groups=None if groups is None else "person"))
    return Pair(f"{pair.kind}, {kind}", *found)


def on_spark(pair: Pair, session: Any) -> Pair:
    """Return a pair of Spark frames; the groups are named by their column."""

    def frame(rows: np.ndarray, groups: np.ndarray | None) -> Any:
        names = [None] * len(rows) if groups is None else groups.tolist()
        cells = [(float(x), float(y), name) for (x, y), name in zip(rows, names, strict=True)]
        made = session.createDataFrame(cells, "x double, y double, person string").repartition(2)
        return made if groups is not None else made.drop("person")

    column = None if pair.first_groups is None else "person"
    return Pair(
        f"{pair.kind}, spark", frame(pair.first, pair.first_groups), frame(pair.second, pair.second_groups), column, column
    )


def replayed(cell: Cell, where: str, count: int, session: Any) -> Finding:
    """Replay a number of pairs of one cell."""
    pairs = cell.pairs(count, seed=SEED)
    if where == "memory":
        return replay_pairs(cell.model, pairs)
    if where == "spark":
        return replay_pairs(cell.model, (on_spark(pair, session) for pair in pairs))
    with tempfile.TemporaryDirectory() as folder:
        return replay_pairs(cell.model, (on_disk(pair, Path(folder), place) for place, pair in enumerate(pairs)))


def halved(cell: Cell, count: int) -> dict[str, bool]:
    """Return, for each kind of question that the cell's plan has, whether its noise at half the scale was flagged."""
    fit, _ = cell.model.prepare(np.zeros((0, 2)) if cell.of_numbers else np.zeros(0), *groups_for(cell))
    kinds = sorted({charge.question for charge in fit.plan().charges})
    return {kind: replay_pairs(cell.model, cell.pairs(count, seed=SEED), factor={kind: 0.5}).broken for kind in kinds}


def groups_for(cell: Cell) -> tuple[Any, ...]:
    """Return no names, for a cell of persons, and nothing for one of rows."""
    return (np.empty(0, dtype=object),) if getattr(cell.model, "max_rows_per_group", None) else ()


def audited(cell: Cell, counts: dict[str, int], session: Any) -> dict[str, Any]:
    """Return what was found about one cell."""
    found: dict[str, Any] = {"cell": cell.name}
    for where in ("memory", "files", "spark"):
        if counts[where] and (cell.of_numbers or where == "memory"):
            start = time.perf_counter()
            finding = replayed(cell, where, counts[where], session)
            found[where] = finding.to_dict() | {"seconds": round(time.perf_counter() - start, 1), "commit": commit()}
    if counts["halved"]:
        found["halved"] = halved(cell, counts["halved"])
    return found


def commit() -> str:
    """Return the commit that is audited, and whether files were changed since."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], capture_output=True, text=True, cwd=RESULTS.parent, check=False).stdout.strip()

    return git("rev-parse", "HEAD") + (" and changes" if git("status", "--porcelain", "--", "../../src") else "")


def is_sound(found: dict[str, Any]) -> bool:
    """Whether no promise of a cell is broken, and all halved noise was flagged."""
    holds = not any(found[where]["broken"] for where in ("memory", "files", "spark") if where in found)
    return holds and all(found.get("halved", {}).values())


def table(results: list[dict[str, Any]]) -> str:
    """Return the results as a Markdown table."""
    lines = [
        "| cell | memory: pairs, worst loss | files | Spark | halved noise flagged |",
        "| --- | --- | --- | --- | --- |",
    ]
    for found in results:
        columns = [found["cell"]]
        for where in ("memory", "files", "spark"):
            one = found.get(where)
            text = "" if one is None else f"{one['tried']['pairs']}, {one['bound']:.3f}" + (" BROKEN" if one["broken"] else "")
            columns.append(text)
        flags = found.get("halved", {})
        columns.append(", ".join(kind if seen else f"{kind} MISSED" for kind, seen in flags.items()))
        lines.append(f"| {' | '.join(columns)} |")
    return "\n".join(lines) + "\n"


def write(results: list[dict[str, Any]], path: Path) -> None:
    """Write the results, and the table beside them."""
    pairs = {
        where: sum(one[where]["tried"]["pairs"] for one in results if where in one) for where in ("memory", "files", "spark")
    }
    record = {
        "made_by": "python -m benchmarks audit_matrix",
        "version": __version__,
        "python": platform.python_version(),
        "epsilon": EPSILON,
        "sound": all(map(is_sound, results)),
        "pairs": pairs,
        "results": results,
    }
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text(table(results), encoding="utf-8")


def merged(paths: Sequence[str | Path]) -> list[dict[str, Any]]:
    """Return the results of several files, in the order of the cells; a later file adds to and replaces those before it."""
    found: dict[str, dict[str, Any]] = {}
    for path in paths:
        for one in json.loads(Path(path).read_text(encoding="utf-8"))["results"]:
            found[one["cell"]] = found.get(one["cell"], {}) | one
    return [found[cell.name] for cell in cells() if cell.name in found]


def options(words: str | None, counts: dict[str, int], out: Path) -> argparse.ArgumentParser:
    """Return what a script over the cells takes: numbers, which cells, and where results go."""
    parser = argparse.ArgumentParser(description=words, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, count in counts.items():
        parser.add_argument(f"--{name}", type=int, default=count)
    parser.add_argument("--only", nargs="*", default=[""])
    parser.add_argument("--part", default="0/1")
    parser.add_argument("--left", action="store_true")
    parser.add_argument("--out", type=Path, default=out)
    parser.add_argument("--merge", nargs="*")
    return parser


def begun(chosen: argparse.Namespace) -> tuple[list[dict[str, Any]], list[Cell]]:
    """Return the results that there are, and the cells that are left to run."""
    results = merged([chosen.out]) if chosen.left and chosen.out.exists() else []
    there = {one["cell"] for one in results}
    part, parts = map(int, chosen.part.split("/"))
    every = [cell for place, cell in enumerate(cells()) if place % parts == part]
    return results, [cell for cell in every if any(text in cell.name for text in chosen.only) and cell.name not in there]


def main() -> int:
    """Run the matrix."""
    chosen = options(__doc__, {"pairs": 500, "files": 100, "spark": 10, "halved": 3}, RESULTS).parse_args()
    if chosen.merge:
        results = merged(chosen.merge)
        write(results, chosen.out)
        return 0 if all(map(is_sound, results)) else 1
    counts = {"memory": chosen.pairs, "files": chosen.files, "spark": chosen.spark, "halved": chosen.halved}
    session = None
    if chosen.spark:
        from benchmarks.spark import start

        session = start()
    results, left = begun(chosen)
    for cell in left:
        results.append(audited(cell, counts, session))
        write(results, chosen.out)
        print(table(results[-1:]).splitlines()[-1], flush=True)
    return 0 if all(map(is_sound, results)) else 1


if __name__ == "__main__":
    sys.exit(main())
