"""Differentially private clustering: k centers, noisy sizes, and a statement of what was promised.

Names are imported on first use, so that ``import spinney`` stays fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spinney._lazy import lazily
from spinney._version import __version__

if TYPE_CHECKING:
    from spinney.estimators.coverage import max_coverage
    from spinney.estimators.description import describe, plan_description
    from spinney.estimators.kmeans import PrivateKMeans
    from spinney.estimators.kmedian import PrivateKMedian
    from spinney.estimators.kmedoids import PrivateKMedoids
    from spinney.estimators.one_cluster import one_cluster
    from spinney.estimators.preprocessing import PublicEncoder, PublicScaler
    from spinney.exceptions import (
        BudgetError,
        CuratorError,
        DataError,
        FewRowsWarning,
        LoosePromiseWarning,
        ParameterError,
        ReleaseError,
        SeededNoiseWarning,
        SpinneyError,
        UncountedFitsWarning,
        UnitsWarning,
    )
    from spinney.ledgers.ledger import Ledger
    from spinney.releases.ball import OneCluster
    from spinney.releases.centers import Release
    from spinney.releases.cover import CoverRelease
    from spinney.releases.description import DescriptionRelease
    from spinney.releases.reading import read_release
    from spinney.releases.sites import SiteRelease
    from spinney.spaces.box import Ball, Box
    from spinney.spaces.metric import FiniteMetric
    from spinney.tables.batches import scan
    from spinney.verification.checking import verify

__all__ = [
    "Ball",
    "Box",
    "BudgetError",
    "CoverRelease",
    "CuratorError",
    "DataError",
    "DescriptionRelease",
    "FewRowsWarning",
    "FiniteMetric",
    "Ledger",
    "LoosePromiseWarning",
    "OneCluster",
    "ParameterError",
    "PrivateKMeans",
    "PrivateKMedian",
    "PrivateKMedoids",
    "PublicEncoder",
    "PublicScaler",
    "Release",
    "ReleaseError",
    "SeededNoiseWarning",
    "SiteRelease",
    "SpinneyError",
    "UncountedFitsWarning",
    "UnitsWarning",
    "__version__",
    "describe",
    "max_coverage",
    "one_cluster",
    "plan_description",
    "read_release",
    "scan",
    "verify",
]

__getattr__, __dir__ = lazily(
    "spinney",
    {
        "Ball": "spinney.spaces.box",
        "Box": "spinney.spaces.box",
        "BudgetError": "spinney.exceptions",
        "CoverRelease": "spinney.releases.cover",
        "CuratorError": "spinney.exceptions",
        "DataError": "spinney.exceptions",
        "DescriptionRelease": "spinney.releases.description",
        "FewRowsWarning": "spinney.exceptions",
        "FiniteMetric": "spinney.spaces.metric",
        "Ledger": "spinney.ledgers.ledger",
        "LoosePromiseWarning": "spinney.exceptions",
        "OneCluster": "spinney.releases.ball",
        "ParameterError": "spinney.exceptions",
        "PrivateKMeans": "spinney.estimators.kmeans",
        "PrivateKMedian": "spinney.estimators.kmedian",
        "PrivateKMedoids": "spinney.estimators.kmedoids",
        "PublicEncoder": "spinney.estimators.preprocessing",
        "PublicScaler": "spinney.estimators.preprocessing",
        "Release": "spinney.releases.centers",
        "ReleaseError": "spinney.exceptions",
        "SeededNoiseWarning": "spinney.exceptions",
        "SiteRelease": "spinney.releases.sites",
        "SpinneyError": "spinney.exceptions",
        "UncountedFitsWarning": "spinney.exceptions",
        "UnitsWarning": "spinney.exceptions",
        "describe": "spinney.estimators.description",
        "max_coverage": "spinney.estimators.coverage",
        "one_cluster": "spinney.estimators.one_cluster",
        "plan_description": "spinney.estimators.description",
        "read_release": "spinney.releases.reading",
        "scan": "spinney.tables.batches",
        "verify": "spinney.verification.checking",
    },
    "__version__",
)
