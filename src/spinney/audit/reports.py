"""What one user's report loses in the local model, from the noise that its question names and what was drawn for all users.

The server knows the noise of nobody: a user is protected by the noise of the own report alone. Simulated users are drawn
together, so the noise of all is compared with what the question promises to each.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from spinney.audit.arithmetic import Amount, rho_as_epsilon
from spinney.mechanisms.drawing import Drawn
from spinney.verification.amounts import DIGITS

#: Chances of responses are whole numbers of this part.
WORDS = 2**32
#: What the float scale of all users' noise may be off by.
ROUNDING = Fraction(1, 2**48)


def question_of(asked: Any) -> dict[str, Any]:
    """Return what users were asked."""
    record: dict[str, Any] = json.loads(asked.question.text)
    return record


def _odds(chance: int) -> Decimal:
    return Decimal(chance) / Decimal(WORDS - chance) if 0 < chance < WORDS else Decimal("inf")


def _of_responses(kind: str, own: int, other: int) -> Amount:
    """Return what one report loses: a cost is one bit, anything else one slot of several, and a neighbor's is another."""
    with localcontext() as context:
        context.prec = DIGITS
        if not 0 < other < WORDS or not 0 < own < WORDS:
            return math.inf
        apart = _odds(own) / _odds(other)
        if kind == "cost":
            apart = max(Decimal(own) / Decimal(other), Decimal(WORDS - other) / Decimal(WORDS - own))
        return Fraction(abs(apart.ln()))


def _moved_users(one: Drawn, other: Drawn) -> int:
    gaps = np.asarray(one.exact) - np.asarray(other.exact)
    return int(max(gaps[gaps > 0].sum(), -gaps[gaps < 0].sum()))


def report_loss(first: Sequence[Drawn], second: Sequence[Drawn] = ()) -> Amount:
    """Return what the report of one user loses, at the delta of its charge: at most or, with a second fit, between the two."""
    loss: Amount = Fraction(0)
    for place, event in enumerate(first):
        assert event.asked is not None
        question = question_of(event.asked)
        if event.draw.distribution == "responses":
            moved = _moved_users(event, second[place]) if second else 1
            loss += moved * _of_responses(question["kind"], event.draw.rule.own, event.draw.rule.other)
            continue
        square = (2 * question["resolution"]) ** 2
        if second:
            square = sum(int(gap) ** 2 for gap in (event.exact - second[place].exact).tolist())
        variance = min(Fraction(question["noise"]["variance"]), Fraction(event.draw.scale) ** 2 * (1 + ROUNDING))
        loss += rho_as_epsilon(Fraction(square) / (2 * variance), event.asked.charge.delta, False) if variance else math.inf
    return loss


def reports_are_short(draws: Sequence[Drawn], users: Any) -> bool:
    """Whether all users' noise differs from what the users draw by themselves, as the question names it."""
    for event in draws:
        question = question_of(event.asked)
        if event.draw.distribution == "gaussian":
            together = max(int(users[0]), 1) * Fraction(question["noise"]["variance"])
            if abs(Fraction(event.draw.scale) ** 2 / together - 1) > ROUNDING:
                return True
        elif event.draw.rule.other != question["noise"]["threshold"]:
            return True
    return False
