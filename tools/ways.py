"""The ways of values through the house: which files are handed rows, demand, a path or epsilon before these arrive.

``python -m tools.ways`` fits small made-up tables and watches every call. A file is passed when one of its functions is
handed the value, or something that holds it. Rows, demand and paths arrive where exact numbers are first computed from them;
epsilon arrives at `calibrate`. ``--before COMMIT`` also counts on another commit.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

EPSILON = 0.7319
#: Something holds a value if it is found among its parts, at most this number of steps down.
DEPTH = 3
#: Where rows, demand and paths arrive; epsilon arrives at `calibrate`.
KERNELS = "curators/kernels.py"
COUNTS = "count_points"


def parts(value: Any) -> list[Any]:
    """Return what a value is made of."""
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, list | tuple):
        return list(value)
    if isinstance(value, functools.partial):
        return [*value.args, *value.keywords.values()]
    return list(getattr(value, "__dict__", {}).values()) if type(value).__module__.startswith("spinney") else []


def holds(value: Any, is_it: Callable[[Any], bool], depth: int = DEPTH) -> bool:
    """Whether a value is the one that is followed, or holds it."""
    return is_it(value) or (depth > 0 and any(holds(part, is_it, depth - 1) for part in parts(value)))


def way(fit: Callable[[], Any], is_it: Callable[[Any], bool], arrives: Callable[[str, str], bool]) -> list[str]:
    """Return the files that are handed a value while a fit runs, in the order of their first visits, until it arrives."""
    import spinney

    root = str(Path(spinney.__file__).parent) + os.sep
    passed: list[str] = []
    done = threading.Event()

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event != "call" or done.is_set() or not code.co_filename.startswith(root) or code.co_name.startswith("<"):
            return
        file = code.co_filename.removeprefix(root)
        given = [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]
        arrived = arrives(file, code.co_name)
        if file not in passed and (arrived or any(holds(value, is_it) for value in given)):
            passed.append(file)
        if arrived:
            done.set()

    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        fit()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return passed


def ways() -> dict[str, list[str]]:
    """Return the way of each value."""
    import polars as pl

    from spinney import FiniteMetric, PrivateKMeans, PrivateKMedoids
    from spinney.privacy.charges import Charge

    rng = np.random.default_rng(0)
    rows, demand = rng.normal(size=(500, 2)), rng.integers(0, 36, 500)
    space = FiniteMetric.from_points([[x, y] for x in range(6) for y in range(6)])
    warnings.simplefilter("ignore")  # seeds are for repeating this
    model = PrivateKMeans(2, epsilon=EPSILON, bounds=(-4, 4), noise_seed=0)
    sites = PrivateKMedoids(2, epsilon=EPSILON, space=space, noise_seed=0)
    model.fit(rows)  # modules are imported, kernels compiled

    def shares(array: np.ndarray) -> Callable[[Any], bool]:
        return lambda value: isinstance(value, np.ndarray) and np.may_share_memory(value, array)

    def is_epsilon(value: Any) -> bool:
        return isinstance(value, Charge) or (isinstance(value, float | Fraction) and abs(value - EPSILON) < 1e-12)

    found = {
        "X in memory": way(lambda: model.fit(rows), shares(rows), lambda file, name: file == KERNELS),
        "epsilon": way(lambda: model.fit(rows), is_epsilon, lambda file, name: name == "calibrate"),
        "demand": way(lambda: sites.fit(demand), shares(demand), lambda file, name: name == COUNTS),
    }
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "rows.parquet")
        pl.DataFrame({"a": rows[:, 0], "b": rows[:, 1]}).write_parquet(path)
        model.fit(path)

        def is_path(value: Any) -> bool:
            if isinstance(value, np.ndarray):  # what was read from it
                return value.ndim == 2 and len(value) > 0 and np.array_equal(value[0], rows[0])
            return isinstance(value, str | Path) and str(value) == path

        found["a Parquet path"] = way(lambda: model.fit(path), is_path, lambda file, name: file == KERNELS)
    return found


def main() -> None:
    """Print the files of each way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", metavar="COMMIT")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.json:
        print(json.dumps(ways()))
        return
    sides = {"now": ways()}
    if options.before:
        with tempfile.TemporaryDirectory() as folder:
            archive = subprocess.run(["git", "archive", options.before, "src"], capture_output=True, check=True).stdout
            subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join([f"{folder}/src", os.getcwd()])}
            command = [sys.executable, "-m", "tools.ways", "--json"]
            run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
            sides["before"] = json.loads(run.stdout)
    for name in sides["now"]:
        for side, found in sorted(sides.items()):
            print(f"{name}, {side}: {len(found[name])} files: {', '.join(found[name])}")


if __name__ == "__main__":
    main()
