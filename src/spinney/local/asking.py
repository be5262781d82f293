"""Making questions: public arguments on the grid, and the least noise that keeps their promise."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from spinney.local.cells import CellTree, Grid
from spinney.local.device import PLACES, WIDEST, WORDS, exp_below, is_lawful_gaussian, is_lawful_threshold
from spinney.mechanisms import Noise
from spinney.privacy import Charge, Unit
from spinney.spaces import FloatArray

#: Offsets of `sums` are whole numbers of this part of their reach.
RESOLUTION = 1024
#: Number of groups into which a hash deals users.
PARTS = 1000


class Unlawful(Exception):  # noqa: N818  (no error by itself: whoever plans says what was typed)
    """No noise that devices draw keeps a promise: what is wrong, and the least that a charge must have, or else what must be."""

    def __init__(self, name: str, words: str = "", least: float | None = None) -> None:
        super().__init__(f"no noise of devices keeps this promise: {name}")
        self.name, self._words, self._least = name, words, least

    @property
    def hint(self) -> str:
        """What to type."""
        return "epsilon=1.0 is common." if self.name == "epsilon" else "delta=1e-6, or the refined protocol, which needs none."

    def expected(self, charge: Any, budget: Any) -> str:
        """Return what the whole budget must be, of which the charge has a share."""
        return self._words if self._least is None else f"at least {self._least * float(budget / charge):.2g}"


@lru_cache(maxsize=64)
def least_threshold(epsilon: Fraction) -> int:
    """Return the least chance, in parts of 2^32, at which a foreign slot must be set for a report to be worth epsilon."""
    exponential = exp_below(min(epsilon, Fraction(64)))
    threshold = max(1, -(-(WORDS << PLACES) // (exponential + (1 << PLACES))))
    if not is_lawful_threshold(threshold, epsilon):
        raise Unlawful("epsilon", least=1e-9)
    return threshold


#: A variance that is not found by then is found by no number of tries: epsilon is beyond what devices compute with.
MOST_TRIES = 10_000


@lru_cache(maxsize=64)
def least_gaussian(epsilon: Fraction, delta: Fraction, resolution: int = RESOLUTION) -> tuple[int, int]:
    """Return the least variance found, and the Renyi order that shows it, of discrete Gaussian noise worth (epsilon, delta)."""
    if not 0 < delta < 1:
        raise Unlawful("delta", "a float in (0, 1)")

    def rho(order: int) -> float:
        log_share = (order - 1) * math.log(order - 1) - order * math.log(order)
        return (float(epsilon) - (log_share - math.log(delta)) / (order - 1)) / order

    order = max(range(2, 4097), key=rho)
    if not rho(order) > 0:
        raise Unlawful("epsilon", "a larger one")
    variance = math.ceil(2 * resolution**2 / rho(order))
    for _ in range(MOST_TRIES):
        if is_lawful_gaussian(resolution, variance, order, epsilon, delta):
            return variance, order
        variance += max(1, variance >> 40)
    raise Unlawful("epsilon", "a smaller one")


@dataclass(frozen=True)
class Asking:
    """Makes the questions of one protocol; the salt deals the users into groups."""

    grid: Grid
    salt: str

    def _text(self, kind: str, name: str, epsilon: Fraction, delta: Fraction, group: tuple[int, int], **fields: Any) -> str:
        if kind == "sums":
            variance, order = least_gaussian(epsilon, delta)
            noise = {"variance": variance, "order": order}
        else:
            noise = {"threshold": least_threshold(epsilon)}
        question = {
            "format": "spinney-question/1", "id": f"{self.salt}/{name}", "kind": kind,
            "epsilon": str(epsilon), "delta": str(delta if kind == "sums" else Fraction(0)), "domain": self.grid.record,
            "group": {"salt": self.salt, "parts": PARTS, "first": group[0], "last": group[1]}, "noise": noise,
        }  # fmt: skip
        return json.dumps(question | fields, sort_keys=True, separators=(",", ":"))

    def _steps(self, lengths: FloatArray, least: int) -> list[int]:
        return [int(min(max(length, least), WIDEST)) for length in np.floor(np.asarray(lengths) / self.grid.step)]

    def _regions(self, centers: FloatArray, radii: FloatArray) -> dict[str, Any]:
        return {"centers": self.grid.nearest(centers).tolist(), "radii": self._steps(radii, 0)}

    def cells(self, name: str, tree: CellTree, epsilon: Fraction, group: tuple[int, int] = (0, PARTS)) -> str:
        """Ask in which cell users are."""
        return self._text("cells", name, epsilon, Fraction(0), group, shape=tree.shape)

    def regions(self, name: str, centers: FloatArray, radii: FloatArray, epsilon: Fraction) -> str:
        """Ask to which center within its radius users are nearest."""
        return self._text("regions", name, epsilon, Fraction(0), (0, PARTS), **self._regions(centers, radii))

    def offsets(
        self, name: str, centers: FloatArray, reaches: FloatArray, kernel: str, bins: int, epsilon: Fraction,
        group: tuple[int, int] = (0, PARTS),
    ) -> str:  # fmt: skip
        """Ask where in the Voronoi cell of which center users are, in one column each."""
        regions = self._regions(centers, np.full(len(centers), np.inf))
        return self._text(
            "offsets", name, epsilon, Fraction(0), group, **regions, reaches=self._steps(reaches, 1), kernel=kernel, bins=bins
        )

    def cost(self, name: str, first: FloatArray, second: FloatArray, power: int, most: float, epsilon: Fraction) -> str:
        """Ask how much nearer users are to the second centers than to the first, in distances to this power, at most `most`."""
        points = {"first": self.grid.nearest(first).tolist(), "second": self.grid.nearest(second).tolist()}
        limit = int(min(max(most / self.grid.step**power, 1), 2**52))
        return self._text("cost", name, epsilon, Fraction(0), (0, PARTS), **points, power=power, range=limit)

    def sums(
        self, name: str, centers: FloatArray, radii: FloatArray, anchors: FloatArray, reaches: FloatArray, epsilon: Fraction,
        delta: Fraction, group: tuple[int, int] = (0, PARTS),
    ) -> str:  # fmt: skip
        """Ask for offsets from anchors in regions, with Gaussian noise on all of them."""
        more = {"anchors": self.grid.nearest(anchors).tolist(), "reaches": self._steps(reaches, 1), "resolution": RESOLUTION}
        return self._text("sums", name, epsilon, delta, group, **self._regions(centers, radii), **more)


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
