"""Which rows of a person count, when a person has more than the cap.

A group's kept rows depend on its own rows and its own secret draw alone: the draw is a keyed hash of the group's name, so
no other group's coming or going moves it.

Proof: ``proofs/groups.md``.
"""

from __future__ import annotations

import hashlib
import math
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

__all__ = ["kept_rows"]

MISSING = "missing"


def _mix(seeds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64-bit words (the finalizer of splitmix64)."""
    x = seeds.copy()
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x ^= x >> np.uint64(shift)
        x *= np.uint64(factor)
    return x ^ (x >> np.uint64(31))


def _text(name: Any) -> str:
    """Return a name as text: equal names alike, different names differently, whatever their column and the other names are.

    Texts, bytes, numbers, UUIDs and tuples of these are names. Anything else counts as missing, and all missing names are alike:
    to raise would tell about a row.
    """
    try:
        return _canonical(name)
    except Exception:  # a name that cannot be read
        return MISSING


def _canonical(name: Any) -> str:
    if isinstance(name, str):
        return "text:" + name  # not str(name), which a text that is an Enum writes otherwise
    if isinstance(name, bytes):
        return "bytes:" + name.hex()
    if isinstance(name, UUID):
        return "uuid:" + name.hex
    if isinstance(name, tuple):
        return "tuple:" + "".join(f"{len(part)}:{part}" for part in map(_text, name))
    if isinstance(name, np.datetime64 | np.timedelta64) or name != name:
        return MISSING
    if isinstance(name, complex | np.complexfloating) and name.imag == 0:
        name = name.real
    if isinstance(name, np.bool_):
        name = bool(name)
    if not isinstance(name, Real | Decimal):
        return MISSING
    if name in (math.inf, -math.inf):
        return f"number:{float(name)}"
    number: Any = name
    exact = Fraction(*number.as_integer_ratio()) if hasattr(name, "as_integer_ratio") else Fraction(int(number))
    return f"number:{exact.numerator:x}/{exact.denominator:x}"


def _hash(name: str, key: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(errors="surrogatepass"), key=key, digest_size=8).digest(), "little")


def _number_groups(groups: Any) -> tuple[list[str], NDArray[np.int64]]:
    """Return the names and, for each row, the index of its name."""
    if isinstance(groups, np.ndarray) and groups.dtype.kind in "iufU":
        unique, codes = np.unique(groups, return_inverse=True)
        return [_text(name) for name in unique.tolist()], codes
    table: dict[str, int] = {}
    known: dict[Any, int] = {}  # texts and whole numbers seen before need not be written out again

    def number(name: Any) -> int:
        if type(name) not in (str, int):
            return table.setdefault(_text(name), len(table))
        if name not in known:
            known[name] = table.setdefault(_text(name), len(table))
        return known[name]

    codes = np.array([number(name) for name in groups], dtype=np.int64)
    return list(table), codes


def kept_rows(groups: Any, max_rows: int, key: bytes) -> NDArray[np.uint8]:
    """Return a mask of the rows that count: at most `max_rows` per group, chosen by secret draws.

    Parameters
    ----------
    groups : sequence of length n
        A name per row: texts, bytes, numbers, UUIDs or tuples of these. All other names count as missing, and form one group.
    max_rows : int
    key : bytes
        Secret.
    """
    names, codes = _number_groups(groups)
    n = codes.size
    seeds = np.array([_hash(name, key) for name in names], dtype=np.uint64)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(len(names)))
    occurrence = np.empty(n, dtype=np.uint64)
    occurrence[order] = (np.arange(n) - starts[codes[order]]).astype(np.uint64)
    draws = _mix(seeds[codes] + _mix(occurrence))
    ranked = np.lexsort((draws, codes))
    mask = np.empty(n, dtype=np.uint8)
    mask[ranked] = np.arange(n) - starts[codes[ranked]] < max_rows
    return mask
