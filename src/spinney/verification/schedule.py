"""One schedule of charges, read from data: what its names stand for, which of them must be there, and how often."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

__all__ = ["Stated", "blank", "followed"]
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
