"""What may be asked about private rows: a closed list, one file per question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spinney._lazy import lazily

if TYPE_CHECKING:
    from spinney.questions.blocks import Blocking, Blocks
    from spinney.questions.choose import Choose, Choosing, Sets, Swaps
    from spinney.questions.cost import Cost, Costing
    from spinney.questions.counts import Counting, Counts
    from spinney.questions.cover import Balls, Cover, Covering, Family
    from spinney.questions.grow import Grow, Splitting
    from spinney.questions.levels import LevelCounting, Levels
    from spinney.questions.minimize import Minimize, Minimizing
    from spinney.questions.partitions import ClusterBins, Clusters, ColumnBins, Labels, PlaneCells, Rings, TreeCells, Whole
    from spinney.questions.persons import PersonCounting, Persons
    from spinney.questions.sums import Summing, Sums
    from spinney.questions.totals import Totaling, Totals

__all__ = [
    "Balls",
    "Blocking",
    "Blocks",
    "Choose",
    "Choosing",
    "ClusterBins",
    "Clusters",
    "ColumnBins",
    "Cost",
    "Costing",
    "Counting",
    "Counts",
    "Cover",
    "Covering",
    "Family",
    "Grow",
    "Labels",
    "LevelCounting",
    "Levels",
    "Minimize",
    "Minimizing",
    "PersonCounting",
    "Persons",
    "PlaneCells",
    "Rings",
    "Sets",
    "Splitting",
    "Summing",
    "Sums",
    "Swaps",
    "Totaling",
    "Totals",
    "TreeCells",
    "Whole",
]

__getattr__, __dir__ = lazily(
    "spinney.questions",
    {
        "Balls": "spinney.questions.cover",
        "Blocking": "spinney.questions.blocks",
        "Blocks": "spinney.questions.blocks",
        "Choose": "spinney.questions.choose",
        "Choosing": "spinney.questions.choose",
        "ClusterBins": "spinney.questions.clusters",
        "Clusters": "spinney.questions.clusters",
        "ColumnBins": "spinney.questions.partitions",
        "Cost": "spinney.questions.cost",
        "Costing": "spinney.questions.cost",
        "Counting": "spinney.questions.counts",
        "Counts": "spinney.questions.counts",
        "Cover": "spinney.questions.cover",
        "Covering": "spinney.questions.cover",
        "Family": "spinney.questions.cover",
        "Grow": "spinney.questions.grow",
        "Labels": "spinney.questions.partitions",
        "LevelCounting": "spinney.questions.levels",
        "Levels": "spinney.questions.levels",
        "Minimize": "spinney.questions.minimize",
        "Minimizing": "spinney.questions.minimize",
        "PersonCounting": "spinney.questions.persons",
        "Persons": "spinney.questions.persons",
        "PlaneCells": "spinney.questions.partitions",
        "Rings": "spinney.questions.partitions",
        "Sets": "spinney.questions.choose",
        "Splitting": "spinney.questions.grow",
        "Summing": "spinney.questions.sums",
        "Sums": "spinney.questions.sums",
        "Swaps": "spinney.questions.choose",
        "Totaling": "spinney.questions.totals",
        "Totals": "spinney.questions.totals",
        "TreeCells": "spinney.questions.partitions",
        "Whole": "spinney.questions.partitions",
    },
)
