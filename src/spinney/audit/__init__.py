"""Trying to break the promise from outside: replay, exact laws, measured epsilons, searches, and an observer of every draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spinney._lazy import lazily

if TYPE_CHECKING:
    from spinney.audit.accounting import question_bound, question_loss, total_loss
    from spinney.audit.black_boxes import black_box
    from spinney.audit.epsilon import epsilon_lower_bound
    from spinney.audit.exact import Explorer, question_law
    from spinney.audit.findings import Finding, Findings
    from spinney.audit.outliers import outlier
    from spinney.audit.pages import audit_page
    from spinney.audit.pairs import Pair, demand_pairs, table_pairs
    from spinney.audit.recording import Transcript, observe, record
    from spinney.audit.replaying import compare, replay, replay_pairs
    from spinney.audit.searching import Case, Surroundings, demand_neighbors, neighbors, search, surroundings
    from spinney.audit.single_runs import one_run, one_run_bound
    from spinney.audit.sources import FrozenSource, NoiselessSource
    from spinney.mechanisms.drawing import Asked, Draw, Drawn, Ended, Keyed

__all__ = [
    "Asked",
    "Case",
    "Draw",
    "Drawn",
    "Ended",
    "Explorer",
    "Finding",
    "Findings",
    "FrozenSource",
    "Keyed",
    "NoiselessSource",
    "Pair",
    "Surroundings",
    "Transcript",
    "audit_page",
    "black_box",
    "compare",
    "demand_neighbors",
    "demand_pairs",
    "epsilon_lower_bound",
    "neighbors",
    "observe",
    "one_run",
    "one_run_bound",
    "outlier",
    "question_bound",
    "question_law",
    "question_loss",
    "record",
    "replay",
    "replay_pairs",
    "search",
    "surroundings",
    "table_pairs",
    "total_loss",
]

__getattr__, __dir__ = lazily(
    "spinney.audit",
    {
        "Asked": "spinney.mechanisms.drawing",
        "Case": "spinney.audit.searching",
        "Draw": "spinney.mechanisms.drawing",
        "Drawn": "spinney.mechanisms.drawing",
        "Ended": "spinney.mechanisms.drawing",
        "Explorer": "spinney.audit.exact",
        "Finding": "spinney.audit.findings",
        "Findings": "spinney.audit.findings",
        "FrozenSource": "spinney.audit.sources",
        "Keyed": "spinney.mechanisms.drawing",
        "NoiselessSource": "spinney.audit.sources",
        "Pair": "spinney.audit.pairs",
        "Surroundings": "spinney.audit.searching",
        "Transcript": "spinney.audit.recording",
        "audit_page": "spinney.audit.pages",
        "black_box": "spinney.audit.black_boxes",
        "compare": "spinney.audit.replaying",
        "demand_neighbors": "spinney.audit.searching",
        "demand_pairs": "spinney.audit.pairs",
        "epsilon_lower_bound": "spinney.audit.epsilon",
        "neighbors": "spinney.audit.searching",
        "observe": "spinney.audit.recording",
        "one_run": "spinney.audit.single_runs",
        "one_run_bound": "spinney.audit.single_runs",
        "outlier": "spinney.audit.outliers",
        "question_bound": "spinney.audit.accounting",
        "question_law": "spinney.audit.exact",
        "question_loss": "spinney.audit.accounting",
        "record": "spinney.audit.recording",
        "replay": "spinney.audit.replaying",
        "replay_pairs": "spinney.audit.replaying",
        "search": "spinney.audit.searching",
        "surroundings": "spinney.audit.searching",
        "table_pairs": "spinney.audit.pairs",
        "total_loss": "spinney.audit.accounting",
    },
)
