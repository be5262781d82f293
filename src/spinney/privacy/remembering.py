"""What a function of plain numbers returned, kept for the next time: for plain numbers alone.

A cache finds its entries by equality, and anyone can make a number that equals another one and computes something else. So what
is given numbers of other types is computed, and not kept.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, wraps
from typing import Any

__all__ = ["remembered"]

_PLAIN = (int, float, bool, str, Fraction)


def _is_plain(value: Any) -> bool:
    kind = type(value)
    return all(map(_is_plain, value)) if kind is tuple else any(kind is plain for plain in _PLAIN)


def remembered(maxsize: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that keeps the results of a function for so many of its last arguments."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        kept = lru_cache(maxsize, typed=True)(function)

        @wraps(function)
        def call(*arguments: Any) -> Any:
            return kept(*arguments) if _is_plain(arguments) else function(*arguments)

        call.cache_clear = kept.cache_clear  # type: ignore[attr-defined]
        return call

    return decorate
