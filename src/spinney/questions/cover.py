"""The question `cover`: a sequence of public sets by maximum coverage, charged once for the whole process.

Proof: ``proofs/coverage.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.mechanisms import NoiseSource
from spinney.mechanisms.coverage import choose_cover, step_epsilon
from spinney.privacy import Amount, Charge, Unit, round_up
from spinney.questions.arrays import freeze, frozen, require
from spinney.questions.ground import Ground
from spinney.questions.question import Exact, Kind, Listed, Question
from spinney.questions.record import exact_text, record_of
from spinney.spaces import FiniteMetric, FloatArray, IntArray

#: The stage of a set that never covers a point; stages are counted in one byte.
NEVER = 255
MOST_STAGES = 250
#: Of all stages together.
MOST_STEPS = 2**31


@dataclass(frozen=True, eq=False)
class Balls:
    """Balls around candidates, with radii that grow from stage to stage.

    Parameters
    ----------
    space : FiniteMetric
    radii : array of shape (stages,)
        Growing.
    steps : tuple of int
        How many balls are chosen at each stage.
    """

    space: FiniteMetric
    radii: FloatArray
    steps: tuple[int, ...]

    def __post_init__(self) -> None:
        freeze(self, "radii")

    @property
    def n_sets(self) -> int:
        """One ball per candidate."""
        return len(self.space.candidates)

    def check(self, ground: Ground) -> None:
        """Raise a ValueError unless the balls are of the ground's own space and grow."""
        require(self.space is ground.space, "balls must be of the curator's own space")
        growing = self.radii.shape == (len(self.steps),) and np.isfinite(self.radii).all() and (np.diff(self.radii) >= 0).all()
        require(growing, "there must be one radius per stage, and they must grow")

    def first_stages(self, points: IntArray) -> NDArray[np.uint8]:
        """Return the first stage at which each ball holds each of these points: a row per point, NEVER if at none."""
        stages = np.empty((len(points), self.n_sets), dtype=np.uint8)
        for part, block in self.space.blocks(points, self.space.candidates, oriented=True):
            stages[part] = np.searchsorted(self.radii, block.ravel()).reshape(block.shape)
        stages[stages == len(self.radii)] = NEVER
        return stages


@dataclass(frozen=True, eq=False)
class Family:
    """Any sets, all at one stage.

    Parameters
    ----------
    members : scipy sparse array of shape (n_points, n_sets), in rows
        Nonzero where a set covers a point.
    steps : tuple of int
        The number of sets to choose, alone.
    """

    members: Any
    steps: tuple[int, ...]

    def __post_init__(self) -> None:
        from scipy.sparse import csr_array  # type: ignore[import-untyped]

        given = self.members
        require(type(given) is csr_array, "a family must be a scipy csr_array")
        places = (frozen(part, None) for part in (given.indices, given.indptr))
        members = csr_array((frozen(given.data != 0, np.int8), *places), shape=given.shape)
        # All entries are looked at here: what is wrong with a point must not show by whether some row is there.
        members.check_format(full_check=True)
        object.__setattr__(self, "members", members)

    @property
    def n_sets(self) -> int:
        """The number of sets."""
        return int(self.members.shape[1])

    def check(self, ground: Ground) -> None:
        """Raise a ValueError unless the family is about the ground's points."""
        require(self.members.shape[0] == ground.n_points and len(self.steps) == 1, "a family must be about all points")

    def first_stages(self, points: IntArray) -> NDArray[np.uint8]:
        """Return 0 where a set covers a point, NEVER elsewhere."""
        stages = np.full((len(points), self.n_sets), NEVER, dtype=np.uint8)
        part = self.members[points].tocoo()
        stages[part.row, part.col] = np.where(part.data != 0, 0, NEVER)
        return stages


@dataclass(frozen=True)
class Covering(Kind):
    """Choices that lean toward uncovered rows, priced together."""

    question = "cover"

    steps: int

    def noise(self, charge: Charge, unit: Unit) -> Amount:
        """Return how strongly each choice leans: the epsilon of a step, per uncovered row."""
        return step_epsilon(charge, unit, self.steps)

    def record(self, charge: Charge, unit: Unit) -> dict[str, Any]:
        step = self.noise(charge, unit)
        mechanism = "none" if step == math.inf else "coverage"
        scale = 0 if step == math.inf else round_up(1 / Fraction(step))
        facts = {"step_epsilon": exact_text(step), "scale": exact_text(scale), "delta": exact_text(charge.delta)}
        moves = {"row_sensitivity": "1", "unit_sensitivity": str(unit.moved_rows)}
        return record_of(charge, mechanism, "rows of a set", **moves, steps=self.steps, **facts)

    def words(self, charge: Charge, unit: Unit) -> str:
        return f"choices that lean toward uncovered rows; delta {float(charge.delta):.3g} of its own"


@dataclass(frozen=True)
class Cover(Question[IntArray]):
    """A sequence of sets that cover many rows, stage by stage; the rows they cover leave.

    Parameters
    ----------
    sets : Balls or Family
        Each step chooses from all sets; one may come again.
    """

    sets: Balls | Family

    def kind(self, ground: Ground) -> Covering:
        """One charge pays for all steps together."""
        return Covering(sum(self.sets.steps))

    def check(self, ground: Ground) -> None:
        require(type(self.sets) in (Balls, Family) and ground.domain is None, "only public sets of points can cover")
        steps = self.sets.steps
        are_numbers = type(steps) is tuple and all(type(count) is int and count >= 0 for count in steps)
        fits = are_numbers and 1 <= len(steps) <= MOST_STAGES and 1 <= sum(steps) <= MOST_STEPS
        require(fits, "steps must be whole numbers, one per stage")
        self.sets.check(ground)
        require(self.sets.n_sets, "there must be a set")

    def answer(self, rows: Exact, ground: Ground, charge: Charge, unit: Unit, source: NoiseSource) -> IntArray:
        """Choose set by set; every set gets noise at every step."""
        step = self.kind(ground).noise(charge, unit)
        uncovered, chosen = rows.exact(self.sets), list[int]()
        for stage, steps in enumerate(self.sets.steps):
            counts = uncovered.count(stage)
            for _ in range(steps):
                winner = choose_cover(counts, step, source, unit.moved_rows)
                chosen.append(winner)
                counts = counts - uncovered.remove(winner, stage)
        return np.array(chosen, dtype=np.int64)


LISTED = Listed(
    Cover, Covering, "the count of every set that holds it by one, until it is covered",
    ("proofs/coverage.md",),
    ("tests/privacy/test_cover_process.py",), parts=(Balls,),
)  # fmt: skip
