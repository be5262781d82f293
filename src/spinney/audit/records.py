"""What a fit states about itself, held against what was drawn: the same at every size of table.

A release records the noise of each question. Here each record is checked by arithmetic of the auditor's own, each draw must be of
the distribution and scale that its record states, and what all charges come to must lie within epsilon, and not above what the
release says was spent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from spinney.audit.accounting import reports_are_short
from spinney.audit.arithmetic import total_of
from spinney.audit.recording import Transcript
from spinney.mechanisms.drawing import Asked, Drawn
from spinney.verification.amounts import told
from spinney.verification.noise import Refused, Setting, check_noise

#: How records name what is drawn; the weights of sums, of which vectors have another shape, have Laplace noise.
DRAWN = {"discrete laplace": "laplace", "discrete gaussian": "gaussian", "discrete cube": "cube", "rounded ball": "ball"}
#: Where a scale was multiplied by a public number and rounded.
ROUNDING = Fraction(1, 2**50)

#: Distribution, scale and sensitivity of a draw, as its record has them; None where it does not say.
Stated = tuple[str, Fraction, int | None]


def _additive(record: dict[str, Any]) -> list[Stated]:
    found = list[Stated]()
    for place, answer in enumerate(record["answers"]):
        name = DRAWN[record["mechanism"]]
        moves = max(int(case[place]) for case in record["unit_sensitivity"])
        found.append(("laplace" if place and name in ("cube", "ball") else name, Fraction(answer["scale"]), moves))
    return found


def _stated(record: dict[str, Any], draws: Sequence[Drawn]) -> list[Stated]:
    """Return what each draw of a question must be."""
    question = record["question"]
    if question == "blocks":
        return _stated(record["about"], draws)
    if "answers" in record:
        return _additive(record) * (len(draws) if question == "levels" else 1)
    moves, scale = int(record["unit_sensitivity"]), Fraction(record["scale"])
    # Choices are drawn in steps of a public range of costs, and slopes in fine steps; records are in ranges and rows.
    steps = Fraction(draws[0].draw.sensitivity or 0) / moves
    if question == "minimize":
        points = "laplace", Fraction(record["point_scale"]), int(record["point_sensitivity"])
        return [("radial", scale * steps, None), points]
    if question == "choose":
        return [("gumbel", scale * steps, None)]
    return [("laplace" if question == "grow" else "gumbel", scale, moves)] * len(draws)


def _is_as_stated(event: Drawn, stated: Stated) -> bool:
    draw, (distribution, scale, moves) = event.draw, stated
    same = draw.distribution == distribution and (moves is None or draw.sensitivity == moves)
    return bool(same and scale and 0 <= Fraction(draw.scale) / scale - 1 <= ROUNDING)


def _setting(release: Any, asked: Asked) -> Setting:
    replaces, rows = asked.unit.adjacency.value == "replace", int(asked.unit.max_rows)
    if not str(release.format).startswith("spinney-description"):
        return Setting(replaces, rows, asked.ground.n_features)
    measured = sum(column["kind"] in ("number", "date") for column in release.to_dict()["columns"])
    return Setting(replaces, rows, len(release.columns), measured, describes=True)


def _of_question(transcript: Transcript, asked: Asked, record: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the noise of one question."""
    draws, name = transcript.draws_of(asked), asked.charge.name
    try:
        check_noise(record, asked.charge.to_dict(), _setting(transcript.release, asked))
    except Refused as wrong:
        yield f"the record of {name!r} does not hold: {wrong}"
        return
    if asked.name == "reports":
        users = next(event.answer.users for event in transcript.ended if event.asked is asked)
        is_other = reports_are_short(draws, users)
    else:
        stated = _stated(record, draws)
        is_other = len(stated) != len(draws) or not all(map(_is_as_stated, draws, stated))
    if is_other:
        yield f"the noise of {name!r} is not what its record states"


def stated_faults(transcript: Transcript, epsilon: Any, delta: Fraction) -> list[str]:
    """Return where one fit that ended with a release has not drawn, or not added up, what it states."""
    release, faults = transcript.release, list[str]()
    if epsilon == math.inf or not getattr(release, "mechanisms", ()):
        return faults
    charges = {asked.charge.name: asked.charge for asked in transcript.questions}
    records = {record["name"]: record for record in release.mechanisms}
    if list(charges) != list(records) or list(release.charges) != list(charges.values()):
        return ["the release states other questions than were asked"]
    for asked in transcript.questions:
        faults += _of_question(transcript, asked, records[asked.charge.name])
    total = total_of(charges.values(), delta)
    if total > epsilon:
        faults.append("the charges of all questions together pass epsilon")
    if total > told(release.epsilon):
        faults.append("the charges of all questions together pass what the release says was spent")
    return faults
