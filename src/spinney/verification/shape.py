"""The published JSON schemas of releases, one per version of the format, and a checker of what they use of JSON Schema.

A reader needs no other package; the tests hold the checker to the reference one where that is installed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import lru_cache
from importlib.resources import files
from typing import Any

#: Versions of the format that have a schema.
SCHEMAS = (1, 2, 3)
_TYPES: dict[str, tuple[type, ...]] = {
    "array": (list,), "boolean": (bool,), "integer": (int,), "null": (type(None),), "number": (int, float), "object": (dict,),
    "string": (str,),
}  # fmt: skip


@lru_cache
def _text(version: int) -> str:
    return files(__package__).joinpath(f"schemas/release-{version}.json").read_text(encoding="utf-8")


def schema(version: int = SCHEMAS[-1]) -> dict[str, Any]:
    """Return the JSON schema of releases of a version of the format."""
    found: dict[str, Any] = json.loads(_text(version))
    return found


def _is_of(value: Any, kinds: str | list[str]) -> bool:
    """Whether a value is of one of these types; True and False are no numbers."""
    names = [kinds] if isinstance(kinds, str) else kinds
    return any(isinstance(value, _TYPES[name]) and (name == "boolean" or not isinstance(value, bool)) for name in names)


def _same(value: Any, other: Any) -> bool:
    return bool(value == other) and isinstance(value, bool) == isinstance(other, bool)


#: What a plain value must satisfy, by keyword; each is asked only of values that it is about.
_PLAIN: dict[str, Callable[[Any, Any], bool]] = {
    "type": _is_of,
    "const": _same,
    "enum": lambda value, allowed: any(_same(value, one) for one in allowed),
    "pattern": lambda value, pattern: not isinstance(value, str) or re.search(pattern, value) is not None,
    "minimum": lambda value, least: not _is_of(value, "number") or value >= least,
    "exclusiveMinimum": lambda value, least: not _is_of(value, "number") or value > least,
    "exclusiveMaximum": lambda value, most: not _is_of(value, "number") or value < most,
    "minItems": lambda value, least: not isinstance(value, list) or len(value) >= least,
    "maxItems": lambda value, most: not isinstance(value, list) or len(value) <= most,
}


def _inside(value: Any, rule: dict[str, Any], defs: dict[str, Any], place: str) -> str | None:
    """Return where the parts of an object or a list do not fit."""
    if isinstance(value, dict):
        known = rule.get("properties", {})
        for name in rule.get("required", ()):
            if name not in value:
                return f"{place or 'it'} lacks {name!r}"
        others = rule.get("additionalProperties", True)
        for name, part in value.items():
            inner = known.get(name, others)
            if inner is False:
                return f"{place or 'it'} has a field that the format does not have"
            there = f"{place}.{name}".strip(".") if name in known else place
            if inner is not True and (wrong := _wrong(part, inner, defs, there)):
                return wrong
    if isinstance(value, list) and "items" in rule:
        return next((wrong for part in value if (wrong := _wrong(part, rule["items"], defs, place))), None)
    return None


def _choice(value: Any, rules: list[dict[str, Any]], defs: dict[str, Any], place: str) -> str | None:
    """Return where a value fits none of several rules: of the last that it comes nearest to, the one of its own format first."""
    wrong = [_wrong(value, rule, defs, place) for rule in rules]
    if None in wrong:
        return None
    named = isinstance(value, dict)
    for rule, text in zip(rules, wrong, strict=True):
        if named and rule.get("properties", {}).get("format", {}).get("const") == value.get("format"):
            return text
    return f"{place or 'it'} is of no shape that the format has"


def _wrong(value: Any, rule: dict[str, Any], defs: dict[str, Any], place: str) -> str | None:
    """Return where a value does not fit a rule, by names of the schema and none of the file; None if it fits."""
    if "$ref" in rule:
        return _wrong(value, defs[rule["$ref"].rpartition("/")[2]], defs, place)
    for keyword, holds in _PLAIN.items():
        if keyword in rule and not holds(value, rule[keyword]):
            return f"{place or 'it'} is not as the format has it"
    for keyword in ("anyOf", "oneOf"):  # the branches of these schemas exclude each other
        if keyword in rule and (wrong := _choice(value, rule[keyword], defs, place)):
            return wrong
    return _inside(value, rule, defs, place)


def misfit(record: Any, version: int) -> str | None:
    """Return in words where a record does not fit the schema of a version, quoting nothing of it; None if it fits."""
    rules = schema(version)
    return _wrong(record, rules, rules["$defs"], "")
