"""Whether as much was released as was asked for, and lies where it may: in public bounds, or among public points or sets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

from spinney.verification.report import Check

#: What each kind of release is of.
KINDS = {"release": "centers", "sites": "medoids", "cover": "chosen", "description": "rows"}
#: By how much of a width, and of the size of a bound, rounding may move a number beyond it.
OF_WIDTH, OF_SIZE = 1e-9, 2.0**-48


def kind_of(record: dict[str, Any]) -> str:
    """Return what a release is of."""
    return str(record["format"].partition("-")[2].partition("/")[0])


def check_contents(record: dict[str, Any]) -> list[Check]:
    """Return the checks of a release's contents; its shape was checked by the schema."""
    name, k = kind_of(record), record["k"]
    steps = [one["steps"] for one in record["mechanisms"] if name == "cover" and one["question"] == "cover"]
    same = len(record[KINDS[name]]) == k and all(count == k for count in steps)
    if not same:
        return [Check("k", False, "there are not as many as were asked for")]
    if not {"release": _centers_fit, "sites": _sites_fit, "cover": lambda one: True, "description": _rows_fit}[name](record):
        return [Check("k", False, "its lists are not as long as they must be")]
    where, wrong = {"release": _outside, "sites": _nowhere, "cover": _no_set, "description": _not_in_columns}[name](record)
    return [Check("k", True, f"{k}, {record['k_source']}"), Check("bounds", wrong is None, wrong or where)]


def _are_long(lists: Iterable[Sequence[Any]], length: int) -> bool:
    return all(len(one) == length for one in lists)


def _centers_fit(record: dict[str, Any]) -> bool:
    """Whether lists are as long as the numbers of clusters and of columns, on which sensitivities rest."""
    d, names, margins = len(record["domain"]["lower"]), record["feature_names"], record.get("center_margins")
    boxes = [record["domain"], record["tightened"] or record["domain"]]
    wide = [*(box[end] for box in boxes for end in ("lower", "upper")), *record["centers"], *record["summary_points"]]
    wide += [*(margins or []), *([names] if names is not None else [])]
    long = [record["sizes"], *([margins] if margins is not None else [])]
    weighed = len(record["summary_points"]) == len(record["summary_weights"])
    return _are_long(wide, d) and _are_long(long, record["k"]) and weighed and (record["supported_centers"] or 1) <= record["k"]


def _sites_fit(record: dict[str, Any]) -> bool:
    sites = len(record["medoids"] + record["existing_sites"])
    told = [record[name] for name in ("coordinates", "names") if record[name] is not None]
    weighed = len(record["summary_points"]) == len(record["summary_weights"])
    told += [value for value in record.get("goal", {}).values() if isinstance(value, list)]
    assigned, travel = record.get("assignment"), [record.get(name) for name in ("travel", "travel_margins")]
    there = [None if one is None else [number is None for number in one] for one in travel]
    told += [one for one in travel if one is not None]
    weighed = weighed and there[0] == there[1]  # a mean and its margin are told of the same sites
    return _are_long([record["sizes"], *told], sites) and weighed and (assigned is None or max(assigned) < sites)


def _rows_fit(record: dict[str, Any]) -> bool:
    k, m, levels = record["k"], len(record["columns"]), len(record["quantile_levels"])
    tables = [record[name] for name in ("means", "mean_margins", "quantiles", "quantiles_lower", "quantiles_upper", "scores")]
    persons = [record["persons"]] if record["persons"] is not None else []
    ordered = [row for table in tables[2:5] for cluster in table for row in cluster]
    whole = _are_long([record["rows"], record["counts"], *tables, *persons], k) and len(record["bins"]) == m
    whole = whole and _are_long((row for table in tables for row in table), m) and _are_long(ordered, levels)
    return whole and _are_long(record["counts"], sum(record["bins"]) + m)


def _is_in(value: float | None, low: float, high: float) -> bool:
    """Whether a number, if there is one, lies between two others, up to rounding."""
    slack = OF_WIDTH * (high - low) + OF_SIZE * (abs(low) + abs(high))
    return value is None or low - slack <= value <= high + slack


def _are_in(points: Iterable[Sequence[float | None]], box: Sequence[Sequence[float]]) -> bool:
    return all(_is_in(value, *ends) for point in points for value, ends in zip(point, box, strict=True))


def _ends_of(column: dict[str, Any]) -> list[list[float]]:
    """Return the bounds of the columns of numbers that a column of a table becomes: days of dates, indicators of categories."""
    if column["kind"] == "number":
        return [column["bounds"]]
    if column["kind"] == "date":
        start = date.fromisoformat(column["epoch"])
        return [[float((date.fromisoformat(day) - start).days) for day in column["bounds"]]]
    return [[0.0, 1.0]] * len(column.get("categories", [0]))


def _outside(record: dict[str, Any]) -> tuple[str, str | None]:
    """Say where centers must lie, and what lies elsewhere."""
    words = "centers and summary lie in the public bounds, and sizes are not negative"
    domain, tightened, points = record["domain"], record["tightened"], [*record["centers"], *record["summary_points"]]
    box = list(zip(domain["lower"], domain["upper"], strict=True))
    if not all(low < high for low, high in box):
        return words, "a lower bound is not below its upper bound"
    facts = [tuple(ends) for column in record.get("schema") or [] for ends in _ends_of(column)]
    if facts and facts != box:
        return words, "the bounds do not match the schema"
    if tightened is not None and not (
        all(low <= high for low, high in zip(tightened["lower"], tightened["upper"], strict=True))
        and _are_in([tightened["lower"], tightened["upper"]], box)
    ):
        return words, "the private box is not in the public bounds"
    if not _are_in(points, box) or not all(_is_in_ball(point, domain) for point in points):
        return words, "a center, or a point of the summary, lies outside the public bounds"
    if min(record["sizes"]) < 0 or record["sizes_margin"] < 0:
        return words, "a size is negative"
    return words, None


def _is_in_ball(point: Sequence[float], domain: dict[str, Any]) -> bool:
    """Whether a point lies in the ball of a domain, if it is one, up to rounding."""
    if "radius" not in domain:
        return True
    middle = [low / 2 + high / 2 for low, high in zip(domain["lower"], domain["upper"], strict=True)]
    radius: float = domain["radius"]
    return math.dist(point, middle) <= radius * (1 + OF_WIDTH) + OF_SIZE * math.hypot(*middle)


def _nowhere(record: dict[str, Any]) -> tuple[str, str | None]:
    """Say which points sites must be, and which one is wrong."""
    words, space = "sites and summary are points of the public space, and sizes are not negative", record["space"]
    sites = record["medoids"] + record["existing_sites"]
    if space["n_candidates"] > space["n_points"] or max(sites + record["summary_points"]) >= space["n_points"]:
        return words, "a site, or a point of the summary, is no point of the space"
    if len(set(sites)) < len(sites):
        return words, "a site is there twice"
    if len(record.get("assignment", ())) not in (0, space["n_points"]):
        return words, "points are assigned that are none of the space"
    if min(record["sizes"]) < 0 or record["sizes_margin"] < 0:
        return words, "a size is negative"
    return words, None


def _no_set(record: dict[str, Any]) -> tuple[str, str | None]:
    """Say which sets may be chosen, and which one is wrong."""
    holds = max(record["chosen"], default=0) < record["n_sets"]
    return "chosen sets are among the public ones", None if holds else "a chosen set is none of the public ones"


def _not_in_columns(record: dict[str, Any]) -> tuple[str, str | None]:
    """Say where means and quantiles must lie, and what lies elsewhere."""
    words, box = "means and quantiles lie in the public bounds of their columns", [_ends_of(one)[0] for one in record["columns"]]
    levels = [list(zip(*cluster, strict=True)) for name in _QUANTILES for cluster in record[name]]
    holds = all(low < high for low, high in box) and _are_in(record["means"], box)
    holds = holds and all(_are_in(points, box) for points in levels)
    return words, None if holds else "a mean or a quantile lies outside the public bounds of its column"


_QUANTILES = ("quantiles", "quantiles_lower", "quantiles_upper")
