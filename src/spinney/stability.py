"""Does k fit, and how far are two sets of centers apart: on releases free of charge, and on plain points."""

from __future__ import annotations

from spinney.report.separation import nonprivate_separation, separation, wasserstein_distance
from spinney.solvers.separation import Separation
from spinney.solvers.stability import Clustered

__all__ = ["Clustered", "Separation", "nonprivate_separation", "separation", "wasserstein_distance"]
