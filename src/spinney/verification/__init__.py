"""Checking releases with arithmetic of its own: nothing is imported from the code that plans, charges or draws noise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spinney._lazy import lazily

if TYPE_CHECKING:
    from spinney.verification.checking import verify
    from spinney.verification.keys import make_keys
    from spinney.verification.report import Check, Verification
    from spinney.verification.shape import schema

__all__ = ["Check", "Verification", "make_keys", "schema", "verify"]

__getattr__, __dir__ = lazily(
    "spinney.verification",
    {
        "Check": "spinney.verification.report",
        "Verification": "spinney.verification.report",
        "make_keys": "spinney.verification.keys",
        "schema": "spinney.verification.shape",
        "verify": "spinney.verification.checking",
    },
)
