"""Results of commands as JSON, for programs that read them."""

from __future__ import annotations

import json
import math
from typing import Any

import click

#: Where it is noted that results are wanted as JSON.
_AS_JSON = "spinney.as_json"
#: Where it is noted how messages are told.
TOLD = "spinney.told"


JSON = click.option(
    "--json", is_flag=True, expose_value=False, help="Print the result as JSON.",
    callback=lambda context, parameter, value: context.meta.update({_AS_JSON: value}),
)  # fmt: skip


def wants_json() -> bool:
    """Whether the command that runs was asked for JSON."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(_AS_JSON))


def is_quiet() -> bool:
    """Whether nothing is to be said that is no result."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.find_root().meta.get(TOLD, {}).get("quiet"))


def as_json(facts: Any) -> str:
    """Return facts in one line; JSON has no infinity, so it becomes a text."""
    return json.dumps(_plain(facts), ensure_ascii=False, allow_nan=False)


def _plain(facts: Any) -> Any:
    if isinstance(facts, dict):
        return {str(name): _plain(value) for name, value in facts.items()}
    if isinstance(facts, list | tuple):
        return [_plain(value) for value in facts]
    if facts is None or isinstance(facts, str | int) or (isinstance(facts, float) and math.isfinite(facts)):
        return facts
    return str(facts)
