"""The question `persons`: the noisy number of persons in each public cluster, of each of whom one secretly drawn row counts.

Proof: ``proofs/describe.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

from spinney.mechanisms import NoiseSource, Sensitivity
from spinney.privacy import Charge, Unit
from spinney.questions.arrays import require
from spinney.questions.clusters import Clusters
from spinney.questions.counts import CountAnswer
from spinney.questions.ground import Ground
from spinney.questions.question import Exact, Listed, Question
from spinney.questions.record import AdditiveKind


@dataclass(frozen=True)
class PersonCounting(AdditiveKind):
    """Counts of persons over disjoint cells: a person lies in one, whatever the number of rows that count elsewhere."""

    question = of = "persons"
    shown = "each count +- {:.3g} persons"

    @property
    def row(self) -> Sensitivity:
        return Sensitivity(1, 1)

    def one(self, unit: Unit) -> Unit:
        """Return the same person with the one row that counts."""
        return Unit(unit.adjacency, 1)


@dataclass(frozen=True, eq=False)
class OneEach:
    """The aggregate: exact numbers of persons in each cluster, by the one row of each that is drawn."""

    clusters: Clusters


@dataclass(frozen=True, eq=False)
class Persons(Question[CountAnswer]):
    """Noisy numbers of persons in each cluster. A person's cluster is the cluster of one of its rows, drawn by a secret.

    Parameters
    ----------
    clusters : Clusters
    """

    clusters: Clusters

    family = Clusters.family

    def kind(self, ground: Ground) -> PersonCounting:
        """One person moves one count."""
        return PersonCounting()

    def check(self, ground: Ground) -> None:
        require(type(self.clusters) is Clusters, "persons are counted in clusters")
        self.clusters.behind(ground)

    def answer(self, rows: Exact, ground: Ground, charge: Charge, unit: Unit, source: NoiseSource) -> CountAnswer:
        return CountAnswer(*self.kind(ground).answered(rows.exact(OneEach(self.clusters)), charge, unit, source))


LISTED = Listed(
    Persons, PersonCounting, "one count by one with a whole person, whatever the number of its rows",
    ("proofs/describe.md",),
    ("tests/privacy/test_describe.py",),
)  # fmt: skip
