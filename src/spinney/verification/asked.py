"""What the algorithms that come with Spinney ask, written a second time: a record may be lawful by itself and not be theirs.

A count over the bins of all columns that calls itself a count over plain cells has less noise than it needs, and nothing in its
own numbers tells. Its name does: what each name of a charge stands for is listed here, and which names no release of an algorithm
lacks. Of algorithms of others nothing is known, and their records are taken at their word.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from spinney.verification.amounts import fraction_of

__all__ = ["margins_are_told", "misasked"]

#: Names, with ``#`` for a number, and what they pay for. ``columns`` counts the bins of every column, ``spread`` does so or adds
#: up second moments, ``total`` is a sum over all rows, ``step`` a sum by the kernel of the objective; others are a question and,
#: behind it, of what.
_TREE = {"rows": "counts", "columns": "columns", "splits": "grow", "leaves": "counts", "sizes": "counts"}
_POLISH = {f"radii{place}": "counts" for place in ("", " #")} | {f"polish{place}": "step" for place in ("", " #")}
_MORE = {"more #": "step"}
_POLISH |= {"polish, #": "sums mean", "polish #, #": "sums mean", "choice": "cost", "rival": "cost"} | _MORE
_SHAPE = {"spread": "spread", "cells": "counts"}
_MOMENTS = {"leaves": "counts", "deeper": "levels", "radii #": "counts"} | _MORE
_HST = {
    "tree": "levels", "tree #": "levels", "mean": "sums mean", "merge": "counts", "lift radii": "counts", "lift": "sums mean",
    "radii #": "counts", "round #": "step", "round #, #": "sums mean",
}  # fmt: skip
_STABLE = {"stable step": "first step", "stable step, #": "sums mean", "extra #": "step", "extra #, #": "sums mean"}
_SIZES = {"sizes": "counts"}
#: By the kind of release and the algorithm: what is always asked, and what may be.
_ASKED: dict[tuple[str, str], tuple[dict[str, str], dict[str, str]]] = {
    ("release", "tree"): (_TREE, _POLISH),
    ("release", "moments"): ({"mean": "total", "distance": "counts", "step #": "step"} | _SIZES, _MOMENTS),
    ("release", "hst"): (_SIZES, _HST),
    ("release", "lloyd"): ({"round #": "step"} | _SIZES, {}),
    ("release", "lsh"): ({"middle": "sums mean", "level #": "counts", "sums": "sums mean"} | _SIZES, {}),
    ("release", "balcan"): (
        {"level #": "counts", "best": "choose", "radii": "counts", "means": "step"} | _SIZES, {"swap #": "choose"}
    ),
    ("release", "coverage"): ({"rows": "counts", "splits": "grow", "cover": "cover", "weights": "counts"} | _SIZES, {}),
    ("release", "k-variates"): ({"rows": "counts", "splits": "grow", "draw #": "counts"} | _SIZES, {}),
    ("release", "sample-aggregate"): (
        {"columns": "columns", "splits": "blocks grow", "leaves": "blocks counts", "step": "step"} | _SIZES, {}
    ),
    ("release", "one-cluster"): (_TREE | {"spread": "counts", "center": "step", "ball #": "counts"}, _POLISH),
    ("release", "stable"): ({"stable cost": "cost", "recount": "counts"}, _STABLE),
    ("sites", "cells"): ({"coarse": "counts", "fine": "counts"} | _SIZES, {}),
    ("sites", "coverage"): ({"cover": "cover", "weights": "counts"} | _SIZES, {}),
    ("sites", "hst"): ({"level #": "counts"} | _SIZES, {}),
    ("sites", "local-search"): ({"best": "choose"} | _SIZES, {"level #": "counts", "swap #": "choose"}),
    ("cover", ""): ({"cover": "cover"}, {}),
    ("local", "refined"): ({"reports": "reports"}, {}),
    ("local", "stable"): (dict.fromkeys(("coarse cells", "fine cells", "regions", "sums", "cost"), "reports"), {}),
}  # fmt: skip
#: How often a numbered question is asked, if it is: so many times, or as a parameter says.
_TIMES: dict[tuple[str, str, str], int | str] = {
    ("release", "tree", "radii"): 2, ("release", "tree", "polish"): 2, ("release", "moments", "step"): 3,
    ("release", "tree", "more"): 3, ("release", "moments", "more"): 3, ("release", "one-cluster", "more"): 3,
    ("release", "stable", "more"): 3,
    ("release", "one-cluster", "radii"): 2, ("release", "one-cluster", "polish"): 2, ("release", "one-cluster", "ball"): 3,
    ("release", "lsh", "level"): "levels", ("release", "balcan", "swap"): "steps", ("release", "hst", "radii"): "rounds",
    ("release", "hst", "round"): "rounds", ("release", "hst", "tree"): "repairs", ("release", "stable", "extra"): "steps",
    ("release", "stable", "polish"): 2,
    ("sites", "hst", "level"): "levels", ("sites", "local-search", "level"): "levels", ("sites", "local-search", "swap"): "steps",
}  # fmt: skip
#: Kernels of steps, by objective; and of the first step of ``stable``.
_KERNELS = {"kmeans": "mean", "kmedian": "median"}
_FIRST = {"kmeans": "core", "kmedian": "median"}
#: A tree of the published algorithm is no deeper; radii of covers are no more, and those of rows this far apart.
_DEEPEST, _MOST_RADII, _SCALES = 16384, 200, 2048
#: ``moments`` asks for histograms below so many columns only.
_MANY_TO_BIN = 64
#: Where it follows rows down a tree, it counts so many levels; with one column or two the tree may end before.
_FOLLOWED, _FEW_TO_FOLLOW = 41, 3
#: What a margin of counts covers.
_COVER = 0.95


def _parts(name: str) -> list[str]:
    """Return the names that were put together in one, numbers left out."""
    return [re.sub(r"\d+", "#", one) for one in name.split(" + ")]


def _tables(record: dict[str, Any], kind: str) -> list[tuple[dict[str, str], dict[str, str]]]:
    """Return what is always asked and what may be, by name, for each base there may be; none of an algorithm that is not ours."""
    found = _ASKED.get((kind, record.get("algorithm", "")))
    if found is None:
        return []
    always, maybe = found
    if record.get("tightened") is not None:
        always = always | {"bounds": "columns"}
    if (kind, record.get("algorithm")) != ("release", "stable"):
        return [(always, maybe)]
    given = record["parameters"].get("base", "auto")
    bases = [_ASKED.get((kind, base)) for base in (("tree", "moments") if given == "auto" else (str(given),))]
    return [(always | base[0], maybe | base[1]) for base in bases if base is not None]


def _minimizes(name: str, record: dict[str, Any]) -> bool:
    """Whether a step of this name is a minimum, as the parameters say."""
    inner = record["algorithm"] == "stable" and not name.startswith(("stable step", "extra"))
    return bool(record["parameters"].get("base.median_step" if inner else "median_step") == "objective")


def _is_sum(noise: dict[str, Any], what: str, record: dict[str, Any]) -> bool:
    """Whether a record is of a sum of this kind."""
    objective = record["objective"]
    if what == "total":  # a box inside a ball may be the one or the other
        kernels = ({"mean", "box"} if record["tightened"] else {"mean"}) if "radius" in record["domain"] else {"box"}
        return noise["question"] == "sums" and noise["kernel"] in kernels
    if what in ("step", "first step"):
        if objective == "kmedian" and _minimizes(noise["name"], record):
            return bool(noise["question"] == "minimize")
        return (noise["question"], noise.get("kernel")) == ("sums", (_FIRST if what == "first step" else _KERNELS)[objective])
    return (noise["question"], noise.get("kernel")) == ("sums", what.partition(" ")[2])


def _is(noise: dict[str, Any], what: str, record: dict[str, Any], columns: int) -> bool:
    """Whether a record is of what its name stands for."""
    if what == "spread":  # which of the two, the noisy number of rows decides
        is_binned = columns < _MANY_TO_BIN and _is(noise, "columns", record, columns)
        return is_binned or _is(noise, "sums second-moment", record, columns)
    question, _, about = what.partition(" ")
    if question in ("sums", "total", "step", "first"):
        return _is_sum(noise, what, record)
    if question in ("counts", "columns"):
        families = columns if question == "columns" else 1
        return bool(noise["question"] == "counts" and noise["answers"][0]["row_sensitivity"] == str(families))
    if question == "blocks":
        same = noise["question"] == "blocks" and noise["about"]["question"] == about
        given = record["parameters"]
        sampling = given.get("base.sampling", "disjoint") if record["algorithm"] == "stable" else given.get("sampling")
        whole = same and noise["points"] == record["k"] and noise["sampling"] == sampling
        return whole and (about != "counts" or _is(noise["about"], "counts", record, columns))
    return bool(noise["question"] == question)


def _fits(noise: dict[str, Any], names: list[str], tables: dict[str, str], record: dict[str, Any], columns: int) -> bool:
    """Whether a record is of what one of its names stands for.

    Charges that were put together pay for a step if there is one among them, or for a sum over all rows, and never for levels;
    those that a tree of few columns leaves to its leaves pay for these.
    """
    known = {tables[name] for name in names if name in tables}
    if len(names) > 1 and names[0] == "leaves" and "splits" in tables:
        known = {"counts"}
    elif len(names) > 1:
        known = known & {"step"} or known - {"levels"} or known
        known |= {"total"} if "step" in known and set(names) - _MORE.keys() > {"step #"} else set()
    return known != set() and any(_is(noise, what, record, columns) for what in known)


def _of_lengths(record: dict[str, Any], kind: str, columns: int) -> Iterator[str]:
    """Yield what is wrong with how often a charge's answers are given: levels of a tree, and steps of a cover."""
    given, k, is_given = record["parameters"], record["k"], record.get("k_costs") is None
    algorithm = record.get("algorithm")
    for noise in record["mechanisms"]:
        if noise["question"] == "levels" and algorithm == "hst" and given.get("projection") != "auto":
            cut = min(columns, given.get("projection") or columns)
            if noise["repeats"] != min(given.get("alpha", 0) * cut, _DEEPEST) + 1:
                yield "its tree has other levels than its parameters say"
        if noise["name"] == "deeper" and columns >= _FEW_TO_FOLLOW and noise["repeats"] != _FOLLOWED:
            yield "its tree has other levels than it follows rows down"
        if noise["question"] == "cover" and algorithm == "coverage" and 0 < given.get("growth", 0) < 1 and is_given:
            apart = _SCALES if kind == "release" else max(record["space"]["n_points"], 2)
            radii = min(_MOST_RADII, math.ceil(math.log(apart) / math.log1p(given["growth"])) + 1)
            if noise["steps"] != radii * max(1, math.ceil(2 * k * math.log(1 / given["growth"]))):
                yield "its cover has other steps than its parameters say"


def _is_numbered(names: list[str], record: dict[str, Any], kind: str) -> bool:
    """Whether numbered questions are numbered from one on without a gap, and are as many as the algorithm asks."""
    numbers: dict[str, set[int]] = {}
    for name in names:
        if numbered := re.fullmatch(r"([a-z ]+) (\d{1,9})(, \d+)?", name):
            numbers.setdefault(numbered[1], set()).add(int(numbered[2]))
        if numbered := re.fullmatch(r"([a-z \d]+), (\d{1,9})", name):  # of one step that is taken by several questions
            numbers.setdefault(f"{numbered[1]},", set()).add(int(numbered[2]))
    algorithm, given = record.get("algorithm", ""), record.get("parameters", {})
    if numbers.get("polish", set()) - numbers.get("radii", set()):
        return False
    if algorithm == "moments" or given.get("base") in ("moments", "auto"):
        numbers.pop("radii", None)  # those of a step that needs none stay unspent
    for (one, other, name), times in _TIMES.items():
        most = given.get(times) if isinstance(times, str) else times
        if (one, other) == (kind, algorithm) and name in numbers and isinstance(most, int) and len(numbers[name]) != most:
            return False
    return all(found == set(range(1, len(found) + 1)) for found in numbers.values())


def _is_whole(always: dict[str, str], names: set[str], record: dict[str, Any]) -> bool:
    """Whether no question is missing that an algorithm always asks."""
    algorithm, given = record.get("algorithm"), record.get("parameters", {})
    if algorithm == "stable" and "recount" in always and not {"stable step", "stable step, #"} & names:
        return False
    if algorithm == "hst" and "domain" in record:
        trees = {"tree #", "mean", "merge"} if given.get("repairs") else {"tree"}
        if not (trees | ({"lift radii", "lift"} if "lift radii" in names or "lift" in names else set())) <= names:
            return False
    if algorithm == "local-search" and given.get("start") == "hst" and "level #" not in names:
        return False
    rounds = given.get("rounds", 0) if algorithm == "hst" and "domain" in record else 0
    steps = {"radii #": {"radii #"}, "round #": {"round #", "round #, #"}} if rounds else {}
    steps |= (
        {"polish": {"polish", "polish #", "polish, #", "polish #, #"}}
        if {"radii", "radii #"} & names and "columns" in always
        else {}
    )
    return always.keys() <= names and all(some & names for some in steps.values())


def misasked(record: dict[str, Any], kind: str, columns: int) -> str | None:
    """Return in words where a release has not asked what its algorithm asks; None if it has, or if the algorithm is not ours.

    Parameters
    ----------
    record : dict
        A release of the right shape, of format 2, whose noise was found to be what its charges buy.
    kind : str
        Of the release; ``local`` of one in the local model.
    columns : int
        Of the domain; 0 of points.
    """
    tables = _tables(record, kind)
    if not tables:
        return None
    plain = [name for one in record["mechanisms"] for name in one["name"].split(" + ")]
    asked = [_parts(one["name"]) for one in record["mechanisms"]]
    names = {name for some in asked for name in some}
    # All that is left may pay for one step, with nothing before it.
    is_pooled = any({"step #"} < set(some) - _MORE.keys() for some in asked)
    names |= {"spread", "cells"} if is_pooled else set()
    tables = [(always | _SHAPE if "distance" in always else always, maybe) for always, maybe in tables]
    lawful = [table for table in tables if _is_whole(table[0], names, record)]
    if not lawful:
        return "a question is missing that its algorithm always asks"
    if len(set(plain)) < len(plain):
        return "a charge pays for two questions"
    if not _is_numbered(plain, record, kind):
        return "a question is asked another number of times than its algorithm asks it"
    always, maybe = lawful[0]
    if not all(
        _fits(noise, some, maybe | always, record, columns) for noise, some in zip(record["mechanisms"], asked, strict=True)
    ):
        return "a charge paid for something else than its name says"
    moved = record.get("supported_centers") is not None or record.get("center_margins") is not None
    if moved and kind != "local" and not {"sums", "minimize"} & {one["question"] for one in record["charges"]}:
        return "centers were moved by a step that nothing paid for"
    return next(_of_lengths(record, kind, columns), None)


def _margin(noise: dict[str, Any]) -> float:
    """Return how far noise on counts reaches, which is told with them."""
    scale = float(min(fraction_of(noise["answers"][0]["scale"]) or Fraction(), Fraction(10**300)))
    if noise["mechanism"] == "discrete gaussian":
        return math.ceil(scale * 1.9599639845400545) + 1
    decay = math.exp(-1 / max(scale, 1e-3))
    return max(0, math.ceil(-scale * math.log((1 - _COVER) * (1 + decay) / 2)) - 1)


def margins_are_told(record: dict[str, Any], kind: str) -> bool:
    """Whether the margins of counts are those of their noise, to a row; of algorithms of others nothing is known.

    Parameters
    ----------
    record, kind
        As in `misasked`, which found nothing.
    """
    sizes = {"rows_margin": ("rows",), "persons_margin": ("persons",), "counts_margin": ("bins",)}
    if kind != "description":
        algorithm = record.get("algorithm", "")
        counted = {"stable": ("recount",), "one-cluster": ("ball #",)}.get(algorithm, ("sizes",))
        sizes = {"sizes_margin": counted} if (kind, algorithm) in _ASKED else {}
    for field, names in sizes.items():
        told = record.get(field)
        there = [_margin(one) for one in record["mechanisms"] if set(_parts(one["name"])) & set(names)]
        if told is not None and not any(abs(told - one) <= 1 for one in there):
            return False
    return True
