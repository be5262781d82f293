"""Replay: the same noise on two neighbors. What then differs comes from the rows; what was hidden is priced.

A fit is recorded with every question and the exact input of every draw. Its neighbor is then fitted with the same draws: it must
ask the same questions with the same public arguments in the same order, draw as often, and end, warn, log and print alike. Each
exact input must lie within its declared sensitivity, each question within its charge, and all losses together within epsilon.
An empty table with the same draws must look alike too, whatever the size of the first: nothing that is seen follows the number of
rows. Each draw must be what the release states of it, and no noise may be used twice.

The audit reads exact rows: give it made-up ones.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from spinney.audit.accounting import is_sampled, moved, question_bound, question_loss, total_loss
from spinney.audit.arithmetic import Amount
from spinney.audit.findings import Finding, words_of
from spinney.audit.pairs import Pair
from spinney.audit.recording import Transcript, record
from spinney.audit.records import stated_faults
from spinney.audit.repeats import repeated_noise
from spinney.privacy.charges import Charge

#: What this method would not notice.
CANNOT_SEE = (
    "whether a source draws from the distribution that it names, which the tests of the samplers look at",
    "noise of choices and responses that is used twice: only the winner, or a sum over users, is told",
    "neighbors that were not tried, and answers that were not drawn",
    "running time and memory use",
)


#: Tables of more rows are all compared with an empty one; of smaller ones the first.
FEW_ROWS = 64


@dataclass(frozen=True)
class Comparison:
    """What two neighbors with the same draws have shown."""

    #: Differences that can be seen; there must be none between any two tables.
    visible: tuple[str, ...]
    #: Inputs beyond their declared sensitivity, and questions beyond their charges; there must be none between neighbors.
    beyond: tuple[str, ...] = ()
    #: What each question lost, in the measure of its charge.
    losses: tuple[Charge, ...] = ()

    @property
    def faults(self) -> tuple[str, ...]:
        """All that breaks a promise to neighbors."""
        return self.visible + self.beyond


def _visible_faults(first: Transcript, second: Transcript) -> list[str]:
    """Return what can be seen to differ."""
    faults = []
    if first.asked != second.asked:
        faults.append("the neighbor is asked something else: the rows decide it beside the answers")
    elif first.answers != second.answers:
        faults.append("the same draws give another answer: it depends on the rows beside them")
    if [event.draw for event in first.draws] != [event.draw for event in second.draws]:
        faults.append("noise of another kind is drawn for the neighbor")
    words = {"result": "the same draws give another result: it depends on the rows beside them"}
    for name, value in first.seen.items():
        if value != second.seen[name]:
            faults.append(words.get(name, f"the {name} of the fit depends on the rows"))
    return faults


def compare(first: Transcript, second: Transcript) -> Comparison:
    """Compare two fits of neighbors with the same draws."""
    visible, faults = tuple(_visible_faults(first, second)), []
    if [event.exact.shape for event in first.draws] != [event.exact.shape for event in second.draws]:
        return Comparison(visible)
    losses = []
    if any(event.asked is None for event in first.draws):
        faults.append("noise is drawn beside all questions")
    for one, other in zip(first.questions, second.questions, strict=False):
        mine, theirs = first.draws_of(one), second.draws_of(other)
        if not mine or len(mine) != len(theirs):
            continue
        for own, neighbor in zip(mine, theirs, strict=True):
            if own.draw.sensitivity is not None and not is_sampled(one) and moved(own, neighbor) > own.draw.sensitivity:
                faults.append(f"an exact input of {one.charge.name!r} moves further than its declared sensitivity")
        if question_bound(mine) > one.charge.amount:
            faults.append(f"the noise of {one.charge.name!r} is less than its charge pays for")
        losses.append(question_loss(mine, theirs))
        if losses[-1].amount > one.charge.amount:
            faults.append(f"the draws of {one.charge.name!r} lose more than its charge")
    return Comparison(visible, tuple(faults), tuple(losses))


def _again(model: Any, first: Transcript, data: Any, groups: Any, options: dict[str, Any]) -> Comparison:
    """Fit another table with the draws of the first."""
    frozen = first.frozen()
    found = compare(first, record(model, data, groups=groups, source=frozen, **options))
    more = (*frozen.faults, *(["fewer draws of noise are asked for the neighbor"] * bool(frozen.left)))
    return replace(found, visible=found.visible + more)


def _replayed(model: Any, pair: Pair, options: dict[str, Any], is_first: bool) -> tuple[Transcript, Comparison]:
    first = record(model, pair.first, groups=pair.first_groups, **options)
    found = _again(model, first, pair.second, pair.second_groups, options)
    is_large = isinstance(pair.first, np.ndarray) and len(pair.first) > FEW_ROWS
    # In the local model who answers is known, so that an empty table may look otherwise.
    if (is_first or is_large) and pair.nobody is not None and not any(asked.name == "reports" for asked in first.questions):
        groups = None if pair.first_groups is None else pair.first_groups[:0]
        beside = (f"beside an empty table: {fault}" for fault in _again(model, first, pair.nobody, groups, options).visible)
        found = replace(found, visible=(*found.visible, *beside))
    return first, found


def replay(
    model: Any,
    first: Any,
    second: Any,
    *,
    first_groups: Any = None,
    second_groups: Any = None,
    random_state: int = 0,
    factor: float | Mapping[str, float] = 1.0,
) -> Finding:
    """Fit one table, then its neighbor with the same noise; return what differs, and what was lost.

    Parameters
    ----------
    model : estimator, or anything with `prepare`
        With the algorithm to try; it is not fitted.
    first, second
        Neighboring tables, made up, as `fit` takes them: arrays, files, Spark frames.
    first_groups, second_groups
        Whom each row belongs to.
    random_state : int
        Seeds the public randomness of both fits.
    factor : float, or dict
        Multiplies every scale of noise, or the scales of the questions that it names, as in ``{"grow": 0.5}``: tests whether this
        audit notices.
    """
    return replay_pairs(model, [Pair("given", first, second, first_groups, second_groups)], random_state, factor)


def replay_pairs(model: Any, pairs: Iterable[Pair], random_state: int = 0, factor: float | Mapping[str, float] = 1.0) -> Finding:
    """Replay many pairs of neighbors; return the worst loss, and everything that differed.

    Parameters
    ----------
    model, random_state, factor
        As in `replay`; each pair has public randomness of its own, from `random_state` on.
    pairs : iterable of Pair
        `table_pairs` and `demand_pairs` make some.
    """
    faults: dict[str, str] = {}
    transcripts, worst, worst_pair, fit = list[Transcript](), -1.0, "", None
    for place, pair in enumerate(pairs):
        fit = model.prepare(pair.first, pair.first_groups)[0] if fit is None else fit
        budget, where = fit.problem.budget, f"pair {place}, {pair.kind}"
        transcript, found = _replayed(model, pair, {"random_state": random_state + place, "factor": factor}, place == 0)
        transcripts.append(transcript)
        loss = total_loss(found.losses, budget.delta)
        passed = ["the losses together pass epsilon"] * (loss > budget.epsilon)
        for fault in (*found.faults, *stated_faults(transcript, budget.epsilon, budget.delta), *passed):
            faults.setdefault(fault, where)
        found_bound = _as_float(loss, budget.epsilon)
        if found_bound > worst:
            worst, worst_pair = found_bound, where
    if fit is None:
        raise ValueError("there must be a pair of neighbors")
    faults |= dict.fromkeys(repeated_noise(transcripts), f"{len(transcripts)} fits")
    asked = [one.name for transcript in transcripts for one in transcript.questions]
    draws = sum(len(transcript.draws) for transcript in transcripts)
    tried = {"pairs": len(transcripts), "questions": len(asked), "asked": sorted(set(asked)), "draws": draws}
    tried |= {"worst pair": worst_pair}
    words = tuple(f"{fault} ({where})" for fault, where in faults.items())
    return Finding(
        "replay", words_of(fit), float(fit.problem.budget.epsilon), float(fit.problem.budget.delta), worst,
        tried=tried, faults=words, cannot_see=CANNOT_SEE,
    )  # fmt: skip


def _as_float(loss: Amount, epsilon: Amount) -> float:
    """Return a loss as a float that is above that of epsilon only if the loss is above epsilon."""
    near = float(loss)
    if loss <= epsilon:
        return min(near, float(epsilon))
    return near if near == math.inf or Fraction(near) >= loss else math.nextafter(near, math.inf)
