"""Tables by name. What is not in `benchmarks.data` is made from its name: `PATTERNS` has all forms of such names.

Some tables are drawn anew in every run, by its number; `is_fixed` says which are not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import drawn
from benchmarks.data import folder, load

CACHE = Path(__file__).parent / ".cache" / "versus"
#: Plain solutions of which the best is what costs are divided by; fewer where the true centers are known, for they start one too.
STARTS, FEWER = 20, 3


#: Rows that costs are added up of at a time.
PART = 2**16


def total_cost(rows: np.ndarray, centers: np.ndarray, power: int) -> float:
    """Return the exact cost of centers; no library that is measured has a part in it."""
    total, squares = 0.0, (centers**2).sum(axis=1)
    for start in range(0, len(rows), PART):
        part = rows[start : start + PART]
        gaps = part - centers[np.argmin(squares - 2 * part @ centers.T, axis=1)]
        costs = np.einsum("ij,ij->i", gaps, gaps)
        total += float((costs if power == 2 else np.sqrt(costs)).sum())
    return total


@dataclass(frozen=True, eq=False)
class Table:
    """Public rows in a box, or demand on a network."""

    rows: np.ndarray
    lower: Any = -1.0
    upper: Any = 1.0
    space: Any = None
    truth: np.ndarray | None = None
    #: Whether costs are divided by that of the true centers as they are.
    is_measure: bool = False
    #: Whether they are divided by that of one site.
    is_over_one: bool = False
    #: What is known about the table, to be told with what was measured.
    facts: tuple[tuple[str, Any], ...] = ()
    #: A public region that is no box.
    bounds: Any = None

    def cost(self, centers: np.ndarray, power: int) -> float:
        """Return the exact cost of centers, or of sites."""
        if self.space is not None:
            return float(self.service(power).cost(centers))
        return total_cost(self.rows, np.asarray(centers, dtype=np.float64), power)

    @property
    def weights(self) -> np.ndarray:
        """Return the demand of each point of a network."""
        return np.bincount(self.rows, minlength=self.space.n_points).astype(float)

    def service(self, power: int) -> Any:
        """Return the network with its demand."""
        from spinney.solvers.service import Service

        return Service.of(self.space, self.weights, power)

    def plain(self, k: int, power: int) -> float:
        """Return the best non-private cost that was found."""
        if self.space is not None:
            from spinney.solvers.medoids import solve_medoids

            return float(solve_medoids(self.space, self.weights, 1 if self.is_over_one else k, power, restarts=STARTS).cost)
        if self.is_measure and self.truth is not None:
            return self.cost(self.truth, power)
        costs = [] if self.truth is None else [improved(self.rows, self.truth, power)]
        return min([*costs, *(plain_run(self.rows, k, power, run) for run in range(FEWER if costs else STARTS))])


def improved(rows: np.ndarray, start: np.ndarray, power: int) -> float:
    """Return the cost of plain Lloyd or Weiszfeld rounds from a start."""
    from spinney.solvers.weighted import improve

    return float(improve(rows, np.ones(len(rows)), start, power, 300, 1e-6, 1e-9).cost)


def plain_run(rows: np.ndarray, k: int, power: int, run: int) -> float:
    """Return the cost of one plain solution: scikit-learn's KMeans, or Weiszfeld-Lloyd rounds after greedy seeding."""
    if power == 2:
        from sklearn.cluster import KMeans

        return float(KMeans(k, n_init=1, random_state=run).fit(rows).inertia_)
    from spinney.solvers.weighted import seed

    draws = np.random.default_rng(run).random((k, 8))
    return improved(rows, seed(rows, np.ones(len(rows)), k, 1 + run % 2, draws, rows[:k]), 1)  # by distances, or their squares


def _drawn(match: re.Match[str], run: int) -> Table:
    title, _, rows = drawn.drawn(int(match["seed"]), int(match["place"]))
    assert title == match[0]
    CACHE.mkdir(parents=True, exist_ok=True)
    np.save(CACHE / f"{title}.npy", rows)
    return Table(rows)


def _separated(match: re.Match[str], run: int) -> Table:
    rows, centers = drawn.separated_blobs(int(match["n"]), int(match["d"]), run)
    return Table(rows, truth=centers)


def _far(match: re.Match[str], run: int) -> Table:
    rows, centers = drawn.far_clusters(int(match["n"]), int(match["d"]), run)
    return Table(rows, truth=centers, is_measure=True)


def _one(match: re.Match[str], run: int) -> Table:
    return Table(drawn.one_cluster(int(match["n"]), int(match["d"]), bool(match["skewed"])), -10.0, 10.0)


def _direction(match: re.Match[str], run: int) -> Table:
    return Table(drawn.direction(int(match["seed"])))


def _shaped(match: re.Match[str], run: int) -> Table:
    shape, true, apart, rows = drawn.shaped(int(match["seed"]))
    return Table(rows, facts=(("true", true), ("shape", shape), ("apart", apart), ("columns", rows.shape[1])))


def _in_unit_ball(match: re.Match[str], run: int) -> Table:
    """Return rows as Humphries et al. prepare them: their mean in the middle of a ball that they fill, both taken as public."""
    from spinney import Ball

    name = match["name"]
    if match["k"]:
        from sklearn.datasets import make_blobs

        found = make_blobs(int(match["n"]), int(match["d"]), centers=int(match["k"]), random_state=1)[0].round(4)
    else:
        found = np.load(folder() / f"{name}.npz")["X"].astype(np.float64)
    found -= found.mean(axis=0)
    return Table(found / np.sqrt((found**2).sum(axis=1).max()), bounds=Ball(1))


def _in_wide_box(match: re.Match[str], run: int) -> Table:
    rows, factor = fixed(match["name"]).rows, float(match["factor"])
    middle = np.random.default_rng(run).uniform(-1, 1, rows.shape[1]) * (factor - 1)
    return Table(rows, middle - factor, middle + factor)


def _network(match: re.Match[str], run: int) -> Table:
    from benchmarks.networks import network

    space, rows = network(match[0], run)
    return Table(rows, space=space)


def _atoms(match: re.Match[str], run: int) -> Table:
    from benchmarks.atoms import atoms

    space, rows = atoms(match["space"], int(match["rows"]), run)
    return Table(rows, space=space, is_over_one=True)


#: Number of drawn demands on a network, which take turns.
NETWORK_SEEDS = 3
#: What is made from a name and the number of a run.
PATTERNS: dict[str, Callable[[re.Match[str], int], Table]] = {
    r"\w+ \d+ x \d+ \((?P<seed>\d+)\.(?P<place>\d+)\)": _drawn,
    r"separated (?P<n>\d+) x (?P<d>\d+)": _separated,
    r"far (?P<n>\d+) x (?P<d>\d+)": _far,
    r"one cluster (?P<n>\d+) x (?P<d>\d+)(?P<skewed>, skewed)?": _one,
    r"direction (?P<seed>\d+)": _direction,
    r"shaped (?P<seed>\d+)": _shaped,
    r"(?P<name>(?P<k>\d+) blobs of (?P<n>\d+) x (?P<d>\d+)|\w+) in the unit ball": _in_unit_ball,
    r"(?P<name>.+) in a box (?P<factor>\d+) times too wide": _in_wide_box,
    r"(graph|road) \S+( whole)?": _network,
    r"(?P<rows>\d+) rows at points of (?P<space>\S+)": _atoms,
}
#: Those of a name that are drawn anew in every run.
VARYING = {_separated, _far, _network, _atoms}
#: Tables of the user's own, by name.
OWN: dict[str, Table] = {}


def _matched(name: str) -> tuple[Callable[[re.Match[str], int], Table], re.Match[str]] | None:
    return next(((make, match) for form, make in PATTERNS.items() if (match := re.fullmatch(form, name))), None)


def drawing(name: str, run: int) -> int:
    """Return the number that the rows of a table are drawn by: runs with one number have the same."""
    found = _matched(name)
    if name in OWN or found is None or found[0] not in VARYING:
        return 0
    return run % NETWORK_SEEDS if found[0] is _network else run


def is_fixed(name: str) -> bool:
    """Whether the rows, if not their box, are the same in every run."""
    return drawing(name, 1) == 0


@lru_cache(maxsize=2)
def fixed(name: str) -> Table:
    """Return a set of `benchmarks.data`, or the rows that are in the cache."""
    kept = CACHE / f"{name}.npy"
    return Table(np.load(kept) if kept.exists() else load(name))


def table(name: str, run: int = 0) -> Table:
    """Return a table by its name; `run` draws some anew, and the boxes of others."""
    return OWN.get(name) or _table(name, drawing(name, run) or (run if " in a box " in name else 0))


@lru_cache(maxsize=2)
def _table(name: str, run: int) -> Table:
    found = _matched(name)
    return fixed(name) if found is None or (CACHE / f"{name}.npy").exists() else found[0](found[1], run)
