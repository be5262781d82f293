"""Which rows of a person count, when a person has more than the cap.

A group's kept rows depend on its own rows and its own secret draw alone: the draw is a keyed hash of the group's name, so
no other group's coming or going moves it.

Proof: ``proofs/groups.md``.
"""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["kept_rows"]


def _mix(seeds: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64-bit words (the finalizer of splitmix64)."""
    x = seeds.copy()
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x ^= x >> np.uint64(shift)
        x *= np.uint64(factor)
    return x ^ (x >> np.uint64(31))


def _text(name: object) -> str:
    """Return a name as text; all missing names are alike."""
    missing = name is None or name != name or repr(name) in ("<NA>", "NaT")
    return "missing" if missing else repr(name)


def _hash(name: str, key: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(errors="surrogatepass"), key=key, digest_size=8).digest(), "little")


def kept_rows(groups: ArrayLike, max_rows: int, key: bytes) -> NDArray[np.uint8]:
    """Return a mask of the rows that count: at most `max_rows` per group, chosen by secret draws.

    Parameters
    ----------
    groups : array-like of shape (n,)
        A name per row, of any type; missing names form one group.
    max_rows : int
    key : bytes
        Secret.
    """
    names = np.asarray(groups).ravel()
    if names.dtype.kind not in "iuU":
        names = np.asarray([_text(name) for name in names.tolist()], dtype=str)
    unique, codes = np.unique(names, return_inverse=True)
    seeds = np.array([_hash(repr(name), key) for name in unique.tolist()], dtype=np.uint64)
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(unique.size))
    occurrence = np.empty(names.size, dtype=np.uint64)
    occurrence[order] = (np.arange(names.size) - starts[codes[order]]).astype(np.uint64)
    draws = _mix(seeds[codes] + _mix(occurrence))
    ranked = np.lexsort((draws, codes))
    mask = np.empty(names.size, dtype=np.uint8)
    mask[ranked] = np.arange(names.size) - starts[codes[ranked]] < max_rows
    return mask
