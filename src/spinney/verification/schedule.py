"""One schedule of charges, read from data: what its names stand for, which of them must be there, and what follows from it."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
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
