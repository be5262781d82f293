"""The curator over finitely many public items: a row names an item, so all it holds is one count per item.

Proofs: ``proofs/sites.md`` and ``proofs/coverage.md``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.curators.desk import COUNTING, CountAnswer, Desk
from spinney.curators.gate import read_labels
from spinney.curators.groups import kept_rows
from spinney.curators.options import NEVER, Balls, Family, read_cover
from spinney.curators.partitions import Labels
from spinney.mechanisms.coverage import choose_cover, step_epsilon
from spinney.mechanisms.source import IntArray, NoiseSource
from spinney.privacy.charges import Charge
from spinney.privacy.ledger import FitLedger
from spinney.privacy.pricing import Unit

__all__ = ["FALLBACK", "ItemCurator", "count_points", "known_points"]

#: Where a row that names no item goes when rows are replaced.
FALLBACK = 0
#: Counts are cut off here, so that no sum can overflow.
LARGEST_COUNT = 2**40
#: A table of stages is kept up to this many bytes; beyond, it is computed again.
TABLE_BYTES = 2**29


def known_points(rows: NDArray[Any], n_points: int) -> NDArray[np.bool_]:
    """Return which rows name a point: whole numbers from 0 to n_points - 1."""
    with np.errstate(all="ignore"):
        known: NDArray[np.bool_] = (rows >= 0) & (rows < n_points) & (rows == np.floor(rows))
    return known


def count_points(nonprivate_rows: NDArray[Any], n_points: int, unit: Unit, mask: NDArray[np.uint8] | None = None) -> IntArray:
    """Return the exact number of rows at each point; a row that names no point is dropped, or sent to `FALLBACK`.

    Parameters
    ----------
    nonprivate_rows : array of shape (n,)
        Numbers of any kind. What is not a whole number from 0 to n_points - 1 names no point.
    n_points : int
    unit : Unit
    mask : array of shape (n,), optional
        Which rows count.
    """
    rows = nonprivate_rows if mask is None else nonprivate_rows[mask == 1]
    known = known_points(rows, n_points)
    places = np.where(known, rows, FALLBACK).astype(np.int64)
    return np.bincount(places if unit.replaces else places[known], minlength=n_points).astype(np.int64)


class ItemCurator(Desk):
    """Holds private rows at public items and answers noisy questions about their numbers.

    Privacy
    -------
    Neighbors: as `unit` says. Each question is private at its charge (``proofs/sites.md``); the ledger refuses a charge that the
    plan does not hold. Time and memory use are outside the promise.

    Parameters
    ----------
    nonprivate_rows : array of shape (n,)
        The item of each row, by its index; see `count_points`.
    n_points : int
        The number of items; public.
    unit : Unit
        Who is protected.
    ledger : FitLedger
    source : NoiseSource
    groups : sequence of length n, optional
        The person each row belongs to; a row without a name does not count.
    """

    def __init__(
        self,
        nonprivate_rows: NDArray[Any],
        n_points: int,
        unit: Unit,
        ledger: FitLedger,
        source: NoiseSource,
        groups: Any = None,
    ) -> None:
        super().__init__(unit, ledger, source)
        mask = None
        if groups is not None:
            known = known_points(nonprivate_rows, n_points)
            values = np.where(known, nonprivate_rows, np.nan).astype(np.float64)  # rows that name no point are alike
            mask = kept_rows(groups, lambda: [values[:, None]], unit, source.key())
        counts = count_points(nonprivate_rows, n_points, unit, mask)
        self._counts = np.minimum(counts, self._largest_count(n_points))  # one row still moves one count by at most one
        self._demand = np.flatnonzero(self._counts)

    def _largest_count(self, n_points: int) -> int:
        """Return where counts are cut off; public."""
        return LARGEST_COUNT // n_points

    def counts(self, partition: Labels, charge: Charge) -> CountAnswer:
        """Answer with the noisy number of rows in each cell of a public partition of the points."""
        partition = read_labels(partition, len(self._counts))
        charge = Charge.copy_of(charge)
        with self._open("counts", charge):
            exact = np.zeros(partition.n_cells + 1, dtype=np.int64)
            np.add.at(exact, partition.labels, self._counts)  # those of no cell go to the last slot
            return self._count(exact[:-1], COUNTING, charge)

    def cover(self, sets: Balls | Family, charge: Charge) -> IntArray:
        """Answer with a sequence of sets that cover many rows, stage by stage; the rows they cover leave.

        Parameters
        ----------
        sets : Balls or Family
            Public; no other type is asked about the rows' points. Each step chooses from all sets; one may come again.
        charge : Charge
            Pays for all steps together.
        """
        sets = read_cover(sets, len(self._counts))
        charge = Charge.copy_of(charge)
        with self._open("cover", charge):
            step = step_epsilon(charge, self.unit, sum(sets.steps))
            stages, weights = _Stages(sets, self._demand), self._counts[self._demand]
            chosen: list[int] = []
            for stage, steps in enumerate(sets.steps):
                uncovered = stages.count(weights, stage)
                for _ in range(steps):
                    winner = choose_cover(uncovered, step, self._source)
                    chosen.append(winner)
                    covered = stages.column(winner) <= stage
                    uncovered = uncovered - stages.count(np.where(covered, weights, 0), stage)
                    weights = np.where(covered, 0, weights)
            return np.array(chosen, dtype=np.int64)


class _Stages:
    """The first stages of some points, kept if they fit and else computed again by blocks."""

    def __init__(self, sets: Balls | Family, points: IntArray) -> None:
        self._sets, self._points = sets, points
        self._size = max(1, TABLE_BYTES // max(1, sets.n_sets))
        self._kept = sets.first_stages(points) if len(points) <= self._size else None

    def _blocks(self) -> Any:
        for start in range(0, len(self._points), self._size):
            part = slice(start, start + self._size)
            yield part, self._sets.first_stages(self._points[part]) if self._kept is None else self._kept[part]

    def count(self, weights: IntArray, stage: int) -> IntArray:
        """Return the weight that each set covers at a stage."""
        total = np.zeros(self._sets.n_sets, dtype=np.int64)
        for part, block in self._blocks():
            for row in np.flatnonzero(weights[part]):
                total += np.where(block[row] <= stage, weights[part][row], 0)
        return total

    def column(self, chosen: int) -> NDArray[np.uint8]:
        """Return the first stage at which one set covers each point."""
        return np.concatenate([np.full(0, NEVER, np.uint8), *(block[:, chosen] for _, block in self._blocks())])
