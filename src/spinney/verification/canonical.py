"""The one form of a release that is digested and signed, whatever its file looks like.

JSON with its keys sorted, without blanks, in ASCII; numbers as Python prints them, which tells two of them apart if they differ
at all; the signature left out.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from spinney.exceptions import ParameterError, ReleaseError, check_path

__all__ = ["canonical", "digest_of", "read_key", "read_record", "signature_of"]

#: A shorter key could be guessed.
SHORTEST_KEY = 16
_WRONG_KEY = "a file of at least 16 secret bytes"


def canonical(record: dict[str, Any]) -> bytes:
    """Return the form of a record that is digested and signed."""
    told = {name: value for name, value in record.items() if name != "signature"}
    return json.dumps(told, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def digest_of(record: dict[str, Any]) -> str:
    """Return the digest of a release, as ledgers keep it."""
    return f"sha256:{hashlib.sha256(canonical(record)).hexdigest()}"


def signature_of(record: dict[str, Any], key: bytes) -> str:
    """Return the signature of a release under a secret key."""
    if not isinstance(key, bytes) or len(key) < SHORTEST_KEY:
        raise ParameterError.wrong("key", "a signature", "at least 16 secret bytes", None, "secrets.token_bytes(32) makes some.")
    return f"hmac-sha256:{hmac.new(key, canonical(record), hashlib.sha256).hexdigest()}"


def read_key(path: str | Path) -> bytes:
    """Return the secret bytes in a file; what they are is never told."""
    check_path(path, "verify", "key")
    content = Path(path).read_bytes()
    if len(content) < SHORTEST_KEY:
        raise ParameterError(f"The key in {path} must be {_WRONG_KEY}.\nHint: 'head -c 32 /dev/urandom > release.key' makes one.")
    return content


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is there twice, and readers would differ in which they take")
    return found


def _no_number(name: str) -> Any:
    raise ValueError("not a number of JSON")


def read_record(path: str | Path) -> dict[str, Any]:
    """Return the record in a file of JSON; raise a ReleaseError, which does not quote it, if it holds anything else."""
    check_path(path, "verify")
    content = Path(path).read_bytes()
    record: Any = None
    with suppress(ValueError, RecursionError):  # whose text and context hold the file's content, which may be a table
        record = json.loads(content.decode("utf-8"), object_pairs_hook=_once, parse_constant=_no_number)
    if not isinstance(record, dict):
        raise ReleaseError(f"{path} is no release: it is not JSON of one record.\nHint: name a file that a fit wrote.")
    return record
