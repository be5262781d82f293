"""Trying to break the promise from outside: measured epsilons, and replay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spinney._lazy import lazily

if TYPE_CHECKING:
    from spinney.audit.epsilon import epsilon_lower_bound
    from spinney.audit.outliers import outlier
    from spinney.audit.transcripts import replay

__all__ = [
    "epsilon_lower_bound",
    "outlier",
    "replay",
]

__getattr__, __dir__ = lazily(
    "spinney.audit",
    {
        "epsilon_lower_bound": "spinney.audit.epsilon",
        "outlier": "spinney.audit.outliers",
        "replay": "spinney.audit.transcripts",
    },
)
