"""Outcomes of mutants on file, each with the commit it was reached at: one holds as long as its function is the same."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from functools import cache
from typing import Any

from tools.mutants_alike import reason
from tools.mutations import SOURCE, listed

__all__ = ["RESULTS", "commit", "known_outcomes", "record"]

RESULTS = SOURCE.parent / "tools" / "results" / "mutants.json"


@cache
def commit() -> str:
    """Return the last commit of the sources that are tried, and whether they were changed since."""

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], capture_output=True, text=True, cwd=SOURCE, check=False).stdout.strip()

    last, changed = git("log", "-1", "--format=%h", "--abbrev=7", "--", "."), git("status", "--porcelain", "--", ".")
    return last + (" and changes" if changed else "")


def _is_there(test: str) -> bool:
    """Return whether a test that found a fault still exists."""
    file, *_, name = test.split("[")[0].split("::")
    path = SOURCE.parent / file
    return path.exists() and f"def {name}(" in path.read_text()


def known_outcomes() -> dict[str, dict[str, Any]]:
    """Return the outcomes on file of mutants whose function is as it was, and which were found by a test that still exists."""
    known = json.loads(RESULTS.read_text())["outcomes"] if RESULTS.exists() else {}
    alike = {mutant.name: known[mutant.name] for mutant in listed() if mutant.name in known}
    return {name: outcome for name, outcome in alike.items() if not outcome["killed"] or _is_there(outcome["by"])}


def record(outcomes: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Add outcomes to those on file, and return the figure."""
    known, mutants = known_outcomes() | outcomes, {mutant.name: mutant for mutant in listed()}
    alive = {name: reason(mutants[name]) for name, outcome in known.items() if not outcome["killed"]}
    summary = {
        "mutants": len(mutants),
        "tried": len(known),
        "killed": len(known) - len(alive),
        "share": round(1 - len(alive) / max(len(known), 1), 4),
        "commits": dict(Counter(outcome["commit"] for outcome in known.values()).most_common()),
        "survivors": dict(sorted(alive.items())),
    }
    RESULTS.write_text(json.dumps(summary | {"outcomes": dict(sorted(known.items()))}, indent=1) + "\n")
    return summary
