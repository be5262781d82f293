"""The question `blocks`: any question about rows of numbers, asked of the centers of random blocks of rows instead.

Sample and aggregate: rows are spread over a public number of blocks by secret draws, plain clustering finds k centers in each,
and the centers of all blocks are the private points that are asked about. A row is in one block, so it replaces k of them.

Proof: ``proofs/blocks.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from spinney.exceptions import ParameterError
from spinney.mechanisms import NoiseSource
from spinney.privacy import Adjacency, Charge, Measure, Unit
from spinney.questions.arrays import require, require_power
from spinney.questions.cost import Cost
from spinney.questions.counts import Counts
from spinney.questions.ground import Ground
from spinney.questions.grow import Grow
from spinney.questions.levels import Levels
from spinney.questions.question import Exact, Kind, Listed, Question
from spinney.questions.record import exact_text, record_of
from spinney.questions.sums import Sums

#: How rows come into blocks: each into one, or each block a sample of its own, with replacement.
SAMPLINGS = ("disjoint", "replacement")
#: Most blocks, and most centers of all of them: they fit into memory.
MOST_BLOCKS, MOST_POINTS = 2**16, 2**24
#: What covers the rounding of a root and of an inverse hyperbolic sine, and draws that are even up to n / 2^64.
ROUNDED = Fraction(10**9 - 1, 10**9)


def check_sampling(sampling: str, unit: Unit, owner: str) -> None:
    """Raise unless neighbors are such that blocks may be drawn so: samples of n / 2 rows read the number of rows."""
    if sampling == "replacement" and (not unit.replaces or unit.max_rows > 1):
        raise ParameterError(
            f"The 'sampling' parameter of {owner} must be 'disjoint' unless single rows are replaced: with replacement, the size "
            "of a sample tells the number of rows.",
            "sampling='disjoint', or adjacency='replace' without groups.",
        )


@dataclass(frozen=True)
class Tuples:
    """The aggregate: a backend over the centers of all blocks, k of each, exact; the arguments are those of `Blocks`."""

    k: int
    n_blocks: int
    power: int
    sampling: str
    seed: int


@dataclass(frozen=True)
class Blocking(Kind):
    """What is known of a question about centers of blocks: the kind of question, and how many centers a block has."""

    question = "blocks"

    about: Kind
    k: int
    sampling: str = "disjoint"

    @property
    def l1(self) -> float:
        """All centers of a block go, and as many come."""
        return 2 * self.k * self.about.l1

    @property
    def l2(self) -> float:
        """The same; a sample with replacement is priced for pure noise alone."""
        return math.sqrt(2) * self.k * self.about.l2 if self.sampling == "disjoint" else 0.0

    def unit(self, unit: Unit) -> Unit:
        """Return who is protected among centers: one block's centers, replaced; two blocks' if a row may change its block."""
        check_sampling(self.sampling, unit, "Blocks")
        blocks = 2 if unit.replaces and self.sampling == "disjoint" else 1
        return Unit(Adjacency.REPLACE, blocks * self.k)

    def price(self, charge: Charge) -> Charge:
        """Return what the question about centers is charged.

        A row may be drawn into a sample several times: pure epsilon for one place of the sample is worth sinh(epsilon).
        """
        if self.sampling == "disjoint" or charge.amount == math.inf:
            return replace(charge, question=self.about.question)
        amount = Fraction(charge.amount)
        epsilon = float(amount if charge.measure is Measure.PURE else Fraction(math.sqrt(2 * amount)) * ROUNDED)
        pure = Fraction(math.asinh(epsilon)) * ROUNDED**2
        return Charge(charge.name, self.about.question, Measure.PURE, pure, charge.delta)

    def noise(self, charge: Charge, unit: Unit) -> Any:
        return self.about.noise(self.price(charge), self.unit(unit))

    def words(self, charge: Charge, unit: Unit) -> str:
        return f"centers of blocks for rows: {self.about.words(self.price(charge), self.unit(unit))}"

    def record(self, charge: Charge, unit: Unit) -> dict[str, Any]:
        about = self.about.record(self.price(charge), self.unit(unit))
        facts = {"points": self.k, "sampling": self.sampling, "amount": exact_text(self.price(charge).amount), "about": about}
        return record_of(charge, about["mechanism"], about["norm"], **facts)


@dataclass(frozen=True)
class Blocks(Question[Any]):
    """A question about the centers of random blocks of rows.

    Parameters
    ----------
    about : Counts, Grow, Levels, Sums or Cost
        Asked of the ``k * n_blocks`` centers, as if they were the rows.
    k : int
        Centers of each block, the empty ones too.
    n_blocks : int
        Public.
    power : {1, 2}
        Centers minimize distances, or their squares.
    sampling : {"disjoint", "replacement"}
        Whether each row comes into one block, by a secret draw, or each block is a sample of n / (2 n_blocks) rows with
        replacement. Questions with equal disjoint blocks see the same centers; each with replacement has samples of its own.
    seed : int
        Public: seeds the plain clustering.
    """

    about: Question[Any]
    k: int
    n_blocks: int
    power: int = 2
    sampling: str = "disjoint"
    seed: int = 0

    @property
    def tuples(self) -> Tuples:
        """The aggregate."""
        return Tuples(self.k, self.n_blocks, self.power, self.sampling, self.seed)

    @property
    def family(self) -> str:
        return self.about.family

    def kind(self, ground: Ground) -> Blocking:
        """One row replaces the centers of its block."""
        return Blocking(self.about.kind(ground), self.k, self.sampling)

    def check(self, ground: Ground) -> None:
        """The question about centers must be lawful on the same ground, and the numbers public ones."""
        require(ground.domain is not None, "only rows of numbers make blocks")
        require(type(self.about) in (Counts, Grow, Levels, Sums, Cost), "only questions about rows of numbers are about blocks")
        numbers = (self.k, self.n_blocks, self.seed)
        require(all(type(number) is int for number in numbers), "numbers of centers and blocks, and seeds, must be whole")
        few = 1 <= self.n_blocks <= MOST_BLOCKS and self.k >= 1 and self.k * self.n_blocks <= MOST_POINTS
        require(few, "there must be blocks and centers, and not more than fit into memory")
        require(self.seed >= 0, "a seed must not be negative")
        require_power(self.power)
        require(type(self.sampling) is str and self.sampling in SAMPLINGS, f"blocks are drawn {' or '.join(SAMPLINGS)}")
        self.about.check(ground)

    def answer(self, rows: Exact, ground: Ground, charge: Charge, unit: Unit, source: NoiseSource) -> Any:
        """Let the question about centers answer: noise is its own, and in every slot."""
        kind = self.kind(ground)
        price, protected = kind.price(charge), kind.unit(unit)
        return self.about.answer(rows.exact(self.tuples), ground, price, protected, source)


LISTED = Listed(
    Blocks, Blocking, "the k centers of one block by any others, as 2 k points move the question about them",
    ("proofs/blocks.md",),
    ("tests/privacy/test_blocks.py",),
)  # fmt: skip
