"""What was done to rows before the questions, in words; only the rules that applied."""

from __future__ import annotations

from spinney.privacy.adjacency import Adjacency
from spinney.spaces.schema import Schema

#: What the library cannot see, such as a scaler in a pipeline before it: the user declares it, or does not.
BEFORE = "before that, as declared by the caller: none"


def _missing(what: str, instead: str, adjacency: str) -> str:
    rule = "dropped" if adjacency == Adjacency.ADD_REMOVE.value else f"read as {instead}"
    return f"{what} {rule}"


def missing_rows(adjacency: str, schema: Schema | None = None) -> str:
    """Return what was done with rows that have missing numbers; a schema may say what single cells are read as."""
    filled = schema is not None and any(column.fill is not None for column in schema.columns)
    first = "missing cells of some columns read as the schema says; other " if filled else ""
    return first + _missing("rows with a missing or infinite value", "the middle of the domain", adjacency)


def missing_names(thing: str, first: str, adjacency: str) -> str:
    """Return what was done with rows that name no thing; parameters as for `prepared_names`."""
    return _missing(f"rows that name no {thing}", first, adjacency)


def _rules(first: str, missing: str, cap: int | None, times: int | None = None) -> str:
    """Return the rules in one sentence: what happens to rows without a value, and to the rows of a group."""
    rules = [*([first] if first else []), missing]
    if cap is not None:
        rows = "one row" if cap == 1 else f"at most {cap} rows"
        rules.append(f"rows without a name of a group dropped, and {rows} of a group counted, chosen by secret draws")
    if times is not None:
        rules.append(f"each row counted by its weight, {'once at most' if times == 1 else f'at most {times} times'}")
    return "; ".join([*rules, BEFORE])


def prepared_rows(adjacency: str, cap: int | None, schema: Schema | None = None) -> str:
    """Return what was done to rows of numbers, with a cap on rows per group and a public schema, if there are."""
    clipped = "values clipped to the declared bounds and read on a public grid"
    if schema is not None:
        clipped = f"cells read and divided by units as the public schema says; {clipped}"
    return _rules(clipped, missing_rows(adjacency, schema), cap)


def prepared_description(adjacency: str, cap: int | None) -> str:
    """Return what was done to rows that are described; parameters as for `prepared_rows`."""
    first = "columns that decide a cluster read as in the described release; numbers clipped to the declared bounds"
    missing = f"{missing_rows(adjacency)}, if it decides a cluster; other cells that say nothing counted so, unless filled in"
    return _rules(first, missing, cap)


def prepared_names(thing: str, first: str, adjacency: str, cap: int | None, times: int | None = None) -> str:
    """Return what was done to rows that name a thing, or nothing and are read as the first where they cannot be dropped."""
    return _rules("", missing_names(thing, first, adjacency), cap, times)
