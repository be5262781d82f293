"""Which rows of a person count, when a person has more than the cap.

A group's kept rows depend on its own rows and its own secret draw alone: the draw is a keyed hash of the group's name, so
no other group's coming or going moves it.

Proof: ``proofs/groups.md``.
"""

from __future__ import annotations

import hashlib
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["kept_rows"]


def _mix(seeds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64-bit words (the finalizer of splitmix64)."""
    x = seeds.copy()
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x ^= x >> np.uint64(shift)
        x *= np.uint64(factor)
    return x ^ (x >> np.uint64(31))


def _text(name: object) -> str:
    """Return a name as text that does not depend on the type of its column; all missing names are alike."""
    if isinstance(name, np.generic):
        name = name.item()
    if isinstance(name, str):
        return "text:" + name
    if isinstance(name, Integral):
        return f"number:{int(name)}"
    if isinstance(name, Real):
        value = float(name)
        return "missing" if value != value else f"number:{int(value)}" if value.is_integer() else f"number:{value!r}"
    return "missing" if name is None or repr(name) in ("<NA>", "NaT", "nan") else "object:" + repr(name)


def _hash(name: str, key: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(errors="surrogatepass"), key=key, digest_size=8).digest(), "little")


def _number_groups(groups: Any) -> tuple[list[str], NDArray[np.int64]]:
    """Return the names and, for each row, the index of its name."""
    if isinstance(groups, np.ndarray) and groups.dtype.kind in "iufU":
        unique, codes = np.unique(groups, return_inverse=True)
        return [_text(name) for name in unique.tolist()], codes
    table: dict[str, int] = {}
    codes = np.array([table.setdefault(_text(name), len(table)) for name in groups], dtype=np.int64)
    return list(table), codes


def kept_rows(groups: Any, max_rows: int, key: bytes) -> NDArray[np.uint8]:
    """Return a mask of the rows that count: at most `max_rows` per group, chosen by secret draws.

    Parameters
    ----------
    groups : sequence of length n
        A name per row, of any type; missing names form one group.
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
