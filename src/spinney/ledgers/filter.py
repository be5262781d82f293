"""How the releases of many days add up, when each was chosen after seeing the ones before.

A ledger's ceiling must hold even if the next budget depends on earlier answers. Adding up in the cheapest way afterwards is not
enough for that: which way is cheapest depends on the answers. So the ways are fixed when a ledger is opened, and share its delta.

A release may pool its pure charges: ask one question at their sum. So all pure charges of one release count as one charge of
their sum, which costs at least as much as anything that can be asked with them.

Proof: ``proofs/ledger.md``.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate

from spinney.exceptions import BudgetError
from spinney.privacy import Amount, Budget, Charge, Measure, is_gaussian, total_epsilon

#: Costs are whole numbers of 1 / UNIT, rounded up.
UNIT = 2**100
#: What is said of a ledger that is above its ceiling.
ABOVE = (
    "An earlier version counted the pure charges of each release one by one, but a fit may pool them.\n"
    "Hint: nothing is left in this ledger. A new one has a ceiling of its own, and both ceilings add up."
)
#: Ways that a ledger keeps open. The first is best if all of epsilon goes to Gaussian noise, each next one if less does.
WAYS = 9


def _up(number: Fraction) -> int:
    return -(-number.numerator * UNIT // number.denominator)


def _amount_and_square(numerator: int, denominator: int) -> tuple[int, int]:
    return -(-numerator * UNIT // denominator), -(-numerator * numerator * UNIT // (denominator * denominator))


def _sum(amounts: Iterable[Amount]) -> Fraction:
    """Return an exact sum; numbers of one denominator are added first, which is faster."""
    numerators: dict[int, int] = {}
    for numerator, denominator in (amount.as_integer_ratio() for amount in amounts):
        numerators[denominator] = numerators.get(denominator, 0) + numerator
    return sum((Fraction(numerator, denominator) for denominator, numerator in numerators.items()), start=Fraction(0))


def overhead(order: Fraction, delta: Fraction) -> Amount:
    """Return what converting a Renyi divergence of this order to (epsilon, delta) adds to epsilon, rounded up."""
    below = math.nextafter(float(delta), 0.0)
    if below <= 0 or order <= 1:
        return math.inf
    value, size = _overhead(float(order), math.log(below))
    return Fraction(value) + Fraction(size) / 2**47


def _overhead(order: float, log_delta: float) -> tuple[float, float]:
    """Return the overhead in floats, and a size: rounding is off by at most a few units in the last place of it."""
    gap = order - 1
    logs = (-log_delta, order * math.log1p(-1 / order), -math.log(gap))
    return sum(logs) / gap, sum(map(abs, logs)) / gap + order / (4 * gap * gap)


class Tally:
    """Finite charges of releases, on top of an earlier tally, added up so that their cost at any order can be read off."""

    def __init__(self, releases: Iterable[Sequence[Charge]] = (), earlier: Tally | None = None) -> None:
        releases = list(releases)
        charges = [charge for release in releases for charge in release]
        gaussian = [charge for charge in charges if charge.measure is Measure.ZCDP]
        pure = [_sum(one.amount for one in release if one.measure is Measure.PURE) for release in releases]
        self.is_gaussian: bool = is_gaussian(charge.question for charge in gaussian) and (earlier is None or earlier.is_gaussian)
        self.pure: Fraction = _sum(pure) + (earlier.pure if earlier else 0)
        self.rho: Fraction = _sum(charge.amount for charge in gaussian) + (earlier.rho if earlier else 0)
        self.delta: Fraction = _sum(charge.delta for charge in charges if charge.delta) + (earlier.delta if earlier else 0)
        pairs = [_amount_and_square(*amount.as_integer_ratio()) for amount in pure]
        self._pairs: list[tuple[int, int]] = sorted([*(earlier._pairs if earlier else []), *pairs])
        self._sums: tuple[list[int], list[int]] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was charged."""
        return self.is_pure and not self._pairs

    @property
    def is_pure(self) -> bool:
        """Whether nothing here needs a delta."""
        return self.rho == 0 and self.delta == 0

    def _sums_below(self, order: Fraction | float) -> tuple[int, int]:
        """Return the sum of the releases' pure amounts that count as they are at this order, and of the squares of the others."""
        if self._sums is None:
            amounts, squares = ([pair[i] for pair in self._pairs] for i in range(2))
            self._sums = ([0, *accumulate(amounts)], [0, *accumulate(squares)])
        amounts, squares = self._sums
        small = bisect_left(self._pairs, (math.floor(2 * UNIT / order),))
        return amounts[-1] - amounts[small], squares[small]

    def cost(self, order: Fraction) -> Fraction:
        """Return the Renyi divergence of this order, rounded up: a pure amount counts as itself or as half its square in zCDP."""
        plain, squares = self._sums_below(order)
        return Fraction(plain, UNIT) + order * Fraction(squares + 2 * _up(self.rho), 2 * UNIT)

    def best_order(self, delta: Fraction) -> Fraction:
        """Return the order that gives the least epsilon at `delta`, about; any order is lawful."""
        rho, log_delta = float(self.rho), math.log(delta)

        def epsilon(order: float) -> float:
            plain, squares = self._sums_below(order)
            return plain / UNIT + order * (squares / (2 * UNIT) + rho) + _overhead(order, log_delta)[0]

        return Fraction(_least(epsilon))

    def epsilon(self, delta: Fraction) -> Amount:
        """Return the least epsilon proved for these charges at `delta`; infinite if there is none."""
        left = delta - self.delta
        if left < 0:
            return math.inf
        options: list[Amount] = [self.pure] if self.rho == 0 else []
        if left > 0 and not (self.rho == 0 and not self._pairs):
            order = self.best_order(left)
            options.append(max(Fraction(0), self.cost(order) + overhead(order, left)))
        if left == delta > 0:
            options.append(_converted(self.pure, self.rho, self.is_gaussian, delta))
        return min(options, default=math.inf)


def _converted(pure: Fraction, rho: Fraction, all_gaussian: bool, delta: Fraction) -> Amount:
    """Return the epsilon of the charges together, as a plan adds them up."""
    question = "counts" if all_gaussian else ""  # any question with Gaussian noise
    return total_epsilon([Charge("", "", Measure.PURE, pure), Charge("", question, Measure.ZCDP, rho)], delta)


def _least(function: Callable[[float], float]) -> float:
    """Return the order at which a function is least, by a coarse grid and thirds around its best point."""

    def at(log_gap: float) -> float:
        return function(1 + math.exp(log_gap))

    step = 0.12
    best = min((step * i for i in range(-60, 200)), key=at)
    low, high = best - step, best + step
    for _ in range(50):
        first, second = low + (high - low) / 3, high - (high - low) / 3
        if at(first) <= at(second):
            high = second
        else:
            low = first
    return 1 + math.exp(min((best, low, high), key=at))


@dataclass(frozen=True)
class Way:
    """A Renyi order, and the share of delta that its conversion may use."""

    order: Fraction
    delta: Fraction


def fixed_ways(ceiling: Budget) -> tuple[Way, ...]:
    """Return the ways that a new ledger keeps open: public, and fixed for good.

    Half of delta is for charges with a delta of their own. The rest is shared, and the way for Gaussian noise alone gets most.
    """
    ways = []
    for i in range(WAYS if ceiling.delta > 0 else 0):
        delta = ceiling.delta / 2 ** min(i + 2, WAYS)
        worth = float(ceiling.epsilon) * 2 ** (-i / 2)

        log_delta = math.log(delta)

        def lost(order: float, worth: float = worth, log_delta: float = log_delta) -> float:
            return (_overhead(order, log_delta)[0] - worth) / order  # minus the rho that fits

        ways.append(Way(Fraction(_least(lost)), delta))
    return tuple(ways)


@dataclass(frozen=True)
class Lock:
    """A ledger that its very first release nearly filled, and so has one way left.

    Charges with a delta of their own may use `delta`; the rest is for the conversion at `order`. Without an order no zCDP charge
    is accepted any more, beyond those of `rho`: what Gaussian noise may use, all of which is counted as used.
    """

    order: Fraction | None
    delta: Fraction
    rho: Fraction | None = None

    @property
    def text(self) -> str:
        """The lock as an entry states it."""
        if self.rho is not None:
            return "gaussian"
        return "pure" if self.order is None else repr(float(self.order))


@dataclass(frozen=True)
class Filter:
    """What was charged so far under a ceiling, with the ways in which it may be added up."""

    ceiling: Budget
    ways: tuple[Way, ...]
    tally: Tally
    lock: Lock | None = None

    @classmethod
    def empty(cls, ceiling: Budget, ways: tuple[Way, ...]) -> Filter:
        """Return the filter of a ledger that holds nothing."""
        return cls(ceiling, ways, Tally())

    @property
    def total(self) -> Amount:
        """The least total that holds however the charges were chosen; infinite if none does. The ceiling is on this."""
        tally, lock, delta = self.tally, self.lock, self.ceiling.delta
        if tally.delta > (delta / 2 if lock is None else lock.delta):
            return math.inf
        if lock is not None and lock.rho is not None:
            fits = tally.is_gaussian and tally.rho <= lock.rho
            return _converted(tally.pure, lock.rho, True, delta - lock.delta) if fits else math.inf
        plain: list[Amount] = [tally.pure] if tally.rho == 0 else []
        ways = self.ways if lock is None else () if lock.order is None else (Way(lock.order, delta - lock.delta),)
        converted = [max(Fraction(0), tally.cost(way.order) + overhead(way.order, way.delta)) for way in ways]
        return min([*plain, *converted], default=math.inf)

    @property
    def fits(self) -> bool:
        """Whether the total is within the ceiling."""
        return self.total <= self.ceiling.epsilon

    def plus(self, *releases: Sequence[Charge]) -> Filter:
        """Return the filter with the charges of further releases, whether it fits or not."""
        return replace(self, tally=Tally(releases, self.tally))

    def locked(self, charges: Sequence[Charge], order: Fraction | None, to_gaussian: bool = False) -> Filter:
        """Return the filter with its first release, locked by it to this order, or to Gaussian noise of its rho."""
        if not self.tally.is_empty:
            raise ValueError("only the first release may lock a ledger")
        tally = Tally([charges])
        if to_gaussian:
            return replace(self, tally=tally, lock=Lock(None, tally.delta, tally.rho))
        return replace(self, tally=tally, lock=Lock(order, self.ceiling.delta if order is None else tally.delta))

    def accept(self, charges: Sequence[Charge]) -> Filter:
        """Return the filter with one more release in a way that fits, if there is one; else one that does not fit.

        The first release may take all of delta, if it does not fit otherwise.
        """
        still_open = self.plus(charges)
        if still_open.fits or still_open.tally.is_pure or not self.tally.is_empty:
            return still_open
        tally = still_open.tally
        left = self.ceiling.delta - tally.delta
        order = tally.best_order(left) if tally.rho > 0 and left > 0 else None
        options = [self.locked(charges, order)]
        if order is not None and tally.is_gaussian:
            options.append(self.locked(charges, None, to_gaussian=True))
        return next((locked for locked in options if locked.fits), still_open)


def refusal(before: Filter, after: Filter) -> BudgetError:
    """Return the error about charges that do not fit; `after` is the filter with them."""
    ceiling = before.ceiling
    at = f" at delta {float(ceiling.delta):.6g}" if ceiling.delta else ""
    if ceiling.delta == 0 and not after.tally.is_pure:
        return BudgetError(
            "This release needs a delta, and the ledger has none.", "with delta=0 all noise is pure. Nothing was charged."
        )
    if not before.fits:
        return BudgetError(f"The ledger is above its ceiling. {ABOVE} Nothing was charged.")
    total = "beyond its delta" if after.total == math.inf else f"to epsilon {float(after.total):.6g}{at}"
    left = math.floor(max(float(ceiling.epsilon - before.total), 0.0) * 1e6) / 1e6
    return BudgetError(
        f"This release would bring the ledger {total}, and its ceiling is {float(ceiling.epsilon):.6g}.",
        f"epsilon {left:g} is left for pure noise. Nothing was charged.",
    )
