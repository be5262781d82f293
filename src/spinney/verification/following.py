"""Numbers that follow from others: how often answers are given, from parameters, and how far noise reaches, from its scale."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from spinney.verification.amounts import fraction_of

__all__ = ["FORMULAS", "margin"]

#: What a margin of counts covers.
COVER = 0.95


def _levels(facts: dict[str, Any], most: int) -> int | None:
    """Return how many levels a tree has that cuts each column so often, if that is known; 0 if parameters are none."""
    alpha, chosen = facts["alpha"], facts["projection"]
    if chosen == "auto" or not (isinstance(alpha, int) and isinstance(chosen, int | None)):
        return None if chosen == "auto" else 0
    return int(min(alpha * min(facts["columns"], chosen or facts["columns"]), most)) + 1


def _followed(facts: dict[str, Any], levels: int, columns: int) -> int | None:
    """Return how many levels rows are followed down, unless a tree of this number of columns ends before."""
    return levels if facts["columns"] >= columns else None


def _balls(facts: dict[str, Any], apart: int | None, most: int) -> int | None:
    """Return how many balls cover, at growing radii; None if k was found on the way, 0 if the growth is invalid."""
    growth = facts["growth"]
    if facts["is_found"] or not (isinstance(growth, float) and 0 < growth < 1):
        return None if facts["is_found"] else 0
    radii = math.log(apart or max(facts["points"], 2)) / math.log1p(growth)
    return min(most, math.ceil(radii) + 1) * max(1, math.ceil(2 * int(facts["k"]) * math.log(1 / growth)))


FORMULAS: dict[str, Callable[..., int | None]] = {"levels": _levels, "followed": _followed, "balls": _balls}


def margin(noise: dict[str, Any]) -> float:
    """Return how far noise on counts reaches, which is stated with them."""
    scale = float(min(fraction_of(noise["answers"][0]["scale"]) or Fraction(), Fraction(10**300)))
    if noise["mechanism"] == "discrete gaussian":
        return math.ceil(scale * 1.9599639845400545) + 1
    decay = math.exp(-1 / max(scale, 1e-3))
    return max(0, math.ceil(-scale * math.log((1 - COVER) * (1 + decay) / 2)) - 1)
