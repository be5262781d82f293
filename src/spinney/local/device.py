"""What runs on a user's device in the local model: one file, the standard library, and nothing else. Copy it alone.

The server is not trusted: every argument of a question is checked against the policy before the row is read, what was spent is
summed, and a question that was answered before gets its stored report again. A row decides nothing but the bits of a report: one
that is missing, broken or of another shape is read as the middle of the domain. Samplers are exact, in whole numbers, from the
operating system's entropy. ``docs/local.md`` has the format, with test vectors. Proof: ``proofs/local.md``.
"""

import hashlib
import json
import math
import os
import re
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from itertools import accumulate
from numbers import Real
from typing import Any, NamedTuple

#: Probabilities are whole numbers of 1 / WORDS, values of offsets of 1 / FINE, and exponentials of 2^-PLACES.
WORDS, FINE, PLACES = 2**32, 2**20, 128
_ONE_AT_A_TIME = threading.Lock()
#: Columns, steps of a column, radii and other numbers are not more, so that every language computes with them exactly.
MOST_COLUMNS, MOST_STEPS, WIDEST, LARGEST = 1024, 2**20, 2**25, 2**53 - 1
#: Most characters of a question; the fields of every question, and the further fields of each kind.
LONGEST, HEAD = 4_000_000, {"format", "id", "kind", "epsilon", "delta", "domain", "group", "noise"}
KINDS = {
    "cells": {"shape"}, "regions": {"centers", "radii"}, "offsets": {"centers", "radii", "reaches", "kernel", "bins"},
    "cost": {"first", "second", "power", "range"}, "sums": {"centers", "radii", "reaches", "anchors", "resolution"},
}  # fmt: skip
#: Texts: of printable ASCII, which every language writes alike, of a number, and of an amount such as "1/2".
_TEXT = re.compile(r"[ -~]{0,200}")
_NUMBER = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,60})?([eE][+-]?[0-9]{1,3})?")
_SHAPE = re.compile(r"0|1[01]{2,200000}")
_AMOUNT = re.compile(r"[0-9]{1,60}(/[0-9]{0,30}[1-9][0-9]{0,30})?")
#: Outside its texts a question has blanks, brackets that are nested three deep at most, and no number of 17 digits.
_BETWEEN, _DIGITS, DEEPEST = b'-0123456789,:" \t\r\n', bytes.maketrans(b"0123456789", b"0" * 10), 3
BROKEN = "the policy or the state is broken"
_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


class Refusal(Exception):  # noqa: N818  (an answer, not an error)
    """Why a question gets no report: from the question, the policy and what was spent, never from the row."""


def _require(holds: bool, reason: str) -> None:
    if not holds:
        raise Refusal(reason)


def _are(pattern: re.Pattern[str], *values: Any) -> bool:
    return all(type(value) is str and pattern.fullmatch(value) is not None for value in values)


def _wholes(values: Any, low: int, high: int, count: int | None = None) -> bool:
    """Whether this is a list of whole numbers within bounds."""
    holds = type(values) is list and (count is None or len(values) == count)
    return holds and (not values or (set(map(type, values)) == {int} and min(values) >= low and max(values) <= high))


def _points(values: Any, d: int, count: int | None = None) -> bool:
    """Whether this is a list of points of the grid, or somewhat outside of it."""
    holds = type(values) is list and len(values) == (count or len(values)) >= 1
    return holds and all(_wholes(one, -MOST_STEPS, 2 * MOST_STEPS, d) for one in values)


def read_amount(value: Any) -> Fraction:
    """Return an amount that is written as a whole number or a fraction."""
    _require(_are(_AMOUNT, value), "an amount")
    return Fraction(value)


def read_domain(value: Any) -> tuple[list[float], float, list[int]]:
    """Return lower bounds, the step and the steps of each column."""
    _require(type(value) is dict and set(value) == {"lower", "step", "steps"}, "its domain")
    steps, texts = value["steps"], value["lower"]
    holds = _wholes(steps, 1, MOST_STEPS) and type(texts) is list and 1 <= len(texts) == len(steps) <= MOST_COLUMNS
    _require(holds and _are(_NUMBER, *texts, value["step"]), "its domain")
    lower, step = [float(text) for text in texts], float(value["step"])
    upper = [low + step * count for low, count in zip(lower, steps, strict=True)]
    _require(step > 0 and all(map(math.isfinite, (*lower, *upper, step))), "its domain")
    return lower, step, steps


def exp_below(exponent: Fraction) -> int:
    """Return a whole number of 2^-PLACES that is at most e^exponent: the series, each term rounded down. `exponent` >= 0."""
    total, term, count, above, below = 1 << PLACES, 1 << PLACES, 1, exponent.numerator, exponent.denominator
    while term:
        term = term * above // (below * count)
        total, count = total + term, count + 1
    return total


def is_lawful_threshold(threshold: int, epsilon: Fraction) -> bool:
    """Whether a slot set by chance with probability q = threshold / 2^32 keeps epsilon: (1 - q) / q is at most e^epsilon."""
    return 1 <= threshold < WORDS // 2 and (WORDS - threshold) << PLACES <= threshold * exp_below(min(epsilon, Fraction(64)))


def is_lawful_gaussian(resolution: int, variance: int, order: int, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether discrete Gaussian noise hides a vector of length `resolution`, replaced by any other; the order is Renyi's."""
    exponent = (order - 1) * (epsilon - Fraction(2 * order * resolution**2, variance))
    least = ((order - 1) ** (order - 1) * delta.denominator) << PLACES
    return 0 <= exponent <= 2048 and delta < 1 and least <= delta.numerator * order**order * exp_below(exponent)


def _check_kind(asked: dict[str, Any], d: int) -> None:
    """Refuse arguments that are no partition, no regions or no cost, and noise that is less than epsilon and delta promise."""
    kind, count = asked["kind"], len(asked["centers"]) if type(asked.get("centers")) is list else 0
    if kind == "cells":
        _require(_are(_SHAPE, asked["shape"]) and depth_of(asked["shape"]) >= 0, "its cells")
    elif kind == "cost":
        holds = _points(asked["first"], d) and _points(asked["second"], d) and _wholes([asked["range"]], 1, LARGEST)
        _require(holds and _wholes([asked["power"]], 1, 2), "its cost")
    else:
        _require(_points(asked["centers"], d) and _wholes(asked["radii"], 0, WIDEST, count), "its regions")
    _require("reaches" not in asked or _wholes(asked["reaches"], 1, WIDEST, count), "its reaches")
    _require(kind != "offsets" or (asked["kernel"] in ("mean", "median") and _wholes([asked["bins"]], 2, 64)), "its kernel")
    _require(kind != "sums" or (_points(asked["anchors"], d, count) and _wholes([asked["resolution"]], 1, FINE)), "its anchors")
    noise, epsilon, delta = asked["noise"], read_amount(asked["epsilon"]), read_amount(asked["delta"])
    names = {"variance", "order"} if kind == "sums" else {"threshold"}
    holds = type(noise) is dict and set(noise) == names and _wholes(list(noise.values()), 1, 2**50) and epsilon > 0
    _require(holds and 2 <= noise.get("order", 2) <= 4096, "its noise")
    if "order" in noise:
        holds = is_lawful_gaussian(asked["resolution"], noise["variance"], noise["order"], epsilon, delta)
    else:
        holds = delta == 0 and is_lawful_threshold(noise["threshold"], epsilon)
    _require(holds, "its noise is smaller than it promises")


def slots_of(asked: dict[str, Any]) -> int:
    """Return how many slots, or numbers, the report of a question that was read has."""
    if asked["kind"] in ("cells", "cost"):
        return int(asked["shape"].count("0")) if asked["kind"] == "cells" else 1
    of_each = {"regions": 1, "offsets": asked.get("bins", 0), "sums": len(asked["domain"]["steps"])}
    return len(asked["centers"]) * int(of_each[asked["kind"]])


def depth_of(shape: str) -> int:
    """Return how often the smallest cells were halved, or -1 if these are not the cells of a tree, level by level."""
    start, end, depth = 0, 1, -1
    while start < end <= len(shape):
        start, end, depth = end, end + 2 * shape.count("1", start, end), depth + 1
    return depth if start == end == len(shape) else -1


def read_question(text: Any) -> dict[str, Any]:
    """Return what a question asks, or raise a `Refusal`: it is a whole one, and its noise keeps its own promise."""
    _require(isinstance(text, str) and len(text) <= LONGEST and text.isascii(), "it is no text, or too long")
    outside = b'"'.join(text.encode("ascii").split(b'"')[::2])
    marks = outside.translate(None, _BETWEEN)  # brackets, and whatever may not be there
    asked: Any = None
    for _ in range(DEEPEST):
        marks = re.sub(rb"\[\]|{}", b"", marks)
    if not marks and "\\" not in text and b"0" * 17 not in outside.translate(_DIGITS):
        with suppress(ValueError):  # else it is JSON that every language reads alike: some take 1.0 for 1, some know NaN
            asked = json.loads(text)
    _require(type(asked) is dict and asked.get("format") == "spinney-question/1", "it is no question of this format")
    _require(type(asked.get("kind")) is str and asked["kind"] in KINDS, "its kind is unknown")
    _require(set(asked) == HEAD | KINDS[asked["kind"]], "its fields are others")
    group = asked["group"]
    _require(type(group) is dict and set(group) == {"salt", "parts", "first", "last"}, "its group")
    first, last, parts = bounds = [group[name] for name in ("first", "last", "parts")]
    _require(_wholes(bounds, 0, 2**16) and first < last <= parts, "its group")
    _require(_are(_TEXT, asked["id"], group["salt"]), "its texts")
    _check_kind(asked, len(read_domain(asked["domain"])[2]))
    return dict(asked)


def digest_of(asked: dict[str, Any]) -> str:
    """Return the digest of a question: SHA-256 of its JSON with sorted names and no spaces. Any other content has another one."""
    return hashlib.sha256(_canonical(asked).encode("ascii")).hexdigest()


def is_asked(group: dict[str, Any], token: str) -> bool:
    """Whether a device is one of those that a question asks: by a public hash of its token, which knows nothing of its row."""
    number = int(hashlib.sha256(f"{group['salt']}:{token}".encode("ascii")).hexdigest()[:8], 16)
    return bool(group["first"] <= number % group["parts"] < group["last"])


def _check_policy(asked: dict[str, Any], policy: dict[str, Any], reports: dict[str, Any]) -> None:
    """Refuse what this device does not allow, or has no budget left for."""
    holds = _are(_AMOUNT, *(policy[name] for name in ("epsilon", "delta", "question_epsilon", "question_delta")))
    holds = holds and _wholes([policy[name] for name in ("most_slots", "widest_radius", "most_questions")], 0, LARGEST)
    _require(holds and type(policy["domain"]) is dict and type(policy["kinds"]) is list and _are(_TEXT, *policy["kinds"]), BROKEN)
    _require(_canonical(asked["domain"]) == _canonical(policy["domain"]), "the policy has another domain")
    _require(asked["kind"] in policy["kinds"], "the policy does not allow this kind")
    points = max(len(asked.get(name, ())) for name in ("centers", "first", "second"))
    _require(max(slots_of(asked), points) <= policy["most_slots"], "the policy allows fewer slots")
    widest = max((0, *asked.get("reaches", ()), *asked.get("radii", ())))
    _require(widest <= policy["widest_radius"], "the policy allows no radius so wide")
    _require(len(reports) < policy["most_questions"], "the policy allows no more questions")
    for name in ("epsilon", "delta"):
        more = read_amount(asked[name])
        _require(more <= read_amount(policy[f"question_{name}"]), f"the policy allows less {name} for a question")
        spent = sum((read_amount(one[name]) for one in reports.values()), start=more)
        _require(spent <= read_amount(policy[name]), f"the ceiling of {name} is reached")


def place(row: Any, lower: list[float], step: float, steps: list[int]) -> list[int]:
    """Return a row as a point of the grid: clipped, or the middle if anything in it is missing or no number."""
    values = list[float]()
    with suppress(Exception):  # whatever a broken row raises
        values = [math.nan if type(x) is bool or not isinstance(x, Real) else float(x) for x in row]
    if len(values) != len(steps) or not all(map(math.isfinite, values)):
        return [count // 2 for count in steps]
    inside = (min(max(x, low), low + step * count) for x, low, count in zip(values, lower, steps, strict=True))
    return [min(math.floor((x - low) / step), count - 1) for x, low, count in zip(inside, lower, steps, strict=True)]


def _square(point: list[int], center: list[int]) -> int:
    return sum((x - c) * (x - c) for x, c in zip(point, center, strict=True))


def _region(point: list[int], asked: dict[str, Any]) -> int:
    """Return the nearest center, the first of equals, if the point lies within its radius, or -1."""
    square, nearest = min((_square(point, center), i) for i, center in enumerate(asked["centers"]))
    return nearest if square <= asked["radii"][nearest] ** 2 else -1


def _leaf(point: list[int], asked: dict[str, Any]) -> int:
    """Return the number of a point's cell. The shape says level by level which cells are halved, in their widest columns."""
    shape, low, width, node = asked["shape"], [0] * len(point), list(asked["domain"]["steps"]), 0
    ones = list(accumulate(map("1".__eq__, shape), initial=0))
    for _ in range(depth_of(shape)):  # as many steps for every row: one that is in its cell already stays there
        column = width.index(max(width))
        half = width[column] // 2
        is_above = point[column] >= low[column] + half
        low[column] += half * is_above
        width[column] = (half, width[column] - half)[is_above]
        node = (node, 2 * ones[node] + 1 + is_above)[shape[node] == "1"]
    return node - ones[node]


def offsets_of(point: list[int], center: list[int], reach: int, kernel: str, parts: int) -> list[int]:
    """Return a point's offset in each column, and the weight of a median, in parts of the longest offset, toward zero."""
    square = _square(point, center)
    longest = reach if kernel == "mean" else max(math.isqrt(square - 1) + 1 if square else 0, reach)
    offset = [min(max(x - c, -longest), longest) for x, c in zip(point, center, strict=True)]
    return [number * parts // longest if number >= 0 else -(-number * parts // longest) for number in (*offset, reach)]


class _Entropy(NamedTuple):
    """Random bytes in their order."""

    take: Callable[[int], bytes]

    def below(self, bound: int) -> int:
        """Return a number below a bound, each equally likely: bytes, cut to as many bits as needed, until it is below."""
        bits, number = (bound - 1).bit_length(), bound
        while number >= bound:
            number = int.from_bytes(self.take((bits + 7) // 8), "big") >> (-bits % 8)
        return number

    def has_exp(self, above: int, below: int) -> bool:
        """Return True with probability e^-(above / below)."""
        if above > below:
            return self.has_exp(1, 1) and self.has_exp(above - below, below)
        count = 1 + (above == below == 1)  # a number below 1 is 0, and reads no bytes
        while self.below(below * count) < above:
            count += 1
        return count % 2 == 1

    def gaussian(self, variance: int) -> int:
        """Return discrete Gaussian noise (Canonne, Kamath and Steinke 2020, algorithms 1 to 3)."""
        scale = math.isqrt(variance) + 1
        while True:
            while not self.has_exp(size := self.below(scale), scale):
                pass
            while self.has_exp(1, 1):
                size += scale
            is_negative = self.take(1)[0] >= 128
            if (size or not is_negative) and self.has_exp((size * scale - variance) ** 2, 2 * variance * scale * scale):
                return -size if is_negative else size


def _bits(slot: int, asked: dict[str, Any], entropy: _Entropy) -> str:
    """Return one bit for each slot: the user's own is set with probability a half, any other with threshold / 2^32."""
    count, threshold = slots_of(asked), asked["noise"]["threshold"]
    words = struct.unpack(f">{count}I", entropy.take(4 * count))
    marks = ["1" if word < threshold else "0" for word in words]
    if slot >= 0:
        marks[slot] = "1" if words[slot] < WORDS // 2 else "0"
    return int("".join(marks).ljust(-count // 8 * -8, "0"), 2).to_bytes((count + 7) // 8, "big").hex()


def reply_of(point: list[int], asked: dict[str, Any], entropy: _Entropy) -> dict[str, Any]:
    """Return a point's private reply; the order in which random bytes are read is part of the format."""
    kind, noise = asked["kind"], asked["noise"]
    if kind in ("cells", "regions"):
        return {"bits": _bits(_leaf(point, asked) if kind == "cells" else _region(point, asked), asked, entropy)}
    if kind == "cost":
        squares = (min(_square(point, center) for center in asked[name]) for name in ("first", "second"))
        first, second = map(math.isqrt, squares) if asked["power"] == 1 else squares
        value = min(max(first - second, -asked["range"]), asked["range"]) + asked["range"]
        words = struct.unpack(">2I", entropy.take(8))
        return {"bit": int(words[0] < value * WORDS // (2 * asked["range"])) ^ int(words[1] < noise["threshold"])}
    region = _region(point, asked)
    if kind == "offsets":
        words = struct.unpack(">2I", entropy.take(8))
        column, slot = words[0] * (len(point) + (asked["kernel"] == "median")) // WORDS, -1
        if region >= 0:  # one of the two nearest bins, so that it is the value on average
            offsets = offsets_of(point, asked["centers"][region], asked["reaches"][region], asked["kernel"], FINE)
            low, rest = divmod((offsets[column] + FINE) * (asked["bins"] - 1), 2 * FINE)
            slot = region * asked["bins"] + low + int(words[1] < rest * (WORDS // (2 * FINE)))
        return {"column": column, "bits": _bits(slot, asked, entropy)}
    values = [entropy.gaussian(noise["variance"]) for _ in range(slots_of(asked))]
    if region >= 0:
        offsets = offsets_of(point, asked["anchors"][region], asked["reaches"][region], "median", asked["resolution"])
        for i, offset in enumerate(offsets[:-1], start=region * len(point)):
            values[i] += offset
    return {"values": values}


def respond(
    row: Any, question: str, policy: dict[str, Any], state: dict[str, Any], entropy: Callable[[int], bytes] = os.urandom
) -> str:
    """Answer a question about one row, or refuse it; return the message to send, and leave in `state` what must be kept.

    Privacy
    -------
    Neighbors: any two rows of this device. Statement: all messages together, to whatever a server asks, are (epsilon,
    delta)-differentially private at the ceiling of the policy, as long as the state is kept: safe on disk before the message is
    sent, never put back to an older one, used by one process at a time (threads wait for each other; ``docs/local.md``). If it is
    lost, the ceiling starts anew and losses add up; an empty state is a new device's. Proof: ``proofs/local.md``. Outside the
    promise: running time, and random bytes from elsewhere, which are for tests of the format.
    """
    with _ONE_AT_A_TIME:  # else two questions at once could both be within the ceiling
        try:
            asked = read_question(question)
            digest, reports = digest_of(asked), state.setdefault("reports", {})
            _require(isinstance(reports, dict), BROKEN)
            for one in reports.values():
                _require(_are(_AMOUNT, one["epsilon"], one["delta"]) and type(one["report"]) is str, BROKEN)
            if state.get("token") in (None, ""):
                state["token"] = entropy(16).hex()
            _require(_are(_TEXT, token := state["token"]), BROKEN)
            if digest in reports:
                return str(reports[digest]["report"])
            _require(is_asked(asked["group"], token), "another group is asked")
            _check_policy(asked, policy, reports)
        except Exception as error:  # a refusal, or whatever a policy or a state that is no JSON raises: no row was read yet
            return _canonical({"format": "spinney-refusal/1", "reason": str(error) if type(error) is Refusal else BROKEN})
        reply = reply_of(place(row, *read_domain(asked["domain"])), asked, _Entropy(entropy))
        report = _canonical({"format": "spinney-report/1", "question": digest, "token": token, **reply})
        reports[digest] = {"epsilon": asked["epsilon"], "delta": asked["delta"], "report": report}
        return report
