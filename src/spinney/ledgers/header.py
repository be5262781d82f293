"""The first line of a ledger: what it was opened with, and the ways in which it adds up."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Real
from typing import Any

from spinney.exceptions import ParameterError
from spinney.ledgers.entries import is_adjacency, is_cap
from spinney.ledgers.filter import Filter, Way, fixed_ways
from spinney.privacy.adjacency import Adjacency
from spinney.privacy.budget import Budget, read_exact
from spinney.verification.ledger_records import check_header

__all__ = ["FIRST", "header_of", "opened_filter", "with_ways", "wrong"]

#: What is written. Code that knows format 1 alone counts the pure charges of a release one by one, and must not add to this one.
FORMAT = "spinney-ledger/2"
#: How the first line of every ledger begins.
FIRST = '{"format": "spinney-ledger/'
#: The least delta above 0 of a ledger, and the largest.
LEAST_DELTA, LARGEST_DELTA = 1e-100, 0.5


def wrong(name: str, expected: str, got: object, hint: str) -> ParameterError:
    """Return the error about a parameter of a ledger."""
    return ParameterError.wrong(name, "Ledger", expected, got, hint)


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    try:
        return float(value) == value
    except OverflowError:  # a whole number too large for a float
        return False


def header_of(epsilon: Any, delta: Any, adjacency: Any, max_rows_per_group: Any) -> dict[str, Any]:
    """Check what a ledger is opened with and return its first line, without the ways."""
    delta = 0.0 if delta is None else delta
    adjacency = Adjacency.ADD_REMOVE.value if adjacency is None else adjacency
    if not (_is_number(epsilon) and 0 < epsilon < math.inf):
        raise wrong("epsilon", "a float in (0, inf)", epsilon, "epsilon=3 lets all releases together spend so much.")
    if not (_is_number(delta) and (delta == 0 or LEAST_DELTA <= delta <= LARGEST_DELTA)):
        raise wrong("delta", f"0 or a float in [{LEAST_DELTA}, {LARGEST_DELTA}]", delta, "delta=1e-5 allows Gaussian noise.")
    if not is_adjacency(adjacency):
        raise wrong("adjacency", "'add-remove' or 'replace'", adjacency, "as the releases will have it.")
    cap = max_rows_per_group
    if not is_cap(cap):
        raise wrong("max_rows_per_group", "an int in [1, inf), or left out", cap, "left out, single rows are protected.")
    ceiling = Budget.of(float(epsilon), float(delta))
    return {
        "format": FORMAT,
        "epsilon": str(ceiling.epsilon),
        "delta": str(ceiling.delta),
        "adjacency": adjacency,
        "max_rows_per_group": None if cap is None else int(cap),
    }


def with_ways(header: dict[str, Any]) -> dict[str, Any]:
    """Return the whole first line of a new ledger."""
    ways = fixed_ways(Budget(read_exact(header["epsilon"]), read_exact(header["delta"])))
    return {**header, "ways": [[repr(float(way.order)), str(way.delta)] for way in ways]}


def opened_filter(header: dict[str, Any]) -> Filter:
    """Return the empty filter of a ledger with this first line, or raise a ValueError."""
    check_header(header)
    ways = tuple(Way(Fraction(float(order)), read_exact(delta)) for order, delta in header["ways"])
    return Filter.empty(Budget(read_exact(header["epsilon"]), read_exact(header["delta"])), ways)
