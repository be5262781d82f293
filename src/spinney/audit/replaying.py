"""Replay: the same noise on two neighbors. What then differs comes from the rows; what was hidden is priced.

A fit is recorded with every question and the exact input of every draw. Its neighbor is then fitted with the same draws: it must
ask the same questions with the same public arguments in the same order, draw as often, and end, warn, log and print alike. Each
exact input must lie within its declared sensitivity, each question within its charge, and all losses together within epsilon.

The audit reads exact rows: give it made-up ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from spinney.audit.accounting import moved, question_bound, question_loss, total_loss
from spinney.audit.findings import Finding
from spinney.audit.pairs import Pair
from spinney.audit.recording import Transcript, record
from spinney.privacy.budget import Amount, round_up
from spinney.privacy.charges import Charge

__all__ = ["CANNOT_SEE", "Comparison", "compare", "replay", "replay_pairs"]

#: What this method would not notice.
CANNOT_SEE = (
    "whether a source draws from the distribution that it names, which the tests of the samplers look at",
    "neighbors that were not tried, and answers that were not drawn",
    "running time and memory use",
)


@dataclass(frozen=True)
class Comparison:
    """What two neighbors with the same draws have shown.

    Parameters
    ----------
    visible : tuple of str
        Differences that can be seen; there must be none between any two tables.
    beyond : tuple of str
        Inputs beyond their declared sensitivity, and questions beyond their charges; there must be none between neighbors.
    losses : tuple of Charge
        What each question lost, in the measure of its charge.
    """

    visible: tuple[str, ...]
    beyond: tuple[str, ...] = ()
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
            if own.draw.sensitivity is not None and moved(own, neighbor) > own.draw.sensitivity:
                faults.append(f"an exact input of {one.charge.name!r} moves further than its declared sensitivity")
        if question_bound(mine) > one.charge.amount:
            faults.append(f"the noise of {one.charge.name!r} is less than its charge pays for")
        losses.append(question_loss(mine, theirs))
        if losses[-1].amount > one.charge.amount:
            faults.append(f"the draws of {one.charge.name!r} lose more than its charge")
    return Comparison(visible, tuple(faults), tuple(losses))


def _replayed(model: Any, pair: Pair, random_state: int, factor: float | Mapping[str, float]) -> tuple[Transcript, Comparison]:
    options: dict[str, Any] = {"random_state": random_state, "factor": factor}
    first = record(model, pair.first, groups=pair.first_groups, **options)
    frozen = first.frozen()
    found = compare(first, record(model, pair.second, groups=pair.second_groups, source=frozen, **options))
    if frozen.left or frozen.faults:
        more = (*frozen.faults, *(["fewer draws of noise are asked for the neighbor"] * bool(frozen.left)))
        found = replace(found, visible=found.visible + more)
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
        Multiplies every scale of noise, or those of the questions that it names, as in ``{"grow": 0.5}``: to try whether this
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
    tried = {"pairs": 0, "questions": 0, "draws": 0, "worst pair": ""}
    faults: dict[str, str] = {}
    fit, worst = None, -1.0
    for place, pair in enumerate(pairs):
        fit = model.prepare(pair.first, pair.first_groups)[0] if fit is None else fit
        budget = fit.problem.budget
        transcript, found = _replayed(model, pair, random_state + place, factor)
        tried |= {"pairs": place + 1, "questions": tried["questions"] + len(transcript.questions)}  # type: ignore[operator]
        tried["draws"] += len(transcript.draws)  # type: ignore[operator]
        for fault in found.faults:
            faults.setdefault(fault, f"pair {place}, {pair.kind}")
        loss = total_loss(found.losses, budget.delta)
        if loss > budget.epsilon:
            faults.setdefault("the losses together pass epsilon", f"pair {place}, {pair.kind}")
        found_bound = _as_float(loss, budget.epsilon)
        if found_bound > worst:
            worst, tried["worst pair"] = found_bound, f"pair {place}, {pair.kind}"
    if fit is None:
        raise ValueError("there must be a pair of neighbors")
    problem = fit.problem
    words = tuple(f"{fault} ({where})" for fault, where in faults.items())
    subject = f"{problem.title}, algorithm {fit.algorithm.name!r}, {problem.unit.adjacency.value}"
    subject += f", {problem.unit.max_rows} rows of a person" if fit.grouped else ""
    return Finding(
        "replay", subject, float(problem.budget.epsilon), float(problem.budget.delta), worst,
        tried=tried, faults=words, cannot_see=CANNOT_SEE,
    )  # fmt: skip


def _as_float(loss: Amount, epsilon: Amount) -> float:
    """Return a loss as a float that is above that of epsilon only if the loss is above epsilon."""
    return round_up(loss) if loss > epsilon else min(round_up(loss), float(epsilon))
