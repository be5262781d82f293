"""What algorithms ask, by schedules that are data: a record may be lawful by itself, and not of what its name stands for.

``schedules.json`` has a schedule for each version of the format, kind of release and algorithm. Of an algorithm without one
nothing is known: its records are taken at their word. ``#`` stands for any number. A schedule says

- ``names``: what the charge of a name pays for: the question, its kernel and its cells (``{k}``: a fact). There may be several
  alternatives; one in brackets holds under conditions, and one of ``words`` stands for several. An object says this as ``is``,
  and besides: ``times`` (how many numbers there are, or the parameter that says), ``gaps`` (numbers may be missing), ``follows``
  (its numbers are among those of another name), ``length`` (a field of the record, the formula that it follows, its arguments,
  what is wrong otherwise), ``rank`` and ``first``.
- ``together``: names that may be pooled. Then the last decides what they pay for, of those of the highest ``rank`` (0 if
  not given), or the first of them if it says ``first``.
- ``needs``: names that must be there, alone or pooled with others; one in brackets under conditions. Others may be missing.
- ``like``: other schedules that hold as well. ``base``: and the one of the algorithm which the parameter ``base`` names.
- ``given``: parameters where a release states none. ``margins``: which margins are of the noise of which names.

A condition is a fact and its value, or that it is ``not`` this, ``below`` or ``from`` it. Facts: parameters, those of `misasked`,
``asked NAME``, and ``mixed NAME``: it was pooled with what stands for something else; ``mixed``: this record was.
"""

from __future__ import annotations

import json
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import Any

from spinney.verification.amounts import fraction_of

Facts = dict[str, Any]


def blank(name: str) -> str:
    """Return a name with its numbers left out."""
    return re.sub(r"\d+", "#", name)


def _is_so(found: Any, wanted: Any) -> bool:
    word, bound = next(iter(wanted.items())) if isinstance(wanted, dict) else ("is", wanted)
    if word in ("below", "from"):
        return bool((found < bound) == (word == "below"))
    return bool((found == bound) == (word == "is"))


def _stated(one: Any, facts: Facts) -> str | None:
    """Return a text of a schedule, or None if its conditions do not hold."""
    text, conditions = (one, {}) if isinstance(one, str) else one
    return text if all(_is_so(facts.get(name), wanted) for name, wanted in conditions.items()) else None


@dataclass(frozen=True)
class Stated:
    """What may be asked, in parts, each with the facts of its conditions; of what two parts say of a name the first counts."""

    parts: list[tuple[Facts, Facts]]
    words: Facts

    @cached_property
    def lines(self) -> dict[str, tuple[Facts, Facts]]:
        """What is said of each name, and the facts."""
        found = ((name, line, facts) for part, facts in reversed(self.parts) for name, line in part["names"].items())
        return {name: (line if isinstance(line, dict) else {"is": line}, facts) for name, line, facts in found}

    def line(self, name: str) -> tuple[Facts, Facts]:
        """Return what is said of a name, with its own numbers or with any, and the facts; nothing of one that is unknown."""
        return self.lines.get(name) or self.lines.get(blank(name), ({"is": []}, {}))

    def means(self, name: str, **more: bool) -> set[str]:
        """Return what a name may stand for."""
        line, facts = self.line(name)
        return set(self._meanings(line["is"], facts | more))

    def _meanings(self, alternatives: Any, facts: Facts) -> Iterator[str]:
        for one in [alternatives] if isinstance(alternatives, str) else alternatives:
            text = _stated(one, facts)
            if text in self.words:
                yield from self._meanings(self.words[text], facts)
            elif text is not None:
                yield text.format_map(facts)

    def is_mixed(self, names: Sequence[str]) -> bool:
        """Whether pooled names stand for different things."""
        return len({frozenset(self.means(name)) for name in names}) > 1

    def may_join(self, names: Sequence[str]) -> bool:
        """Whether these names may be pooled; one alone may always be."""
        return len(names) == 1 or set(map(blank, names)) <= {one for part, _ in self.parts for one in part.get("together", ())}

    def last(self, names: Sequence[str]) -> str:
        """Return which of the pooled names decides what they pay for."""
        if self.line(names[0])[0].get("first"):
            return names[0]
        return max(enumerate(names), key=lambda one: (self.line(one[1])[0].get("rank", 0), one[0]))[1]

    def is_whole(self, asked: Sequence[Sequence[str]]) -> bool:
        """Whether no name is missing that must be there."""
        names = {blank(name) for some in asked for name in some}
        known = {f"asked {name}": True for name in names}
        known |= {f"mixed {blank(name)}": True for some in asked if self.is_mixed(some) for name in some}
        needs = [_stated(one, facts | known) for part, facts in self.parts for one in part.get("needs", ())]
        return all(need is None or names & set(need.split(" or ")) for need in needs)

    def is_numbered(self, names: Sequence[str]) -> bool:
        """Whether names are numbered from one on without a gap, and are as many as they must be, if there are any."""
        numbers: defaultdict[str, set[int]] = defaultdict(set)
        for name in names:
            for one in re.finditer(r"\d{1,9}", name):
                numbers[name[: one.start()]].add(int(one[0]))
        for name, (line, facts) in self.lines.items():
            key, times, before = (str(text).partition("#")[0] for text in (name, line.get("times"), line.get("follows", name)))
            most = facts.get(times, line.get("times"))
            is_other = isinstance(most, int) and len(numbers[key]) not in (0, most)
            if is_other or not numbers[key] <= numbers[before]:
                return False
            if line.get("gaps"):
                numbers[key].clear()
        return all(found == set(range(1, len(found) + 1)) for found in numbers.values())


def followed(data: Facts, kind: str, algorithm: str, about: Facts, given: Facts) -> Iterator[Stated]:
    """Yield the schedules that a release may follow, by facts and given parameters; none if nothing is known of its algorithm."""
    found = data["schedules"].get(f"{kind} {algorithm}".strip())
    if found is None:
        return
    given = found.get("given", {}) | given
    own = [(one, given | about) for one in (found, *(data["schedules"][like] for like in found.get("like", ())))]
    if "base" not in found:
        yield Stated(own, data["words"])
        return
    inside = {name.removeprefix("base."): value for name, value in given.items() if name.startswith("base.")}
    base = str(given["base"])
    for name in found["base"].get("auto" if base == algorithm else base, [base]):
        yield from (Stated(own + more.parts, more.words) for more in followed(data, kind, name, about, inside))


#: What a margin of counts covers.
COVER = 0.95


def _levels(facts: dict[str, Any], most: int) -> int | None:
    """Return how many levels a tree has that cuts each column so often, if that is known; 0 if parameters are none."""
    alpha, chosen = facts["alpha"], facts["projection"]
    if chosen == "auto" or not (isinstance(alpha, int) and isinstance(chosen, int | None)):
        return None if chosen == "auto" else 0
    return int(min(alpha * min(facts["columns"], chosen or facts["columns"]), most)) + 1


def _followed(facts: dict[str, Any], levels: int, columns: int) -> int | None:
    """Return how many levels rows are followed down, unless a tree of this number of columns ends before."""
    return levels if facts["columns"] >= columns else None


def _balls(facts: dict[str, Any], apart: int | None, most: int) -> int | None:
    """Return how many balls cover, at growing radii; None if k was found on the way, 0 if the growth is invalid."""
    growth = facts["growth"]
    if facts["is_found"] or not (isinstance(growth, float) and 0 < growth < 1):
        return None if facts["is_found"] else 0
    radii = math.log(apart or max(facts["points"], 2)) / math.log1p(growth)
    return min(most, math.ceil(radii) + 1) * max(1, math.ceil(2 * int(facts["k"]) * math.log(1 / growth)))


FORMULAS: dict[str, Callable[..., int | None]] = {"levels": _levels, "followed": _followed, "balls": _balls}


def margin(noise: dict[str, Any]) -> float:
    """Return how far noise on counts reaches, which is stated with them."""
    scale = float(min(fraction_of(noise["answers"][0]["scale"]) or Fraction(), Fraction(10**300)))
    if noise["mechanism"] == "discrete gaussian":
        return math.ceil(scale * 1.9599639845400545) + 1
    decay = math.exp(-1 / max(scale, 1e-3))
    return max(0, math.ceil(-scale * math.log((1 - COVER) * (1 + decay) / 2)) - 1)


@lru_cache
def schedules() -> dict[str, Any]:
    """Return all schedules, by version of the format."""
    found: dict[str, Any] = json.loads(files(__package__).joinpath("schedules.json").read_text(encoding="utf-8"))
    return found


def _texts(noise: dict[str, Any], columns: int) -> list[str]:
    """Return what a record says it is of; without a family counts tell a bin of every column by how far a row moves them."""
    head = "".join(f"{noise[name]} " for name in ("question", "kernel", "points", "sampling") if name in noise)
    cells = {name: noise[name] for name in ("family",) if name in noise}
    if "about" in noise:
        return [head + one for one in _texts(noise["about"] | cells, columns)]
    if cells:
        return [f"{head}{cells['family']} "]
    moved = noise["answers"][0]["row_sensitivity"] if noise["question"] == "counts" else None
    return [head, *(f"{head}{cells} " for cells, row in (("plain", 1), ("columns", columns)) if moved == str(row))]


def _wrong(schedule: Stated, record: dict[str, Any], asked: list[list[str]], columns: int) -> Iterator[str]:
    """Yield what is wrong with a release that has all names of a schedule that it must have."""
    plain = [name for names in asked for name in names]
    if len(set(plain)) < len(plain):
        yield "a charge pays for two questions"
    if not schedule.is_numbered(plain):
        yield "a question is asked another number of times than its algorithm asks it"
    pairs = list(zip(record["mechanisms"], asked, strict=True))
    for noise, names in pairs:
        means = schedule.means(schedule.last(names), mixed=schedule.is_mixed(names))
        is_known = schedule.may_join(names) and all(schedule.line(name)[0]["is"] for name in names)
        if not (is_known and any(text.startswith(f"{one} ") for text in _texts(noise, columns) for one in means)):
            yield "a charge paid for something else than its name says"
    moved = record.get("supported_centers") is not None or record.get("center_margins") is not None
    if moved and not {"sums", "minimize", "reports"} & {one["question"] for one in record["charges"]}:
        yield "centers were moved by a step that nothing paid for"
    for noise, names in pairs:
        line, facts = schedule.line(schedule.last(names))
        for field, formula, arguments, words in [line["length"]] if "length" in line else ():
            if FORMULAS[formula](facts, *arguments) not in (None, noise[field]):
                yield words


def misasked(record: dict[str, Any], kind: str, columns: int) -> str | None:
    """Return in words where a release, of this kind or ``local``, has not asked what its algorithm asks; None if it has."""
    about = {name: record.get(name) for name in ("objective", "k")} | {"points": record.get("space", {}).get("n_points")}
    about |= {"columns": columns, "ball": "radius" in record.get("domain", {}), "is_found": record.get("k_costs") is not None}
    about |= {name: record.get(name) is not None for name in ("tightened", "persons")}
    about |= {"measured": any(one["kind"] in ("number", "date") for one in record.get("columns", ()))}
    data, asked = schedules()[record["format"][-1]], [one["name"].split(" + ") for one in record["mechanisms"]]
    options = list(followed(data, kind, record.get("algorithm", ""), about, record["parameters"]))
    whole = [one for one in options if one.is_whole(asked)]
    if options and not whole:
        return "a question is missing that its algorithm always asks"
    return next(_wrong(whole[0], record, asked, columns), None) if whole else None


def margins_are_told(record: dict[str, Any], kind: str) -> bool:
    """Whether the margins of counts match their noise, to a row; of algorithms of others nothing is known."""
    found = schedules()[record["format"][-1]]["schedules"].get(f"{kind} {record.get('algorithm', '')}".strip(), {})
    for field, names in found.get("margins", {}).items():
        told = record.get(field)
        of_names = (one for one in record["mechanisms"] if set(map(blank, one["name"].split(" + "))) & set(names))
        there = [margin(one) for one in of_names if "answers" in one]
        if told is not None and not any(abs(told - one) <= 1 for one in there):
            return False
    return True
