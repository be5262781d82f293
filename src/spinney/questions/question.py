"""What a question is: a frozen value with a public kind, checked arguments, and one way to answer it.

A kind is what is known of a question before it is asked, from public facts: how far one row moves its answer, so how its share of
a budget is best spent, and the noise that a charge buys. Plans, algorithms and answers all take the noise from here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from spinney.mechanisms import NoiseSource
from spinney.privacy import Charge, Part, Unit
from spinney.questions.ground import Ground
from spinney.spaces import FloatArray, IntArray

#: What releases call the Voronoi cells of centers, in which vectors are summed.
CENTERS = "centers"
#: What a question is answered with.
A = TypeVar("A", covariant=True)


class Exact(Protocol):
    """What a backend does for a question: exact whole numbers about all rows. They never leave unless noise was added."""

    def exact(self, aggregate: Any, levels_below: int = 0) -> Any:
        """Return an aggregate of the closed list; cells of `levels_below` levels below may be asked about next."""


class Kind(ABC):
    """What is known of a question at plan time, from public facts."""

    #: The question's name, as charges have it.
    question: ClassVar[str]

    @property
    def l1(self) -> float:
        """How far one row moves the answer, in L1."""
        return 1.0

    @property
    def l2(self) -> float:
        """The same in L2; 0 if only a pure mechanism serves."""
        return 1.0

    @abstractmethod
    def noise(self, charge: Charge, unit: Unit) -> Any:
        """Return the public facts about the noise that a charge buys."""

    @abstractmethod
    def words(self, charge: Charge, unit: Unit) -> str:
        """Return the noise in words, for a plan."""

    @abstractmethod
    def record(self, charge: Charge, unit: Unit) -> dict[str, Any]:
        """Return what a release stores of sensitivity, price and noise: JSON-ready, exact, and from public facts."""

    def part(self, name: str, share: Fraction) -> Part:
        """Return a named share of a budget for a question of this kind."""
        return Part(name, self.question, share, self.l1, self.l2, self)


class Question(ABC, Generic[A]):
    """A frozen value that can be asked, of the type of its answer.

    Its arguments are public; arrays are copied and cannot be written to.
    """

    #: Whether rows must be in memory: they are read many times for one answer.
    in_memory: ClassVar[bool] = False

    @property
    def family(self) -> str:
        """What releases call its cells: names of `spinney.questions.partitions`, CENTERS, or none."""
        return "none"

    @abstractmethod
    def kind(self, ground: Ground) -> Kind:
        """Return the kind of this question on a ground."""

    @abstractmethod
    def check(self, ground: Ground) -> None:
        """Raise a ValueError unless the public arguments are lawful on this ground."""

    @abstractmethod
    def answer(self, rows: Exact, ground: Ground, charge: Charge, unit: Unit, source: NoiseSource) -> A:
        """Aggregate exact integers, add noise to every slot, and answer."""


class OfEachRow(ABC):
    """An aggregate that adds up what it makes of each row alone. Its question's file says all: no backend has to know it."""

    @abstractmethod
    def summed(self, rows: FloatArray) -> IntArray:
        """Return the sum over some rows, and over none: whole numbers that stay below 2**40 for each row.

        Rows have come in through the door: they lie in the domain, in the middles of steps of its grid.
        """


@dataclass(frozen=True)
class Listed:
    """What makes a file of this room a question of the catalog: it names one as ``LISTED``."""

    question: type[Question[Any]]
    kind: type[Kind]
    #: How far one added or removed row moves the exact answer.
    sensitivity: str
    proofs: tuple[str, ...]
    #: Tests that try to break it: brute force over tiny tables, and searches for worse neighbors.
    attacks: tuple[str, ...]
    #: Types of its own that its fields hold.
    parts: tuple[type, ...] = ()
    #: Whether it is proved over the reals only, and asked only if the plan names it.
    experimental: bool = False
