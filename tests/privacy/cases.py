"""What users ask for: every algorithm, in a private box, in many columns."""

import dataclasses
from itertools import cycle

from spinney import PrivateKMeans, PrivateKMedian
from spinney.algorithms.registry import HOMES


@dataclasses.dataclass(frozen=True)
class Case:
    """What a user may ask for, and how many columns the tables of a test should have for it."""

    algorithm: str
    tighten: bool = False
    n_features: int = 2

    def __str__(self):
        return f"{'tightened ' if self.tighten else ''}{self.algorithm}-{self.n_features}"

    @property
    def asked(self):
        return {"algorithm": self.algorithm, "tighten": self.tighten}


ASKED = {name: Case(name) for name in sorted(HOMES["points"])} | {"tightened": Case("tree", tighten=True)}
CASES = ASKED | {"many columns": Case("tree", n_features=12)}


def audited_cases():
    """Each algorithm once, objectives and relations in turn: all of them are measured by ``benchmarks/audit_black_box.py``."""
    estimators, relations = cycle([PrivateKMeans, PrivateKMedian]), cycle(["add-remove", "add-remove", "replace"])
    yield from ((next(estimators), case, next(relations)) for case in CASES.values())
    yield from ((estimator, CASES["tree"], "add-remove") for estimator in (PrivateKMeans, PrivateKMedian))
