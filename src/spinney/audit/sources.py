"""Sources of noise for audits: one that draws nothing and remembers, and one that repeats what was drawn."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

import numpy as np

from spinney.exceptions import SpinneyError
from spinney.mechanisms.drawing import Draw, Drawn
from spinney.mechanisms.randomizers import Responses
from spinney.privacy.trust import Randomness
from spinney.spaces.box import IntArray


class _AuditSource:
    """Answers all distributions in one place."""

    statement = Randomness.AUDITED

    def _answer(self, distribution: str, values: IntArray, scale: float) -> Any:
        raise NotImplementedError

    def laplace(self, values: IntArray, scale: float) -> IntArray:
        """Answer."""
        return np.asarray(self._answer("laplace", values, scale))

    def gaussian(self, values: IntArray, scale: float) -> IntArray:
        """Answer."""
        return np.asarray(self._answer("gaussian", values, scale))

    def cube(self, values: IntArray, scale: float) -> IntArray:
        """Answer."""
        return np.asarray(self._answer("cube", values, scale))

    def ball(self, values: IntArray, scale: float) -> IntArray:
        """Answer."""
        return np.asarray(self._answer("ball", values, scale))

    def select(self, scores: IntArray, scale: float) -> int:
        """Return the winner."""
        return int(self._answer("gumbel", scores, scale))

    def responses(self, values: IntArray, rule: Responses) -> IntArray:
        """Answer."""
        return np.asarray(self._answer("responses", values, 1.0))


class NoiselessSource(_AuditSource):
    """Adds nothing, and remembers which exact values were given to noise of which scale.

    Parameters
    ----------
    winners : iterable of int
        Who wins each choice; the first option once the list is used up.
    """

    def __init__(self, winners: Iterable[int] = ()) -> None:
        #: The distribution, the scale and the exact values of every draw.
        self.draws: list[tuple[str, float, IntArray]] = []
        self._winners = list(winners)

    def _answer(self, distribution: str, values: IntArray, scale: float) -> Any:
        self.draws.append((distribution, scale, np.array(values)))
        if distribution == "gumbel":
            return self._winners.pop(0) if self._winners else 0
        return np.array(values)

    def key(self) -> bytes:
        """Return 16 bytes, always the same."""
        return b"sixteen  letters"


class DivergedError(SpinneyError):
    """The neighbor asks for other noise than was recorded."""


class FrozenSource(_AuditSource):
    """Gives recorded draws again, one after another, whatever the values are.

    Parameters
    ----------
    draws : sequence of Drawn
    keys : sequence of bytes
    """

    def __init__(self, draws: tuple[Drawn, ...], keys: tuple[bytes, ...] = ()) -> None:
        self._draws, self._keys = list(draws), list(keys)
        #: What was asked for that was not recorded, in words.
        self.faults: list[str] = []

    def _answer(self, distribution: str, values: IntArray, scale: float) -> Any:
        if not self._draws:
            self._diverged("more draws of noise")
        past = self._draws.pop(0)
        if (past.draw.distribution, past.draw.scale, past.exact.shape) != (distribution, scale, values.shape):
            self._diverged("a draw of another distribution, scale or size")
        return copy.copy(past.answer)

    def _diverged(self, what: str) -> None:
        self.faults.append(f"the neighbor asks for {what}")
        raise DivergedError(self.faults[-1])

    def responses(self, values: IntArray, rule: Responses) -> IntArray:
        """Return what was drawn."""
        if not (self._draws and self._draws[0].draw.rule == rule):
            self._diverged("other responses")
        return np.asarray(self._answer("responses", values, self._draws[0].draw.scale))

    def repeat(self, draw: Draw) -> Any:
        """Return the answer that was found; what is exact there is for the neighbor's rows to say."""
        if not self._draws or self._draws[0].draw != draw:
            self._diverged("another minimum")
        return copy.copy(self._draws.pop(0).answer)

    def key(self) -> bytes:
        """Return the recorded secret."""
        if not self._keys:
            self._diverged("another secret")
        return self._keys.pop(0)

    @property
    def left(self) -> int:
        """How many draws were not asked for."""
        return len(self._draws)
