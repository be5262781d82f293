"""Public accountants: the privacy loss of what was drawn, from the recorded exact inputs of two neighbors.

All draws of one question are paid for by one charge. `question_loss` adds up what they lost between two neighbors along the same
decisions, in the charge's own measure; `question_bound` is what they may lose at most between any neighbors, with the scale that
was really drawn and the sensitivity that was declared. The first must not pass the second, nor the second the charge.

- `counts`, `cost`, `levels`: losses of additive noise add up, over all slots and levels; for `levels` every level is paid for.
- `sums` is one joint primitive: its vectors and weights share the charge, and no neighbor moves both furthest at once.
- `choose`: the exponential mechanism loses the range of what moved over its scale, or an eighth of its square in rho.
- `grow`: only decisions leave, so the loss is the loss of the decisions; the bound is the bound of the worst path at this scale.
- `reports`: what one user's report loses by itself, because the noise of all others does not protect against who receives it.
- `cover`: all choices are one process; its bound is the bound of as many steps at this scale. With a delta the loss along one
  sequence of choices may pass epsilon, as rarely as delta says, so only the bound is compared.
- `minimize`: what its random slopes lose, what the noise of its points loses, and the most that bends can, which is public.
- `blocks`: what its question about centers loses, for the unit of centers that it protects; the blocks of a recorded fit are
  those of one secret. Samples with replacement are private only together with their draws, so only the bound is compared.

Nothing here comes from the code that is judged: `spinney.audit.arithmetic` has the bounds of processes, and adds up.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np

from spinney.audit.arithmetic import (
    Amount,
    Protected,
    bends_bound,
    cover_bound,
    of_samples,
    rho_as_epsilon,
    splits_bound,
    total_of,
)
from spinney.audit.laws import split_law
from spinney.mechanisms.drawing import Asked, Draw, Drawn
from spinney.privacy.charges import Charge, Measure
from spinney.verification.amounts import DIGITS

#: Losses in a measure: pure epsilon, and rho.
Loss = tuple[Amount, Amount]


def moved(one: Drawn, other: Drawn) -> int:
    """Return how far apart the exact inputs of one draw lie for two neighbors, in the draw's norm."""
    if one.draw.norm == "largest of a cell":
        return int(np.abs(one.exact - other.exact).max(axis=1, initial=0).sum())
    if one.draw.norm == "length of a cell":
        cells = (one.exact.astype(object) - other.exact.astype(object)) ** 2
        return sum(math.isqrt(square - 1) + 1 for square in cells.sum(axis=1).tolist() if square)
    gaps = [int(a) - int(b) for a, b in zip(one.exact.tolist(), other.exact.tolist(), strict=True)]
    if one.draw.norm == "l1":
        return sum(map(abs, gaps))
    if one.draw.norm == "squared l2":
        return sum(gap * gap for gap in gaps)
    if one.draw.norm == "users":
        return max(sum(gap for gap in gaps if gap > 0), -sum(gap for gap in gaps if gap < 0))
    return max(gaps, default=0) - min(gaps, default=0)


def _cost(draw: Draw, distance: int, measure: Measure) -> Loss:
    """Return what a draw loses if its exact input moves so far."""
    scale = Fraction(draw.scale)
    if distance == 0:
        return Fraction(0), Fraction(0)
    if scale == 0:
        return math.inf, math.inf
    if draw.distribution == "gaussian":
        return Fraction(0), Fraction(distance) / (2 * scale**2)
    pure = Fraction(distance) / scale
    return (Fraction(0), pure**2 / 8) if draw.distribution == "gumbel" and measure is Measure.ZCDP else (pure, Fraction(0))


def draw_loss(one: Drawn, other: Drawn, measure: Measure) -> Loss:
    """Return the epsilon and the rho that one draw loses between two neighbors."""
    return _cost(one.draw, moved(one, other), measure)


def draw_bound(draw: Draw, measure: Measure) -> Loss:
    """Return the epsilon and the rho that one draw loses at most between any neighbors; infinity if it declares nothing."""
    return (math.inf, math.inf) if draw.sensitivity is None else _cost(draw, draw.sensitivity, measure)


def _added(losses: Iterable[Loss]) -> Loss:
    pure: Amount = Fraction(0)
    rho: Amount = Fraction(0)
    for more_pure, more_rho in losses:
        pure, rho = pure + more_pure, rho + more_rho
    return pure, rho


def _in_measure(loss: Loss, measure: Measure) -> Amount:
    """Return a loss in the measure of its charge: epsilon implies epsilon^2 / 2 in rho; rho has no pure epsilon."""
    pure, rho = loss
    if measure is Measure.PURE:
        return math.inf if rho else pure
    return rho + pure * pure / 2


def split_loss(first: Sequence[Drawn], second: Sequence[Drawn]) -> float:
    """Return the pure loss of the decisions of `grow`: what leaves is whether each score passes the threshold."""
    loss = 0.0
    for one, other in zip(first, second, strict=True):
        other_way = one.exact != other.exact  # elsewhere nothing is lost
        scale, threshold = one.draw.scale, one.draw.rule.threshold
        passes = np.asarray(one.answer)[other_way] > threshold
        mine, theirs = (split_law(event.exact[other_way], scale, threshold, passes) for event in (one, other))
        loss += float((mine - theirs).sum())
    return abs(loss)


def cover_loss(first: Sequence[Drawn], second: Sequence[Drawn]) -> float:
    """Return the pure loss along the choices of `cover`."""

    def chance(event: Drawn) -> float:
        scores = event.exact / event.draw.scale
        return float(scores[event.answer] - scores.max() - math.log(np.exp(scores - scores.max()).sum()))

    return abs(math.fsum(chance(one) - chance(other) for one, other in zip(first, second, strict=True)))


def is_sampled(asked: Asked) -> bool:
    """Whether a question is about samples with replacement, in which one row may be drawn several times."""
    return asked.name == "blocks" and asked.question.sampling == "replacement"


def _priced(asked: Asked) -> tuple[Asked, Protected]:
    """Return what is priced, and who is protected: of a question about centers of blocks that question, and those centers."""
    protected = Protected.by(asked.unit)
    if asked.name != "blocks":
        return asked, protected
    about, charge = asked.question.about, asked.charge
    # All centers of a block are replaced: of two blocks, where a row may leave the one and come to the other.
    centers = Protected(True, asked.question.k * (2 if protected.replaces and not is_sampled(asked) else 1))
    charge = replace(charge, measure=Measure.PURE) if is_sampled(asked) else charge
    return replace(asked, name=about.kind(asked.ground).question, question=about, charge=charge), centers


def question_loss(first: Sequence[Drawn], second: Sequence[Drawn]) -> Charge:
    """Return what the draws of one question lost between two neighbors, as a charge like the one that paid for them.

    Parameters
    ----------
    first, second : sequences of Drawn
        All draws of one question, of two fits with the same answers.
    """
    whole = first[0].asked
    assert whole is not None
    (asked, _), measure = _priced(whole), whole.charge.measure
    if is_sampled(whole) or (asked.name == "cover" and whole.charge.delta):
        amount = question_bound(first)
    elif asked.name == "reports":
        amount = report_loss(first, second)
    elif asked.name == "cover":
        amount = Fraction(cover_loss(first, second))
    elif asked.name == "grow":
        amount = _in_measure((Fraction(split_loss(first, second)), Fraction(0)), measure)
    elif asked.name == "minimize":
        pure, _ = _added(draw_loss(one, other, Measure.PURE) for one, other in zip(first, second, strict=True))
        amount = _in_measure((pure + _bends(asked), Fraction(0)), measure)
    else:
        amount = _in_measure(_added(draw_loss(one, other, measure) for one, other in zip(first, second, strict=True)), measure)
    charge: Charge = whole.charge
    return replace(charge, amount=amount)


def _sums_bound(draws: Sequence[Drawn], kernel: str, protected: Protected, measure: Measure) -> Loss:
    """Return the joint loss: a replacement in one cell moves its vector most and no count; between two cells it moves both."""
    (_, vectors), (_, weights) = bounds = [draw_bound(event.draw, measure) for event in draws]
    if measure is Measure.PURE or not protected.replaces:
        return _added(bounds)
    in_one_cell = vectors + (weights / 2 if kernel == "median" else 0)
    return Fraction(0), max(in_one_cell, vectors / 2 + weights)


def _bends(asked: Asked) -> Fraction:
    """Return what the second derivatives of a minimum lose at most; their pull is no noise, and is taken as it was used."""
    kind = asked.question.kind(asked.ground)
    return bends_bound(Protected.by(asked.unit), kind.n_features, kind.noise(asked.charge, asked.unit).pull)


def question_bound(draws: Sequence[Drawn]) -> Amount:
    """Return what the draws of one question may lose at most between any neighbors, in the measure of its charge."""
    whole = draws[0].asked
    assert whole is not None
    if any(event.draw.sensitivity is None for event in draws):
        return math.inf
    bound = _bound(draws, *_priced(whole))
    return of_samples(bound, whole.charge.measure) if is_sampled(whole) else bound


def _bound(draws: Sequence[Drawn], asked: Asked, protected: Protected) -> Amount:
    """Return the most that draws lose for who is protected, in the measure of the charge."""
    measure: Measure = asked.charge.measure
    if asked.name == "reports":
        return report_loss(draws)
    if asked.name == "cover":
        scales = {event.draw.scale for event in draws}
        return max(cover_bound(scale, len(draws), protected, asked.charge.amount, asked.charge.delta) for scale in scales)
    if asked.name == "grow":
        rules = {(event.draw.scale, event.draw.rule.decay, event.draw.rule.steps_per_row) for event in draws}
        return _in_measure((max(splits_bound(*rule, protected) for rule in rules), Fraction(0)), measure)
    if asked.name == "levels":  # all levels are paid for, those that are not reached too
        pure, rho = draw_bound(draws[0].draw, measure)
        levels = asked.question.depth - asked.question.start + 1
        return _in_measure((pure * levels, rho * levels), measure)
    if asked.name == "minimize":
        pure, _ = _added(draw_bound(event.draw, Measure.PURE) for event in draws)
        return _in_measure((pure + _bends(asked), Fraction(0)), measure)
    if asked.name == "sums":
        return _in_measure(_sums_bound(draws, asked.question.kernel, protected, measure), measure)
    return _in_measure(_added(draw_bound(event.draw, measure) for event in draws), measure)


def total_loss(losses: Iterable[Charge], delta: Fraction) -> Amount:
    """Return the epsilon, at `delta`, that the losses of all questions come to."""
    return total_of([loss for loss in losses if loss.amount], delta)


#: Chances of responses are whole numbers of this part.
WORDS = 2**32
#: What the float scale of all users' noise may be off by.
ROUNDING = Fraction(1, 2**48)


def question_of(asked: Any) -> dict[str, Any]:
    """Return what users were asked."""
    record: dict[str, Any] = json.loads(asked.question.text)
    return record


def _of_responses(kind: str, own: int, other: int) -> Amount:
    """Return what one report loses: a cost is one bit, anything else one slot of several, and a neighbor's is another."""
    with localcontext() as context:
        context.prec = DIGITS
        if not 0 < other < WORDS or not 0 < own < WORDS:
            return math.inf
        apart = Decimal(own * (WORDS - other)) / Decimal(other * (WORDS - own))
        if kind == "cost":
            apart = max(Decimal(own) / Decimal(other), Decimal(WORDS - other) / Decimal(WORDS - own))
        return Fraction(abs(apart.ln()))


def report_loss(first: Sequence[Drawn], second: Sequence[Drawn] = ()) -> Amount:
    """Return what the report of one user loses, at the delta of its charge: at most or, with a second fit, between the two."""
    loss: Amount = Fraction(0)
    for place, event in enumerate(first):
        assert event.asked is not None
        question, is_responses = question_of(event.asked), event.draw.distribution == "responses"
        most = 1 if is_responses else (2 * question["resolution"]) ** 2
        distance = moved(event, second[place]) if second else most
        if is_responses:
            loss += distance * _of_responses(question["kind"], event.draw.rule.own, event.draw.rule.other)
            continue
        variance = min(Fraction(question["noise"]["variance"]), Fraction(event.draw.scale) ** 2 * (1 + ROUNDING))
        loss += rho_as_epsilon(Fraction(distance) / (2 * variance), event.asked.charge.delta, False) if variance else math.inf
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
