"""Which algorithms there are, and what "auto" means."""

from __future__ import annotations

from spinney.algorithms.hst import HST
from spinney.algorithms.lloyd import Lloyd
from spinney.algorithms.moments import Moments
from spinney.algorithms.problem import Algorithm, Problem
from spinney.algorithms.tighten import Tightened
from spinney.algorithms.tree import Tree

__all__ = ["ALGORITHMS", "choose"]

ALGORITHMS: dict[str, Algorithm] = {"hst": HST(), "lloyd": Lloyd(), "moments": Moments(), "tree": Tree()}

#: From so many columns on, ``"auto"`` means moments: with Gaussian noise, and with pure noise, whose steps cost more.
MANY_COLUMNS, MANY_COLUMNS_PURE = 40, 100


def choose(algorithm: str | Algorithm, problem: Problem, tighten: bool = False) -> Algorithm:
    """Return the algorithm for a problem, from public facts alone.

    Parameters
    ----------
    algorithm : str or Algorithm
        A name, ``"auto"``, or an algorithm itself.
    problem : Problem
    tighten : bool
        Whether to look for a private box first.
    """
    if algorithm == "auto":
        enough = MANY_COLUMNS if problem.budget.delta > 0 else MANY_COLUMNS_PURE
        algorithm = "moments" if problem.domain.n_features >= enough else "tree"
    chosen = ALGORITHMS[algorithm] if isinstance(algorithm, str) else algorithm
    return Tightened(chosen) if tighten else chosen
