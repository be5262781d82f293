"""How a message may speak of what was passed: by its name, if it is one, and else by its type alone; what a file's name says."""

from __future__ import annotations

import re
from os import PathLike
from pathlib import Path

__all__ = ["COMPRESSED", "is_path", "kind_of", "named", "type_of", "without_values"]

#: What the name of a compressed file ends in.
COMPRESSED = (".gz", ".zst")
#: A longer text, or one of several lines, is no name.
LONGEST_NAME = 40
#: No file system takes longer paths.
LONGEST_PATH, LONGEST_PART = 4096, 256
#: A whole number of more bits is not printed: it is no count and no seed that someone typed.
MOST_BITS = 64
#: A folder of a partitioned table in a path, such as ``year=2024``: its name holds a cell.
_PARTITION = re.compile(r"(^|[\s/])([^\s/=]+)=[^/\n]*(?=/)")


def named(value: object) -> str:
    """Return how a message speaks of something that was passed: a plain number or a short name as it is, else its type.

    Nothing of the value itself is asked unless its type is exactly a plain number's or text's, so that neither rows nor their
    number get into a message, whatever was passed.
    """
    kind = type(value)
    if kind.__module__ == "numpy" and hasattr(kind, "item"):
        import numpy as np

        if kind in set(np.sctypeDict.values()) and issubclass(kind, np.bool_ | np.integer | np.floating):
            value = value.item()  # type: ignore[attr-defined]
            kind = type(value)
    if value is None or kind in (bool, float):
        return repr(value)
    if kind is int and value.bit_length() <= MOST_BITS:  # type: ignore[attr-defined]
        return repr(value)
    if kind is str and len(value) <= LONGEST_NAME and value.isprintable():  # type: ignore[arg-type, attr-defined]
        return repr(value)
    return type_of(value)


def type_of(value: object) -> str:
    """Return how a message speaks of something that may be a cell of a table: by its type alone."""
    return f"a value of type {type.__dict__['__name__'].__get__(type(value))}"  # a class of classes may say anything in its place


def is_path(value: object) -> bool:
    """Whether this may be a path: a path object, or a text of one line with names that a file system takes."""
    if not isinstance(value, str):
        return isinstance(value, PathLike)
    return value.isprintable() and len(value) <= LONGEST_PATH and all(len(part) < LONGEST_PART for part in value.split("/"))


def without_values(text: str) -> str:
    """Return a message about files without the cells that names of folders hold: ``root/year=2024/part.parquet`` has one."""
    return _PARTITION.sub(r"\1\2=...", text)


def kind_of(path: Path) -> str:
    """Return what the name of a file says it is, such as ``.csv``, which may be compressed."""
    suffix = path.suffix.lower()
    inside = Path(path.stem).suffix.lower() if suffix in COMPRESSED else ""
    return inside if inside == ".csv" else suffix
