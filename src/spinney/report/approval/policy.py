"""The policy of whoever decides on releases: a TOML file of few keys, each of which is one thing that a release must keep to."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spinney.exceptions import DataError
from spinney.privacy.adjacency import Adjacency
from spinney.spaces.column import Column
from spinney.spaces.column_facts import column_of
from spinney.spaces.plain_values import is_positive, number_of
from spinney.tables.schema_files import read_schema

#: What a policy may say, with what each must be.
KEYS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "epsilon": (is_positive, "a positive number: the most that the release may promise"),
    "delta": (lambda value: 0 <= (number_of(value) or 0) < 1 and number_of(value) is not None, "a number in [0, 1)"),
    "total_epsilon": (is_positive, "a positive number: the most that all releases of the ledger may spend together"),
    "total_delta": (lambda value: 0 <= (number_of(value) or 0) < 1 and number_of(value) is not None, "a number in [0, 1)"),
    "unit": (lambda value: value in ("row", "group"), "'row' or 'group', such as all rows of one person"),
    "max_rows_per_group": (lambda value: type(value) is int and value >= 1, "a whole number from 1 on"),
    "adjacency": (lambda value: value in tuple(map(str, Adjacency)), "'add-remove' or 'replace'"),
    "schema": (lambda value: type(value) is str and value != "", "the name of a schema file, in the folder of the policy"),
    **dict.fromkeys(("sources", "signature", "audit", "plan", "page"), (lambda value: type(value) is bool, "true or false")),
}
HINT = 'write TOML such as epsilon = 1, delta = 0, unit = "row", schema = "approved.toml", sources = true, one key a line.'


@dataclass(frozen=True)
class Policy:
    """What was asked for; what a key does not say is not asked."""

    name: str  # of its file
    asked: dict[str, Any]  # the keys that it has, with their values
    columns: dict[str, Column]  # of its schema, by their names; empty if it names none


def read_policy(path: Path) -> Policy:
    """Return the policy in a file, after a check of each key; a message names a key and no value."""
    try:
        asked = tomllib.loads(path.read_bytes().decode("utf-8"))
    except (ValueError, RecursionError):
        asked = {}
    if not asked:
        raise DataError(f"{path} is no policy in TOML.", HINT)
    for key, value in asked.items():
        if key not in KEYS:
            raise DataError(f"{path} has a key that no policy has.", f"the keys are {', '.join(KEYS)}.")
        holds, must = KEYS[key]
        if not holds(value):
            raise DataError(f"{path}: {key} must be {must}.", HINT)
    if "max_rows_per_group" in asked and asked.get("unit") != "group":
        raise DataError(f"{path}: max_rows_per_group needs unit = 'group'.", "a release about single rows has no such number.")
    facts = read_schema(path.parent / asked["schema"]) if "schema" in asked else {}
    return Policy(path.name, asked, {name: column_of(name, given, "a policy") for name, given in facts.items()})
