"""How charges add up, and how a budget becomes charges.

Pure parts add. Parts with Gaussian noise share one zCDP sub-budget, converted at its share of epsilon and the whole delta: by
what Gaussian noise costs if it is all of that, else by what any zCDP does.
`compose` tries the lawful ways to do this and keeps the one with the least expected noise; it reads public facts only.

Proof: ``proofs/composition.md``, ``proofs/gaussian.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Any

from spinney.exceptions import ParameterError
from spinney.privacy.budget import Amount, Budget, read_amount, remembered
from spinney.privacy.charges import Charge, Measure
from spinney.privacy.gaussian import GAUSSIAN, gaussian_epsilon, gaussian_rho

#: Orders of the conversion on each side of the middle one, and how many lie between those that are tried first.
ORDERS, STRIDE = 400, 20


@dataclass(frozen=True)
class Part:
    """A named share of epsilon, before it is known how charges add up. The shares of a plan sum to one.

    One row moves the answer by `l1` and `l2`; ``l2 = 0`` says that only a pure mechanism serves (PrivTree). The kind of question,
    if it is given, makes parts for plans.
    """

    name: str
    question: str
    share: Fraction
    l1: float = 1.0
    l2: float = 1.0
    kind: Any = None

    def __post_init__(self) -> None:
        for name, text in (("name", self.name), ("question", self.question)):
            if type(text) is not str:
                raise ParameterError.wrong(name, "Part", "a text", text, "for example Part('sizes', 'counts', Fraction(1, 20)).")
        if read_amount("share", "Part", self.share) in (0, math.inf):
            raise ParameterError.wrong("share", "Part", "a positive Fraction", self.share, "shares sum to one, none below 0.")
        object.__setattr__(self, "share", Fraction(self.share))
        l1: Any = self.l1
        l2: Any = self.l2
        if not isinstance(l1, Real) or not 0 < float(l1) < math.inf:
            raise ParameterError.wrong("l1", "Part", "a float in (0, inf)", l1, "1.0 for counts.")
        if not isinstance(l2, Real) or not 0 <= float(l2) < math.inf:
            raise ParameterError.wrong("l2", "Part", "a float in [0, inf)", l2, "1.0 for counts.")

    def log_noise(self, measure: Measure, amount: float) -> float:
        """Return the logarithm of the expected noise if this part is given that amount."""
        if measure is Measure.PURE:
            return math.log(math.sqrt(2) * self.l1 / amount)
        if self.l2 == 0:
            return math.log(math.sqrt(2) * self.l1 / math.sqrt(2 * amount))
        return math.log(self.l2 / math.sqrt(2 * amount))


@remembered(256)
def zcdp_epsilon(rho: float, delta: float) -> float:
    """Return an epsilon such that rho-zCDP implies (epsilon, delta)-DP.

    Every order alpha > 1 gives a valid bound; the best of a fine grid is returned, so rounding can only loosen it. The bound
    falls and then rises with the order, so only the part of the grid around the best of every `STRIDE` orders is tried in full.
    """
    if rho == 0:
        return 0.0
    # The optimal alpha - 1 is near sqrt(log(1/delta) / rho); search four decades around it.
    log_delta = math.log(delta)
    center = math.log(math.sqrt(-log_delta / rho) + 1e-3)

    def bound(step: int) -> float:
        order = 1 + math.exp(center + step * 0.0115)
        return order * rho + (-log_delta + order * math.log1p(-1 / order) - math.log(order - 1)) / (order - 1)

    near = min(range(-ORDERS, ORDERS + 1, STRIDE), key=bound)
    best = min(map(bound, range(max(near - STRIDE, -ORDERS), min(near + STRIDE, ORDERS) + 1)))
    return max(best, 0.0) * (1 + 1e-12)


@remembered(256)
def zcdp_rho(epsilon: float, delta: float) -> Fraction:
    """Return the largest rho found such that rho-zCDP implies (epsilon, delta)-DP."""
    low, high = 0.0, epsilon + 1.0
    while zcdp_epsilon(high, delta) < epsilon:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if zcdp_epsilon(middle, delta) <= epsilon:
            low = middle
        else:
            high = middle
    return Fraction(low)


def total_epsilon(charges: Iterable[Charge], delta: Fraction) -> Amount:
    """Return the epsilon, at `delta`, that these charges spend together: pure parts plus converted zCDP parts.

    Charges with a delta of their own leave the rest of it to the conversion; infinity if `delta` is too small for them.
    """
    charges = list(charges)
    delta = delta - sum((charge.delta for charge in charges), start=Fraction(0))
    pure = sum((charge.amount for charge in charges if charge.measure is Measure.PURE), start=Fraction(0))
    rho = sum((charge.amount for charge in charges if charge.measure is Measure.ZCDP), start=Fraction(0))
    if math.inf in (pure, rho) or delta < 0 or (rho > 0 and delta == 0):
        return math.inf
    if rho == 0:
        return pure
    known = float(rho) * (1 + 2**-52), float(delta)
    converted = zcdp_epsilon(*known)
    if is_gaussian(charge.question for charge in charges if charge.measure is Measure.ZCDP):
        converted = gaussian_epsilon(*known, converted)
    return pure + Fraction(converted)


def is_gaussian(questions: Iterable[str]) -> bool:
    """Whether all these questions, charged in rho, are answered with Gaussian noise alone."""
    return all(question in GAUSSIAN for question in questions)


def compose(budget: Budget, parts: Sequence[Part]) -> tuple[Charge, ...]:
    """Turn shares, which sum to one, into charges in their order, in the lawful way that adds the least noise.

    The ways: everything pure; some families of equal sensitivity Gaussian and the rest pure; one zCDP total. The figure compared
    is the mean log noise, weighted by share. Pure charges sum exactly to their sub-budget and so do zCDP charges.
    """
    if type(budget) is not Budget:
        raise ParameterError.wrong("budget", "compose", "a Budget", budget, "Budget.of(1.0).")
    if not isinstance(parts, tuple | list) or not all(isinstance(part, Part) for part in parts):
        raise ParameterError.wrong("parts", "compose", "a sequence of Part", parts, "one Part for every question.")
    if sum(part.share for part in parts) != 1:
        raise ValueError("the shares of a plan must sum to one")
    shares = tuple((part.name, part.question, part.share, part.l1, part.l2) for part in parts)
    amounts = _least_noise(budget.epsilon, budget.delta, shares)
    return tuple(Charge(p.name, p.question, *amount) for p, amount in zip(parts, amounts, strict=True))


@remembered(256)
def _least_noise(
    epsilon: Amount, delta: Fraction, shares: tuple[tuple[str, str, Fraction, float, float], ...]
) -> tuple[tuple[Measure, Amount], ...]:
    """Return what `compose` charges for each part; numbers alone are kept, because what is handed out may be changed."""
    budget, parts = Budget(epsilon, delta), [Part(*share) for share in shares]
    return tuple((charge.measure, charge.amount) for charge in _best_charges(budget, parts))


def _best_charges(budget: Budget, parts: Sequence[Part]) -> tuple[Charge, ...]:
    """Try all the ways."""
    pure = _charges(budget, parts, frozenset())
    if budget.is_infinite or budget.delta == 0:
        return pure
    families = sorted({(p.l1, p.l2) for p in parts if p.l2 > 0})
    ways = [{p.name for p in parts if (p.l1, p.l2) in families[i:]} for i in range(len(families))]
    ways.append({p.name for p in parts})
    options = [_charges(budget, parts, frozenset(names)) for names in ways]
    lawful = [pure, *(option for option in options if _is_lawful(option, budget))]
    return min(lawful, key=lambda charges: _mean_log_noise(parts, charges))


def _is_lawful(charges: tuple[Charge, ...], budget: Budget) -> bool:
    """Whether a plan with a zCDP part stays within its budget, that part being worth at least delta.

    Below that the conversion's rounding is not covered by its margin, and the promise would mean little.
    """
    total = total_epsilon(charges, budget.delta)
    pure = sum((charge.amount for charge in charges if charge.measure is Measure.PURE), start=Fraction(0))
    return total <= budget.epsilon and total - pure >= budget.delta and 2 * budget.delta <= 1


def _charges(budget: Budget, parts: Sequence[Part], zcdp: frozenset[str]) -> tuple[Charge, ...]:
    """Charge the named parts to one zCDP sub-budget and the others purely."""
    gaussian = sum((p.share for p in parts if p.name in zcdp), start=Fraction(0))
    rho = Fraction(0)
    if gaussian:
        known = float(budget.epsilon * gaussian) * (1 - 2**-50), float(budget.delta)
        rho = zcdp_rho(*known)
        if is_gaussian(p.question for p in parts if p.name in zcdp):
            rho = gaussian_rho(*known, rho)
    return tuple(
        Charge(p.name, p.question, Measure.ZCDP, rho * p.share / gaussian)
        if p.name in zcdp
        else Charge(p.name, p.question, Measure.PURE, budget.epsilon * p.share)
        for p in parts
    )


def _mean_log_noise(parts: Sequence[Part], charges: Sequence[Charge]) -> float:
    return sum(
        float(part.share) * part.log_noise(charge.measure, float(charge.amount))
        for part, charge in zip(parts, charges, strict=True)
    )
