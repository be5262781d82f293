"""Plant faults of all kinds, each in a copy of the sources, and see that an audit or a test finds it.

    python -m tools.planted [--only TEXT] [--left] [--control] [--page] [--jobs 2]

A fault is data (``tools/planted.toml``): a kind, a name, a file, what is replaced there by what, and the tests that should
find it. They run in a process of their own over the copy, and find the fault if one of them fails. ``--control`` runs the same
tests without a fault: all must pass. ``--left`` runs what has no outcome on file, or was not found.

Results: ``tools/results/planted.json``, with the commit each was reached at, and the table of ``docs/planted.md``.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import shutil
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
LIST = ROOT / "tools" / "planted.toml"
RESULTS = ROOT / "tools" / "results" / "planted.json"
PAGE = ROOT / "docs" / "planted.md"
#: What tests need beside the sources.
PARTS = ("src", "tests", "benchmarks", "tools", "docs", "proofs", "pyproject.toml", "README.md")
#: Imported once, for all processes.
IMPORTED = ["numba", "numpy", "opendp", "pandas", "pyarrow", "pytest", "scipy.special", "scipy.stats", "sklearn.base"]
#: Tests that take more seconds are ended, and have found nothing.
LIMIT = 500
START, END = "<!-- faults -->", "<!-- end of faults -->"


class Fault(NamedTuple):
    """One fault; `by` are arguments of pytest."""

    kind: str
    name: str
    path: str
    old: str
    new: str
    by: str


FAULTS = tuple(Fault(**one) for one in tomllib.loads(LIST.read_text(encoding="utf-8"))["fault"])


def planted(fault: Fault, root: Path) -> str:
    """Return the text of a fault's file with the fault in it; its old text must be there once."""
    path = root / "src" / "spinney" / fault.path
    text = path.read_text(encoding="utf-8")
    if text.count(fault.old) != 1:
        raise ValueError(f"{fault.name}: its old text is {text.count(fault.old)} times in {fault.path}")
    return text.replace(fault.old, fault.new)


def copied(folder: Path) -> Path:
    """Copy the tree, with the machine code beside it and the times of files, which it depends on."""
    tree = folder / "tree"
    tree.mkdir()
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, tree / part, symlinks=True, ignore=shutil.ignore_patterns(".cache", "results"))
        else:
            shutil.copy2(source, tree / part)
    return tree


def keep_kernels(tree: Path) -> None:
    """Say that the machine code is that of these sources: without it, each fault would take minutes to compile."""
    kernels: dict[str, Any] = {}
    exec((tree / "tests" / "kernels.py").read_text(), kernels)
    source = tree / "src" / "spinney"
    (source / "__pycache__" / "kernels.stamp").write_text(kernels["digest_of_kernels"](source))


def _run_pytest(tree: Path, by: str) -> None:
    """Run tests in this process, which has imported nothing of the sources; it ends with their exit code."""
    import pytest

    os.chdir(tree)
    sys.path[:0] = [str(tree / "src"), str(tree)]
    os.environ["PYTHONPATH"] = str(tree / "src")
    sys.dont_write_bytecode = False
    file = os.open(tree / "output", os.O_WRONLY | os.O_CREAT)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os._exit(int(pytest.main(["-q", "-x", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist", *by.split()])))


def tested(tree: Path, by: str) -> tuple[int, str]:
    """Run tests over a tree; return the exit code and the first of them that failed, or how it ended."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    process = context.Process(target=_run_pytest, args=(tree, by))
    process.start()
    process.join(LIMIT)
    if process.is_alive():
        process.kill()
        process.join()
        return 124, "no end"
    output = (tree / "output").read_text(errors="replace")
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+::.+?)(?: - .*)?$", output, re.MULTILINE)
    return int(process.exitcode or 0), failed[0] if failed else output[-300:]


def tried(fault: Fault | None, by: str) -> dict[str, Any]:
    """Run tests over a copy with a fault, or without one; return what was found, by what, and after how many seconds."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        tree = copied(Path(folder))
        if fault is not None:
            text = planted(fault, ROOT)
            (tree / "src" / "spinney" / fault.path).write_text(text, encoding="utf-8")
            if "@compiled" not in text:
                keep_kernels(tree)
        code, what = tested(tree, by)
    found = code == 1 and "::" in what
    return {"found": found, "by": what if found else by, "code": code, "seconds": round(time.monotonic() - start), "end": what}


def page(outcomes: dict[str, Any]) -> str:
    """Return the table of faults."""
    lines = ["| kind | fault | where | found by |", "|---|---|---|---|"]
    for fault in FAULTS:
        by = outcomes.get(fault.name, {}).get("by", "not tried") if outcomes.get(fault.name, {}).get("found") else "**not found**"
        file, _, test = by.partition("::")
        test = test.split("[")[0].replace("_", " ").removeprefix("test ")
        found = f"{Path(file).stem}: {test}" if test else by
        lines.append(f"| {fault.kind} | {fault.name} | {fault.path} | {found} |")
    return "\n".join(lines)


def main() -> None:
    """Try faults."""
    from tools.mutants_known import commit

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--left", action="store_true")
    parser.add_argument("--control", action="store_true")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    outcomes = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if asked.control:
        tests = sorted({fault.by for fault in FAULTS})
        with ThreadPoolExecutor(asked.jobs) as pool:
            for by, found in zip(tests, pool.map(lambda by: tried(None, by), tests), strict=True):
                print(by, "passes" if found["code"] == 0 else f"FAILS: {found['end']}", flush=True)
        return
    faults = [fault for fault in FAULTS if asked.only in f"{fault.kind} {fault.name}"]
    faults = [fault for fault in faults if not (asked.page or (asked.left and outcomes.get(fault.name, {}).get("found")))]
    with ThreadPoolExecutor(asked.jobs) as pool:
        for fault, outcome in zip(faults, pool.map(lambda fault: tried(fault, fault.by), faults), strict=True):
            end = outcome.pop("end")
            print(f"{fault.name}: {outcome}", "" if outcome["found"] else end, flush=True)
            outcomes[fault.name] = outcome | {"commit": commit()}
            RESULTS.write_text(json.dumps(outcomes, indent=1) + "\n")
    known = {fault.name: outcomes[fault.name] for fault in FAULTS if fault.name in outcomes}
    RESULTS.write_text(json.dumps(known, indent=1) + "\n")
    head, _, tail = PAGE.read_text().partition(START)
    PAGE.write_text(f"{head}{START}\n{page(known)}\n{END}{tail.partition(END)[2]}")
    print(f"{sum(one['found'] for one in known.values())} of {len(FAULTS)} found")


if __name__ == "__main__":
    main()
