"""The privacy budget, in exact rationals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, wraps
from numbers import Real
from typing import Any

from spinney.exceptions import ParameterError
from spinney.verification.amounts import fraction_of

#: Above these hardly anything is promised: one row may make an outcome e^10, about 22,000, times as likely, and a fit may show
#: one row of a thousand.
MOST_EPSILON, MOST_DELTA = Fraction(10), Fraction(1, 1000)
#: A privacy amount: an exact rational, or ``math.inf`` when noise is switched off.
Amount = Fraction | float
#: Numbers whose class is what it says.
_PLAIN = (int, float, bool, str, Fraction)


def _is_plain(value: Any) -> bool:
    kind = type(value)
    return all(map(_is_plain, value)) if kind is tuple else any(kind is plain for plain in _PLAIN)


def remembered(maxsize: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that keeps the results of a function of numbers for its last arguments.

    A cache finds its entries by equality, and anyone can make a number that equals another one and computes something else. So
    what is given numbers of other types is computed, and not kept.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        kept = lru_cache(maxsize, typed=True)(function)

        @wraps(function)
        def call(*arguments: Any) -> Any:
            return kept(*arguments) if _is_plain(arguments) else function(*arguments)

        call.cache_clear = kept.cache_clear  # type: ignore[attr-defined]
        return call

    return decorate


def exact(number: float) -> Amount:
    """Read a number as the decimal it prints as: 0.1 is 1/10, not the nearest binary fraction; infinity stays ``math.inf``."""
    number = float(number)
    return math.inf if math.isinf(number) else Fraction(repr(number))


def read_amount(name: str, owner: str, value: Any) -> Amount:
    """Return an exact amount of at least 0, or infinity, or raise: neither negative nor rounded ones ever add up to a promise."""
    if type(value) is int:
        value = Fraction(value)
    if (type(value) is Fraction and value.numerator >= 0) or (type(value) is float and value == math.inf):
        amount: Amount = value
        return amount
    raise ParameterError.wrong(name, owner, "an exact Fraction of at least 0", value, "for example Fraction(1, 10).")


def read_exact(text: Any) -> Fraction:
    """Return the exact number in a text of a file, which is digits, or digits over digits, and not long.

    Whatever else Python reads as a number is refused: to write out "1e1000000000" would take for ever.
    """
    found = fraction_of(text)
    if found is None:
        hint = "for example '1/10', as files have it."
        raise ParameterError.wrong("amount", "a file", "a whole number or an exact fraction, as a text", None, hint)
    return found


def round_up(number: Amount) -> float:
    """Return the least float that is not below an exact number."""
    rounded = float(number)
    return rounded if rounded == math.inf or Fraction(rounded) >= number else math.nextafter(rounded, math.inf)


def root_up(number: Fraction | int) -> float:
    """Return a float near the root of an exact number whose square is not below it."""
    root = math.sqrt(round_up(Fraction(number)))
    while Fraction(root) ** 2 < number:
        root = math.nextafter(root, math.inf)
    return root


@dataclass(frozen=True)
class Budget:
    """What one fit may spend: (epsilon, delta)-differential privacy."""

    epsilon: Amount
    delta: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", read_amount("epsilon", "Budget", self.epsilon))
        object.__setattr__(self, "delta", read_amount("delta", "Budget", self.delta))

    @classmethod
    def of(cls, epsilon: float, delta: float = 0.0) -> Budget:
        """Read a budget from the numbers a user typed."""
        typed: tuple[tuple[str, Any], ...] = (("epsilon", epsilon), ("delta", delta))
        for name, value in typed:
            if not isinstance(value, Real):
                raise ParameterError.wrong(name, "Budget.of", "a number of at least 0", value, "Budget.of(1.0, 1e-6).")
        return cls(exact(epsilon), Fraction(exact(delta)))

    @property
    def loose(self) -> str | None:
        """What to say if the promise is very weak; None otherwise, and if noise is switched off, which says so itself."""
        told = []
        if self.epsilon > MOST_EPSILON and not self.is_infinite:
            told.append(
                f"An epsilon above {MOST_EPSILON} is hardly a promise: one row may make an outcome over 22,000 times as likely.\n"
                "Hint: epsilon=1.0 is a common choice for one release."
            )
        if self.delta > MOST_DELTA and not self.is_infinite:
            told.append(
                f"A delta above {float(MOST_DELTA)} is hardly a promise: with that chance, a row may be shown as it is.\n"
                "Hint: well below one over the number of rows, such as delta=1e-6."
            )
        return "\n".join(told) or None

    @property
    def is_infinite(self) -> bool:
        """Whether noise is switched off."""
        return self.epsilon == math.inf
