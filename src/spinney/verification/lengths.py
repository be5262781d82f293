"""What follows from the parameters of an algorithm by a formula: how deep a tree is, and how many balls cover."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

#: Most cuts of a tree, most radii of balls, and by how much the largest radius of a table is wider than the least.
MOST_CUTS, MOST_RADII, WIDE = 16384, 200, 2048


def lengths(facts: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """Yield how many levels a tree has that cuts each column so often, and how many balls cover at growing radii, where known."""
    alpha, chosen, growth = (facts.get(name) for name in ("alpha", "projection", "growth"))
    if type(alpha) is int and (chosen is None or type(chosen) is int):
        yield "depth", int(min(alpha * min(facts["columns"], chosen or facts["columns"]), MOST_CUTS)) + 1
    if type(growth) is float and 0 < growth < 1:
        radii = math.log(max(facts["points"] or WIDE, 2)) / math.log1p(growth)
        each = max(1, math.ceil(2 * int(facts["k"]) * math.log(1 / growth)))
        yield "balls", min(MOST_RADII, math.ceil(min(radii, MOST_RADII)) + 1) * each
