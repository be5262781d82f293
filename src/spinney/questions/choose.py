"""The question `choose`: one of public options by the exponential mechanism on its exact cost.

Costs are whole numbers of steps: a distance, or its square, over the space's diameter (squared) is cut into `SITE_STEPS`. Ranges
are taken from these whole numbers, so that no rounding is left to prove.

Proof: ``proofs/sites.md`` and ``proofs/selection.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.mechanisms import NoiseSource
from spinney.mechanisms.selection import choose, selection_epsilon
from spinney.privacy import Charge, Unit
from spinney.questions.arrays import freeze, frozen_places, require, require_power
from spinney.questions.ground import Ground
from spinney.questions.question import Exact, Kind, Listed, Question
from spinney.questions.record import exact_text, record_of
from spinney.spaces import FiniteMetric, FloatArray, IntArray

#: A cost in a finite metric is a whole number of this part of the largest possible one.
SITE_STEPS = 2**22


def cost_steps(space: FiniteMetric, distances: FloatArray, power: int) -> NDArray[np.int32]:
    """Return costs as whole numbers from 0 to SITE_STEPS."""
    scaled = distances / space.diameter if space.diameter > 0 else np.zeros_like(distances)
    # fmin takes the bound where a distance is not a number: whatever a matrix holds, a cost stays in its range.
    return np.asarray(np.floor(np.fmax(np.fmin(scaled, 1.0), 0.0) ** power * SITE_STEPS).astype(np.int32))


def swap_range(from_centers: NDArray[np.int32]) -> int:
    """Return a public bound on how far the costs of one row, at any point, lie apart between swaps.

    After a swap a row costs at most its second-nearest center and at least nothing; if there is one center only, at most
    SITE_STEPS. Costs from centers are in steps, a row a center.
    """
    return SITE_STEPS if len(from_centers) == 1 else int(np.partition(from_centers, 1, axis=0)[1].max())


def _are_points(places: IntArray, ground: Ground) -> bool:
    return places.ndim == 1 and bool((places >= 0).all() and (places < ground.n_points).all())


@dataclass(frozen=True, eq=False)
class Swaps:
    """Exchanges of one center for another candidate.

    Parameters
    ----------
    space : FiniteMetric
    centers : array of int
        The present centers, different candidates.
    existing : array of int
        Centers that stay.
    power : {1, 2}
    stay : bool
        Whether to change nothing is an option too: the first one.
    """

    space: FiniteMetric
    centers: IntArray
    existing: IntArray
    power: int = 1
    stay: bool = False

    def __post_init__(self) -> None:
        freeze(self, "centers", "existing", as_places=True)

    @cached_property
    def newcomers(self) -> IntArray:
        """The candidates that are no centers."""
        return frozen_places(np.setdiff1d(self.space.candidates, np.concatenate([self.centers, self.existing])))

    def __len__(self) -> int:
        return len(self.centers) * len(self.newcomers) + self.stay

    def after(self, option: int) -> IntArray:
        """Return the centers after an option is taken."""
        centers = self.centers.copy()
        if not self.stay or option:
            x, y = divmod(option - self.stay, len(self.newcomers))
            centers[x] = self.newcomers[y]
        return centers

    def check(self, ground: Ground) -> None:
        """Raise a ValueError unless the centers are different points of the ground's own space."""
        require(self.space is ground.space, "swaps must be of the curator's own space")
        present = np.concatenate([self.centers, self.existing])
        lawful = len(self.centers) and _are_points(present, ground) and len(np.unique(present)) == len(present)
        require(lawful and np.isin(self.centers, self.space.candidates).all(), "centers must be different candidates")
        require(type(self.stay) is bool, "stay must be True or False")


@dataclass(frozen=True, eq=False)
class Sets:
    """Whole sets of centers, existing ones included."""

    sets: tuple[IntArray, ...]
    power: int = 1

    def __post_init__(self) -> None:
        require(type(self.sets) in (tuple, list), "sets must be a tuple")
        object.__setattr__(self, "sets", tuple(map(frozen_places, self.sets)))

    def __len__(self) -> int:
        return len(self.sets)

    def check(self, ground: Ground) -> None:
        """Raise a ValueError unless every set holds points of the ground's space."""
        require(all(_are_points(centers, ground) and len(centers) for centers in self.sets), "sets must hold points")


@dataclass(frozen=True)
class Choosing(Kind):
    """A choice: its noise is the range over epsilon, or over sqrt(8 rho)."""

    question = "choose"
    #: Such that a pure choice at epsilon has Gumbel noise of scale 1 / epsilon, and a choice at rho of scale 1 / sqrt(8 rho).
    l1, l2 = math.sqrt(0.5), 0.5

    def noise(self, charge: Charge, unit: Unit) -> float:
        return 1.0 / float(selection_epsilon(unit.value_price(charge)))

    def record(self, charge: Charge, unit: Unit) -> dict[str, Any]:
        price = unit.value_price(charge)
        epsilon = selection_epsilon(price)
        mechanism = "none" if epsilon == math.inf else "exponential"
        scale = 0 if epsilon == math.inf else 1 / Fraction(epsilon)
        facts = {"price": exact_text(price.amount), "epsilon": exact_text(epsilon), "scale": exact_text(scale)}
        return record_of(charge, mechanism, "range", row_sensitivity="1", unit_sensitivity=str(unit.moved_rows), **facts)

    def words(self, charge: Charge, unit: Unit) -> str:
        return f"a choice, Gumbel scale {self.noise(charge, unit):.3g} of one row's range"


@dataclass(frozen=True)
class Choose(Question[int]):
    """One option by the exponential mechanism on its exact cost.

    The cost of one row differs between options by at most a public range: the second-nearest center's for swaps, the
    largest difference between two sets for sets.

    Parameters
    ----------
    options : Swaps or Sets
    """

    options: Swaps | Sets

    def kind(self, ground: Ground) -> Choosing:
        """One row moves costs apart by at most their range."""
        return Choosing()

    def check(self, ground: Ground) -> None:
        require(type(self.options) in (Swaps, Sets) and ground.space is not None, "only centers of a space can be chosen")
        require_power(self.options.power)
        self.options.check(ground)
        require(len(self.options), "there must be an option")

    def answer(self, rows: Exact, ground: Ground, charge: Charge, unit: Unit, source: NoiseSource) -> int:
        costs, span = rows.exact(self.options)
        return choose(-costs, max(span, 1), unit.value_price(charge), source, unit.moved_rows)


LISTED = Listed(
    Choose, Choosing, "any two options' costs apart by at most their public range, all in one direction",
    ("proofs/selection.md", "proofs/sites.md"),
    ("tests/privacy/test_site_sensitivity.py", "tests/privacy/test_exponential_mechanism.py"), parts=(Sets, Swaps),
)  # fmt: skip
