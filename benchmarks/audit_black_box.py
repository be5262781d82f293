"""The black box over every cell of the audit matrix, at epsilon 1, on the worst replay pair of each.

``python -m benchmarks.audit_black_box`` replays ``--pairs`` neighbors of each cell of ``benchmarks.audit_matrix``, takes the pair
with the largest priced loss, and runs it ``--runs`` times on each table, then again with all noise halved. All cells together
have the confidence 0.999: the doubt is divided among them. It writes ``benchmarks/results/audit_black_box.json`` and a table.

``--only``, ``--part``, ``--left`` and ``--merge`` are those of the matrix; ``--rows`` takes the cells without persons;
``--halved 0`` leaves the halved noise out. The exit code is 1 where a promise is broken. Where halved noise is not flagged, the
pair has not the power: the largest bound that the runs could show, and whether replay flags it, are beside it.
"""

from __future__ import annotations

import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.audit_matrix import SEED, Cell, begun, cells, merged, options
from spinney import __version__
from spinney.audit import Pair, black_box, replay_pairs

RESULTS = Path(__file__).parent / "results" / "audit_black_box.json"
CONFIDENCE = 0.999


def worst_pair(cell: Cell, count: int) -> tuple[Pair, float]:
    """Return the pair with the largest priced loss among so many, and its loss."""
    losses = [(replay_pairs(cell.model, [pair]).bound, place) for place, pair in enumerate(cell.pairs(count, seed=SEED))]
    loss, at = max(losses, key=lambda one: (one[0], -one[1]))
    return list(cell.pairs(count, seed=SEED))[at], loss


def audited(cell: Cell, doubt: float, pairs: int, runs: int, halved_runs: int) -> dict[str, Any]:
    """Return what was found about one cell."""
    start = time.perf_counter()
    pair, loss = worst_pair(cell, pairs)
    found: dict[str, Any] = {"cell": cell.name, "pair": pair.kind, "priced loss": loss}
    whole = black_box(cell.model, [pair], runs=runs, confidence=1 - doubt)
    found |= {"runs": runs, "bound": whole.bound, "broken": whole.broken, "largest": whole.tried["largest bound possible"]}
    if halved_runs:
        halved = black_box(cell.model, [pair], runs=halved_runs, confidence=1 - doubt, factor=0.5)
        found["halved"] = {
            "runs": halved_runs,
            "bound": halved.bound,
            "flagged": halved.broken,
            "flagged by replay": replay_pairs(cell.model, [pair], factor=0.5).broken,
        }
    return found | {"seconds": round(time.perf_counter() - start, 1)}


def table(results: list[dict[str, Any]]) -> str:
    """Return the results as a Markdown table."""
    lines = [
        "| cell | pair | priced loss | runs | bound | halved noise: bound | by the black box | by replay |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for one in results:
        half = one.get("halved")
        words = ["", "", ""]
        if half:
            seen = "flagged" if half["flagged"] else "no power"
            words = [f"{half['bound']:.2f}", seen, "flagged" if half["flagged by replay"] else "MISSED"]
        columns = [one["cell"], one["pair"], f"{one['priced loss']:.2f}", str(one["runs"])]
        columns += [f"{one['bound']:.2f}{' BROKEN' if one['broken'] else ''}", *words]
        lines.append(f"| {' | '.join(columns)} |")
    return "\n".join(lines) + "\n"


def write(results: list[dict[str, Any]], path: Path) -> None:
    """Write the results, and the table beside them."""
    record = {
        "made_by": "python -m benchmarks.audit_black_box",
        "version": __version__,
        "python": platform.python_version(),
        "confidence of all cells": CONFIDENCE,
        "cells": len(results),
        "broken": any(one["broken"] for one in results),
        "results": results,
    }
    path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text(table(results), encoding="utf-8")


def main() -> int:
    """Run the matrix."""
    parser = options(__doc__, {"pairs": 21, "runs": 2000, "halved": 2000}, RESULTS)
    parser.add_argument("--rows", action="store_true")
    chosen = parser.parse_args()
    if chosen.merge:
        results = merged(chosen.merge)
        write(results, chosen.out)
        return 1 if any(one["broken"] for one in results) else 0
    doubt = (1 - CONFIDENCE) / len(list(cells())) / 2  # each cell has two bounds
    results, left = begun(chosen)
    for cell in left:
        if not (chosen.rows and cell.name.endswith("persons")):
            results.append(audited(cell, doubt, chosen.pairs, chosen.runs, chosen.halved))
            write(results, chosen.out)
            print(table(results[-1:]).splitlines()[-1], flush=True)
    return 1 if any(one["broken"] for one in results) else 0


if __name__ == "__main__":
    sys.exit(main())
