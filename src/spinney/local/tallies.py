"""What a server keeps of reports: sums, from which counts, means and costs are estimated. It never sees a row."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spinney.local.device import WORDS, slots_of
from spinney.spaces import FloatArray, IntArray


def columns_of(asked: dict[str, Any]) -> int:
    """Return about how many columns a question's reports may be: one each of offsets, and of anything else one for all."""
    return len(asked["domain"]["steps"]) + (asked["kernel"] == "median") if asked["kind"] == "offsets" else 1


@dataclass(frozen=True, eq=False)
class ReportTally:
    """Sums of the reports to one question.

    Parameters
    ----------
    asked : dict
        The question.
    users : array of shape (columns,)
        Numbers of reports about each column.
    totals : array of shape (columns, slots)
        How often each slot was set; of `sums`, the sum of each number.
    left_out : dict
        Numbers of messages that do not count, by reason.
    """

    asked: dict[str, Any]
    users: IntArray
    totals: IntArray
    left_out: dict[str, int] = field(default_factory=dict)

    @classmethod
    def empty(cls, asked: dict[str, Any]) -> ReportTally:
        """Return the tally of no reports."""
        columns = columns_of(asked)
        return cls(asked, np.zeros(columns, dtype=np.int64), np.zeros((columns, slots_of(asked)), dtype=np.int64))

    @property
    def chance(self) -> float:
        """How likely a slot is set that is not the user's own, or the bit of a cost is turned."""
        return float(self.asked["noise"]["threshold"] / WORDS)

    @property
    def total_users(self) -> int:
        """The number of reports that count."""
        return int(self.users.sum())

    @property
    def report_bound(self) -> float:
        """How far one report moves each estimated number at most, and m reports m times as far."""
        if self.asked["kind"] == "sums":
            return float(largest_value(self.asked) / self.asked["resolution"])
        span = 1 - 2 * self.chance if self.asked["kind"] == "cost" else 0.5 - self.chance
        return (1 - self.chance) / span

    @property
    def counts(self) -> FloatArray:
        """Estimated numbers of users in each slot, column by column; without bias."""
        return np.asarray((self.totals - self.users[:, None] * self.chance) / (0.5 - self.chance))

    @property
    def count_std(self) -> FloatArray:
        """Standard deviation of the noise in the count of a slot that few users are in, for each column."""
        chance = self.chance
        return np.asarray(np.sqrt(self.users * chance * (1 - chance)) / (0.5 - chance))

    @property
    def cost_difference(self) -> float:
        """Estimated mean of what the first centers cost a user more than the second, in steps of the grid to its power."""
        n, chance = max(self.total_users, 1), self.chance
        share = (float(self.totals[0, 0]) / n - chance) / (1 - 2 * chance)  # of users that say more
        return (2 * share - 1) * float(self.asked["range"])

    @property
    def cost_std(self) -> float:
        """Standard deviation of the noise in `cost_difference`."""
        n, chance = max(self.total_users, 1), self.chance
        return 2 * float(self.asked["range"]) * math.sqrt(0.25 / n) / (1 - 2 * chance)

    @property
    def vectors(self) -> FloatArray:
        """Estimated sums of offsets in each region, in reaches."""
        return np.asarray(self.totals[0].reshape(len(self.asked["centers"]), -1) / self.asked["resolution"])


def largest_value(asked: dict[str, Any]) -> int:
    """Return the largest number that counts in a report of `sums`: noise passes it less than once in 10^60 draws."""
    return int(asked["resolution"] + 17 * math.isqrt(asked["noise"]["variance"]) + 17)
