"""Mutants that no test can find, each with the reason: what they change is no promise."""

from __future__ import annotations

from benchmarks.mutations import Mutant

__all__ = ["ALIKE", "reason"]

#: Path, a part of the line or of the change, and the reason.
ALIKE: list[tuple[str, str, str]] = []


def reason(mutant: Mutant) -> str:
    """Return why a survivor is no gap, or an empty text: it is one."""
    for path, part, why in ALIKE:
        if mutant.path == path and (part in mutant.text or part in mutant.change):
            return why
    return ""
