"""Categories where clusters are counted: near to each other, and without gaps of their own.

No row lies between two categories. Looked at as numbers, every combination of them that some rows share would be a cluster
behind a valley, rare ones too. So

- each category is a stretch that touches the next ones: a column alone has no valley, whatever its shares, and independent
  columns have none. Columns that go together, with each other or with numbers, leave their other combinations empty: a valley;
- two categories are at most a public share of the numbers' mean width apart. If they were farther, clusters would be parted by
  categories alone, and those that differ in numbers would not be told apart;
- numbers are looked at alone too (`valleys.py`).

All of it follows from the public schema. The clusters themselves are found in the units that were declared.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from spinney.solvers.valleys import NoisyCells
from spinney.spaces.schema import Schema

#: How far two categories are apart, in mean widths of the columns of numbers; nearer if their weight says so.
APART = 0.15


def most_apart(schema: Schema | None) -> float | None:
    """Return how far two categories are apart at most, in scaled numbers; None unless there are categories beside numbers."""
    columns = () if schema is None else schema.columns
    widths = [(column.upper - column.lower) / column.unit for column in columns if column.kind in ("number", "date")]
    return APART * math.fsum(width / len(widths) for width in widths) if 0 < len(widths) < len(columns) else None


def counted_as(schema: Schema | None) -> str | None:
    """Return how categories are looked at, in words; None if there are none beside numbers."""
    told = f"two categories lie at most {100 * APART:g}% of the mean width of the numbers apart"
    return None if most_apart(schema) is None else f"to count clusters, {told}"


def drawn_near(cells: NoisyCells, schema: Schema | None) -> NoisyCells:
    """Return the cells as clusters are counted in them; without categories as they are."""
    columns, most = () if schema is None else schema.columns, most_apart(schema) or math.inf
    points, lower, upper = cells.points.copy(), cells.lower.copy(), cells.upper.copy()
    is_number, place = np.ones(points.shape[1], dtype=np.bool_), 0
    for column in columns:
        here, place = slice(place, place + column.width), place + column.width
        if column.kind in ("category", "boolean"):
            share = min(most / column.weight, 1.0)
            # Two indicators differ by up to two of these, on either side: stretches of neighbors add up to an even one.
            reach = share / column.step * (1.0 if column.kind == "category" else 0.5)
            points[:, here] *= share
            lower[:, here], upper[:, here] = points[:, here] - reach, points[:, here] + reach
            is_number[here] = False
    return cells if is_number.all() else replace(cells, points=points, lower=lower, upper=upper, is_number=is_number)
