"""Keys that sign releases: a secret that its holders share (HMAC), or a private key with a public one for everybody (Ed25519).

A signature says its kind, and each check takes one kind alone. A file that holds a private or public key, in PEM, DER or the
form of OpenSSH, is never taken for a shared secret: whoever knows a public key could sign with it otherwise.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from pathlib import Path
from typing import Any

from spinney.exceptions import ParameterError, check_path
from spinney.verification.canonical import canonical

#: A shorter secret could be guessed.
SHORTEST_KEY = 16
#: How signatures begin, by their kind.
SHARED, PUBLIC = "hmac-sha256:", "ed25519:"
#: What is signed begins so, and nothing else that a key may sign does.
PREFIX = b"spinney release, ed25519\n"
#: Keys in PEM hold the first text; in OpenSSH's they begin with a name; in DER with a sequence that names Ed25519 early on.
_PEM, _OPENSSH, _DER, _ED25519 = b"-----BEGIN", (b"ssh-", b"ecdsa-", b"sk-"), b"\x30", b"\x06\x03\x2b\x65\x70"


def _is_of_a_pair(content: bytes) -> bool:
    """Whether bytes are a private or a public key, and no secret that two share."""
    is_der = content.startswith(_DER) and _ED25519 in content[:32]
    return _PEM in content or content.lstrip().startswith(_OPENSSH) or is_der


def shared_signature(record: dict[str, Any], key: bytes) -> str:
    """Return the signature of a release under a shared secret."""
    if not isinstance(key, bytes) or len(key) < SHORTEST_KEY or _is_of_a_pair(key):
        expected = "at least 16 secret bytes, and no private or public key"
        raise ParameterError.wrong("key", "a signature", expected, None, "secrets.token_bytes(32) makes some.")
    return f"{SHARED}{hmac.new(key, canonical(record), hashlib.sha256).hexdigest()}"


def is_signed_with(record: dict[str, Any], key: bytes) -> bool:
    """Whether a release has a signature under a shared secret."""
    return hmac.compare_digest(str(record.get("signature")).encode(errors="replace"), shared_signature(record, key).encode())


def read_key(path: str | Path) -> bytes:
    """Return the secret bytes in a file; they appear in no message."""
    check_path(path, "verify", "key")
    content = Path(path).read_bytes()
    if _is_of_a_pair(content):
        hint = "name it as the private key that signs, or as the public key that checks."
        raise ParameterError(f"{path} holds a private or public key, which is no shared secret.", hint)
    if len(content) < SHORTEST_KEY:
        hint = "'head -c 32 /dev/urandom > release.key' makes one."
        raise ParameterError(f"The key in {path} must be a file of at least 16 secret bytes.", hint)
    return content


def _guest() -> tuple[Any, Any]:
    """Return what the package cryptography has of Ed25519 and of files."""
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ModuleNotFoundError:
        pass
    else:
        return ed25519, serialization
    raise ParameterError("Private and public keys need the package cryptography.", "pip install 'spinney-dp[sign]'.")


def _write_new(path: Path, content: bytes, mode: int) -> None:
    """Write a file that is not there yet."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
    with os.fdopen(os.open(path, flags, mode), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def make_keys(private: str | Path, public: str | Path) -> None:
    """Make a private key, which only the user may read, and the public key that belongs to it.

    Parameters
    ----------
    private, public : str or Path
        Where they are written, in PEM; neither is there yet. Keep the first one secret, and publish the second.
    """
    for path in (private, public):
        check_path(path, "make_keys")
        if Path(path).exists():
            raise ParameterError(f"{path} is there already, and a key is never written over.", "name another file.")
    ed25519, form = _guest()
    key = ed25519.Ed25519PrivateKey.generate()
    secret = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    told = key.public_key().public_bytes(form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo)
    _write_new(Path(private), secret, 0o600)
    try:
        _write_new(Path(public), told, 0o644)
    except BaseException:
        Path(private).unlink()
        raise


def _loaded(path: str | Path, kind: str) -> Any:
    """Return the Ed25519 key in a file; an error reveals nothing of the file."""
    check_path(path, "verify" if kind == "public" else "sign", f"{kind}_key")
    ed25519, form = _guest()
    content, key = Path(path).read_bytes(), None
    try:
        key = form.load_pem_public_key(content) if kind == "public" else form.load_pem_private_key(content, None)
    except Exception:  # whatever is wrong with it, and its words may quote the file
        key = None
    if not isinstance(key, ed25519.Ed25519PublicKey if kind == "public" else ed25519.Ed25519PrivateKey):
        raise ParameterError(f"{path} holds no {kind} key of Ed25519 in PEM.", "'spinney keys' makes a pair of them.")
    return key


def signature_by(record: dict[str, Any], private_key: str | Path) -> str:
    """Return the signature of a release by the private key in a file."""
    return f"{PUBLIC}{_loaded(private_key, 'private').sign(PREFIX + canonical(record)).hex()}"


def is_signed_by(record: dict[str, Any], public_key: str | Path) -> bool:
    """Whether a release was signed by the private key that belongs to the public one in a file."""
    key, signature = _loaded(public_key, "public"), str(record.get("signature"))
    if not signature.startswith(PUBLIC):
        return False
    try:
        key.verify(bytes.fromhex(signature.removeprefix(PUBLIC)), PREFIX + canonical(record))
    except Exception:  # InvalidSignature, or no hexadecimal digits
        return False
    return True
