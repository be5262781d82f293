"""Differentially private clustering: k centers, noisy sizes, and a statement of what was promised.

Names are imported on first use, so that ``import spinney`` stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from spinney._version import __version__

if TYPE_CHECKING:
    from spinney.estimators.kmeans import PrivateKMeans
    from spinney.estimators.kmedian import PrivateKMedian
    from spinney.estimators.kmedoids import PrivateKMedoids
    from spinney.exceptions import (
        BudgetError,
        CuratorError,
        FewRowsWarning,
        ParameterError,
        ReleaseError,
        SeededNoiseWarning,
        SpinneyError,
    )
    from spinney.ledgers.ledger import Ledger
    from spinney.releases.centers import Release
    from spinney.spaces.box import Ball, Box
    from spinney.spaces.metric import FiniteMetric

__all__ = [
    "Ball",
    "Box",
    "BudgetError",
    "CuratorError",
    "FewRowsWarning",
    "FiniteMetric",
    "Ledger",
    "ParameterError",
    "PrivateKMeans",
    "PrivateKMedian",
    "PrivateKMedoids",
    "Release",
    "ReleaseError",
    "SeededNoiseWarning",
    "SpinneyError",
    "__version__",
]

_HOMES = {
    "Ball": "spinney.spaces.box",
    "Box": "spinney.spaces.box",
    "BudgetError": "spinney.exceptions",
    "CuratorError": "spinney.exceptions",
    "FewRowsWarning": "spinney.exceptions",
    "FiniteMetric": "spinney.spaces.metric",
    "Ledger": "spinney.ledgers.ledger",
    "ParameterError": "spinney.exceptions",
    "PrivateKMeans": "spinney.estimators.kmeans",
    "PrivateKMedian": "spinney.estimators.kmedian",
    "PrivateKMedoids": "spinney.estimators.kmedoids",
    "Release": "spinney.releases.centers",
    "ReleaseError": "spinney.exceptions",
    "SeededNoiseWarning": "spinney.exceptions",
    "SpinneyError": "spinney.exceptions",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'spinney' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
