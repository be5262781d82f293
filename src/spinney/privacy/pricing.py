"""What a charge buys for a single row.

A unit may be a person with several rows, and neighbors may differ by a replacement. This module turns the charge of a
question, which is the promise for a whole unit, into the price of adding or removing one row. Mechanisms are calibrated to that.

Proof: ``proofs/pricing.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any

from spinney.exceptions import ParameterError
from spinney.privacy.adjacency import Adjacency
from spinney.privacy.charges import Charge, Measure


@dataclass(frozen=True)
class StepPrice:
    """Per-row prices of the two halves of a `sums` answer."""

    vectors: Charge
    weights: Charge


@dataclass(frozen=True)
class Unit:
    """Who is protected: the neighboring relation and the cap on rows per unit."""

    adjacency: Adjacency = Adjacency.ADD_REMOVE
    max_rows: int = 1

    def __post_init__(self) -> None:
        # A text must not pass for another relation: `replaces` compares by identity, and it would get the smaller noise.
        if not (isinstance(self.adjacency, str) and self.adjacency in tuple(Adjacency)):
            raise ParameterError.wrong(
                "adjacency", "Unit", "'add-remove' or 'replace'", self.adjacency, "Unit(Adjacency.REPLACE) if rows are replaced."
            )
        cap: Any = self.max_rows
        if isinstance(cap, bool) or not isinstance(cap, Integral) or int(cap) < 1:
            raise ParameterError.wrong("max_rows", "Unit", "an int in [1, inf)", cap, "1 protects single rows.")
        object.__setattr__(self, "adjacency", Adjacency(self.adjacency))
        object.__setattr__(self, "max_rows", int(cap))

    @property
    def replaces(self) -> bool:
        """Whether neighbors replace a unit."""
        return self.adjacency is Adjacency.REPLACE

    @property
    def moved_rows(self) -> int:
        """How many rows one unit moves: all of its own, and with a replacement as many that come in their place."""
        return (2 if self.replaces else 1) * self.max_rows

    def _per_row(self, charge: Charge, pure: Fraction, zcdp: Fraction) -> Charge:
        m = self.max_rows
        return charge.part(1 / (pure * m) if charge.measure is Measure.PURE else 1 / (zcdp * m * m))

    def count_price(self, charge: Charge) -> Charge:
        """Price of one row in counts over disjoint cells: a replacement moves two cells."""
        factor = Fraction(2) if self.replaces else Fraction(1)
        return self._per_row(charge, factor, factor)

    def value_price(self, charge: Charge) -> Charge:
        """Price of one row in a sum of signed bounded numbers, such as costs: a replacement moves it twice as far."""
        factor = Fraction(2) if self.replaces else Fraction(1)
        return self._per_row(charge, factor, factor * factor)

    def tree_price(self, charge: Charge) -> Charge:
        """Price of one row in the splits of a tree; what a replacement costs is in the split rule's own calibration."""
        return self._per_row(charge, Fraction(1), Fraction(1))

    def step_price(self, charge: Charge, weight_share: Fraction, weights_are_counts: bool) -> StepPrice:
        """Prices of the vectors and the weights of a `sums` question, whose charges add up to `charge`.

        Under zCDP a replacement inside one cell moves its vector twice as far, but moves its count not at all (a weight in
        [0, 1] by at most one); between two cells both halves move in two places. A row that leaves a core moves both by one row,
        half of the latter.
        """
        if charge.measure is Measure.PURE:
            price = self.count_price(charge)
            return StepPrice(price.part(1 - weight_share), price.part(weight_share))
        ratio = weight_share / (1 - weight_share)
        if not self.replaces:
            worst = 1 + ratio
        elif weights_are_counts:
            ratio = max(ratio, Fraction(1))
            worst = max(Fraction(4), 2 + 2 * ratio)
        else:
            worst = max(4 + ratio, 2 + 2 * ratio)
        price = self._per_row(charge, Fraction(1), worst)
        return StepPrice(price, price.part(ratio))
