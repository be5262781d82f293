"""What a plan tells of a step before any row is read: how much noise it has, and of how many centers it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["Forecast", "Preview"]

#: ``preview(kind, *names)``: the noise of a question of this kind that charges of these names pay for together.
Preview = Callable[..., Any]


class Forecast(NamedTuple):
    """The charges that pay for the last step, and how many centers it moves."""

    paying: tuple[str, ...]
    centers: int
