"""Trying to break the promise from outside: measured epsilons, and replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spinney._lazy import lazily

if TYPE_CHECKING:
    from spinney.audit.epsilon import epsilon_lower_bound
    from spinney.audit.findings import Finding, Findings
    from spinney.audit.outliers import outlier
    from spinney.audit.pairs import Pair, demand_pairs, table_pairs
    from spinney.audit.transcripts import replay

__all__ = [
    "Finding",
    "Findings",
    "Pair",
    "demand_pairs",
    "epsilon_lower_bound",
    "outlier",
    "replay",
    "table_pairs",
]

__getattr__, __dir__ = lazily(
    "spinney.audit",
    {
        "Finding": "spinney.audit.findings",
        "Findings": "spinney.audit.findings",
        "Pair": "spinney.audit.pairs",
        "demand_pairs": "spinney.audit.pairs",
        "epsilon_lower_bound": "spinney.audit.epsilon",
        "outlier": "spinney.audit.outliers",
        "replay": "spinney.audit.transcripts",
        "table_pairs": "spinney.audit.pairs",
    },
)
