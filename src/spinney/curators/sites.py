"""The curator over a finite metric: it counts rows at public points, and chooses centers by what they would cost.

Costs are whole numbers of steps: a distance, or its square, over the space's diameter (squared) is cut into `COST_STEPS`. Every
range below is taken from these whole numbers, so that no rounding is left to prove.

Proofs: ``proofs/sites.md`` and ``proofs/selection.md``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.curators.items import ItemCurator
from spinney.curators.options import Sets, Swaps, check_space, read_options
from spinney.mechanisms.selection import choose
from spinney.mechanisms.source import IntArray, NoiseSource
from spinney.privacy.charges import Charge
from spinney.privacy.ledger import FitLedger
from spinney.privacy.pricing import Unit
from spinney.solvers.service import nearest_two
from spinney.solvers.swaps import TILE, add_changes
from spinney.spaces.box import FloatArray
from spinney.spaces.metric import BLOCK_ENTRIES, FiniteMetric

__all__ = ["COST_STEPS", "SiteCurator", "swap_range"]

#: A cost is a whole number of this part of the largest possible one.
COST_STEPS = 2**22
#: Sums of costs stay below this.
LARGEST_SUM = 2**62
#: Tables of costs, in 32 bits, are kept between questions up to this many bytes; beyond, they are computed again.
TABLE_BYTES = 2**29


class SiteCurator(ItemCurator):
    """Holds private demand at the points of a public space, and also chooses centers.

    Privacy
    -------
    As for `ItemCurator`.

    Parameters
    ----------
    nonprivate_rows : array of shape (n,)
        The point of each row, by its index.
    space : FiniteMetric
        Public.
    unit, ledger, source, groups
        As for `ItemCurator`.
    """

    def __init__(
        self,
        nonprivate_rows: NDArray[Any],
        space: FiniteMetric,
        unit: Unit,
        ledger: FitLedger,
        source: NoiseSource,
        groups: Any = None,
    ) -> None:
        check_space(space)
        super().__init__(nonprivate_rows, space.n_points, unit, ledger, source, groups)
        self.space = space
        self._tables: dict[int, NDArray[np.int32]] = {}

    def _largest_count(self, n_points: int) -> int:
        """Return where counts are cut off, so that no sum of costs can overflow; public."""
        return LARGEST_SUM // (COST_STEPS * n_points)

    def choose(self, options: Swaps | Sets, charge: Charge) -> int:
        """Answer with one option, by the exponential mechanism on its exact cost.

        The cost of one row differs between options by at most a public range: that of the second-nearest center for swaps, the
        largest difference between two sets for sets.
        """
        options = read_options(options, self.space)
        charge = Charge.copy_of(charge)
        with self._open("choose", charge):
            costs, span = self._swap_costs(options) if isinstance(options, Swaps) else self._set_costs(options)
            return choose(-costs, max(span, 1), self.unit.value_price(charge), self._source)

    def _blocks(self, power: int) -> Any:
        """Yield blocks of costs from demand points to candidates, each with its place; kept if they fit."""
        space, candidates = self.space, self.space.candidates
        if 4 * len(self._demand) * len(candidates) > TABLE_BYTES:
            for part, block in space.blocks(self._demand, candidates, oriented=True):
                yield part, cost_steps(space, block, power)
            return
        if power not in self._tables:
            table = np.empty((len(self._demand), len(candidates)), dtype=np.int32)
            for part, block in space.blocks(self._demand, candidates, oriented=True):
                table[part] = cost_steps(space, block, power)
            self._tables[power] = table
        step = max(1, BLOCK_ENTRIES // len(candidates))
        for start in range(0, len(self._demand), step):
            part = slice(start, min(start + step, len(self._demand)))
            yield part, self._tables[power][part]

    def _swap_costs(self, swaps: Swaps) -> tuple[IntArray, int]:
        """Return the exact change of cost of every swap, and the range of one row's."""
        space, power, k = swaps.space, swaps.power, len(swaps.centers)
        present = np.concatenate([swaps.centers, swaps.existing])
        from_centers = cost_steps(space, space.distances(present), power)
        label, first, second = nearest_two(from_centers[:, self._demand].astype(np.float64))  # whole numbers below 2^53
        first = first.astype(np.int64)
        second = np.minimum(second, COST_STEPS).astype(np.int64)  # a single center leaves a row at any candidate's cost
        n = len(space.candidates)
        gains, changes = np.zeros(n, dtype=np.int64), np.zeros((len(present), n), dtype=np.int64)
        for part, block in self._blocks(power):
            here, table = label[part], block.astype(np.int64)
            members = np.argsort(here, kind="stable")
            bounds = np.searchsorted(here[members], np.arange(len(present) + 1))
            ordered = np.arange(part.start, part.stop)[members]
            for start in range(0, n, TILE):
                add_changes(
                    table, members, bounds, self._counts[self._demand[ordered]], first[ordered], second[ordered],
                    start, min(start + TILE, n), gains, changes,
                )  # fmt: skip
        newcomers = np.searchsorted(space.candidates, swaps.newcomers)
        costs = (changes[:k] + gains)[:, newcomers].ravel()
        return np.concatenate([np.zeros(int(swaps.stay), dtype=np.int64), costs]), swap_range(from_centers)

    def _set_costs(self, sets: Sets) -> tuple[IntArray, int]:
        """Return the exact cost of every set, and the range of one row's."""
        space = self.space
        low = np.full(space.n_points, COST_STEPS, dtype=np.int64)
        high = np.zeros(space.n_points, dtype=np.int64)
        costs = []
        for centers in sets.sets:
            steps = cost_steps(space, space.distances(centers).min(axis=0), sets.power).astype(np.int64)
            low, high = np.minimum(low, steps), np.maximum(high, steps)
            costs.append(int(steps @ self._counts))
        return np.array(costs, dtype=np.int64), int((high - low).max())


def cost_steps(space: FiniteMetric, distances: FloatArray, power: int) -> NDArray[np.int32]:
    """Return costs as whole numbers from 0 to COST_STEPS."""
    scaled = distances / space.diameter if space.diameter > 0 else np.zeros_like(distances)
    # fmin takes the bound where a distance is not a number: whatever a matrix holds, a cost stays in its range.
    steps: NDArray[np.int32] = np.floor(np.fmax(np.fmin(scaled, 1.0), 0.0) ** power * COST_STEPS).astype(np.int32)
    return steps


def swap_range(from_centers: NDArray[np.int32]) -> int:
    """Return a public bound on how far the costs of one row, at any point, lie apart between swaps.

    After a swap a row costs at most its second-nearest center and at least nothing; if there is one center only, at most
    COST_STEPS.

    Parameters
    ----------
    from_centers : array of shape (centers, n_points)
        Costs, in steps.
    """
    return COST_STEPS if len(from_centers) == 1 else int(np.partition(from_centers, 1, axis=0)[1].max())
