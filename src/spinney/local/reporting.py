"""What is known of reports at plan time."""

from __future__ import annotations

from fractions import Fraction

from spinney.local.asking import RESOLUTION, least_gaussian, least_threshold
from spinney.local.device import WORDS
from spinney.mechanisms.additive import Noise
from spinney.privacy.charges import Charge
from spinney.privacy.pricing import Unit

__all__ = ["Reporting"]


class Reporting:
    """Reports of users: of bits, or of numbers if the charge has a delta."""

    question = "reports"

    def noise(self, charge: Charge, unit: Unit) -> Noise:
        """Return the noise that one user's report adds to each estimated count, or to each number, in reaches."""
        epsilon = Fraction(charge.amount)
        if charge.delta:
            return Noise("gaussian", least_gaussian(epsilon, charge.delta)[0] ** 0.5 / RESOLUTION)
        chance = least_threshold(epsilon) / WORDS
        return Noise("gaussian", (chance * (1 - chance)) ** 0.5 / (0.5 - chance))

    def words(self, charge: Charge, unit: Unit) -> str:
        """Return the noise in words."""
        what = "number, in reaches" if charge.delta else "count"
        return f"each user adds +- {self.noise(charge, unit).std:.3g} to each {what}"
