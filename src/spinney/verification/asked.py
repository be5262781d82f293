"""What algorithms ask, by schedules that are data: a record may be lawful by itself, and not of what its name stands for.

``schedules.json`` has schedules by versions of the format, as lines ``TIMES NAME = WHAT``: how often something is asked, and what
its charge pays for, as `words_of` has it; all are regular expressions. ``#`` is any number, and TIMES is how many there are, from
one on. It is ``&`` for names that were pooled. ``<fact>`` is a parameter, or what else `misasked` knows, and ``<word>`` the first
of its texts whose pattern is some fact with its value. ``like`` takes the lines of another schedule, with the parameters behind
``base.``. ``given``: parameters where a release states none; ``margins``: which margins are of whose noise.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Any

from spinney.verification.lengths import lengths
from spinney.verification.noise import words_of

Facts = dict[str, Any]


def blank(name: str) -> str:
    """Return a name with its numbers left out."""
    return re.sub(r"\d+", "#", name)


@lru_cache
def schedules(version: str) -> Facts:
    """Return the schedules of a version of the format."""
    return dict(json.loads(files(__package__).joinpath("schedules.json").read_text(encoding="utf-8"))[version])


def lines_of(data: Facts, key: str, about: Facts, given: Facts) -> list[tuple[str, str, str]]:
    """Return the lines of a schedule, for facts and given parameters, with all words filled in; a KeyError if there is none."""
    facts = data["schedules"][key].get("given", {}) | given | about
    facts |= dict(lengths(facts))
    told = [f"{name}={value}" for name, value in facts.items()]

    def word(found: re.Match[str]) -> str:
        for pattern, text in data["words"].get(found[1], {}).items():
            if any(re.fullmatch(pattern, one) for one in told):
                return re.sub("<(.+?)>", word, text)
        value = str(facts.get(found[1]))
        return value if re.fullmatch(r"[\w-]+", value) else "nothing"

    lines = [re.sub("<(.+?)>", word, line) for line in data["schedules"][key]["asks"]]
    inner = {name.removeprefix("base."): value for name, value in given.items() if name.startswith("base.")}
    like = [lines_of(data, line.removeprefix("like "), about, inner) for line in lines if line.startswith("like ")]
    return [one for some in like for one in some] + [one for line in lines for one in re.findall("^(.+?) (.+) = (.+)$", line)]


def _wrong(lines: list[tuple[str, str, str]], record: Facts, pooled: list[list[str]]) -> Iterator[str]:
    """Yield what is wrong with a release that should follow these lines."""
    plain, series = [name for names in pooled for name in names], defaultdict[str, set[int]](set)
    for name in plain:
        for one in re.finditer(r"\d{1,9}", name):
            series[name[: one.start()]].add(int(one[0]))
    whole = {start for start, found in series.items() if found == set(range(1, len(found) + 1))}
    if len(set(plain)) < len(plain):
        yield "a charge pays for two questions"
    for times, name, _ in lines:
        start, number, _ = name.partition("#")
        found = series[start] if number else {one for one in plain if re.fullmatch(name, one)}
        if times != "&" and not re.fullmatch(times, str(len(found))):
            yield f"a question is {'asked another number of times than' if found else 'missing that'} its algorithm always asks"
    for noise, names in zip(record["mechanisms"], pooled, strict=True):
        numbered = (re.sub(r"\d+", lambda one: "#" if one.string[: one.start()] in whole else one[0], name) for name in names)
        called = (" + ".join(names), " + ".join(numbered))
        what = [what for _, name, what in lines if any(re.fullmatch(name, one) for one in called)]
        if not what or not re.fullmatch(what[0], words_of(noise)):
            yield "a charge paid for something else than its name says"
    moved = record.get("supported_centers") is not None or record.get("center_margins") is not None
    if moved and not {"sums", "minimize", "reports"} & {one["question"] for one in record["charges"]}:
        yield "centers were moved by a step that nothing paid for"


def misasked(record: Facts, kind: str, columns: int) -> str | None:
    """Return in words where a release, of this kind or ``local``, has not asked what its algorithm asks; None if it has.

    Of an algorithm without a schedule nothing is known: it is taken at its word.
    """
    pooled = [one["name"].replace("#", "no number").split(" + ") for one in record["mechanisms"]]
    facts = {"objective": record.get("objective"), "k": record.get("k"), "columns": columns}
    facts |= {"points": record.get("space", {}).get("n_points"), "ball": "radius" in record.get("domain", {})}
    facts |= {name: record.get(name) is not None for name in ("tightened", "persons", "k_costs", "travel")}
    facts |= {"measured": any(one["kind"] in ("number", "date") for one in record.get("columns", ()))}
    facts |= {f"asked {blank(name)}": True for names in pooled for name in names}
    facts |= {f"mixed {blank(name)}": True for names in pooled for name in names if len(set(map(blank, names))) > 1}
    given = {name: value for name, value in record["parameters"].items() if re.fullmatch(r"[\w.]+", name)}
    try:
        lines = lines_of(schedules(record["format"][-1]), f"{kind} {record.get('algorithm', '')}".strip(), facts, given)
    except KeyError:
        return None
    return next(_wrong(lines, record, pooled), None)
