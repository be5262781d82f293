from __future__ import annotations

import copy
import dataclasses
import functools
import math
from collections import deque
from fractions import Fraction

import numpy as np
import pytest

from spinney import PrivateKMeans, PrivateKMedian
from spinney.algorithms.registry import HOMES
from spinney.curators.gate import Curator
from spinney.curators.memory import MemoryBackend
from spinney.privacy.adjacency import Adjacency
from spinney.privacy.budget import Budget
from spinney.privacy.charges import Charge, Measure
from spinney.privacy.ledger import FitLedger
from spinney.privacy.pricing import Unit
from spinney.questions.catalog import CATALOG
from spinney.questions.ground import Ground
from spinney.spaces.box import Box

#: The questions' names by their classes.
QUESTIONS = {entry.question: name for name, entry in CATALOG.items()}


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


@pytest.fixture(params=ASKED)
def asked(request):
    """What is asked of an estimator: each algorithm, and the default one inside a private box."""
    return ASKED[request.param].asked


@pytest.fixture(params=CASES)
def case(request):
    """As `asked`, with the form of the tree for many columns."""
    return CASES[request.param]


def canonical(value):
    """Turn public values into something that compares bit for bit."""
    if isinstance(value, np.ndarray):
        return ("array", value.dtype.str, value.shape, np.ascontiguousarray(value).tobytes())
    if isinstance(value, np.generic):
        return canonical(np.asarray(value))
    if isinstance(value, float):
        return ("float", value.hex())
    if dataclasses.is_dataclass(value):
        return (type(value).__name__, *(canonical(getattr(value, f.name)) for f in dataclasses.fields(value)))
    if isinstance(value, tuple | list):
        return (type(value).__name__, *map(canonical, value))
    assert value is None or isinstance(value, int | str | Fraction), type(value)
    return value


def audited_cases():
    """Each algorithm, for both objectives and both relations where a run is cheap enough to be repeated so often."""
    for estimator in (PrivateKMeans, PrivateKMedian):
        yield from ((estimator, Case(name), "add-remove") for name in sorted(HOMES["points"]))
        yield estimator, CASES["lloyd"], "replace"
    yield PrivateKMeans, CASES["tightened"], "add-remove"
    yield PrivateKMedian, CASES["tightened"], "replace"
    yield PrivateKMeans, CASES["many columns"], "add-remove"


@pytest.fixture(params=audited_cases(), ids=lambda one: f"{one[0].__name__}-{one[1]}-{one[2]}")
def audited(request):
    """An estimator, a case and a relation, for tests that fit hundreds of times."""
    return request.param


class Tape:
    """Records every question with the domain it was asked in and its answer, or plays the answers back without the rows."""

    def __init__(self, monkeypatch):
        self.asked, self.calls, self.answers = [], [], []
        self._frozen = None
        monkeypatch.setattr(Curator, "ask", self._wrap(Curator.ask))

    def _wrap(self, answer_to):
        @functools.wraps(answer_to)
        def ask(curator, question, charge):
            name, domain = QUESTIONS[type(question)], curator.ground.domain
            self.asked.append((name, canonical(domain), canonical(question), canonical(charge)))
            if self._frozen is not None:
                question.check(curator.ground)
                curator.ledger.spend(charge, name)
                curator.ledger.keep(question.record(curator.ground, charge, curator.unit))
                return copy.deepcopy(self._frozen.popleft())
            answer = answer_to(curator, question, charge)
            self.calls.append((name, domain, question, charge))
            self.answers.append(copy.deepcopy(answer))
            return answer

        return ask

    def rewind(self):
        """Play back from now on; return what was asked so far."""
        asked, self.asked = self.asked, []
        self._frozen = deque(self.answers)
        return asked

    def same(self, one, other):
        """Whether two recorded answers agree bit for bit."""
        return canonical(self.answers[one]) == canonical(self.answers[other])

    @property
    def answers_left(self):
        return len(self._frozen)


@pytest.fixture
def tape(monkeypatch):
    return Tape(monkeypatch)


class SpySource:
    """Adds no noise, and remembers which exact values noise of which scale was asked for."""

    statement = "seeded: not private"

    def __init__(self):
        self.draws = []

    def laplace(self, values, scale):
        self.draws.append(("laplace", scale, [int(v) for v in np.asarray(values).ravel()]))
        return values

    def gaussian(self, values, scale):
        self.draws.append(("gaussian", scale, [int(v) for v in np.asarray(values).ravel()]))
        return values

    def select(self, scores, scale):
        return int(np.argmax(scores))

    def key(self):
        return b"sixteen  letters"


def loss(draws, other_draws):
    """Return, exactly, the worst pure loss and the zCDP rho between two runs of the same questions."""
    assert [(kind, scale, len(values)) for kind, scale, values in draws] == [
        (kind, scale, len(values)) for kind, scale, values in other_draws
    ]
    epsilon, rho = Fraction(0), Fraction(0)
    for (kind, scale, values), (_, _, others) in zip(draws, other_draws, strict=True):
        gaps = [abs(a - b) for a, b in zip(values, others, strict=True)]
        if kind == "laplace":
            epsilon += Fraction(sum(gaps)) / Fraction(scale)
        else:
            rho += Fraction(sum(gap * gap for gap in gaps)) / (2 * Fraction(scale) ** 2)
    return epsilon, rho


def make_curator(rows, charges, source, domain=None, adjacency="add-remove", max_rows=1, groups=None):
    """Return a curator over rows in the box [-1, 1]^d, with a plan of just these charges."""
    rows = np.asarray(rows)
    domain = Box(-1, 1).domain(rows.shape[1]) if domain is None else domain
    ledger = FitLedger(Budget(Fraction(10**9), Fraction(1, 10)), tuple(charges))
    unit = Unit(Adjacency(adjacency), max_rows)
    backend = MemoryBackend(rows, Ground(domain), unit, lambda: source.key(), groups)
    return Curator(backend, unit, ledger, source)


@pytest.fixture
def spy():
    """Return a function: ask one question about rows, get the draws of noise that it made."""

    def ask(question, rows, charge, **options):
        source = SpySource()
        question(make_curator(rows, [charge], source, **options), charge)
        return source.draws

    return ask


@pytest.fixture
def curator():
    return make_curator


@pytest.fixture
def charge():
    """Return a function: a charge for a question in either measure."""

    def make(question, measure="epsilon", amount=1):
        return Charge("test", question, Measure(measure), math.inf if amount == math.inf else Fraction(amount))

    return make


@pytest.fixture
def privacy_loss():
    return loss
