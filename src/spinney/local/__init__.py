"""The local model: devices that answer questions about their own row and trust nobody, and servers that add up reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spinney._lazy import lazily

if TYPE_CHECKING:
    from spinney.local.aggregation import aggregate
    from spinney.local.device import respond
    from spinney.local.refined import Refined
    from spinney.local.session import Session, policy_of
    from spinney.local.stable import StableLocal
    from spinney.local.tallies import ReportTally

__all__ = ["Refined", "ReportTally", "Session", "StableLocal", "aggregate", "policy_of", "respond"]

__getattr__, __dir__ = lazily(
    "spinney.local",
    {
        "Refined": "spinney.local.refined",
        "Session": "spinney.local.session",
        "StableLocal": "spinney.local.stable",
        "ReportTally": "spinney.local.tallies",
        "aggregate": "spinney.local.aggregation",
        "policy_of": "spinney.local.session",
        "respond": "spinney.local.device",
    },
)
