"""Rules 4 to 7 at once: the exact privacy loss of everything a fit was told, for neighbors, against the whole budget."""

import math
from fractions import Fraction

import numpy as np
import pytest

from spinney import PrivateKMeans, PrivateKMedian
from spinney.algorithms.registry import ALGORITHMS
from spinney.mechanisms.splitting import split_rule
from spinney.privacy.adjacency import Adjacency
from spinney.privacy.charges import Measure
from spinney.privacy.composition import zcdp_epsilon
from spinney.privacy.pricing import Unit

RNG = np.random.default_rng(4)
CROWD = np.full((200, 2), -0.93)
BLOBS = np.concatenate([RNG.normal(-0.5, 0.2, (300, 2)), RNG.normal(0.6, 0.1, (100, 2))])
FAR = np.array([[0.97, 0.99]])


def log_split(scores, rule):
    """Log probabilities to split, and not to split, nodes of these scores."""
    alpha = math.exp(-1 / rule.scale)
    tail = alpha ** (np.abs(rule.threshold - scores) + (scores <= rule.threshold)) / (1 + alpha)
    return np.where(scores <= rule.threshold, np.log(tail), np.log1p(-tail)), np.where(
        scores <= rule.threshold, np.log1p(-tail), np.log(tail)
    )


def tree_loss(tree, arguments, curators, unit):
    """Log ratio of the probabilities of the released tree for two data sets."""
    start, charge = arguments["start"], arguments["charge"]
    rule = split_rule(unit.tree_price(charge), unit.replaces, arguments["threshold"])
    depths = tree.cells.depths - start
    decided = tree.cells.depths < tree.cells.splits.depth
    logs = []
    for curator in curators:
        counts = curator._exact_cell_counts(tree.cells)
        scores = np.maximum(rule.threshold - rule.decay, counts * rule.steps_per_row - depths * rule.decay)
        split, stop = log_split(scores, rule)
        logs.append(np.where(tree.first_child >= 0, split, stop)[decided].sum())
    return Fraction(abs(float(logs[0] - logs[1])))


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
@pytest.mark.parametrize("algorithm", sorted(ALGORITHMS))
@pytest.mark.parametrize("delta", [0.0, 1e-5])
@pytest.mark.parametrize("adjacency", list(Adjacency))
def test_the_transcript_of_a_fit_loses_no_more_than_the_budget(
    estimator, algorithm, delta, adjacency, tape, spy, curator, privacy_loss
):
    model = estimator(3, epsilon=1.5, delta=delta, bounds=(-1, 1), algorithm=algorithm, adjacency=adjacency, noise_seed=3)
    unit = Unit(adjacency)
    for rows in (CROWD, BLOBS):
        if unit.replaces:
            neighbors = [np.concatenate([rows[1:], FAR]), np.concatenate([rows[1:], rows[:1] + np.array([1e-3, -0.5])])]
        else:
            neighbors = [np.concatenate([rows, FAR]), rows[1:]]
        tape.calls.clear()
        tape.answers.clear()
        model.fit(rows)
        transcript = list(zip(tape.calls, tape.answers, strict=True))
        for neighbor in neighbors:
            epsilon, rho = Fraction(0), Fraction(0)
            for (name, arguments), answer in transcript:
                charge = arguments["charge"]
                if name == "grow":
                    pair = [curator(table, [charge], None, adjacency=adjacency) for table in (rows, neighbor)]
                    loss = tree_loss(answer, arguments, pair, unit)
                    pure, zcdp = (loss, Fraction(0)) if charge.measure is Measure.PURE else (Fraction(0), loss**2 / 2)
                else:

                    def ask(private, _, name=name, arguments=arguments):
                        return getattr(private, name)(**arguments)

                    draws = [spy(ask, table, charge, adjacency=adjacency) for table in (rows, neighbor)]
                    pure, zcdp = privacy_loss(*draws)
                assert pure + zcdp <= charge.amount, (name, charge)
                epsilon, rho = epsilon + pure, rho + zcdp
            assert epsilon > 0 or rho > 0
            total = float(epsilon) + (zcdp_epsilon(float(rho), delta) if rho else 0.0)
            assert total <= 1.5
