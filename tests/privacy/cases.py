"""What users ask for: every algorithm, in a private box, in many columns, with options that ask of other views."""

import dataclasses
from itertools import cycle
from typing import Any

from registered import REGISTERED
from spinney import PrivateKMeans, PrivateKMedian
from spinney.algorithms.hst import HST


@dataclasses.dataclass(frozen=True)
class Case:
    """What a user may ask for, and how many columns the tables of a test should have for it."""

    algorithm: Any
    tighten: bool = False
    n_features: int = 2
    options: str = ""

    def __str__(self):
        name = self.algorithm if isinstance(self.algorithm, str) else f"{self.options} {self.algorithm.name}"
        return f"{'tightened ' if self.tighten else ''}{name}-{self.n_features}"

    @property
    def asked(self):
        return {"algorithm": self.algorithm, "tighten": self.tighten}


ASKED = {name: Case(name) for name in sorted(REGISTERED["points"])} | {"tightened": Case("tree", tighten=True)}
ASKED |= {"repaired": Case(HST(alpha=3, rounds=1, repairs=2, slack=1.0), options="repaired")}
CASES = ASKED | {
    "many columns": Case("tree", n_features=12),
    "projected": Case(HST(alpha=3, rounds=1, projection=2), n_features=3, options="projected"),
    "projected, repaired": Case(
        HST(alpha=3, rounds=1, projection=2, repairs=2, slack=1.0), n_features=3, options="projected, repaired"
    ),
}


def audited_cases():
    """Each algorithm once, objectives and relations in turn: all of them are measured by ``benchmarks/audit_black_box.py``.

    Their options ask the same questions, and replay looks at them all.
    """
    estimators, relations = cycle([PrivateKMeans, PrivateKMedian]), cycle(["add-remove", "add-remove", "replace"])
    plain = (case for case in CASES.values() if not case.options)
    yield from ((next(estimators), case, next(relations)) for case in plain)
