"""Tiny data sets, all of them, and curators over them: what exact enumeration runs on."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from spinney.curators.demand import DemandBackend
from spinney.curators.gate import Curator
from spinney.privacy import Adjacency, Charge, Unit
from spinney.questions.ground import Ground
from spinney.spaces import FiniteMetric

Rows = tuple[int, ...]


class OpenLedger:
    """Takes every charge, and pools any: for questions that are asked again and again. `planned` may be asked by name."""

    #: It remembers none.
    entries = ()

    def __init__(self, planned: Sequence[Charge] = ()) -> None:
        self.planned = tuple(planned)

    def pool(self, charges: Sequence[Charge], question: str) -> Charge:
        """Return one charge that replaces several."""
        amount = sum((charge.amount for charge in charges), start=Fraction(0))
        return Charge(" + ".join(charge.name for charge in charges), question, charges[0].measure, amount)

    def spend(self, charge: Any, question: str, record: Any) -> None:
        """Take it."""


def data_sets(n_points: int, most: int) -> list[Rows]:
    """Return all data sets of up to this many rows."""
    return [rows for n in range(most + 1) for rows in itertools.combinations_with_replacement(range(n_points), n)]


def neighbors(data: Sequence[Rows], adjacency: str, max_rows: int = 1) -> list[tuple[int, int]]:
    """Return all ordered pairs of places of data sets that one unit leads from one to the other."""
    pairs = []
    for one, other in itertools.permutations(range(len(data)), 2):
        left, right = Counter(data[one]), Counter(data[other])
        lost, gained = (left - right).total(), (right - left).total()
        # One side of a replacement may be empty: a person without a name has no rows that count.
        near = Adjacency(adjacency) is Adjacency.REPLACE or min(lost, gained) == 0
        if near and max(lost, gained) <= max_rows:
            pairs.append((one, other))
    return pairs


def demand_curator(
    rows: Any, ground: Ground | FiniteMetric, unit: Unit, source: Any, ledger: Any = None, groups: Any = None
) -> Curator:
    """Return a curator over made-up rows that name points; without a ledger it takes every charge."""
    where = Ground(None, ground.n_points, ground) if isinstance(ground, FiniteMetric) else ground
    backend = DemandBackend(np.asarray(rows), where, unit, source.key, groups)
    book: Any = OpenLedger() if ledger is None else ledger
    return Curator(backend, unit, book, source)


def demand_curators(
    data: Sequence[Rows], ground: Ground | FiniteMetric, unit: Unit, planned: Sequence[Charge] = ()
) -> list[Callable[[Any], Curator]]:
    """Return, for each data set of rows that name points, what makes a curator over it for a source of noise."""
    ledger = OpenLedger(planned)
    return [partial(demand_curator, np.array(rows, dtype=np.int64), ground, unit, ledger=ledger) for rows in data]
