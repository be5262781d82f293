"""How an estimator is shown: a table that was passed as a parameter by mistake is named by its type alone."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from spinney.constraints import one_of, optional
from spinney.exceptions import SpinneyError
from spinney.naming import named
from spinney.spaces.box import Ball, Box, as_space
from spinney.spaces.metric import FiniteMetric
from spinney.spaces.plain_values import is_positive
from spinney.spaces.units import schema_of

#: What `transform` may return.
OUTPUTS = optional(one_of(("default", "pandas", "polars"), "'pandas' for frames."))
#: Bounds of more columns are not shown.
MOST_COLUMNS = 100


class _Typed:
    """Stands for a parameter that is not shown."""

    def __init__(self, value: object) -> None:
        self._text = f"<{named(value)}>"

    def __repr__(self) -> str:
        return self._text


def _are_bounds(value: Any) -> bool:
    """Whether a pair can be bounds: then a release would state it, too. A list of pairs may as well be a table of two columns."""
    if isinstance(value, list):
        return False
    try:
        if schema_of(value, None, "") is not None:
            return len(value) <= MOST_COLUMNS
        space = as_space(value, "")
    except SpinneyError:
        return False
    return isinstance(space, Box) and max(map(np.size, (space.lower, space.upper))) <= MOST_COLUMNS


def _are_units(value: Any) -> bool:
    return (
        type(value) is dict
        and len(value) <= MOST_COLUMNS
        and all(isinstance(n, str) for n in value)
        and all(map(is_positive, value.values()))
    )


def _is_shown(name: str, value: Any) -> bool:
    if not named(value).startswith("a value of type ") or type(value).__module__.startswith("spinney."):
        return True
    if isinstance(value, np.random.Generator | np.random.RandomState | Box | Ball | FiniteMetric):
        return True
    return (
        (name == "bounds" and _are_bounds(value))
        or (name == "scale" and _are_units(value))
        or (isinstance(value, tuple) and not value)
    )


class Discreet:
    """Shows the parameters of an estimator, in text and in a notebook, and in messages of scikit-learn that repeat it."""

    def _shown(self) -> Self:
        parameters: dict[str, Any] = self.get_params(deep=False)  # type: ignore[attr-defined]
        return type(self)(**{name: value if _is_shown(name, value) else _Typed(value) for name, value in parameters.items()})

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        text: str = super(Discreet, self._shown()).__repr__(N_CHAR_MAX)  # type: ignore[call-arg]
        return text

    def _get_params_html(self, *arguments: Any, **options: Any) -> Any:
        return super(Discreet, self._shown())._get_params_html(*arguments, **options)  # type: ignore[misc]
