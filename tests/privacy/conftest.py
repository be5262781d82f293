from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from cases import ASKED, EVERY_CASE, audited_cases

from opening import curator_over
from spinney.audit.accounting import draw_loss
from spinney.audit.sources import NoiselessSource
from spinney.mechanisms.drawing import Draw, Drawn, Watched
from spinney.privacy import Adjacency, Charge, Measure, Unit
from spinney.questions.ground import Ground
from spinney.spaces.box import Box


@pytest.fixture(params=ASKED)
def asked(request):
    """What is asked of an estimator: each algorithm, and the default one inside a private box."""
    return ASKED[request.param].asked


@pytest.fixture(params=EVERY_CASE)
def case(request):
    """As `asked`, with many columns, steps toward medians, and sites."""
    return EVERY_CASE[request.param]


@pytest.fixture(params=audited_cases(), ids=lambda one: f"{one[0].__name__}-{one[1]}-{one[2]}")
def audited(request):
    """An estimator, a case and a relation, for tests that fit hundreds of times."""
    return request.param


NORMS = {"laplace": "l1", "gaussian": "squared l2", "cube": "largest of a cell", "ball": "length of a cell"}


def loss(draws, other_draws):
    """Return, exactly, the worst pure loss and the zCDP rho between two runs of the same questions."""
    assert [(kind, scale, len(values)) for kind, scale, values in draws] == [
        (kind, scale, len(values)) for kind, scale, values in other_draws
    ]
    total = Fraction(0), Fraction(0)
    for (kind, scale, values), (_, _, others) in zip(draws, other_draws, strict=True):
        draw = Draw(kind, scale, NORMS[kind])
        pair = (Drawn(None, draw, np.array(exact), None) for exact in (values, others))
        total = tuple(a + b for a, b in zip(total, draw_loss(*pair, Measure.PURE), strict=True))
    return total


def make_curator(rows, charges, source, domain=None, adjacency="add-remove", max_rows=1, groups=None):
    """Return a curator over rows in the box [-1, 1]^d, with a plan of just these charges."""
    rows = np.asarray(rows)
    domain = Box(-1, 1).domain(rows.shape[1]) if domain is None else domain
    return curator_over(rows, Ground(domain), charges, Unit(Adjacency(adjacency), max_rows), source, groups=groups)


@pytest.fixture
def spy():
    """Return a function: ask one question about rows, get the draws of noise that it made, each with its exact values."""

    def ask(question, rows, charge, **options):
        events = []
        question(make_curator(rows, [charge], Watched(NoiselessSource(), events.append), **options), charge)
        drawn = [event for event in events if isinstance(event, Drawn)]
        assert all(event.asked is not None and event.draw.sensitivity is not None for event in drawn)
        return [(event.draw.distribution, event.draw.scale, event.exact.tolist()) for event in drawn]

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
