"""Which algorithms there are for sites, and what "auto" means."""

from __future__ import annotations

from spinney.algorithms.cells import Cells
from spinney.algorithms.coverage import Coverage
from spinney.algorithms.local_search import LocalSearch
from spinney.algorithms.site_hst import SiteHST
from spinney.algorithms.sites import SiteAlgorithm

__all__ = ["SITE_ALGORITHMS", "choose_site"]

SITE_ALGORITHMS: dict[str, SiteAlgorithm] = {
    "cells": Cells(),
    "coverage": Coverage(),
    "hst": SiteHST(),
    "local-search": LocalSearch(),
}


def choose_site(algorithm: str | SiteAlgorithm) -> SiteAlgorithm:
    """Return the algorithm: a name, ``"auto"`` for cells, or an algorithm itself."""
    return SITE_ALGORITHMS["cells" if algorithm == "auto" else algorithm] if isinstance(algorithm, str) else algorithm
