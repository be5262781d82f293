"""Rule 6: many copies of one point, with and without one far point; the epsilon that shows is at most the one promised."""

import dataclasses

import numpy as np
import pytest
from outliers import EARLY_LOOKS, LOOKS, shown_epsilons

from spinney import Box, PrivateKMeans, SeededNoiseWarning
from spinney.audit.epsilon import epsilon_lower_bound
from spinney.mechanisms.source import SecureSource, SeededSource
from spinney.privacy.composition import zcdp_epsilon
from spinney.questions import Cost, Counts, Grow, Levels, Minimize, Rings, Sums, levels, record, sums
from spinney.trees.quadtree import Splits

CROWD = np.full((40, 2), -0.9)
OUTLIER = np.array([[0.95, 0.95]])
CENTERS = np.array([[-0.9, -0.9], [0.9, 0.9]])
#: Of the audit that must find what is planted; its draws have a seed.
CONFIDENCE = 1 - 1e-5

SECURE = SecureSource(), SecureSource()
SPLITS = Splits.of(Box(-1, 1).domain(2))
QUESTIONS = {
    "counts": lambda c, charge: c.ask(Counts(Rings(CENTERS)), charge).private_counts[1],
    "sums": lambda c, charge: c.ask(Sums(CENTERS, "mean", np.array([0.1, 0.1])), charge).private_vectors[1].sum(),
    "grow": lambda c, charge: len(c.ask(Grow(SPLITS, 2, 0), charge).cells),
    "levels": lambda c, charge: c.ask(Levels(SPLITS, 0, 4, 1), charge).private_counts.sum(),
    "cost": lambda c, charge: c.ask(Cost(CENTERS[:1], 2), charge).private_cost,
    "minimize": lambda c, charge: c.ask(Minimize(CENTERS, np.array([0.3, 0.2])), charge).private_points[1].sum(),
}


def neighbors(adjacency, d=2):
    # In many columns only a larger crowd draws a center to itself and leaves the outlier alone with another.
    crowd, outlier = np.resize(CROWD, (len(CROWD) if d == 2 else 400, d)), np.resize(OUTLIER, (1, d))
    return np.concatenate([crowd, outlier]), (np.concatenate([crowd, crowd[:1]]) if adjacency == "replace" else crowd)


def answers(question, adjacency, measure, amount, runs, curator, charge, sources=SECURE):
    """Ask one question again and again of each of two neighbors, each time at the full charge."""
    asked = charge(question, measure, amount)
    charges = [dataclasses.replace(asked, name=str(run)) for run in range(runs)]
    seen = []
    for rows, source in zip(neighbors(adjacency), sources, strict=True):
        private = curator(rows, charges, source, adjacency=adjacency)
        seen.append([QUESTIONS[question](private, each) for each in charges])
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(("adjacency", "measure"), [("replace", "epsilon"), ("add-remove", "rho")])
@pytest.mark.matrix
def test_each_question_spends_at_most_its_charge(question, adjacency, measure, curator, charge, alarm):
    amount, limit, delta = (1, 1.0, 0.0) if measure == "epsilon" else ("1/2", zcdp_epsilon(0.5, 0.01), 0.01)
    seen = answers(question, adjacency, measure, amount, 100 if question == "grow" else 250, curator, charge)
    assert epsilon_lower_bound(*seen, delta, 1 - alarm) <= limit


@pytest.mark.slow
def test_the_audit_catches_noise_that_is_three_times_too_small(curator, charge):
    sources = SeededSource(1), SeededSource(2)
    seen = answers("counts", "add-remove", "epsilon", 3, 800, curator, charge, sources)
    assert epsilon_lower_bound(*seen, 0.0, CONFIDENCE) > 1.0


def statistics(release, reference):
    """What an attacker may look at: where centers went, sizes, the summary near the outlier, and what did not change at all."""
    there = np.argmax(release.centers.sum(axis=1))
    return {
        "farthest center": release.centers[there].sum(),
        "size there": release.sizes[there],
        "smallest size": release.sizes.min(),
        "summary near the outlier": release.summary_weights[(release.summary_points > 0.5).all(axis=1)].sum(),
        "charges spent": len(release.charges),
        "same as in a run before": (release.centers == reference.centers).sum() + (release.sizes == reference.sizes).sum(),
    }


def measured_epsilons(estimator, case, adjacency, confidence, seeded=False):
    model = estimator(3, epsilon=1.0, bounds=(-1, 1), adjacency=adjacency, random_state=0, **case.asked)
    pair = neighbors(adjacency, case.n_features)
    reference = model.fit(pair[1]).release_

    def run(rows, seed):
        return statistics(model.set_params(noise_seed=seed).fit(rows).release_, reference)

    return shown_epsilons(run, pair, confidence, seeded, looks=EARLY_LOOKS if seeded else LOOKS)


@pytest.mark.slow
@pytest.mark.matrix
def test_lonely_outlier_shows_no_more_than_epsilon(audited, alarm):
    estimator, case, adjacency = audited
    measured = measured_epsilons(estimator, case, adjacency, 1 - alarm / 6)  # six statistics
    assert max(measured.values()) <= 1.0, measured


@pytest.mark.slow
@pytest.mark.parametrize("case", ["tree", "lloyd", "hst"], indirect=True)  # the fault is in questions, which all algorithms share
@pytest.mark.matrix
def test_lonely_outlier_catches_noise_left_out_of_almost_empty_slots(case, monkeypatch):
    private = record.privatize

    def skip(exact, noise, source, *declared):
        return np.where(np.abs(exact) <= 1, exact, private(exact, noise, source, *declared)).astype(np.int64)

    for module in (levels, record, sums):
        monkeypatch.setattr(module, "privatize", skip)
    with pytest.warns(SeededNoiseWarning):
        measured = measured_epsilons(PrivateKMeans, case, "add-remove", CONFIDENCE, seeded=True)
    assert max(measured.values()) > 1.0, measured
