"""Categories among the columns of a fit: of the indicators of one column exactly one is 1, in every row.

So their means add up to one, a cell of a tree in which one of them is 1 has zeros in the others, and rows lie at both ends of
such a column alone, as truth values do. These are public facts about the encoding (`spaces/schema.py`), and using them is
post-processing.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from spinney.spaces import FloatArray, Schema

#: An end of a cell counts as 0 or 1 if it is this near: cells are halved in floating point.
NEAR = 1e-9


def _blocks(schema: Schema | None) -> Iterator[tuple[slice, float]]:
    """Yield the places of the indicators of each column of categories, and what a 1 of them is in scaled numbers."""
    place = 0
    for column in () if schema is None else schema.columns:
        if column.kind == "category":
            yield slice(place, place + column.width), 1 / column.step
        place += column.width


def adding_up(points: FloatArray, schema: Schema | None) -> FloatArray:
    """Return points whose shares of categories are not negative and add up to one: for each the nearest such point."""
    found = points.copy()
    for block, one in _blocks(schema):
        shares = found[:, block] / one
        ordered = -np.sort(-shares, axis=1)
        over = (np.cumsum(ordered, axis=1) - 1) / np.arange(1, shares.shape[1] + 1)  # taken off each of the largest so many
        last = (ordered > over).sum(axis=1) - 1
        found[:, block] = one * np.maximum(shares - over[np.arange(len(shares)), last][:, None], 0.0)
    return found


def consistent(points: FloatArray, lower: FloatArray, upper: FloatArray, schema: Schema | None) -> FloatArray:
    """Return the points of cells with these boxes, their shares of categories made such as rows in the cell can have.

    A category that the cell leaves out has none; those it leaves open share what there is as in `points`. A cell that no
    category is in keeps its point.
    """
    found = points.copy()
    for block, one in _blocks(schema):
        can_be = upper[:, block] >= one * (1 - NEAR)
        must_be = lower[:, block] > one * NEAR
        possible = can_be & (must_be | ~must_be.any(axis=1, keepdims=True))
        shares = np.where(possible, np.maximum(found[:, block], NEAR * one), 0.0)
        total = shares.sum(axis=1, keepdims=True)
        found[:, block] = np.where(total > 0, one * shares / np.maximum(total, NEAR * one), found[:, block])
    return found


def two_ended(densities: FloatArray, private_counts: FloatArray, std: float, schema: Schema | None) -> FloatArray:
    """Return shares per bin and column: in indicators and truth values rows lie in the first and in the last bin alone.

    Noisy counts between them say nothing. A share is at least what their noise could hide: a column that seems to have one value
    would get no room in a step.
    """
    found = densities.copy()
    for i, column in enumerate(() if schema is None else schema.of_titles):
        if column.kind in ("category", "boolean"):
            first, last = private_counts[i, 0], private_counts[i, -1]
            total = max(first + last, 1.0)
            least = min(std / total, 0.5)
            found[i] = 0.0
            found[i, -1] = np.clip(last / total, least, 1 - least)
            found[i, 0] = 1 - found[i, -1]
    return found
