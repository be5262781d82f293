"""Which rows of a person count: those with a name, and of a person with more rows than the cap as many as the cap.

A group's kept rows depend on its name, the values of its own rows and a secret key alone: no other group's coming or going moves
them, and neither does the order of the rows. A row without a name belongs to nobody, and does not count.

Proof: ``proofs/groups.md``.
"""

from __future__ import annotations

import hashlib
import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import count
from numbers import Real
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from spinney.curators.draws import Marks, draw_rows, least_draws, mark_rows, number_copies
from spinney.exceptions import DataError
from spinney.privacy import Unit
from spinney.tables.cells import listed

MISSING = "missing"
#: Decimal numbers with more digits before or behind their point are no names: to write them out would take forever.
LONGEST_DECIMAL = 5000


def _text(name: Any) -> str:
    """Return a name as text: equal names alike, different names differently, whatever their column and the other names are.

    Texts, bytes, numbers, UUIDs and tuples of these are names. Anything else counts as missing, and all missing names are alike:
    to raise would reveal something about a row.
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


def hash_names(names: list[bytes], key: bytes) -> NDArray[np.uint64]:
    """Return a keyed 64-bit hash of every name, written as `name_groups` writes it."""
    start = hashlib.blake2b(key=key, digest_size=8)

    def digest(name: bytes) -> bytes:
        hashed = start.copy()
        hashed.update(name)
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
        names = listed(groups) if hasattr(groups, "to_list") else list(groups)
    table: dict[str, int] = {}
    if not set(map(type, names)) <= PLAIN:
        codes = np.array([table.setdefault(_text(name), len(table)) for name in names], dtype=np.int64)
        return list(table), codes
    first: defaultdict[Any, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(first.__getitem__, names), dtype=np.int64, count=len(names))
    written = np.array([table.setdefault(_text(name), len(table)) for name in first], dtype=np.int64)
    return list(table), written[codes]


def name_groups(groups: Any, key: bytes) -> Names:
    """Return whom each row belongs to. Names are texts, bytes, numbers, UUIDs or tuples of these; all others count as missing."""
    texts, codes = _number_groups(groups)
    return Names(texts, codes, np.fromiter((text != MISSING for text in texts), np.bool_, len(texts)), key)


@dataclass(frozen=True, eq=False, repr=False)
class Names:
    """Whom each row belongs to."""

    #: The names, each once.
    texts: list[str]
    #: The index of each row's name.
    codes: NDArray[np.int64]
    #: Which names are not missing.
    are_there: NDArray[np.bool_]
    key: bytes = field(repr=False)

    def seeds(self, wanted: NDArray[np.bool_]) -> NDArray[np.uint64]:
        """Return a keyed hash of each of the wanted names, in the places of the names."""
        seeds = np.zeros(len(self.texts), dtype=np.uint64)
        seeds[wanted] = hash_names(
            [self.texts[code].encode(errors="surrogatepass") for code in np.flatnonzero(wanted).tolist()], self.key
        )
        return seeds


def row_seeds(groups: Any, key: bytes) -> NDArray[np.uint64]:
    """Return, for each row, a keyed hash of the name of its group; 0 if it has none."""
    names = name_groups(groups, key)
    return names.seeds(names.are_there)[names.codes]


def kept_rows(groups: Any, read: Callable[[], Iterable[NDArray[Any]]], unit: Unit, key: bytes) -> NDArray[np.uint8]:
    """Return a mask of the rows that count: at most ``unit.max_rows`` per group, chosen by secret draws.

    Where units are added or removed, rows with a missing value count nowhere, so they are not among those that are drawn.
    All rows are read, in their order and in batches, if some group has more of them than the cap.
    """
    names = name_groups(groups, key)
    codes, most = names.codes, unit.max_rows
    mask = names.are_there[codes].astype(np.uint8)
    is_large = names.are_there & (np.bincount(codes, minlength=len(names.texts)) > most)
    if not is_large.any():
        return mask
    drawn = np.flatnonzero(is_large[codes])
    marks, complete = _mark_batches(read(), drawn, codes, names.seeds(is_large), key)
    if not unit.replaces:
        mask[drawn[~complete]] = 0
        drawn, marks = drawn[complete], marks[complete]
    theirs = codes[drawn]
    draws = draw_rows(marks, number_copies(theirs, marks))
    mask[drawn] = least_draws(theirs, marks, draws, most)
    return mask


def _mark_batches(
    batches: Iterable[NDArray[Any]], drawn: NDArray[np.int64], codes: NDArray[np.int64], seeds: NDArray[np.uint64], key: bytes
) -> tuple[Marks, NDArray[np.bool_]]:
    """Return the marks of some of all rows, given by their places, and whether they are complete."""
    marks = np.empty((drawn.size, 2), dtype=np.uint64)
    complete = np.empty(drawn.size, dtype=np.bool_)
    start = first = 0
    for rows in batches:
        last = int(np.searchsorted(drawn, start + len(rows)))
        part = drawn[first:last]
        marks[first:last], complete[first:last] = mark_rows(seeds[codes[part]], rows[part - start], key)
        start, first = start + len(rows), last
    if start != codes.size:
        raise DataError("The table has changed while it was in use.", "fit again when nothing writes to it any more.")
    return marks, complete
