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
from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Any

from spinney.verification.schedule import FORMULAS, Stated, blank, followed, margin


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
