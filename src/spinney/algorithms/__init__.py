"""One file per published algorithm: named parts of a budget, and a run over a curator's answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spinney._lazy import lazily

if TYPE_CHECKING:
    from spinney.algorithms.balcan import Balcan
    from spinney.algorithms.cells import Cells
    from spinney.algorithms.coverage import Coverage
    from spinney.algorithms.default import Tree
    from spinney.algorithms.forecast import Forecast
    from spinney.algorithms.hst import HST
    from spinney.algorithms.k_variates import KVariates
    from spinney.algorithms.lloyd import Lloyd
    from spinney.algorithms.local_search import LocalSearch
    from spinney.algorithms.lsh import LSH
    from spinney.algorithms.plan import Plan
    from spinney.algorithms.point_coverage import PointCoverage
    from spinney.algorithms.problem import Algorithm, PointProblem, Result, SiteProblem
    from spinney.algorithms.sample_aggregate import SampleAggregate
    from spinney.algorithms.site_hst import SiteHST
    from spinney.algorithms.stable import Stable

__all__ = [
    "HST",
    "LSH",
    "Algorithm",
    "Balcan",
    "Cells",
    "Coverage",
    "Forecast",
    "KVariates",
    "Lloyd",
    "LocalSearch",
    "Plan",
    "PointCoverage",
    "PointProblem",
    "Result",
    "SampleAggregate",
    "SiteHST",
    "SiteProblem",
    "Stable",
    "Tree",
]

__getattr__, __dir__ = lazily(
    "spinney.algorithms",
    {
        "Algorithm": "spinney.algorithms.problem",
        "Balcan": "spinney.algorithms.balcan",
        "Cells": "spinney.algorithms.cells",
        "Coverage": "spinney.algorithms.coverage",
        "Forecast": "spinney.algorithms.forecast",
        "HST": "spinney.algorithms.hst",
        "KVariates": "spinney.algorithms.k_variates",
        "LSH": "spinney.algorithms.lsh",
        "Lloyd": "spinney.algorithms.lloyd",
        "LocalSearch": "spinney.algorithms.local_search",
        "Plan": "spinney.algorithms.plan",
        "PointCoverage": "spinney.algorithms.point_coverage",
        "PointProblem": "spinney.algorithms.problem",
        "Result": "spinney.algorithms.problem",
        "SampleAggregate": "spinney.algorithms.sample_aggregate",
        "SiteHST": "spinney.algorithms.site_hst",
        "SiteProblem": "spinney.algorithms.problem",
        "Stable": "spinney.algorithms.stable",
        "Tree": "spinney.algorithms.default",
    },
)
