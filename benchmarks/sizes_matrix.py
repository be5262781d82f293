"""Everything public is the same for all sizes: private functions x containers x sizes x internal limits, with answers frozen.

``python -m benchmarks sizes_matrix`` records a fit of 100 made-up rows, and gives its draws to fits of 0 to a million rows, in
every container, and on both sides of every internal limit, which is moved for it. Questions, noise, result, exceptions,
warnings, logs and printed text must be those of the 100 rows. Each size, and then all limits, is a run that is added to
``benchmarks/results/sizes_matrix.json``; the exit code is 1 where something differs.

Tables of some sizes meet all functions in all containers; those of others meet them in turn, so that each size still meets all
functions, and all containers with the default algorithm; those of more than 100,000 rows leave out containers that Python reads
cell by cell. ``--sizes`` chooses sizes, ``--limits no`` leaves limits out, ``--only`` takes functions whose names hold a text.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
from pyarrow.dataset import dataset

from benchmarks.audit_matrix import SETS, SPACE, commit, named_release
from spinney import PrivateKMeans, PrivateKMedian, PrivateKMedoids, scan
from spinney.algorithms import Stable
from spinney.algorithms.registry import HOMES
from spinney.audit.recording import Transcript, record
from spinney.baselines.sample_aggregate import SampleAggregate
from spinney.estimators.coverage import CoverModel
from spinney.estimators.description_model import DescriptionModel
from spinney.estimators.one_cluster import BallModel

RESULTS = Path(__file__).parent / "results" / "sizes_matrix.json"
#: Rows of the fit whose draws are frozen; sizes on a log scale; those of every function x container; those around moved limits,
#: of which each function meets some.
BASE, SIZES = 100, (0, 1, 2, 3, 6, 10, 18, 32, 56, 178, 316, 562, 1_000, 3_162, 10_000, 31_623, 100_000, 316_228, 1_000_000)
ALL_PAIRS, LARGE, AROUND, MET = (0, 1, 2, 1_000), 100_000, (0, 1, 2, 3, 7, 8, 9, 63, 64, 65, 300), 2
BOUNDS = ([-1.0, -1.0], [1.0, 1.0])
NAMES = ["x", "y"]


@dataclass(frozen=True)
class Function:
    """A private function of a table: its model, and what its rows are."""

    model: Any
    rows: str = "numbers"
    grouped: bool = False

    @property
    def counts_users(self) -> bool:
        """Whether who asks knows the number of rows, as in the local model: draws follow it, and are not frozen."""
        return getattr(self.model, "model", None) == "local"


def functions() -> dict[str, Function]:
    """Return every private function, with its algorithms; relations and deltas take turns."""
    turns = [{"adjacency": one, "delta": delta} for one in ("add-remove", "replace") for delta in (0.0, 1e-6)]
    found: dict[str, Function] = {}

    def add(name: str, make: Callable[..., Any], rows: str = "numbers", grouped: bool = False, **options: Any) -> None:
        cap = {"max_rows_per_group": 2} if grouped else {}
        options = {"epsilon": 1.0, **turns[len(found) % 4], **cap, **options}
        found[name] = Function(make(**options), rows, grouped)

    def means(**options: Any) -> Any:
        return PrivateKMeans(3, bounds=BOUNDS, **options)

    def medians(**options: Any) -> Any:
        return PrivateKMedian(3, bounds=BOUNDS, **options)

    for place, algorithm in enumerate(sorted(HOMES["points"])):
        add(f"{('k-means', 'k-median')[place % 2]}, {algorithm}", (means, medians)[place % 2], algorithm=algorithm)
    add("k-means, default", means)
    add("k-median, default", medians)
    add("k-means, tighten", means, tighten=True)
    add("k-means, number of clusters found", lambda **options: PrivateKMeans("auto", bounds=BOUNDS, **options))
    add("k-means, persons", means, grouped=True)
    add("k-median, objective", medians, algorithm=Stable("lloyd", median_step="objective"))
    replaced = {"adjacency": "replace", "delta": 0.0}
    add("k-means, samples with replacement", means, algorithm=SampleAggregate(4, "replacement"), **replaced)
    for algorithm in sorted(HOMES["users"]):
        delta = 0.0 if algorithm == "refined" else 1e-6
        add(f"k-means, local {algorithm}", means, model="local", algorithm=algorithm, adjacency="replace", delta=delta)
    add("one_cluster", lambda **options: BallModel(5, bounds=BOUNDS, candidates=3, **options))
    release = named_release("add-remove", {})
    add("describe", lambda **options: DescriptionModel(release, None, {"y": (-1, 1)}, bins=4, **options), "named", delta=0.0,
        adjacency="add-remove")  # fmt: skip
    for algorithm in sorted(HOMES["sites"]):
        add(
            f"k-medoids, {algorithm}", lambda **options: PrivateKMedoids(2, space=SPACE, **options), "places", algorithm=algorithm
        )
    add("max_coverage", lambda **options: CoverModel(SETS, 4, n_items=SPACE.n_points, **options), "places")
    return found


@cache
def made_up(size: int) -> np.ndarray:
    """Return made-up rows, some broken and some far outside."""
    rng = np.random.default_rng(size)
    rows = rng.normal(0, 0.7, (size, 2))
    rows[rng.random(size) < 0.02] = [np.nan, 0.5]
    rows[rng.random(size) < 0.02, 1] = -1e300
    return rows


def places(size: int) -> np.ndarray:
    """Return made-up demand; some rows name no point."""
    return np.random.default_rng(size).integers(-1, SPACE.n_points + 1, size)


def _csv(rows: np.ndarray, path: Path, quoted: bool = False) -> Path:
    pl.DataFrame(rows, NAMES, orient="row").cast(pl.Float64).write_csv(path, quote_style="always" if quoted else "necessary")
    return path


def _parquet(rows: np.ndarray, path: Path) -> Path:
    pl.DataFrame(rows, NAMES, orient="row").cast(pl.Float64).write_parquet(path)
    return path


def _npy(rows: np.ndarray, path: Path) -> Path:
    np.save(path, rows)
    return path


def _folder(rows: np.ndarray, path: Path, write: Callable[..., Path]) -> Path:
    path.mkdir()
    for part in range(3):
        write(rows[part::3], path / f"part-{part}.{'csv' if write is _csv else 'parquet'}")
    return path


def _whole(rows: np.ndarray, dtype: Any) -> np.ndarray:
    return np.clip(np.nan_to_num(rows), -9, 9).astype(dtype)


#: Tables that are the same rows, without names of columns.
NAMELESS: dict[str, Callable[[np.ndarray, Path], Any]] = {
    "array": lambda rows, folder: rows,
    "list": lambda rows, folder: rows.tolist(),
    "list with ragged rows": lambda rows, folder: [None, [], *rows.tolist(), [0.5], "ab", [1, 2, 3], 7.0, [[1], 2]],
    "tuple of arrays": lambda rows, folder: tuple(rows),
    "columns first": lambda rows, folder: np.asfortranarray(rows),
    "every other column": lambda rows, folder: np.repeat(rows, 2, axis=1)[:, ::2],
    "float32": lambda rows, folder: np.clip(rows, -1e30, 1e30).astype(np.float32),
    "float16": lambda rows, folder: _whole(rows, np.float16),
    "int64": lambda rows, folder: _whole(rows, np.int64),
    "int8": lambda rows, folder: _whole(rows, np.int8),
    "bool": lambda rows, folder: rows > 0,
    "objects": lambda rows, folder: rows.astype(object),
    "masked": lambda rows, folder: np.ma.masked_invalid(rows),
    "npy": lambda rows, folder: _npy(rows, folder / "rows.npy"),
    "scan of npy": lambda rows, folder: scan(_npy(rows, folder / "rows.npy")),
}
#: The same with names.
NAMED: dict[str, Callable[[np.ndarray, Path], Any]] = {
    "pandas": lambda rows, folder: pd.DataFrame(rows, columns=NAMES),
    "pandas objects": lambda rows, folder: pd.DataFrame(rows, columns=NAMES, dtype=object),
    "polars": lambda rows, folder: pl.DataFrame(rows, NAMES, orient="row"),
    "polars, lazy": lambda rows, folder: pl.DataFrame(rows, NAMES, orient="row").lazy(),
    "arrow": lambda rows, folder: pl.DataFrame(rows, NAMES, orient="row").to_arrow(),
    "csv": lambda rows, folder: _csv(rows, folder / "rows.csv"),
    "csv with quotes": lambda rows, folder: _csv(rows, folder / "rows.csv", quoted=True),
    "parquet": lambda rows, folder: _parquet(rows, folder / "rows.parquet"),
    "folder of parquet": lambda rows, folder: _folder(rows, folder / "parts", _parquet),
    "folder of csv": lambda rows, folder: _folder(rows, folder / "parts", _csv),
    "scan of csv": lambda rows, folder: scan(_csv(rows, folder / "rows.csv")),
    "scan of parquet": lambda rows, folder: scan(_parquet(rows, folder / "rows.parquet")),
    "dataset": lambda rows, folder: dataset(_parquet(rows, folder / "rows.parquet")),
    "scan of a dataset of parquet": lambda rows, folder: scan(dataset(_parquet(rows, folder / "rows.parquet")), spool=folder),
}
#: Columns that name points.
PLACES: dict[str, Callable[[np.ndarray, Path], Any]] = {
    "array": lambda rows, folder: rows,
    "list": lambda rows, folder: rows.tolist(),
    "list with ragged rows": lambda rows, folder: [None, [], *rows.tolist(), [5], "ab", [1, 2, 3], 7.5],
    "floats": lambda rows, folder: np.where(rows < 0, np.nan, rows),
    "one column": lambda rows, folder: rows[:, None],
    "objects": lambda rows, folder: rows.astype(object),
    "pandas": lambda rows, folder: pd.Series(rows, name="site"),
    "polars": lambda rows, folder: pl.Series("site", rows),
    "frame": lambda rows, folder: pd.DataFrame({"site": rows}),
    "arrow": lambda rows, folder: pl.Series("site", rows).to_arrow(),
}
#: Groups are given beside tables that can have a column of them.
GROUPED = ("array", "list", "float32", "pandas", "polars", "arrow")
CONTAINERS = {"numbers": NAMELESS | NAMED, "named": NAMED, "places": PLACES}

#: Every place where work is done otherwise from some size on, and what it is moved to: before the first row, and after a few.
LIMITS: dict[str, tuple[Any, ...]] = {
    "tables.files.LARGE_SHARE": (0.0, 1e-9),
    "tables.streams.MOST_ROWS": (1, 64),
    "tables.streams.MOST_VALUES": (1, 128),
    "tables.records.BATCH": (1, 64),
    "tables.records.BLOCK": (1, 512),
    "tables.schema.BUFFER": (1, 512),
    "tables.schema.ROWS": (1, 64),
    "tables.spooled.MOST_LABELED": (0, 64),
    "curators.walks.STRETCH": (1, 64),
    "curators.walks.STRETCH_NUMBERS": (1, 128),
    "curators.walks.LEAST_TILE": (1, 8),
    "curators.walks.TILE_NUMBERS": (1, 512),
    "curators.kept.COLUMN_BYTES": (0, 512),
    "curators.kept.MOST_BYTES": (0, 1024),
    "curators.kept.SHARE": (0.0, 1e-9),
    "curators.files.EXACT": (1, 2),
    "curators.files.MOST_WORKERS": (1, 64),
    "curators.memory.CHUNK": (1, 64),
    "curators.lookahead.MOST_CELLS": (1, 64),
    "curators.draws.BLOCK": (1, 64),
    "curators.row_blocks.SLICE": (1, 64),
    "curators.row_blocks.MOST_ROWS": (1, 2_048),
    "curators.row_blocks.MOST_WORK": (1, 2**14),
    "curators.demand.LARGEST_COUNT": (0, 100),
    "curators.demand.LARGEST_SUM": (0, 2**29),
    "curators.demand.TABLE_BYTES": (0, 400),
    "spaces.metric.BLOCK_ENTRIES": (1, 64),
    "spaces.nearest.SLAB_POINTS": (256, 512),
    "spaces.nearest.SLAB_NUMBERS": (1, 1_024),
    "local.users.BLOCK": (1, 64),
    "mechanisms.randomizers.CHUNK": (1, 64),
    "threads._n_cores": (1, 16),
}
#: Containers that Python reads cell by cell.
SLOW = ("list", "tuple", "objects", "pandas objects", "csv with quotes")
#: Limits that say something of paths alone.
OF_PATHS = ("tables.", "curators.kept.", "curators.files.")


def groups_of(size: int) -> np.ndarray:
    """Return whom each row belongs to."""
    return np.random.default_rng(size).integers(0, max(size // 3, 1), size).astype(str).astype(object)


def fitted(function: Function, container: str, size: int, folder: Path, base: Transcript | None) -> Transcript:
    """Return all that happens when a table of this size is given, with the draws of another fit."""
    shutil.rmtree(folder / "tables", ignore_errors=True)
    (folder / "tables").mkdir()
    rows = places(size) if function.rows == "places" else made_up(size)
    table = CONTAINERS[function.rows][container](rows, folder / "tables")
    groups = groups_of(size) if function.grouped else None
    source = None if base is None or function.counts_users else base.frozen()
    return record(function.model, table, groups=groups, source=source)


def differences(function: Function, one: Transcript, other: Transcript) -> list[str]:
    """Return what can be seen to differ between two fits with the same draws; of other draws, errors and printed text alone."""
    if function.counts_users:
        return [f"{name}: {_short(other.seen[name])}" for name in ("error", "printed") if one.seen[name] != other.seen[name]]
    faults = [] if one.asked == other.asked else ["questions"]
    faults += [] if one.answers == other.answers else ["answers"]
    faults += [] if [event.draw for event in one.draws] == [event.draw for event in other.draws] else ["noise"]
    return faults + [f"{name}: {_short(other.seen[name])}" for name, value in one.seen.items() if other.seen[name] != value]


def _short(value: Any) -> str:
    return str(value)[:200]


def moved(limit: str, value: Any) -> Any:
    """Return a context in which an internal limit has another value."""
    module, name = f"spinney.{limit}".rsplit(".", 1)
    return mock.patch.object(import_module(module), name, (lambda: value) if name == "_n_cores" else value)


@dataclass
class Matrix:
    """Fits one after another, and remembers what differed."""

    folder: Path

    def __post_init__(self) -> None:
        self.functions = functions()
        self.tried, self.faults = 0, list[dict[str, Any]]()
        self._known: dict[tuple[str, str], tuple[Transcript, Transcript]] = {}

    def containers(self, function: str) -> list[str]:
        """Return the containers that a function is tried with."""
        found = self.functions[function]
        return [name for name in CONTAINERS[found.rows] if not found.grouped or name in GROUPED]

    def known(self, function: str, container: str) -> tuple[Transcript, Transcript]:
        """Return the fit whose draws are frozen, and that of as many rows in this container."""
        if (function, container) not in self._known:
            found, first = self.functions[function], self.containers(function)[0]
            base = fitted(found, first, BASE, self.folder, None) if container == first else self.known(function, first)[0]
            self._known[function, container] = base, fitted(found, container, BASE, self.folder, base)
        return self._known[function, container]

    def check(self, function: str, container: str, size: int, **limits: Any) -> None:
        """Fit a table of this size with limits moved, and note what differs from the base."""
        base, expected = self.known(function, container)
        with ExitStack() as stack:
            for limit, value in limits.items():
                stack.enter_context(moved(limit, value))
            own = self.functions[function]
            found = differences(own, expected, fitted(own, container, size, self.folder, base))
        self.tried += 1
        if found:
            self.faults.append({"function": function, "container": container, "size": size, "limits": limits, "differs": found})

    def containers_agree(self, function: str) -> None:
        """Note containers with or without names, in memory, paths or scans, whose fits differ from those of the first such."""
        names = self.containers(function)
        first: dict[Any, tuple[str, Transcript]] = {}
        for name in names:
            found = self.known(function, name)[1]
            on_disk = name.startswith("scan"), any(kind in name for kind in ("csv", "parquet", "npy"))
            where, one = first.setdefault((name in NAMED, on_disk), (name, found))
            if differs := differences(self.functions[function], one, found):
                differs = [f"unlike {where}", *differs]
                self.faults.append({"function": function, "container": name, "size": BASE, "limits": {}, "differs": differs})


def of_size(matrix: Matrix, size: int, names: list[str]) -> Iterator[tuple[str, str, int, dict[str, Any]]]:
    """Yield what is tried of one size."""
    for place, name in enumerate(names):
        containers = matrix.containers(name)
        if size > LARGE:
            containers = [one for one in containers if not one.startswith(SLOW)]
        if size not in ALL_PAIRS and name != "k-means, default":
            count = 6 if size <= max(ALL_PAIRS) else 3 if size <= LARGE else 1
            containers = [containers[(count * place + turn) % len(containers)] for turn in range(count)]
        yield from ((name, container, size, {}) for container in containers)


def around_limits(matrix: Matrix, names: list[str]) -> Iterator[tuple[str, str, int, dict[str, Any]]]:
    """Yield what is tried around limits: a size and a container in turn for each function and value."""
    for (number, limit), (place, name) in product(enumerate(LIMITS), enumerate(names)):
        containers = matrix.containers(name)
        if limit.startswith(OF_PATHS):
            containers = [one for one in containers if "csv" in one or "parquet" in one or "npy" in one]
        for turn in range(MET if containers else 0):
            size, value = AROUND[(MET * place + number + turn) % len(AROUND)], LIMITS[limit][turn % 2]
            yield name, containers[(number + place + turn) % len(containers)], size, {limit: value}


def tried(matrix: Matrix, what: str, work: Iterator[tuple[str, str, int, dict[str, Any]]], out: Path) -> None:
    """Do some work, and add it to the file."""
    start, before, old = time.perf_counter(), matrix.tried, len(matrix.faults)
    for name, container, size, limits in work:
        matrix.check(name, container, size, **limits)
    made_up.cache_clear()
    run = {
        "commit": commit(), "tried": what, "fits": matrix.tried - before, "differ": matrix.faults[old:],
        "seconds": round(time.perf_counter() - start),
    }  # fmt: skip
    past = json.loads(out.read_text(encoding="utf-8")) if out.exists() else []
    out.write_text(json.dumps([*past, run], indent=1) + "\n", encoding="utf-8")
    print(f"{what}: {run['fits']} fits in {run['seconds']} s, {len(run['differ'])} differ", *run["differ"], sep="\n", flush=True)


def main() -> int:
    """Run the matrix."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="of tables, with commas between them")
    parser.add_argument("--limits", choices=("yes", "no"), default="yes", help="whether limits are moved")
    parser.add_argument("--only", default="", help="functions whose names hold this")
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        matrix = Matrix(Path(folder))
        names = [name for name in matrix.functions if chosen.only in name]
        for size in map(int, filter(None, chosen.sizes.split(","))):
            tried(matrix, f"{size} rows", of_size(matrix, size, names), chosen.out)
        if chosen.limits == "yes":
            tried(matrix, "moved limits", around_limits(matrix, names), chosen.out)
        for name in names:
            matrix.containers_agree(name)
    print(*matrix.faults, sep="\n")
    return 1 if matrix.faults else 0


if __name__ == "__main__":
    sys.exit(main())
