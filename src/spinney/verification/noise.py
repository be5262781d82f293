"""Whether the noise of a question is what its charge buys: own tables of sensitivities, own arithmetic in exact fractions.

Each check raises `Refused` with the reason, or returns what was found in words.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

from spinney.verification.amounts import DIGITS, converted, cover_holds, decimal_of, fraction_of
from spinney.verification.split_loss import split_loss

#: By question; others are about no cells.
FAMILIES: dict[str, set[str]] = {
    "counts": {"whole", "rings", "tree", "planes", "columns", "clusters", "bins", "labels"},
    "grow": {"tree"},
    "lengths": {"labels"},
    "levels": {"tree"},
    "minimize": {"centers"},
    "persons": {"clusters"},
    "sums": {"centers", "planes"},
    "totals": {"clusters"},
}


def cells_of_a_row(record: dict[str, Any], columns: int, describes: bool) -> int | None:
    """Return in how many cells a row lies, by the family of its record and the columns; None if there are no such cells."""
    family, question = record.get("family"), record["question"]
    if family is None and question == "counts":  # format 2: its sensitivity tells a bin of every column from one cell
        of_all = record["name"] == "bins" if describes else fraction_of(record["answers"][0]["row_sensitivity"]) == columns
        return columns if of_all else 1
    if family is None or question == "blocks":  # which passes it on to the record inside
        return 1
    there = FAMILIES.get(question, {"none"}) - (set() if describes else {"bins"})
    is_there = family in there and (columns > 0 or question != "counts" or family == "labels")
    return (columns if family in ("columns", "bins") else 1) if is_there else None


def words_of(record: dict[str, Any]) -> str:
    """Return what a record is of: question, kernel, cells and length; of counts in format 2, how far a row moves them."""
    parts, cells = [record.get(name) for name in ("question", "kernel", "points", "sampling")], record.get("family")
    if "about" in record:
        cells = words_of(record["about"] | {"family": cells})
    elif cells is None and record["question"] == "counts":
        cells = record["answers"][0]["row_sensitivity"]
    length = record.get({"levels": "repeats", "cover": "steps"}.get(record["question"], ""))
    return " ".join(str(one) for one in (*parts, cells, length) if one not in (None, "none"))


#: What an answer is counted in, with its steps taken out.
_UNITS = {
    "cost": "ranges of a row's cost",
    "counts": "rows",
    "lengths": "half ranges of lengths",
    "persons": "persons",
    "totals": "half widths of columns",
    "vectors": "clipping radii of sums",
    "weights": "rows of weights",
}
#: With fewer columns noise of vectors is not shaped like a ball.
_BALL_COLUMNS = 5
#: Questions about rows of numbers alone.
_OF_NUMBERS = {"blocks", "grow", "levels", "minimize", "sums", "totals"}


class Refused(Exception):  # noqa: N818  (what a check raises; it never leaves the room)
    """Something in a release does not hold; its text says what."""


@dataclass(frozen=True)
class Setting:
    """What the whole release says: whether neighbors replace a unit, its rows, how many columns there are, and have means."""

    replaces: bool
    rows: int
    columns: int  # 0 of points
    measured: int = 0
    describes: bool = False


@dataclass(frozen=True)
class _AskedNoise:
    """One question: its record, its setting, and what it was charged."""

    record: dict[str, Any]
    setting: Setting
    amount: Fraction
    delta: Fraction

    @property
    def is_pure(self) -> bool:
        return bool(self.record["measure"] == "epsilon")

    def number(self, name: str, of: dict[str, Any] | None = None) -> Fraction:
        """Return a number of the record."""
        found = fraction_of((self.record if of is None else of)[name])
        if found is None:
            raise Refused(f"its {name.replace('_', ' ')} is no number")
        return found


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise Refused(otherwise)


def _short(number: Fraction) -> str:
    return f"{float(number):.6g}"


def _moved(asked: _AskedNoise) -> int:
    """Return how many rows come or go with one unit."""
    return asked.setting.rows * (2 if asked.setting.replaces else 1)


def _sensitivities(asked: _AskedNoise) -> tuple[list[tuple[str, int]], list[list[int]]]:
    """Return what each answer is and how far one row moves it, and in which ways a replaced row moves them, from tables."""
    record, answers = asked.record, asked.record["answers"]
    question, squared = record["question"], not asked.is_pure
    if question in ("counts", "levels", "persons"):
        cells = cells_of_a_row(record, asked.setting.columns, asked.setting.describes)
        return [("persons" if question == "persons" else "counts", cells or 0)], [[2]]
    steps = int(asked.number("steps", answers[0]))
    if question in ("cost", "lengths"):  # one signed number, and that of one cell
        return [(question, steps**2 if squared else steps)], [[4]]
    if question == "totals":
        _require(record["columns"] == asked.setting.measured, "as many columns have means as were summed")
        return [("totals", record["columns"] * steps**2 if squared else steps)], [[4]]
    median, box, columns = record["kernel"] == "median", record["kernel"] == "box", asked.setting.columns
    weight = steps if median else 1
    # A vector in a cube moves each column by its radius; one in a ball is as long as its radius.
    in_cube, in_ball = (columns * steps**2, steps**2) if squared else (steps, math.isqrt(columns * steps**2))
    vector = in_cube if box else steps if _is_ball(asked) else in_ball
    return [("vectors", vector), ("weights", weight**2 if squared else weight)], [[4, int(median)], [2, 2]]


def _is_ball(asked: _AskedNoise) -> bool:
    """Whether noise is said to be shaped like a ball, around a vector of limited length: older releases have Laplace noise."""
    is_vector = asked.record["question"] == "sums" and asked.record["kernel"] != "box" and asked.setting.columns >= _BALL_COLUMNS
    return asked.is_pure and is_vector and asked.record["mechanism"] == "rounded ball"


def _additive(asked: _AskedNoise) -> str:
    """Check answers with additive noise."""
    record, answers, setting = asked.record, asked.record["answers"], asked.setting
    mechanism, norm = ("discrete laplace", "l1") if asked.is_pure else ("discrete gaussian", "squared l2")
    if asked.is_pure and (record.get("kernel") == "box" or record["question"] == "totals"):  # weights have discrete laplace
        mechanism, norm = "discrete cube", "largest of a cell"
    elif _is_ball(asked):
        mechanism, norm = "rounded ball", "length of a cell"
    _require(record["mechanism"] == mechanism and record["norm"] == norm, "its mechanism is none that its charge can pay")
    rows, replaced = _sensitivities(asked)
    _require([one["of"] for one in answers] == [name for name, _ in rows], "its answers do not match the question")
    repeats = record["repeats"]
    _require(repeats == 1 or (repeats > 1 and record["question"] == "levels"), "it is asked once")
    if asked.is_pure:
        replaced = [[2] * len(rows)]
    cases = replaced if setting.replaces else [[1] * len(rows)]
    group = setting.rows if asked.is_pure else setting.rows**2
    stated = [[fraction_of(text) for text in case] for case in record["unit_sensitivity"]]
    expected = [[times * group * row for times, (_, row) in zip(case, rows, strict=True)] for case in cases]
    _require(stated == expected, "a whole unit moves it further, or less, than it says")
    if record["question"] == "sums":
        weight = "1" if record["kernel"] != "median" else answers[0]["steps"]
        _require(answers[1]["steps"] == weight, "its weights are in other steps")
    elif record["question"] not in ("cost", "lengths", "totals"):
        _require(answers[0]["steps"] == "1", "rows are counted in whole rows")
    scales, prices = ([asked.number(name, one) for one in answers] for name in ("scale", "price"))
    positive = min(*scales, *prices, *(asked.number("steps", one) for one in answers))
    _require(positive > 0, "a scale, a price or a step is nothing")

    def loss(sensitivity: Fraction | int, scale: Fraction) -> Fraction:
        return sensitivity / scale if asked.is_pure else Fraction(sensitivity) / (2 * scale**2)

    for (name, row), answer, scale, price in zip(rows, answers, scales, prices, strict=True):
        _require(asked.number("row_sensitivity", answer) == row, f"one row moves its {name} further, or less, than it says")
        _require(loss(row, scale) <= price, f"the noise of its {name} is smaller than its price buys")
    spent = max(repeats * group * sum(map(Fraction.__mul__, prices, map(Fraction, case))) for case in cases)
    _require(spent == asked.amount, "the prices of its rows do not match its charge")
    lost = max(repeats * sum(map(loss, case, scales), start=Fraction(0)) for case in expected)
    _require(lost <= asked.amount, "a whole unit loses more than its charge")
    told = ", ".join(
        f"{_short(scale / asked.number('steps', one))} {_UNITS[one['of']]}" for one, scale in zip(answers, scales, strict=True)
    )
    times = f", {repeats} times" if repeats > 1 else ""
    return f"{mechanism} noise of scale {told}{times}: a unit loses {record['measure']} {_short(lost)}"


def _price(asked: _AskedNoise, moved: int) -> Fraction:
    """Return the price of one row, after a check that a unit of these rows pays the charge with it."""
    price = asked.number("price")
    _require(price * (moved if asked.is_pure else moved**2) == asked.amount, "the price of its rows does not match its charge")
    return price


def _splits(asked: _AskedNoise) -> str:
    """Check the split decisions of a tree."""
    record, setting = asked.record, asked.setting
    _require(record["mechanism"] == "split decisions" and record["norm"] == "each level of a path", "it is another mechanism")
    steps, scale, decay = (asked.number(name) for name in ("row_sensitivity", "scale", "decay"))
    whole = steps.denominator == decay.denominator == 1
    _require(whole and asked.number("unit_sensitivity") == _moved(asked) * steps, "a whole unit moves it by another amount")
    price, stated = _price(asked, setting.rows), asked.number("worst_loss")
    _require(Fraction(10) ** -12 < scale < 10**15 and max(steps, decay) < 10**15, "its scale, decay or steps are out of range")
    found = Fraction(min(split_loss(float(scale), int(decay), int(steps), setting.replaces), 1e9))
    _require(found <= stated, "its path loses more than it says")
    _require((stated if asked.is_pure else stated**2 / 2) <= price, "its noise is smaller than its price buys")
    rows = _short(scale / steps)
    return f"split decisions with discrete laplace noise of scale {rows} rows: a row loses epsilon {_short(found)} on any path"


def _choice(asked: _AskedNoise) -> str:
    """Check a choice by the exponential mechanism."""
    record, moved = asked.record, _moved(asked)
    _require(record["mechanism"] == "exponential" and record["norm"] == "range", "it is another mechanism")
    moves = asked.number("row_sensitivity") == 1 and asked.number("unit_sensitivity") == moved
    _require(moves, "a unit moves costs by another amount")
    price, epsilon, scale = _price(asked, moved), asked.number("epsilon"), asked.number("scale")
    _require((epsilon if asked.is_pure else epsilon**2 / 8) <= price, "it runs at more than its price buys")
    _require(scale * epsilon >= 1, "its scale is smaller than its epsilon buys")
    return f"exponential mechanism at epsilon {_short(epsilon)} per row's range, scale {_short(scale)} of it"


def _cover(asked: _AskedNoise) -> str:
    """Check the steps of a cover."""
    record, setting, steps = asked.record, asked.setting, asked.record["steps"]
    is_cover = record["mechanism"] == "coverage" and record["norm"] == "rows of a set" and asked.is_pure
    _require(is_cover and steps >= 1, "it is another mechanism")
    moves = asked.number("row_sensitivity") == 1 and asked.number("unit_sensitivity") == _moved(asked)
    _require(moves and asked.number("delta") == asked.delta, "a unit moves it by another amount, or delta is another")
    step, scale = asked.number("step_epsilon"), asked.number("scale")
    _require(step > 0 and scale * step >= 1, "its scale is smaller than its steps buy")
    alone = setting.rows * (steps + setting.replaces) * step
    if asked.delta == 0:
        _require(alone == asked.amount, "its steps together are not its charge")
    else:
        together = cover_holds(step, asked.amount, asked.delta, setting.rows, setting.replaces)
        _require(alone <= asked.amount or together, "its steps together lose more than its charge")
    return (
        f"{steps} choices at epsilon {_short(step)} per uncovered row, priced {'each' if alone <= asked.amount else 'together'}"
    )


def _minimum(asked: _AskedNoise) -> str:
    """Check objective perturbation: random slopes, bends against the pull, and the noise of the points found."""
    record, setting, d = asked.record, asked.setting, asked.setting.columns
    _require(record["mechanism"] == "objective perturbation" and record["norm"] == "length of a cell", "it is another mechanism")
    moved, together = _moved(asked), asked.number("unit_sensitivity")
    _require(asked.number("row_sensitivity") == 1 and together == moved, "a unit moves gradients by another amount")
    rounded = d + 2 * (math.isqrt(d - 1) + 1)
    _require(asked.number("point_sensitivity") == rounded * moved, "two minima lie further apart, or less far, than it says")
    epsilon, scale, pull, noise = (asked.number(name) for name in ("epsilon", "scale", "pull", "point_scale"))
    _require(min(epsilon, scale, pull, noise) > 0, "a scale, a pull or an epsilon is nothing")
    _require((epsilon if asked.is_pure else epsilon**2 / 2) <= asked.amount, "it runs at more than its charge buys")
    with localcontext() as context:
        context.prec = DIGITS
        bends = setting.rows * d * (1 + 1 / decimal_of(pull)).ln()
        lost = decimal_of(moved / scale + rounded * moved / noise) + bends
        _require(lost * (1 + Decimal(10) ** -40) <= decimal_of(epsilon), "its noise or its pull is smaller than its epsilon buys")
    _require(record["proved"] == "over the reals only", "it claims more than is proved")
    return f"objective perturbation with slopes of scale {_short(scale)} rows, over the reals only: epsilon {lost:.6g} is lost"


def _blocks(asked: _AskedNoise) -> str:
    """Check a question about centers of blocks: it protects all centers of a block, or of two where a row may change its own."""
    record, setting = asked.record, asked.setting
    about = record["about"] | {name: record[name] for name in ("family",) if name in record}
    amount, sampled = asked.number("amount"), record["sampling"] == "replacement"
    _require(about["question"] in ("counts", "levels", "grow", "sums", "cost"), "it is about no question of the list")
    if sampled:
        _require(setting.replaces and setting.rows == 1, "samples with replacement protect replaced rows alone")
        _require(about["measure"] == "epsilon", "samples with replacement need pure noise")
        with localcontext() as context:
            context.prec = DIGITS
            worth = (decimal_of(amount).exp() - (-decimal_of(amount)).exp()) / 2
            paid = decimal_of(asked.amount) if asked.is_pure else (2 * decimal_of(asked.amount)).sqrt()
            _require(worth <= paid, "a row drawn several times loses more than its charge")
    else:
        _require(amount == asked.amount and about["measure"] == record["measure"], "the centers have another charge")
    blocks = 2 if setting.replaces and not sampled else 1
    inside = Setting(True, blocks * record["points"], setting.columns)
    charge = {"name": about["name"], "question": about["question"], "measure": about["measure"], "amount": record["amount"]}
    _require(about["name"] == record["name"], "its record is of another charge")
    return f"of centers of blocks, {record['points']} of each: {check_noise(about, charge, inside)}"


def _reports(asked: _AskedNoise) -> str:
    """Check the reports of users in the local model: what a user says is replaced by anything else."""
    record, setting = asked.record, asked.setting
    protects = setting.replaces and setting.rows == 1 and asked.is_pure and record["norm"] == "replaced value"
    _require(protects, "a report protects one replaced row")
    if record["mechanism"] == "discrete gaussian":
        resolution, variance = asked.number("resolution"), asked.number("variance")
        _require(resolution > 0 and variance > 0, "a length or a variance is nothing")
        lost = converted(2 * resolution**2 / variance, asked.delta)
        _require(lost is not None and lost <= asked.amount, "its noise is smaller than its charge buys")
        scale = math.sqrt(variance) / float(resolution)
        return f"discrete gaussian noise of scale {scale:.6g} reaches in every user's report"
    threshold, words = asked.number("threshold"), 2**32
    _require(asked.delta == 0 and threshold.denominator == 1 and 1 <= threshold < words // 2, "its threshold is none")
    with localcontext() as context:
        context.prec = DIGITS
        odds, most = decimal_of(words / threshold - 1), decimal_of(min(asked.amount, Fraction(64))).exp()
        _require(odds <= most * (1 - Decimal(10) ** -40), "a report loses more than its charge")
        return f"{record['mechanism']} with a chance of {_short(threshold / words)}: a report loses epsilon {odds.ln():.6g}"


_CHECKS: dict[str, Callable[[_AskedNoise], str]] = {
    **dict.fromkeys(("cost", "counts", "lengths", "levels", "sums", "totals"), _additive),
    "blocks": _blocks,
    "choose": _choice,
    "cover": _cover,
    "grow": _splits,
    "minimize": _minimum,
    # Of each person one row counts, whatever the cap on rows elsewhere.
    "persons": lambda asked: _additive(replace(asked, setting=replace(asked.setting, rows=1))),
    "reports": _reports,
}


def check_noise(record: dict[str, Any], charge: dict[str, Any], setting: Setting) -> str:
    """Return in words what the noise of one question is; raise `Refused` unless it is what its charge buys."""
    same = all(record[name] == charge[name] for name in ("name", "question", "measure"))
    _require(same, "its record is of another charge")
    amount, delta = fraction_of(charge["amount"]), fraction_of(charge.get("delta", "0"))
    if amount is None or delta is None or amount == 0 or record["question"] not in _CHECKS:
        raise Refused("its charge is no amount, or its question none of the list")
    of_numbers = record["question"] not in _OF_NUMBERS or setting.columns > 0
    _require(of_numbers, "only rows of numbers can be asked so")
    _require(record["question"] not in ("persons", "totals") or setting.describes, "only descriptions ask so")
    _require(cells_of_a_row(record, setting.columns, setting.describes) is not None, "its cells are none that it can be about")
    return _CHECKS[record["question"]](_AskedNoise(record, setting, amount, delta))
