"""The question `minimize`: private 1-medians of the Voronoi cells of public centers, by objective perturbation.

Rows are asked about many times before the one answer leaves, so they must be in memory. Sums, slopes and minima are floating
point numbers: the promise is proved over the real numbers only, and a release says so.

Proof: ``proofs/perturbation.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spinney.mechanisms import NoiseSource
from spinney.mechanisms.perturbation import Perturbation, minimized, perturbation, point_sensitivity
from spinney.privacy import Charge, Unit
from spinney.questions.arrays import finite_points, finite_radii, freeze, require, require_number
from spinney.questions.ground import Ground
from spinney.questions.question import CENTERS, Exact, Kind, Listed, Question
from spinney.questions.record import exact_text, record_of
from spinney.spaces import FloatArray

#: Most second derivatives of all cells: they fit into memory, as exact numbers.
MOST_BENDS = 2**20
#: What a release states of every such question.
PROVED = "over the reals only"


@dataclass(frozen=True)
class MinimumAnswer:
    """Private medians, one for each cell, and the constants of their noise."""

    private_points: FloatArray
    noise: Perturbation


@dataclass(frozen=True)
class Minimizing(Kind):
    """A minimum in `n_features` columns: one row adds a loss to one cell, whose gradient and second derivatives are at most 1."""

    question = "minimize"
    #: No Gaussian noise serves: where a row pulls depends on the answer, and so on the noise.
    l2 = 0.0

    n_features: int

    def __post_init__(self) -> None:
        require_number(self.n_features, "columns")

    @property
    def l1(self) -> float:
        """The length of a random slope, times epsilon."""
        return float(self.n_features)

    def noise(self, charge: Charge, unit: Unit) -> Perturbation:
        return perturbation(charge, unit, self.n_features)

    def record(self, charge: Charge, unit: Unit) -> dict[str, Any]:
        found = self.noise(charge, unit)
        return record_of(
            charge, "objective perturbation" if found.scale else "none", "length of a cell",
            row_sensitivity="1", unit_sensitivity=str(unit.moved_rows), epsilon=exact_text(found.epsilon),
            scale=exact_text(found.scale), pull=exact_text(found.pull),
            point_sensitivity=str(point_sensitivity(self.n_features) * unit.moved_rows),
            point_scale=exact_text(found.points.scale), proved=PROVED,
        )  # fmt: skip

    def words(self, charge: Charge, unit: Unit) -> str:
        found = self.noise(charge, unit)
        length = found.scale * self.n_features
        return f"objective perturbation, proved {PROVED}: a slope of {length:.3g} rows, a pull of {found.pull:.3g}"


@dataclass(frozen=True, eq=False)
class Slopes:
    """The aggregate: exact sums of the gradients, weights and second derivatives of rows' losses, in steps.

    The loss of a row x in the cell of a center is ``sqrt(1 + |x - p|^2 / r^2)``, with a point p of that cell and its radius r.
    """

    centers: FloatArray
    points: FloatArray
    radii: FloatArray


@dataclass(frozen=True, eq=False)
class Minimize(Question[MinimumAnswer]):
    """Private medians of the Voronoi cells of public centers.

    Each is near the point that has the least sum of ``sqrt(1 + |x - p|^2 / r^2)`` over the rows x of its cell, plus a pull
    toward the center.

    Parameters
    ----------
    centers : array of shape (k, d)
    radii : array of shape (k,)
        Positive: distances well below are taken as equal.
    """

    centers: FloatArray
    radii: FloatArray

    in_memory = True
    family = CENTERS

    def __post_init__(self) -> None:
        freeze(self, "centers", "radii")

    def kind(self, ground: Ground) -> Minimizing:
        """One row adds one loss to one cell."""
        return Minimizing(ground.n_features)

    def check(self, ground: Ground) -> None:
        require(ground.domain is not None, "only rows of numbers have medians")
        finite_points(self.centers, ground.n_features, "centers")
        finite_radii(self.radii, len(self.centers))
        few = len(self.centers) * ground.n_features**2 <= MOST_BENDS
        require(few, f"centers times squared columns must be at most {MOST_BENDS}")

    def answer(self, rows: Exact, ground: Ground, charge: Charge, unit: Unit, source: NoiseSource) -> MinimumAnswer:
        """Find the perturbed minimum of every cell, empty or not, and add noise to it."""
        found = self.kind(ground).noise(charge, unit)

        def slopes(at: FloatArray) -> Any:
            return rows.exact(Slopes(self.centers, self.centers + self.radii[:, None] * at, self.radii))

        found_points = minimized(slopes, len(self.centers), found, source, unit)
        return MinimumAnswer(np.asarray(self.centers + self.radii[:, None] * found_points), found)


LISTED = Listed(
    Minimize, Minimizing, "the gradient of one cell's sum by at most 1, and its second derivatives; over the reals only",
    ("proofs/perturbation.md",),
    ("tests/privacy/test_minimize.py",), experimental=True,
)  # fmt: skip
