"""The public grid that devices and servers compute on, and cells of it, halved where mass is.

One step for all columns, in whole numbers, the same in every language. Each cell is halved in its widest column, so a string of
zeros and ones describes all of them.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.local.device import MOST_STEPS
from spinney.spaces import Domain, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Grid:
    """Steps of a box. A row lies in one step of every column; a point of the grid is the middle of its steps."""

    lower: FloatArray
    step: float
    steps: IntArray

    @classmethod
    def of(cls, domain: Domain) -> Grid:
        """Return the grid of a domain; of a ball, the grid of the box around it."""
        widths = domain.upper - domain.lower
        step = float(widths.max()) / MOST_STEPS
        return cls(domain.lower, step, np.clip(np.ceil(widths / step), 1, MOST_STEPS).astype(np.int64))

    @property
    def record(self) -> dict[str, Any]:
        """The domain as questions and policies have it."""
        return {"lower": [repr(float(low)) for low in self.lower], "step": repr(self.step), "steps": self.steps.tolist()}

    def places(self, nonprivate_rows: NDArray[Any]) -> IntArray:
        """Return rows as points of the grid, as `device.place` does: clipped, the middle for a row that is not finite."""
        rows = np.asarray(nonprivate_rows, dtype=np.float64).reshape(-1, self.steps.size)
        missing = np.asarray(~np.isfinite(rows).all(axis=1))
        inside = np.clip(np.where(missing[:, None], self.lower, rows), self.lower, self.lower + self.step * self.steps)
        places = np.minimum(np.floor((inside - self.lower) / self.step).astype(np.int64), self.steps - 1)
        places[missing] = self.steps // 2
        return places

    def points(self, places: Any) -> FloatArray:
        """Return where points of the grid are, fractions of steps too."""
        return np.asarray(self.lower + (np.asarray(places, dtype=np.float64) + 0.5) * self.step)

    def nearest(self, points: FloatArray) -> IntArray:
        """Return the points of the grid nearest to given points."""
        return np.clip(np.rint((points - self.lower) / self.step - 0.5).astype(np.int64), 0, self.steps - 1)


@dataclass(frozen=True)
class _Node:
    """A cell, or a cut of one: its lowest point and widths, the column and the place of the cut, the node of the lower part."""

    low: tuple[int, ...]
    width: tuple[int, ...]
    column: int = -1
    cut: int = 0
    below: int = -1
    cell: int = -1


def _cut(low: tuple[int, ...], width: tuple[int, ...]) -> tuple[int, int]:
    """Return the widest column, the first of equals, and where it is halved."""
    column = width.index(max(width))
    return column, low[column] + width[column] // 2


def _halves(low: tuple[int, ...], width: tuple[int, ...]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    column, cut = _cut(low, width)
    half = cut - low[column]

    def changed(values: tuple[int, ...], value: int) -> tuple[int, ...]:
        return (*values[:column], value, *values[column + 1 :])

    return [(low, changed(width, half)), (changed(low, cut), changed(width, width[column] - half))]


@dataclass(frozen=True, eq=False)
class CellTree:
    """Disjoint cells that fill the grid.

    The shape has, level by level from the whole grid on, 1 for a cell that is halved, 0 for one that is not. Those are numbered
    in order.
    """

    grid: Grid
    shape: str = "0"

    @cached_property
    def nodes(self) -> list[_Node]:
        """Cells and cuts, level by level."""
        found: list[_Node] = []
        waiting, cells = deque([((0,) * self.grid.steps.size, tuple(self.grid.steps.tolist()))]), 0
        for mark in self.shape:
            low, width = waiting.popleft()
            if mark == "0":
                found.append(_Node(low, width, cell=cells))
                cells += 1
            else:
                found.append(_Node(low, width, *_cut(low, width), below=len(found) + len(waiting) + 1))
                waiting.extend(_halves(low, width))
        return found

    def __len__(self) -> int:
        return self.shape.count("0")

    def refined(self, levels: IntArray) -> tuple[CellTree, IntArray]:
        """Return the cells after repeated halving, and which cell each of them came from."""
        marks, origins = [], []
        waiting = deque([(0, self.nodes[0].low, self.nodes[0].width, -1)])  # -1: as its cell says
        while waiting:
            at, low, width, left = waiting.popleft()
            node = self.nodes[at]
            if node.column >= 0:
                waiting.extend((node.below + side, *half, -1) for side, half in enumerate(_halves(low, width)))
                marks.append("1")
                continue
            left = int(levels[node.cell]) if left < 0 else left
            if left > 0 and max(width) > 1:
                waiting.extend((at, *half, left - 1) for half in _halves(low, width))
                marks.append("1")
            else:
                origins.append(node.cell)
                marks.append("0")
        return CellTree(self.grid, "".join(marks)), np.asarray(origins, dtype=np.int64)

    @cached_property
    def middles(self) -> FloatArray:
        """The middle of every cell."""
        cells = [node for node in self.nodes if node.cell >= 0]
        return self.grid.points([[low + (width - 1) / 2 for low, width in zip(c.low, c.width, strict=True)] for c in cells])

    @cached_property
    def widths(self) -> FloatArray:
        """The widths of every cell's columns."""
        return np.asarray([node.width for node in self.nodes if node.cell >= 0]) * self.grid.step


def leaves_of(nonprivate_places: IntArray, asked: dict[str, Any], grid: Grid) -> IntArray:
    """Return the cell of every row, as a device finds it."""
    nodes = CellTree(grid, asked["shape"]).nodes
    columns, cuts, below, cells = (
        np.asarray([getattr(node, name) for node in nodes]) for name in ("column", "cut", "below", "cell")
    )
    found, node = (np.zeros(len(nonprivate_places), dtype=np.int64) for _ in range(2))
    at = np.arange(len(found))
    while at.size:
        ends = cells[node] >= 0
        found[at[ends]] = cells[node[ends]]
        at, node = at[~ends], node[~ends]
        node = below[node] + (nonprivate_places[at, columns[node]] >= cuts[node])
    return found
