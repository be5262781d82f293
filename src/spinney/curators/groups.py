"""Which rows of a person count, when a person has more than the cap.

A group's kept rows depend on its own rows and its own secret draw alone: the draw is a keyed hash of the group's name, so
no other group's coming or going moves it.

Proof: ``proofs/groups.md``.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from itertools import count
from numbers import Real
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

__all__ = ["kept_rows"]

MISSING = "missing"
#: Decimal numbers with more digits before or behind their point are no names: to write them out would take forever.
LONGEST_DECIMAL = 5000


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
    if type(name) is int or (type(name) is float and math.isfinite(name)):
        return "number:{:x}/{:x}".format(*name.as_integer_ratio())  # what the rules below give, at once
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
    if not isinstance(name, Real | Decimal) or (isinstance(name, Decimal) and abs(name.adjusted()) > LONGEST_DECIMAL):
        return MISSING
    if name in (math.inf, -math.inf):
        return f"number:{float(name)}"
    number: Any = name
    exact = Fraction(*number.as_integer_ratio()) if hasattr(name, "as_integer_ratio") else Fraction(int(number))
    return f"number:{exact.numerator:x}/{exact.denominator:x}"


def _seeds(names: list[str], key: bytes) -> NDArray[np.uint64]:
    """Return a keyed 64-bit hash of every name."""
    start = hashlib.blake2b(key=key, digest_size=8)

    def digest(name: str) -> bytes:
        hashed = start.copy()
        hashed.update(name.encode(errors="surrogatepass"))
        return hashed.digest()

    return np.frombuffer(b"".join(map(digest, names)), dtype="<u8").astype(np.uint64)


#: Names of these types that are equal are written alike, so that only different ones need be written out.
PLAIN = {bool, bytes, float, int, str, type(None)}


def _number_groups(groups: Any) -> tuple[list[str], NDArray[np.int64]]:
    """Return the names and, for each row, the index of its name."""
    if isinstance(groups, np.ndarray) and groups.dtype.kind in "iuf":
        unique, codes = np.unique(groups, return_inverse=True)
        return [_text(name) for name in unique.tolist()], codes
    if isinstance(groups, np.ndarray) and groups.dtype.kind == "U":
        names = groups.tolist()
    else:
        names = groups.to_list() if hasattr(groups, "to_list") else list(groups)
    table: dict[str, int] = {}
    if not set(map(type, names)) <= PLAIN:
        codes = np.array([table.setdefault(_text(name), len(table)) for name in names], dtype=np.int64)
        return list(table), codes
    first: defaultdict[Any, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(first.__getitem__, names), dtype=np.int64, count=len(names))
    written = np.array([table.setdefault(_text(name), len(table)) for name in first], dtype=np.int64)
    return list(table), written[codes]


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
    mask = np.ones(codes.size, dtype=np.uint8)
    rows = np.flatnonzero(np.bincount(codes, minlength=len(names))[codes] > max_rows)  # of groups with more rows than count
    rows = rows[np.argsort(codes[rows], kind="stable")]
    starts = np.flatnonzero(np.diff(codes[rows], prepend=-1))
    sizes = np.diff(starts, append=rows.size)
    place = np.arange(rows.size) - np.repeat(starts, sizes)
    large = codes[rows[starts]]
    seeds = _seeds([names[code] for code in large.tolist()], key)
    draws = _mix(np.repeat(seeds, sizes) + _mix(place.astype(np.uint64)))
    ranked = np.lexsort((draws, np.repeat(np.arange(large.size), sizes)))
    mask[rows[ranked]] = place < max_rows
    return mask
