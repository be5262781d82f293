"""Sources of noise for audits: one that draws nothing and remembers, and one that repeats what was drawn."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import numpy as np

from spinney.exceptions import SpinneyError
from spinney.mechanisms import Draw, Drawn
from spinney.privacy import Randomness
from spinney.spaces import IntArray


class NoiselessSource:
    """Adds nothing, and remembers which exact values were given to noise of which scale.

    Choices are won by the winners, one after another; by the first option once the list is used up.
    """

    statement = Randomness.AUDITED

    def __init__(self, winners: Iterable[int] = ()) -> None:
        #: The distribution, the scale and the exact values of every draw.
        self.draws: list[tuple[str, float, IntArray]] = []
        self._winners = list(winners)

    def draw(self, values: IntArray, draw: Draw) -> Any:
        self.draws.append((draw.distribution, draw.scale, np.array(values)))
        if draw.distribution == "gumbel":
            return self._winners.pop(0) if self._winners else 0
        return np.array(values)

    def key(self) -> bytes:
        return b"sixteen  letters"


class DivergedError(SpinneyError):
    """The neighbor asks for other noise than was recorded."""


class FrozenSource:
    """Gives recorded draws again, one after another, whatever the values are."""

    statement = Randomness.AUDITED

    def __init__(self, draws: tuple[Drawn, ...], keys: tuple[bytes, ...] = ()) -> None:
        self._draws, self._keys = list(draws), list(keys)
        #: What was asked for that was not recorded, in words.
        self.faults: list[str] = []

    def draw(self, values: IntArray, draw: Draw) -> Any:
        if not self._draws:
            self._diverged("more draws of noise")
        past = self._draws.pop(0)
        same = past.draw.rule == draw.rule if draw.distribution == "responses" else past.draw.scale == draw.scale
        if not same or (past.draw.distribution, past.exact.shape) != (draw.distribution, values.shape):
            self._diverged("a draw of another distribution, scale, size or rule")
        return copy.copy(past.answer)

    def _diverged(self, what: str) -> None:
        self.faults.append(f"the neighbor asks for {what}")
        raise DivergedError(self.faults[-1])

    def repeat(self, draw: Draw) -> Any:
        """Return the answer that was found; what is exact there is for the neighbor's rows to say."""
        if not self._draws or self._draws[0].draw != draw:
            self._diverged("another minimum")
        return copy.copy(self._draws.pop(0).answer)

    def key(self) -> bytes:
        if not self._keys:
            self._diverged("another secret")
        return self._keys.pop(0)

    @property
    def left(self) -> int:
        """How many draws were not asked for."""
        return len(self._draws)
