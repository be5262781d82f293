"""Which algorithms there are, and what "auto" means."""

from __future__ import annotations

from spinney.algorithms.lloyd import Lloyd
from spinney.algorithms.problem import Algorithm
from spinney.algorithms.tree import Tree

__all__ = ["ALGORITHMS", "find"]

ALGORITHMS: dict[str, Algorithm] = {"lloyd": Lloyd(), "tree": Tree()}


def find(name: str) -> Algorithm:
    """Return an algorithm by its name; ``"auto"`` chooses from public facts, today always the tree."""
    return ALGORITHMS["tree" if name == "auto" else name]
