"""The question `persons`: the noisy number of persons in each public cluster, of each of whom one secretly drawn row counts.

Proof: ``proofs/describe.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spinney.mechanisms.additive import Noise, Sensitivity, calibrate, privatize
from spinney.mechanisms.source import NoiseSource
from spinney.privacy.charges import Charge
from spinney.privacy.pricing import Unit
from spinney.questions.arrays import require
from spinney.questions.clusters import Clusters
from spinney.questions.counts import CountAnswer
from spinney.questions.ground import Ground
from spinney.questions.question import Exact, Kind, Question
from spinney.questions.record import Answer, additive_record

__all__ = ["OneEach", "PersonCounting", "Persons"]

#: One person more, or fewer.
PERSON = Sensitivity(1, 1)


@dataclass(frozen=True)
class PersonCounting(Kind):
    """Counts of persons over disjoint cells: a person lies in one, whatever the number of rows that count elsewhere."""

    question = "persons"

    def _one(self, unit: Unit) -> Unit:
        """Return the same person with the one row that counts."""
        return Unit(unit.adjacency, 1)

    def moves(self, unit: Unit) -> Sensitivity:
        """Return how far one person moves the counts: one of them by one, and with a replacement another one too."""
        moved = self._one(unit).moved_rows
        return Sensitivity(moved, moved)

    def noise(self, charge: Charge, unit: Unit) -> Noise:
        """Return the noise of each count."""
        return calibrate(PERSON, self._one(unit).count_price(charge))

    def record(self, charge: Charge, unit: Unit) -> dict[str, Any]:
        """Return one answer, of a unit with one row."""
        one = self._one(unit)
        return additive_record(charge, one, [Answer("persons", 1, PERSON, one.count_price(charge), self.noise(charge, unit))])

    def words(self, charge: Charge, unit: Unit) -> str:
        """Return the noise of each count, in persons."""
        return f"each count +- {self.noise(charge, unit).std:.3g} persons"


@dataclass(frozen=True, eq=False)
class OneEach:
    """The aggregate: exact numbers of persons in each cluster, by the one row of each that is drawn."""

    clusters: Clusters


@dataclass(frozen=True, eq=False)
class Persons(Question):
    """Noisy numbers of persons in each cluster. A person's cluster is the cluster of one of its rows, drawn by a secret.

    Parameters
    ----------
    clusters : Clusters
    """

    clusters: Clusters

    @property
    def family(self) -> str:
        """Those of its clusters."""
        return Clusters.family

    def kind(self, ground: Ground) -> PersonCounting:
        """One person moves one count."""
        return PersonCounting()

    def check(self, ground: Ground) -> None:
        """Clusters must have finite centers."""
        require(type(self.clusters) is Clusters, "persons are counted in clusters")
        self.clusters.behind(ground)

    def answer(self, rows: Exact, ground: Ground, charge: Charge, unit: Unit, source: NoiseSource) -> CountAnswer:
        """Count, and add noise to every count."""
        kind = self.kind(ground)
        noise = kind.noise(charge, unit)
        return CountAnswer(privatize(rows.exact(OneEach(self.clusters)), noise, source, kind.moves(unit)), noise)
