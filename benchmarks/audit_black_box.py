"""The black box over every cell of the audit matrix, at epsilon 1, on the worst replay pair of each.

``python -m benchmarks audit_black_box`` takes the pair of each cell of ``benchmarks.audit_matrix`` that lost most there, from its
results (``--replays``), and runs it ``--runs`` times, half of them on each table. A cell that is not among those results is
replayed here, ``--pairs`` neighbors. All cells together have the confidence 0.999: the doubt is divided among them. Then all
noise is halved: replay must flag that. The black box tries so few runs (``--tried``) first that it costs little; where what they
point to (a bound with confidence one half) is not above epsilon, and all of the noise let nothing be seen either, the pair has
"no power". Else it makes ``--halved`` runs. It writes ``benchmarks/results/audit_black_box.json``, cell by cell and with the
commit, and a table.

``--only``, ``--part`` and ``--merge`` are those of the matrix; ``--left`` goes on with the cells that the file does not have with
these runs; ``--first`` takes some cells; ``--rows`` those without persons; ``--halved 0`` leaves the halved noise out. The
exit code is 1 where a promise is broken, or halved noise was missed by replay.
"""

from __future__ import annotations

import json
import platform
import re
import sys
import time
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.audit_matrix import RESULTS as REPLAYS
from benchmarks.audit_matrix import SEED, Cell, begun, cells, commit, merged, options
from spinney import __version__
from spinney.audit import Pair, black_box, replay_pairs

RESULTS = Path(__file__).parent / "results" / "audit_black_box.json"
CONFIDENCE = 0.999


def replayed_pairs(path: Path) -> dict[str, tuple[int, int, str, float]]:
    """Return the worst pair of each cell that was replayed: its place, of how many, its kind, and its priced loss."""
    found = {}
    for one in json.loads(path.read_text(encoding="utf-8"))["results"] if path.exists() else ():
        memory = one.get("memory", {"tried": {}})
        worst = re.fullmatch(r"pair (\d+), (.+)", str(memory["tried"].get("worst pair")))
        if worst:
            found[one["cell"]] = (int(worst[1]), memory["tried"]["pairs"], worst[2], memory["bound"])
    return found


def worst_pair(cell: Cell, count: int, known: dict[str, tuple[int, int, str, float]]) -> tuple[Pair, float]:
    """Return the pair with the largest priced loss, and its loss: as the matrix found it, or else among this number."""
    if cell.name in known:
        at, tried, kind, loss = known[cell.name]
        pair = next(islice(cell.pairs(tried, seed=SEED), at, None), None)
        if pair is not None and pair.kind == kind:  # pairs are made as they were
            return pair, loss
    losses = [(replay_pairs(cell.model, [pair]).bound, place) for place, pair in enumerate(cell.pairs(count, seed=SEED))]
    loss, at = max(losses, key=lambda one: (one[0], -one[1]))
    return next(islice(cell.pairs(count, seed=SEED), at, None)), loss


def audited(cell: Cell, doubt: float, worst: tuple[Pair, float], runs: int, tried: int, halved_runs: int) -> dict[str, Any]:
    """Return what was found about one cell."""
    start, (pair, loss) = time.process_time(), worst
    found: dict[str, Any] = {"cell": cell.name, "pair": pair.kind, "priced loss": loss, "commit": commit()}
    whole = black_box(cell.model, [pair], runs=runs // 2, confidence=1 - doubt)
    found |= {"runs": runs, "bound": whole.bound, "broken": whole.broken, "largest": whole.tried["largest bound possible"]}
    if halved_runs:
        found["halved"] = halved(cell, pair, doubt, tried, halved_runs, whole.bound > 0)
    return found | {"seconds": round(time.process_time() - start, 1)}


def halved(cell: Cell, pair: Pair, doubt: float, tried: int, runs: int, is_seen: bool) -> dict[str, Any]:
    """Return what was found about one cell with all of its noise halved; whether anything was seen with all of it."""
    pilot = black_box(cell.model, [pair], runs=tried // 2, confidence=0.5, factor=0.5)
    found = {"runs": tried, "estimate": pilot.bound, "bound": 0.0, "flagged": False}
    if pilot.broken or is_seen:
        whole = black_box(cell.model, [pair], runs=runs // 2, confidence=1 - doubt, factor=0.5)
        found |= {"runs": runs, "bound": whole.bound, "flagged": whole.broken}
    return found | {"flagged by replay": replay_pairs(cell.model, [pair], factor=0.5).broken}


def is_sound(one: dict[str, Any]) -> bool:
    """Whether no promise is broken, and replay noticed the halved noise."""
    return not one["broken"] and one.get("halved", {}).get("flagged by replay", True)


def is_done(one: dict[str, Any], runs: int, halved_runs: int) -> bool:
    """Whether a cell has been run as often as asked."""
    return "commit" in one and one["runs"] >= runs and ("halved" in one or not halved_runs)


def table(results: list[dict[str, Any]]) -> str:
    """Return the results as a Markdown table."""
    lines = [
        "| cell | pair | priced loss | runs | bound | halved noise: estimate, bound | by the black box | by replay |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for one in results:
        half = one.get("halved")
        words = ["", "", ""]
        if half:
            seen = "flagged" if half["flagged"] else "no power"
            words = [f"{half['estimate']:.2f}, {half['bound']:.2f}", seen, "flagged" if half["flagged by replay"] else "MISSED"]
        columns = [one["cell"], one["pair"], f"{one['priced loss']:.2f}", str(one["runs"])]
        columns += [f"{one['bound']:.2f}{' BROKEN' if one['broken'] else ''}", *words]
        lines.append(f"| {' | '.join(columns)} |")
    return "\n".join(lines) + "\n"


def write(results: list[dict[str, Any]], path: Path) -> None:
    """Write the results, and the table beside them."""
    record = {
        "made_by": "python -m benchmarks audit_black_box",
        "version": __version__,
        "python": platform.python_version(),
        "confidence of all cells": CONFIDENCE,
        "cells": len(results),
        "broken": any(one["broken"] for one in results),
        "results": results,
    }
    part = path.with_suffix(".part")  # a run may be ended from outside at any time
    part.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    part.replace(path)
    path.with_suffix(".md").write_text(table(results), encoding="utf-8")


def main() -> int:
    """Run the matrix."""
    parser = options(__doc__, {"pairs": 21, "runs": 2000, "tried": 200, "halved": 8000}, RESULTS)
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("--first", type=int)
    parser.add_argument("--replays", type=Path, default=REPLAYS)
    chosen = parser.parse_args()
    if chosen.merge:
        results = merged(chosen.merge)
        write(results, chosen.out)
        return 0 if all(map(is_sound, results)) else 1
    doubt = (1 - CONFIDENCE) / len(list(cells())) / 2  # each cell has two bounds
    there, _ = begun(chosen)
    there = [one for one in there if is_done(one, chosen.runs, chosen.halved)]
    chosen.left = False
    _, every = begun(chosen)
    done, known = {one["cell"] for one in there}, replayed_pairs(chosen.replays)
    left = [cell for cell in every if not (chosen.rows and cell.name.endswith("persons"))][: chosen.first]
    for cell in left:
        if cell.name not in done:
            worst = worst_pair(cell, chosen.pairs, known)
            there.append(audited(cell, doubt, worst, chosen.runs, chosen.tried, chosen.halved))
            write(there, chosen.out)
            print(table(there[-1:]).splitlines()[-1], flush=True)
    return 0 if all(map(is_sound, there)) else 1


if __name__ == "__main__":
    sys.exit(main())
