"""What all curators share: the unit, the ledger, the noise, and that every question starts with its charge."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from spinney.curators.seal import sealed
from spinney.mechanisms.additive import Noise, Sensitivity, calibrate, privatize
from spinney.mechanisms.source import IntArray, NoiseSource
from spinney.privacy.charges import Charge
from spinney.privacy.ledger import FitLedger
from spinney.privacy.pricing import Unit

__all__ = ["COUNTING", "CountAnswer", "Desk"]

logger = logging.getLogger("spinney")

#: One row adds one to one count.
COUNTING = Sensitivity(1, 1)


@dataclass(frozen=True)
class CountAnswer:
    """Noisy numbers of rows, one per cell of the partition."""

    private_counts: IntArray
    noise: Noise


class Desk:
    """Where questions are charged.

    Parameters
    ----------
    unit : Unit
        Who is protected.
    ledger : FitLedger
    source : NoiseSource
    """

    def __init__(self, unit: Unit, ledger: FitLedger, source: NoiseSource) -> None:
        self.unit = unit
        self.ledger = ledger
        self._source = source

    def _open(self, question: str, charge: Charge) -> sealed:
        """Charge the ledger; every question starts here, with a copy of its charge, and works on rows inside what is returned."""
        self.ledger.spend(charge, question)
        logger.info("asking %s: %s", question, charge.name)
        return sealed()

    def _count(self, exact: IntArray, sensitivity: Sensitivity, charge: Charge) -> CountAnswer:
        """Add noise to exact counts over disjoint cells (or as many families of them as the sensitivity says)."""
        noise = calibrate(sensitivity, self.unit.count_price(charge))
        return CountAnswer(privatize(exact, noise, self._source), noise)
