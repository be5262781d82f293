"""The black box on peers' real code, each in an environment of its own.

``python -m benchmarks audit_peers --python /path/to/environment/bin/python`` runs many fits of diffprivlib's KMeans there, on
many copies of one row with and without a lone far row, bounds given, and writes ``benchmarks/results/audit_peers.json``.
diffprivlib needs scikit-learn below 1.9, so it has an environment of its own; what runs in it
(``benchmarks/audit_peer_runner.py``) needs numpy and the peer alone.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from spinney import __version__
from spinney.audit import Pair, black_box

RESULTS = Path(__file__).parent / "results" / "audit_peers.json"
RUNNER = Path(__file__).parent / "audit_peer_runner.py"
EPSILON, K, COLUMNS, COPIES = 1.0, 2, 4, 500


def lonely() -> Pair:
    """Return many copies of the lower corner, with and without one row in the upper corner."""
    crowd = np.full((COPIES, COLUMNS), -1.0)
    return Pair("lonely outlier", crowd, np.vstack([crowd, np.ones((1, COLUMNS))]))


def fitted(python: str, peer: str, pair: Pair, runs: int, seed: int) -> dict[str, list[Any]]:
    """Return what the peer released in a number of fits of each table."""
    with tempfile.TemporaryDirectory() as folder:
        tables = Path(folder) / "tables.npz"
        np.savez(tables, first=pair.first, second=pair.second)
        options = {
            "peer": peer, "tables": str(tables), "runs": runs, "epsilon": EPSILON, "k": K,
            "lower": [-1.0] * COLUMNS, "upper": [1.0] * COLUMNS, "seed": seed,
        }  # fmt: skip
        told = subprocess.run([python, str(RUNNER)], input=json.dumps(options) + "\n", capture_output=True, text=True, check=True)
    found: dict[str, list[Any]] = json.loads(told.stdout)
    return found


def version_of(python: str, package: str) -> str:
    """Return which version of a package an environment has."""
    asked = f"from importlib.metadata import version; print(version({package!r}))"
    return subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True).stdout.strip()


def main() -> int:
    """Run the peers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="the interpreter of an environment with diffprivlib")
    parser.add_argument("--runs", type=int, default=4000, help="of each table")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    pair, start, peer = lonely(), time.perf_counter(), "diffprivlib KMeans"
    outcomes = fitted(options.python, peer, pair, options.runs, seed=0)
    left = {len(pair.first): iter(outcomes["first"]), len(pair.second): iter(outcomes["second"])}

    def release(table: np.ndarray) -> Any:
        """Return the next fit's centers of this table."""
        one = next(left[len(table)])
        return one if isinstance(one, str) else np.array(one)

    finding = black_box(release, [pair], epsilon=EPSILON, runs=options.runs)
    record = {
        "made_by": "python -m benchmarks audit_peers",
        "version": __version__,
        "python": platform.python_version(),
        "peer": {name: version_of(options.python, name) for name in ("diffprivlib", "scikit-learn", "numpy")},
        "setting": {"k": K, "columns": COLUMNS, "copies": COPIES, "bounds": [-1, 1], "epsilon": EPSILON},
        "seconds": round(time.perf_counter() - start, 1),
        "finding": finding.to_dict() | {"subject": peer},
    }
    options.out.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    print(f"{peer} {record['peer']['diffprivlib']}: at least epsilon {finding.bound:.2f} of {EPSILON:g}, {options.runs} runs")
    return 0 if finding.bound > 3 else 1


if __name__ == "__main__":
    sys.exit(main())
