"""The one entrance to noise, and who may watch it.

All that a source draws is asked for with a `Draw`, which says what it is and how far one unit moves what the noise hides. An
ordinary source only draws. A `Watched` one also shows an observer what was asked, drawn and answered, exact numbers included: it
is made by `spinney.audit` alone, for made-up rows. No parameter of a fit, no environment variable and no global makes one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from spinney.mechanisms.randomizers import Responses
from spinney.privacy import Randomness
from spinney.spaces import IntArray

#: In which norm a unit's moves are hidden by noise: moves of a cell, its largest or its length, are added up over cells.
NORMS = {"laplace": "l1", "gaussian": "squared l2", "cube": "largest of a cell", "ball": "length of a cell"}


@dataclass(frozen=True)
class Draw:
    """What a mechanism draws, from public facts."""

    #: One of `NORMS`, added to every value, or to every cell at once; "gumbel", added to scores of which the largest wins;
    #: "responses", the sums of many users' randomized responses; or "radial", a random slope of every cell, whose answer is where
    #: the exact gradient undoes it.
    distribution: str
    #: Of responses, one over their epsilon.
    scale: float
    #: One of `NORMS`; "range": how far apart one unit moves any two scores; or "users": how many moved.
    norm: str
    #: How far one whole unit moves the exact values in that norm: all its rows, and a replacement's two sides; None without one.
    sensitivity: int | None = None
    #: Which draw of a question with several: the vectors or the weights of `sums`.
    part: str = ""
    #: The public constants of a process whose steps are priced together, such as a `SplitRule`, or of `Responses`.
    rule: Any = None


class NoiseSource(Protocol):
    """Draws exact discrete noise around integers."""

    @property
    def statement(self) -> str:
        """What a release says of this noise: the text of a `Randomness`."""

    def draw(self, values: IntArray, draw: Draw) -> Any:
        """Return values with noise on each, or on each cell, a row of them; or the winner among scores."""

    def key(self) -> bytes:
        """Return 16 secret bytes."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A question begins. All draws until it ends are paid for by its one charge, together."""

    #: Questions of one fit are numbered from 0 on; what belongs together has one number.
    number: int
    #: As the catalog has it.
    name: str
    #: Public, as the ground is; `spinney.questions.form.form` gives their canonical forms.
    question: Any
    ground: Any
    charge: Any
    unit: Any


@dataclass(frozen=True, eq=False, repr=False)
class Drawn:
    """Noise was drawn: for auditors only, because it holds the exact values."""

    #: The question that it answers; None if noise was drawn beside all questions.
    asked: Asked | None
    draw: Draw
    #: What the noise hides; of a radial draw, the exact gradients at the answer.
    exact: IntArray
    #: The values with noise, or the winner.
    answer: Any


@dataclass(frozen=True, eq=False, repr=False)
class Ended:
    """A question ends with this answer."""

    asked: Asked
    answer: Any


@dataclass(frozen=True, eq=False, repr=False)
class Keyed:
    """A secret was drawn that decides which rows of a person count, if one has more than the cap."""

    key: bytes


#: Steps of the whole numbers that radial noise is made of.
FINE = 2.0**30
#: Gives the answer to noise, and what is exact at an answer.
Solve = Callable[[NDArray[np.float64]], Any]
ExactAt = Callable[[Any], IntArray]
#: Takes the events of one fit in their order.
Observer = Callable[[Asked | Drawn | Ended | Keyed], None]


@dataclass(frozen=True, eq=False, repr=False)
class Watched:
    """A source whose draws an observer sees. What it is part of is not private, and a release says so."""

    source: NoiseSource
    observer: Observer
    #: Multiplies every scale, or the scales of the questions that it names: to try whether an audit notices.
    factor: float | Mapping[str, float] = 1.0
    asked: Asked | None = None
    numbers: Any = field(default_factory=count)

    statement = Randomness.AUDITED

    def ask(self, name: str, question: Any, ground: Any, charge: Any, unit: Any) -> Watched:
        """Return this source for the draws of one question, and report that it begins."""
        asked = Asked(next(self.numbers), name, question, ground, charge, unit)
        self.observer(asked)
        return replace(self, asked=asked)

    def end(self, answer: Any) -> None:
        """Tell that the question of this source ends."""
        assert self.asked is not None
        self.observer(Ended(self.asked, answer))

    @property
    def _factor(self) -> float:
        """What multiplies the scales of this question."""
        factor = self.factor
        if isinstance(factor, float | int):
            return factor
        return factor.get("" if self.asked is None else self.asked.name, 1.0)

    def draw(self, values: IntArray, draw: Draw) -> Any:
        factor = self._factor
        draw = replace(draw, scale=draw.scale * factor)
        if factor != 1 and isinstance(draw.rule, Responses):
            draw = replace(draw, rule=draw.rule.sharper(factor))
        exact = np.array(values, dtype=np.int64)
        answer = self.source.draw(values, draw)
        self.observer(Drawn(self.asked, draw, exact, answer))
        return answer

    def draw_at(self, shape: tuple[int, int], solve: Solve, exact_at: ExactAt, draw: Draw) -> Any:
        """Draw and solve, or repeat what was drawn, and report what was exact at the answer."""
        draw = replace(draw, scale=draw.scale * self._factor)
        repeat = getattr(self.source, "repeat", None)
        answer = solve(radial(shape, draw.scale, self.source)) if repeat is None else repeat(draw)
        self.observer(Drawn(self.asked, draw, np.array(exact_at(answer), dtype=np.int64), answer))
        return answer

    def key(self) -> bytes:
        """Return 16 secret bytes of the source, and report."""
        key = self.source.key()
        self.observer(Keyed(key))
        return key


def radial(shape: tuple[int, int], scale: float, source: NoiseSource) -> NDArray[np.float64]:
    """Draw one vector a row whose density falls as ``exp(-length / scale)``: a random direction, and a length that is Gamma.

    The length is a sum of as many exponential numbers as there are columns. Both are made of whole numbers of many steps, and
    are floats: unlike all other noise, this is not exact.
    """
    zeros = np.zeros(shape, dtype=np.int64)
    lengths = np.abs(source.draw(zeros.ravel(), Draw("laplace", FINE, "l1"))).reshape(shape).sum(axis=1) / FINE
    directions = source.draw(zeros.ravel(), Draw("gaussian", FINE, "squared l2")).reshape(shape).astype(np.float64)
    norms = np.sqrt((directions**2).sum(axis=1))
    return np.asarray((scale * lengths / np.maximum(norms, 1.0))[:, None] * directions)


def drawn_at(shape: tuple[int, int], solve: Solve, exact_at: ExactAt, draw: Draw, source: NoiseSource) -> Any:
    """Return an answer that radial noise decides together with exact values that depend on the answer.

    Whoever watches sees the exact values at the answer: they and the answer give the noise back.
    """
    if type(source) is Watched:
        return source.draw_at(shape, solve, exact_at, draw)
    return solve(radial(shape, draw.scale, source))
