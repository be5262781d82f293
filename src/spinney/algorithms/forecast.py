"""The noise of a step and the number of its centers, as known before any row is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

#: ``preview(kind, *names)``: the noise of a question of this kind that charges of these names pay for together.
Preview = Callable[..., Any]


class Forecast(NamedTuple):
    """The charges that pay for the last step, and how many centers it moves."""

    paying: tuple[str, ...]
    centers: int
