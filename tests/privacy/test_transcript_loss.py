"""Rules 4 to 7 at once: the exact privacy loss of everything a fit was told, for neighbors, against the whole budget."""

import math
from fractions import Fraction

import numpy as np
import pytest

from spinney import PrivateKMeans, PrivateKMedian
from spinney.mechanisms.splitting import split_rule
from spinney.privacy.adjacency import Adjacency
from spinney.privacy.charges import Measure
from spinney.privacy.composition import zcdp_epsilon
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


def log_split(scores, rule):
    """Log probabilities to split, and not to split, nodes of these scores."""
    alpha = math.exp(-1 / rule.scale)
    tail = alpha ** (np.abs(rule.threshold - scores) + (scores <= rule.threshold)) / (1 + alpha)
    return np.where(scores <= rule.threshold, np.log(tail), np.log1p(-tail)), np.where(
        scores <= rule.threshold, np.log1p(-tail), np.log(tail)
    )


def tree_loss(tree, question, charge, curators, unit):
    """Log ratio of the probabilities of the released tree for two data sets."""
    rule = split_rule(unit.tree_price(charge), unit.replaces, question.threshold)
    depths = tree.cells.depths - question.start
    decided = tree.cells.depths < tree.cells.splits.depth
    logs = []
    for curator in curators:
        counts = curator._rows._cell_counts(tree.cells)
        scores = np.maximum(rule.threshold - rule.decay, counts * rule.steps_per_row - depths * rule.decay)
        split, stop = log_split(scores, rule)
        logs.append(np.where(tree.first_child >= 0, split, stop)[decided].sum())
    return Fraction(abs(float(logs[0] - logs[1])))


def level_loss(answer, curators):
    """Pure loss, or rho, of the released counts of a tree: all visited cells have noise of one scale."""
    gaps = np.abs(np.subtract(*(curator._rows._cell_counts(answer.tree.cells) for curator in curators)))
    scale = Fraction(answer.noise.scale)
    if answer.noise.distribution == "laplace":
        return Fraction(int(gaps.sum())) / scale, Fraction(0)
    return Fraction(0), Fraction(int((gaps**2).sum())) / (2 * scale**2)


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
@pytest.mark.parametrize("delta", [0.0, 1e-5])
@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_the_transcript_of_a_fit_loses_no_more_than_the_budget(
    estimator, case, delta, adjacency, tape, spy, curator, privacy_loss
):
    model = estimator(3, epsilon=1.5, delta=delta, bounds=(-1, 1), adjacency=adjacency, noise_seed=3, **case.asked)
    unit = Unit(adjacency)
    narrow = set()
    for rows in tables(case.n_features):
        tape.calls.clear()
        tape.answers.clear()
        model.fit(rows)
        transcript = list(zip(tape.calls, tape.answers, strict=True))
        for neighbor in neighbors_of(rows, unit.replaces):
            epsilon, rho = Fraction(0), Fraction(0)
            for (name, domain, question, charge), answer in transcript:
                narrow |= {charge.name} if (domain.upper < 1).any() else set()
                # The exact answers in the view that the question was asked in.
                pair = [curator(table, [charge], None, adjacency=adjacency).within(domain) for table in (rows, neighbor)]
                if name == "levels":
                    pure, zcdp = level_loss(answer, pair)
                elif name == "grow":
                    loss = tree_loss(answer, question, charge, pair, unit)
                    pure, zcdp = (loss, Fraction(0)) if charge.measure is Measure.PURE else (Fraction(0), loss**2 / 2)
                else:

                    def ask(private, own, domain=domain, question=question):
                        return private.within(domain).ask(question, own)

                    draws = [spy(ask, table, charge, adjacency=adjacency) for table in (rows, neighbor)]
                    pure, zcdp = privacy_loss(*draws)
                assert pure + zcdp <= charge.amount, (name, charge)
                epsilon, rho = epsilon + pure, rho + zcdp
            assert epsilon > 0 or rho > 0
            total = float(epsilon) + (zcdp_epsilon(float(rho), delta) if rho else 0.0)
            assert total <= 1.5
    # All that a tightened fit asks, after its box, is asked inside it; moments asks so about its tree.
    later = {charge.name for charge in model.plan(case.n_features).charges[1:]}
    assert later - {"verify 2"} <= narrow <= later if case.tighten else narrow <= {"leaves"}
