"""The canonical form of a question: plain values that are equal if, and only if, two questions ask the same, bit for bit."""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np

#: Longer arrays are represented by a digest.
LONGEST = 64


def form(value: Any) -> Any:
    """Return a value as plain lists, texts and whole numbers, ready for JSON.

    It is a question, a ground, a charge, an answer, or what these are made of. Floats are written in hexadecimal, so that nothing
    is rounded; long arrays as a digest of their bytes.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, np.ndarray | np.generic):
        return _array_form(np.ascontiguousarray(value))
    if is_dataclass(value):
        return [type(value).__name__, *(form(getattr(value, field.name)) for field in fields(value))]
    if isinstance(value, tuple | list):
        return [form(part) for part in value]
    if isinstance(value, dict):
        return [[form(name), form(part)] for name, part in value.items()]
    if all(hasattr(value, name) for name in ("indptr", "indices", "data")):  # a family's sparse array
        return [*map(int, value.shape), *(form(getattr(value, name)) for name in ("indptr", "indices", "data"))]
    raise TypeError("only questions, answers and what they are made of have a canonical form")


def _array_form(array: Any) -> list[Any]:
    if array.size <= LONGEST and array.dtype.kind != "O":
        return [array.dtype.str, *array.shape, [form(entry) for entry in array.ravel().tolist()]]
    content = repr(array.tolist()).encode() if array.dtype.kind == "O" else array.tobytes()
    return [array.dtype.str, *array.shape, hashlib.blake2b(content, digest_size=16).hexdigest()]
