"""The closed list of questions, for an auditor: what each one releases, how far one row moves it, its proof and its attacks.

Every question of `CATALOG` is proved in whole numbers. Those of `EXPERIMENTAL` are proved over the reals only, and are asked only
if the plan names them. Nothing else is ever asked about private rows: the gate (`spinney.curators.gate`) refuses what is on
neither list. The tests hold both to their proofs and attacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spinney.questions.blocks import Blocking, Blocks
from spinney.questions.choose import Choose, Choosing
from spinney.questions.cost import Cost, Costing
from spinney.questions.counts import Counting, Counts
from spinney.questions.cover import Cover, Covering
from spinney.questions.grow import Grow, Splitting
from spinney.questions.levels import LevelCounting, Levels
from spinney.questions.minimize import Minimize, Minimizing
from spinney.questions.persons import PersonCounting, Persons
from spinney.questions.question import Kind, Question
from spinney.questions.sums import Summing, Sums
from spinney.questions.totals import Totaling, Totals

__all__ = ["CATALOG", "EVERY", "EXPERIMENTAL", "Listed"]


@dataclass(frozen=True)
class Listed:
    """One question of the list."""

    question: type[Question[Any]]
    kind: type[Kind]
    #: How far one added or removed row moves the exact answer.
    sensitivity: str
    proofs: tuple[str, ...]
    #: Tests that try to break it: brute force over tiny tables, and searches for worse neighbors.
    attacks: tuple[str, ...]


_BRUTE = "tests/privacy/test_brute_force.py"
_SEARCH = "tests/privacy/test_sensitivity.py"
_SITES = "tests/privacy/test_site_sensitivity.py"
_DESCRIBE = "tests/privacy/test_describe.py"

CATALOG: dict[str, Listed] = {
    entry.kind.question: entry
    for entry in (
        Listed(
            Counts, Counting, "one count by one; for bins of columns, one count of every column",
            ("proofs/questions.md", "proofs/sites.md", "proofs/describe.md"), (_BRUTE, _SEARCH, _SITES, _DESCRIBE),
        ),
        Listed(
            Grow, Splitting, "one count of every level by one; only decisions leave, and the worst path is summed exactly",
            ("proofs/splitting.md",), ("tests/privacy/test_split_decisions.py",),
        ),
        Listed(Levels, LevelCounting, "one count of every level by one", ("proofs/questions.md",), (_BRUTE, _SEARCH)),
        Listed(
            Sums, Summing, "one vector of length at most RADIUS_STEPS and one weight of at most one row, in one cell",
            ("proofs/questions.md", "proofs/pricing.md"), (_BRUTE, _SEARCH),
        ),
        Listed(
            Cost, Costing, "the sum by at most COST_STEPS, the steps of its public range, or of a smaller one",
            ("proofs/questions.md",), (_BRUTE, _SEARCH),
        ),
        Listed(
            Choose, Choosing, "any two options' costs apart by at most their public range, all in one direction",
            ("proofs/selection.md", "proofs/sites.md"), (_SITES, "tests/privacy/test_exponential_mechanism.py"),
        ),
        Listed(
            Cover, Covering, "the count of every set that holds it by one, until it is covered",
            ("proofs/coverage.md",), ("tests/privacy/test_cover_process.py",),
        ),
        Listed(
            Totals, Totaling, "each column of one cluster by at most RADIUS_STEPS, half its width",
            ("proofs/describe.md",), (_DESCRIBE,),
        ),
        Listed(
            Persons, PersonCounting, "one count by one with a whole person, whatever the number of its rows",
            ("proofs/describe.md",), (_DESCRIBE,),
        ),
        Listed(
            Blocks, Blocking, "the k centers of one block by any others, as 2 k points move the question about them",
            ("proofs/blocks.md",), ("tests/privacy/test_blocks.py",),
        ),
    )
}  # fmt: skip

EXPERIMENTAL: dict[str, Listed] = {
    Minimizing.question: Listed(
        Minimize, Minimizing, "the gradient of one cell's sum by at most 1, and its second derivatives; over the reals only",
        ("proofs/perturbation.md",), ("tests/privacy/test_minimize.py",),
    )
}  # fmt: skip

#: What the gate knows.
EVERY = CATALOG | EXPERIMENTAL
