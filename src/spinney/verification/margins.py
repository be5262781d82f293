"""Whether the margins that a release states are those of its noise."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from spinney.verification.amounts import fraction_of
from spinney.verification.asked import blank, schedules

#: What a margin of counts covers.
COVER = 0.95


def margin(noise: dict[str, Any]) -> float:
    """Return how far noise on counts reaches, which is stated with them."""
    scale = float(min(fraction_of(noise["answers"][0]["scale"]) or Fraction(), Fraction(10**300)))
    if noise["mechanism"] == "discrete gaussian":
        return math.ceil(scale * 1.9599639845400545) + 1
    decay = math.exp(-1 / max(scale, 1e-3))
    return max(0, math.ceil(-scale * math.log((1 - COVER) * (1 + decay) / 2)) - 1)


def margins_are_told(record: dict[str, Any], kind: str) -> bool:
    """Whether the margins of counts match their noise, to a row; of algorithms of others nothing is known."""
    found = schedules(record["format"][-1])["schedules"].get(f"{kind} {record.get('algorithm', '')}".strip(), {})
    for field, names in found.get("margins", {}).items():
        told = record.get(field)
        of_names = (one for one in record["mechanisms"] if set(map(blank, one["name"].split(" + "))) & set(names))
        there = [margin(one) for one in of_names if "answers" in one]
        if told is not None and not any(abs(told - one) <= 1 for one in there):
            return False
    return True
