"""The one form of a release that is digested and signed, whatever its file looks like.

JSON with its keys sorted, without blanks, in ASCII; numbers as Python prints them, which tells two of them apart if they differ
at all; the signature left out.
"""

from __future__ import annotations

import hashlib
import json
import math
from contextlib import suppress
from pathlib import Path
from typing import Any

from spinney.exceptions import ReleaseError, check_path


def canonical(record: dict[str, Any]) -> bytes:
    """Return the form of a record that is digested and signed."""
    told = {name: value for name, value in record.items() if name != "signature"}
    return json.dumps(told, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def digest_of(record: dict[str, Any]) -> str:
    """Return the digest of a release, as ledgers keep it."""
    return f"sha256:{hashlib.sha256(canonical(record)).hexdigest()}"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice, and readers would differ in which they take")
    return found


def _no_number(name: str) -> Any:
    raise ValueError("not a number of JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError("a number that is not finite")
    return number


def _whole(text: str) -> int:
    number = int(text)
    _finite(text)
    return number


#: How numbers are read: a number that overflows a float is refused.
_NUMBERS: dict[str, Any] = {"parse_float": _finite, "parse_int": _whole}


def read_record(path: str | Path) -> dict[str, Any]:
    """Return the record in a file of JSON; raise a ReleaseError, which does not quote it, if it holds anything else."""
    check_path(path, "verify")
    content = Path(path).read_bytes()
    record: Any = None
    with suppress(ValueError, RecursionError):  # whose text and context hold the file's content, which may be a table
        record = json.loads(content.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_number, **_NUMBERS)
    if not isinstance(record, dict):
        raise ReleaseError(f"{path} is no release: it is not JSON of one record.", "name a file that a fit wrote.")
    return record
