"""The guard: digests of seeded releases, to see that a change of the code changes no release.

``python -m tools.guard`` prints a digest of every release of the matrix: estimator x algorithm x backend x adjacency x delta
x groups x tighten, all with `random_state` and `noise_seed`; and of every other algorithm, of the local model, of descriptions
and of single balls some. ``--before COMMIT`` runs the same matrix on another commit, on
this machine, and lists what differs. ``--spark`` adds the Spark backend, and ``--sample N`` takes every Nth release.

A digest leaves out what may differ between two runs: date, ledger, entry, versions, and fields that only one of the commits has.
The format is left out as well: it changes when a field is new, and those that both have are compared.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

#: What a digest leaves out.
LEFT_OUT = {"version", "versions", "made", "statement", "format"}
POINT_ALGORITHMS = ("tree", "moments", "hst", "lloyd")
OTHER_ALGORITHMS = ("balcan", "coverage", "k-variates", "lsh", "pe-means", "sample-aggregate", "stable")
SITE_ALGORITHMS = ("cells", "hst", "local-search", "coverage")
BACKENDS = ("memory", "float32", "parquet", "csv", "npy")
SEEDS = {"random_state": 3, "noise_seed": 5}


def points(n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of a few clusters, some of them bad or out of bounds, and the name of each row's group, some missing."""
    rng = np.random.default_rng(7)
    rows = rng.normal(0, 0.4, (900, n_features)) + rng.choice(rng.uniform(-3, 3, (6, n_features)), 900)
    rows[::97] = np.nan
    rows[::89] *= 40
    rows[5, 0] = np.inf
    names = np.array([f"p{i}" for i in rng.integers(0, 300, 900)], dtype=object)
    names[::53] = None
    return rows, names


def stored(folder: Path, backend: str, rows: np.ndarray, names: np.ndarray | None) -> Any:
    """Return the table as a backend takes it."""
    import polars as pl

    try:
        from spinney import scan
    except ImportError:  # an earlier commit
        from spinney.io.tables import scan

    path = folder / f"{rows.shape[1]}-{names is not None}.{backend}"
    if not path.exists():
        frame = pl.DataFrame({f"x{i}": rows[:, i] for i in range(rows.shape[1])})
        if names is not None:
            frame = frame.with_columns(pl.Series("person", names.tolist(), pl.String))
        if backend == "npy":
            np.save(path, rows)
        else:
            getattr(frame, f"write_{backend}")(path)
    return scan(path, groups=None if names is None else "person")


def release_of(model: Any, X: Any, groups: Any = None) -> Any:
    """Return the release of a fit."""
    return model.fit(X, groups=groups).release_


def point_cases(folder: Path, spark: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the name of each fit of points, and the fit."""
    from spinney import PrivateKMeans, PrivateKMedian

    backends = (*BACKENDS, "spark") if spark else BACKENDS
    settings = product((PrivateKMeans, PrivateKMedian), POINT_ALGORITHMS, backends, ("add-remove", "replace"), (0.0, 1e-6))
    for (kind, algorithm, backend, adjacency, delta), grouped, tighten, d in product(
        settings, (False, True), (False, True), (2, 13)
    ):
        if grouped and backend in ("npy", "spark"):
            continue
        asked = {"algorithm": algorithm, "adjacency": adjacency, "delta": delta, "tighten": tighten}
        asked |= {"max_rows_per_group": 2 if grouped else None, "epsilon": 2.0, "bounds": (-4, 4), **SEEDS}

        def fit(kind=kind, asked=asked, backend=backend, grouped=grouped, d=d) -> Any:
            rows, names = points(d)
            model = kind(5, **asked)
            if backend in ("memory", "float32"):
                return release_of(model, rows.astype("f4") if backend == "float32" else rows, names if grouped else None)
            if backend == "spark":
                return release_of(model, spark.createDataFrame(rows.tolist(), [f"x{i}" for i in range(d)]))
            return release_of(model, stored(folder, backend, rows, names if grouped else None))

        yield f"{kind.__name__} {algorithm} {backend} {adjacency} {delta} groups={grouped} tighten={tighten} d={d}", fit


def spaces() -> dict[str, Any]:
    """Return a small space of each kind."""
    from scipy.sparse import coo_array
    from scipy.spatial.distance import cdist

    from spinney import FiniteMetric

    places = np.random.default_rng(1).uniform(0, 10, (60, 2))
    tails = np.arange(60)
    tails, heads = np.concatenate([tails, tails]), np.concatenate([(tails + 1) % 60, (tails * 7 + 3) % 60])
    apart = tails != heads
    tails, heads = np.minimum(tails, heads)[apart], np.maximum(tails, heads)[apart]
    tails, heads = np.unique(np.stack([tails, heads]), axis=1)
    lengths = np.sqrt(((places[tails] - places[heads]) ** 2).sum(axis=1))
    return {
        "points": FiniteMetric.from_points(places),
        "matrix": FiniteMetric.from_matrix(cdist(places, places), candidates=np.arange(0, 60, 2)),
        "graph": FiniteMetric.from_graph(coo_array((lengths, (tails, heads)), shape=(60, 60)), coordinates=places),
    }


def site_cases() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the name of each fit of sites, and the fit."""
    from spinney import PrivateKMedoids

    rng = np.random.default_rng(2)
    demand = rng.integers(0, 25, 500).astype(np.float64)
    demand[::41] = 1e9
    names = np.array([f"p{i}" for i in rng.integers(0, 200, 500)], dtype=object)
    names[::47] = None
    settings = product(SITE_ALGORITHMS, spaces().items(), ("add-remove", "replace"), (0.0, 1e-6))
    for (algorithm, (label, space), adjacency, delta), grouped, power in product(settings, (False, True), (1, 2)):
        existing = (4,) if power == 2 else ()
        asked = {"algorithm": algorithm, "adjacency": adjacency, "delta": delta, "power": power, "existing_sites": existing}
        asked |= {"max_rows_per_group": 2 if grouped else None, "epsilon": 2.0, "space": space, **SEEDS}

        def fit(asked=asked, grouped=grouped) -> Any:
            return release_of(PrivateKMedoids(4, **asked), demand, names if grouped else None)

        yield f"PrivateKMedoids {algorithm} {label} {adjacency} {delta} groups={grouped} power={power}", fit


def cover_cases() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the name of each cover, and the fit."""
    try:
        from spinney import max_coverage
    except ImportError:
        from spinney.estimators.coverage import max_coverage

    rng = np.random.default_rng(4)
    items, names = rng.integers(0, 30, 400), [f"p{i}" for i in rng.integers(0, 150, 400)]
    sets = [rng.choice(30, 6, replace=False).tolist() for _ in range(12)]
    for adjacency, delta, grouped in product(("add-remove", "replace"), (0.0, 1e-6), (False, True)):
        asked = {"epsilon": 2.0, "delta": delta, "n_items": 30, "adjacency": adjacency, "noise_seed": 5}
        asked |= {"groups": names, "max_rows_per_group": 2} if grouped else {}

        def fit(asked=asked) -> Any:
            return max_coverage(items, sets, 4, **asked)

        yield f"max_coverage {adjacency} {delta} groups={grouped}", fit


def other_cases(folder: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield fits of what the other matrices leave out: every other algorithm, the local model, descriptions and single balls."""
    from spinney import PrivateKMeans, PrivateKMedian, describe, one_cluster
    from spinney.algorithms.hst import HST
    from spinney.algorithms.stable import Stable

    asked = {"epsilon": 2.0, "bounds": (-4, 4), "delta": 1e-6, "adjacency": "replace", **SEEDS}
    choices = {name: name for name in OTHER_ALGORITHMS} | {
        "stable lloyd": Stable("lloyd", steps=1),
        "stable gradient": Stable(median_step="gradient"),
        "stable localized": Stable(median_step="localized"),
        "stable objective": Stable(median_step="objective"),
        "hst objective": HST(median_step="objective"),
    }
    for (label, algorithm), kind, backend, delta, tighten in product(
        choices.items(), (PrivateKMeans, PrivateKMedian), ("memory", "parquet"), (0.0, 1e-6), (False, True)
    ):

        def fit(algorithm=algorithm, kind=kind, backend=backend, delta=delta, tighten=tighten) -> Any:
            rows, _ = points(3)
            table = rows if backend == "memory" else stored(folder, backend, rows, None)
            return release_of(kind(5, **asked | {"algorithm": algorithm, "delta": delta, "tighten": tighten}), table)

        yield f"{kind.__name__} {label} {backend} {delta} tighten={tighten}", fit
    for algorithm, kind, d in product(("refined", "stable"), (PrivateKMeans, PrivateKMedian), (2, 6)):

        def simulated(algorithm=algorithm, kind=kind, d=d) -> Any:
            delta = 1e-6 if algorithm == "stable" else 0.0
            model = kind(4, **asked | {"model": "local", "algorithm": algorithm, "epsilon": 4.0, "delta": delta})
            return release_of(model, np.tile(points(d)[0], (20, 1)))

        yield f"{kind.__name__} local {algorithm} d={d}", simulated
    for kind, d, epsilon in product((PrivateKMeans, PrivateKMedian), (1, 2, 5, 13), (1.0, 20.0)):

        def counted(kind=kind, d=d, epsilon=epsilon) -> Any:
            rows = np.tile(points(d)[0], (4, 1))
            return release_of(kind("auto", max_clusters=9, **asked | {"epsilon": epsilon}), rows)

        yield f"{kind.__name__} auto d={d} epsilon={epsilon}", counted
    for delta in (0.0, 1e-6):
        yield f"one_cluster {delta}", lambda delta=delta: one_cluster(points(2)[0], 200, **asked | {"delta": delta})

    def described(adjacency: str, cap: int | None) -> Any:
        import polars as pl

        rows, names = points(4)
        frame = pl.DataFrame({f"x{i}": rows[:, i] for i in range(4)})
        frame = frame.with_columns((pl.col("x3") > 0).alias("is_large"), pl.Series("kind", ["a", "b", None] * 300))
        groups = {} if cap is None else {"groups": names, "max_rows_per_group": cap}
        clustered = PrivateKMeans(
            3, epsilon=2.0, bounds={"x0": (-4, 4), "kind": ["a", "b"]}, scale=1.0, adjacency=adjacency, **SEEDS
        )
        rest = {"x1": (-4, 4), "x2": (-4, 4), "is_large": bool}
        return describe(clustered.fit(frame).release_, frame, bounds=rest, epsilon=1.0, noise_seed=5, **groups)

    for adjacency, cap in product(("add-remove", "replace"), (None, 2)):
        yield f"describe {adjacency} cap={cap}", lambda adjacency=adjacency, cap=cap: described(adjacency, cap)


def parts_of(release: Any) -> dict[str, str]:
    """Return a digest of each field of a release."""
    whole = release.to_dict()
    whole |= whole.pop("release", {})  # a ball has its promise in a release
    record = {name: value for name, value in whole.items() if name not in LEFT_OUT}
    record |= {f"parameters.{name}": value for name, value in record.pop("parameters", {}).items()}  # a new one is a new field
    families = [{name: value for name, value in one.items() if name == "family"} for one in record["mechanisms"]]
    plain = [{name: value for name, value in one.items() if name != "family"} for one in record["mechanisms"]]
    record |= {"mechanisms": plain} | ({"families": families} if any(families) else {})  # format 2 has none
    return {name: hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12] for name, value in record.items()}


def matrix(spark: Any = None, sample: int = 1) -> dict[str, dict[str, str]]:
    """Return the digests of all releases of the matrix, or of every Nth."""
    from spinney import ParameterError

    found = {}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [*point_cases(Path(folder), spark), *site_cases(), *cover_cases(), *other_cases(Path(folder))]
        for name, fit in cases[::sample]:
            try:
                found[name] = parts_of(fit())
            except ParameterError:  # no algorithm serves everything
                found[name] = {"refused": "yes"}
    return found


def on_commit(commit: str, arguments: list[str]) -> dict[str, dict[str, str]]:
    """Run this file on the sources of another commit."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", commit, "src"], check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        command = [sys.executable, __file__, "--json", *arguments]
        path = os.pathsep.join([f"{folder}/src", *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**os.environ, "PYTHONPATH": path}
        out = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    return dict(json.loads(out))


def differences(before: dict[str, dict[str, str]], after: dict[str, dict[str, str]]) -> list[str]:
    """Return a line for each release that differs, with the fields that do; fields that only one has are left out."""
    lines = []
    for name in sorted({*before, *after}):
        one, other = before.get(name), after.get(name)
        if one is None or other is None:
            lines.append(f"{name}: only {'after' if one is None else 'before'}")
            continue
        fields = [field for field in one if field in other and one[field] != other[field]]
        if fields:
            lines.append(f"{name}: {', '.join(fields)}")
    return lines


def main() -> None:
    """Print digests, or what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", metavar="COMMIT", help="compare with this commit")
    parser.add_argument("--spark", action="store_true", help="add the Spark backend")
    parser.add_argument("--sample", type=int, default=1, metavar="N", help="take every Nth release")
    parser.add_argument("--json", action="store_true", help="print all digests as JSON")
    asked = parser.parse_args()
    spark = None
    if asked.spark:
        from pyspark.sql import SparkSession

        spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    after = matrix(spark, asked.sample)
    if asked.json:
        print(json.dumps(after))
        return
    digest = hashlib.sha256(json.dumps(after, sort_keys=True).encode()).hexdigest()
    print(f"{len(after)} releases, digest of all digests {digest[:16]}")
    if asked.before:
        arguments = ["--sample", str(asked.sample), *(["--spark"] if asked.spark else [])]
        lines = differences(on_commit(asked.before, arguments), after)
        print("\n".join(lines) or f"no difference to {asked.before}")
        sys.exit(bool(lines))


if __name__ == "__main__":
    main()
