"""Rules 4 to 7 at once: the exact privacy loss of everything a fit was told, for neighbors, against the whole budget."""

from fractions import Fraction

import numpy as np
import pytest
from cases import CASES

from covering import covering
from spinney import PrivateKMeans, PrivateKMedian
from spinney.audit import compare, record, total_loss
from spinney.privacy.adjacency import Adjacency
from spinney.privacy.pricing import Unit


def tables(d):
    """A crowd in one place, and two blobs."""
    rng = np.random.default_rng(4)
    blobs = [rng.normal(-0.5, 0.2, (300, d)), rng.normal(0.6, 0.1, (100, d))]
    return np.full((1000, d), -0.93), np.concatenate(blobs)


def neighbors_of(rows, replaces):
    far, near = np.resize([0.97, 0.99], (1, rows.shape[1])), np.resize([1e-3, -0.5], rows.shape[1])
    if replaces:
        return [np.concatenate([rows[1:], far]), np.concatenate([rows[1:], rows[:1] + near])]
    return [np.concatenate([rows, far]), rows[1:]]


@covering("case, estimator, delta, adjacency", CASES, [PrivateKMeans, PrivateKMedian], [0.0, 1e-5], Adjacency, indirect=["case"])
@pytest.mark.matrix
def test_the_transcript_of_a_fit_loses_no_more_than_the_budget(estimator, case, delta, adjacency):
    model = estimator(3, epsilon=1.5, delta=delta, bounds=(-1, 1), adjacency=adjacency, **case.asked)
    narrow = set()
    for rows in tables(case.n_features):
        first = record(model, rows)
        inside = [one for one in first.questions if one.ground.domain is not None]  # others are about rows seen at points
        inside = [one.charge.name for one in inside if (one.ground.domain.upper < 1).any()]
        narrow |= {name for put_together in inside for name in put_together.split(" + ")}
        for neighbor in neighbors_of(rows, Unit(adjacency).replaces):
            found = compare(first, record(model, neighbor, source=first.frozen()))
            assert found.faults == ()
            assert len(found.losses) == len(first.questions)
            for loss, asked in zip(found.losses, first.questions, strict=True):
                assert loss.amount <= asked.charge.amount, asked.charge
            assert 0 < total_loss(found.losses, Fraction(str(delta))) <= Fraction(3, 2)
    # All that a tightened fit asks, after its box, is asked inside it; the default asks so about its tree.
    later = {charge.name for charge in model.plan(case.n_features).charges[1:]}
    assert narrow == later if case.tighten else narrow <= {"splits", "leaves"}
