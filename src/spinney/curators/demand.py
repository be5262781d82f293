"""Rows that name one of finitely many public points, or are seen at the nearest of them: one count per point is all that is held.

Proofs: ``proofs/sites.md`` and ``proofs/coverage.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.curators.backend import Backend
from spinney.curators.groups import kept_rows
from spinney.curators.rows import Rows
from spinney.privacy import Unit
from spinney.questions import Balls, Family, Labels, Lengths, Rings, Sets, Swaps
from spinney.questions.arrays import finite_points, require
from spinney.questions.choose import SITE_STEPS, cost_steps, swap_range
from spinney.questions.cover import NEVER
from spinney.questions.ground import Ground
from spinney.solvers.service import nearest_two
from spinney.solvers.swaps import TILE, add_changes
from spinney.spaces import Coordinates, FiniteMetric, IntArray

#: Draws what decides which rows of a group count.
Key = Callable[[], bytes]
#: Where a row that names no point goes when rows are replaced.
FALLBACK = 0
#: Sums of counts, or of costs, stay below this.
LARGEST_SUM = 2**62
#: Counts of points without distances are cut off at this over their number.
LARGEST_COUNT = 2**40
#: Tables of costs or stages are kept between questions up to this many bytes; beyond, they are computed again.
TABLE_BYTES = 2**29


@dataclass(frozen=True, eq=False, repr=False)
class Weighed:
    """How often each row counts, by its weight: at most `most` times, which is public and part of the unit."""

    nonprivate_times: IntArray
    most: int


def known_points(rows: NDArray[Any], n_points: int) -> NDArray[np.bool_]:
    """Return which rows name a point: whole numbers from 0 to n_points - 1."""
    with np.errstate(all="ignore"):
        known: NDArray[np.bool_] = (rows >= 0) & (rows < n_points) & (rows == np.floor(rows))
    return known


def count_points(nonprivate_rows: NDArray[Any], n_points: int, unit: Unit, times: NDArray[Any] | None = None) -> IntArray:
    """Return the exact number of rows at each point; a row that names no point is dropped, or sent to `FALLBACK`.

    Each row counts once, or as many times as is said.
    """
    known = known_points(nonprivate_rows, n_points)
    places = np.where(known, nonprivate_rows, FALLBACK).astype(np.int64)
    if times is None:
        return np.bincount(places if unit.replaces else places[known], minlength=n_points).astype(np.int64)
    counts = np.zeros(n_points, dtype=np.int64)
    np.add.at(counts, places, np.where(known | unit.replaces, times, 0))
    return counts


def largest_count(ground: Ground) -> int:
    """Return at what number of rows the count of a point is cut off, so that sums fit 64 bits."""
    most = LARGEST_COUNT if ground.space is None else LARGEST_SUM // SITE_STEPS
    return most // ground.n_points


class DemandBackend(Backend):
    """Private demand at public points, from the index of each row's point; see `count_points`, and rows of numbers in memory."""

    def __init__(
        self,
        nonprivate_rows: NDArray[Any],
        ground: Ground,
        unit: Unit,
        key: Key,
        groups: Any = None,
        weighed: Weighed | None = None,
    ) -> None:
        self.ground = ground
        times: NDArray[Any] | None = None
        if weighed is not None:
            require(unit.max_rows % weighed.most == 0, "a unit must hold all times that its rows may count")
            times = np.clip(weighed.nonprivate_times, 0, weighed.most)  # no row moves more than is paid for, whatever was said
        if groups is not None:
            known = known_points(nonprivate_rows, ground.n_points)
            values = np.where(known, nonprivate_rows, np.nan).astype(np.float64)[:, None]  # rows that name no point are alike
            if times is not None:  # and so are those that count no time; of the others those that count as often
                lost = FALLBACK if unit.replaces else np.nan
                values = np.column_stack([np.where(known & (times > 0), nonprivate_rows, lost).astype(np.float64), times])
            cap = Unit(unit.adjacency, unit.max_rows // (1 if weighed is None else weighed.most))
            mask = kept_rows(groups, lambda: [values], cap, key())
            times = mask if times is None else times * mask
        counts = count_points(nonprivate_rows, ground.n_points, unit, times)
        self._counts = np.minimum(counts, largest_count(ground))  # one row still moves one count by at most one
        self._points = np.flatnonzero(self._counts)
        self._tables: dict[int, list[tuple[slice, NDArray[np.int32]]]] = {}

    def exact(self, aggregate: Any, levels_below: int = 0) -> Any:
        if isinstance(aggregate, Labels):
            return self._summed(aggregate, self._counts)
        if isinstance(aggregate, Lengths):
            return self._summed(aggregate.partition, self._counts * aggregate.steps)
        if isinstance(aggregate, Swaps):
            return self._swap_costs(aggregate)
        if isinstance(aggregate, Sets):
            return self._set_costs(aggregate)
        if isinstance(aggregate, Balls | Family):
            return _UncoveredPoints(aggregate, self._points, self._counts[self._points])
        raise TypeError("rows at points have no such aggregate")

    def _summed(self, cells: Labels, values: IntArray) -> IntArray:
        """Return the sum of whole numbers of points in each cell."""
        exact = np.zeros(cells.n_cells + 1, dtype=np.int64)
        np.add.at(exact, cells.labels, values)  # points in no cell go to the last slot
        return exact[:-1]

    @property
    def _space(self) -> FiniteMetric:
        assert self.ground.space is not None
        return self.ground.space

    def _blocks(self, power: int) -> Iterable[tuple[slice, NDArray[np.int32]]]:
        """Return blocks of costs from demand points to candidates, each with its place; kept if they fit."""
        if power in self._tables:
            return self._tables[power]
        space, candidates = self._space, self._space.candidates
        each = space.blocks(self._points, candidates, oriented=True)
        blocks = ((part, cost_steps(space, block, power)) for part, block in each)
        if 4 * len(self._points) * len(candidates) > TABLE_BYTES:
            return blocks
        self._tables[power] = list(blocks)
        return self._tables[power]

    def _swap_costs(self, swaps: Swaps) -> tuple[IntArray, int]:
        """Return the exact change of cost of every swap, and the range of one row's."""
        space, power, k = self._space, swaps.power, len(swaps.centers)
        present = np.concatenate([swaps.centers, swaps.existing])
        from_centers = cost_steps(space, space.distances(present), power)
        label, first, second = nearest_two(from_centers[:, self._points].astype(np.float64))  # whole numbers below 2^53
        first = first.astype(np.int64)
        second = np.minimum(second, SITE_STEPS).astype(np.int64)  # a single center leaves a row at any candidate's cost
        n = len(space.candidates)
        gains, changes = np.zeros(n, dtype=np.int64), np.zeros((len(present), n), dtype=np.int64)
        for part, block in self._blocks(power):
            here, table = label[part], block.astype(np.int64)
            members = np.argsort(here, kind="stable")
            bounds = np.searchsorted(here[members], np.arange(len(present) + 1))
            ordered = np.arange(part.start, part.stop)[members]
            for start in range(0, n, TILE):
                add_changes(
                    table, members, bounds, self._counts[self._points[ordered]], first[ordered], second[ordered],
                    start, min(start + TILE, n), gains, changes,
                )  # fmt: skip
        newcomers = np.searchsorted(space.candidates, swaps.newcomers)
        costs = (changes[:k] + gains)[:, newcomers].ravel()
        return np.concatenate([np.zeros(int(swaps.stay), dtype=np.int64), costs]), swap_range(from_centers)

    def _set_costs(self, sets: Sets) -> tuple[IntArray, int]:
        """Return the exact cost of every set, and the range of one row's."""
        space = self._space
        low = np.full(space.n_points, SITE_STEPS, dtype=np.int64)
        high = np.zeros(space.n_points, dtype=np.int64)
        costs = []
        for centers in sets.sets:
            steps = cost_steps(space, space.distances(centers).min(axis=0), sets.power).astype(np.int64)
            low, high = np.minimum(low, steps), np.maximum(high, steps)
            costs.append(int(steps @ self._counts))
        return np.array(costs, dtype=np.int64), int((high - low).max())


class SnappedBackend(DemandBackend):
    """Rows of numbers at the points of a space that are nearest to them; they are counted when the first question is answered."""

    def __init__(self, nonprivate_rows: Backend, space: FiniteMetric) -> None:
        require(type(space) is FiniteMetric, "rows are seen at the points of a FiniteMetric")
        self.ground = Ground(None, space.n_points, space)
        source = self._space.source
        require(type(source) is Coordinates and not source.manhattan, "rows are seen at points with coordinates")
        assert isinstance(source, Coordinates)
        finite_points(source.points, nonprivate_rows.ground.n_features, "points")
        self._numbers, self._rings = nonprivate_rows, Rings(source.points)
        self._tables = {}

    @cached_property
    def _counts(self) -> IntArray:  # type: ignore[override]
        return np.asarray(np.minimum(self._numbers.exact(self._rings), largest_count(self.ground)).astype(np.int64))

    @cached_property
    def _points(self) -> IntArray:  # type: ignore[override]
        return np.flatnonzero(self._counts)


@dataclass(frozen=True, eq=False, repr=False)
class DemandRows(Rows):
    """The point of each row, by its index, whom each row belongs to, and how often each counts."""

    nonprivate_places: NDArray[Any]
    nonprivate_groups: Any = None
    weighed: Weighed | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "has_groups", self.nonprivate_groups is not None)

    @contextmanager
    def opened(self, ground: Ground, unit: Unit, key: Key) -> Iterator[DemandBackend]:
        yield DemandBackend(self.nonprivate_places, ground, unit, key, self.nonprivate_groups, self.weighed)


class _UncoveredPoints:
    """Points and their rows that are not covered yet; first stages are kept if they fit and else computed again by blocks."""

    def __init__(self, sets: Balls | Family, points: IntArray, weights: IntArray) -> None:
        self._sets, self._points, self._weights = sets, points, weights
        self._size = max(1, TABLE_BYTES // max(1, sets.n_sets))
        self._kept = sets.first_stages(points) if len(points) <= self._size else None

    def _blocks(self) -> Iterator[tuple[slice, NDArray[np.uint8]]]:
        for start in range(0, len(self._points), self._size):
            part = slice(start, start + self._size)
            yield part, self._sets.first_stages(self._points[part]) if self._kept is None else self._kept[part]

    def _count(self, weights: IntArray, stage: int) -> IntArray:
        total = np.zeros(self._sets.n_sets, dtype=np.int64)
        for part, block in self._blocks():
            for row in np.flatnonzero(weights[part]):
                total += np.where(block[row] <= stage, weights[part][row], 0)
        return total

    def count(self, stage: int) -> IntArray:
        """Return how many rows each set would cover at a stage."""
        return self._count(self._weights, stage)

    def remove(self, chosen: int, stage: int) -> IntArray:
        """Remove the rows that one set covers at a stage; return how many of them each set would have covered."""
        first = np.concatenate([np.full(0, NEVER, np.uint8), *(block[:, chosen] for _, block in self._blocks())])
        covered = first <= stage
        removed = self._count(np.where(covered, self._weights, 0), stage)
        self._weights = np.where(covered, 0, self._weights)
        return removed
