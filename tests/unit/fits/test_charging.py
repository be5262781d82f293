import math
from datetime import UTC, datetime

import numpy as np
import pytest

from spinney import BudgetError, FiniteMetric, Ledger, ParameterError, PrivateKMeans, PrivateKMedian, PrivateKMedoids
from spinney.curators.gate import Curator
from spinney.curators.memory import MemoryBackend
from spinney.estimators.coverage import max_coverage

ROWS = np.random.default_rng(0).uniform(0, 1, (400, 2))


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger", 1, 1e-5)


def test_a_release_tells_the_day_and_nothing_finer(real_today):
    before, found, after = datetime.now(UTC).date(), real_today(), datetime.now(UTC).date()
    assert found in (before.isoformat(), after.isoformat())


def test_a_fit_is_charged_its_whole_plan(ledger):
    model = PrivateKMeans(2, epsilon=0.25, bounds=(0, 1))
    model.fit(ROWS, ledger=ledger)
    (entry,) = ledger.entries
    assert entry.charges == model.plan(n_features=2).charges
    assert set(model.release_.charges) <= set(entry.charges)
    assert (entry.objective, entry.algorithm, entry.epsilon, entry.delta) == ("kmeans", "tree", 0.25, 0.0)
    PrivateKMedian(2, epsilon=0.25, bounds=(0, 1)).fit_predict(ROWS, ledger=ledger)
    assert [entry.objective for entry in ledger.entries] == ["kmeans", "kmedian"]
    assert not any(isinstance(value, Ledger) for value in vars(model).values())


def test_sites_and_covers_are_charged_their_whole_plan(tmp_path):
    ledger = Ledger(tmp_path / "ledger", 3, 1e-5)
    space = FiniteMetric.from_points(np.arange(6.0)[:, None])
    model = PrivateKMedoids(2, epsilon=1.0, delta=1e-6, space=space, algorithm="coverage").fit([0, 1, 5], ledger=ledger)
    release = max_coverage([0, 1, 5], [[0, 1], [5]], 2, epsilon=1.0, delta=1e-6, ledger=ledger)
    assert [entry.charges for entry in ledger.entries] == [model.plan().charges, release.charges]
    assert [entry.objective for entry in ledger.entries] == ["kmedoids", "coverage"]
    assert sum(charge.delta for entry in ledger.entries for charge in entry.charges) > 0
    assert Ledger(tmp_path / "ledger").spent == ledger.spent > 1.99
    with pytest.raises(BudgetError):
        PrivateKMedoids(2, epsilon=1.1, space=space).fit([0, 1, 5], ledger=ledger)


def test_a_fit_over_the_ceiling_asks_nothing(ledger, monkeypatch):
    made = []
    monkeypatch.setattr(MemoryBackend, "__init__", lambda *_, **__: made.append(1))
    with pytest.raises(BudgetError, match=r"would bring the ledger to epsilon 1\.5"):
        PrivateKMeans(2, epsilon=1.5, bounds=(0, 1)).fit(ROWS, ledger=ledger)
    assert (made, ledger.entries) == ([], ())


def test_a_fit_that_fails_half_way_stays_charged_and_says_so(ledger, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("half-way")

    monkeypatch.setattr(Curator, "ask", fail)
    with pytest.raises(RuntimeError, match="half-way") as caught:
        PrivateKMeans(2, epsilon=0.5, bounds=(0, 1)).fit(ROWS, ledger=ledger)
    assert caught.value.__notes__ == ["The ledger was charged for this release and keeps the charge."]
    assert len(ledger.entries) == 1
    assert ledger.remaining <= 0.6


def test_a_release_that_cannot_be_made_stays_charged_and_says_so(ledger, monkeypatch):
    def fail(*_, **__):
        raise KeyboardInterrupt

    space = FiniteMetric.from_points(np.arange(6.0)[:, None])
    monkeypatch.setattr("spinney.fits.run.promise_fields", fail)
    for fit in (
        lambda: PrivateKMeans(2, epsilon=0.1, bounds=(0, 1)).fit(ROWS, ledger=ledger),
        lambda: PrivateKMedoids(2, epsilon=0.1, space=space).fit([0, 1, 5], ledger=ledger),
        lambda: max_coverage([0, 1, 5], [[0, 1], [5]], 2, epsilon=0.1, ledger=ledger),
    ):
        with pytest.raises(KeyboardInterrupt) as caught:
            fit()
        assert caught.value.__notes__ == ["The ledger was charged for this release and keeps the charge."]
    assert len(ledger.entries) == 3


def test_an_interrupt_while_the_ledger_is_charged_says_where_to_look(ledger, monkeypatch):
    def fail(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Ledger, "spend", fail)
    with pytest.raises(KeyboardInterrupt) as caught:
        PrivateKMeans(2, epsilon=0.1, bounds=(0, 1)).fit(ROWS, ledger=ledger)
    assert caught.value.__notes__ == ["The ledger may have been charged for this release: it shows whether it was."]


@pytest.mark.parametrize("wrong", [{"epsilon": math.inf}, {"epsilon": 0.5, "noise_seed": 0}], ids=str)
def test_what_is_not_private_is_refused(ledger, wrong):
    with pytest.raises(ParameterError, match="has no place in a ledger"):
        PrivateKMeans(2, **wrong, bounds=(0, 1)).fit(ROWS, ledger=ledger)
    assert ledger.entries == ()


def test_the_unit_must_be_the_ledgers(ledger, tmp_path):
    groups = np.arange(400) // 2
    model = PrivateKMeans(2, epsilon=0.5, bounds=(0, 1), max_rows_per_group=2)
    with pytest.raises(ParameterError, match="one ledger has one unit"):
        model.fit(ROWS, groups=groups, ledger=ledger)
    with pytest.raises(ParameterError, match="one ledger has one unit"):
        PrivateKMeans(2, epsilon=0.5, bounds=(0, 1), adjacency="replace").fit(ROWS, ledger=ledger)
    persons = Ledger(tmp_path / "persons", 1, max_rows_per_group=3)
    model.fit(ROWS, groups=groups, ledger=persons)
    assert persons.entries[0].max_rows_per_group == 2


def test_a_path_is_not_a_ledger(tmp_path):
    with pytest.raises(ParameterError, match="must be a Ledger or None"):
        PrivateKMeans(2, epsilon=0.5, bounds=(0, 1)).fit(ROWS, ledger=str(tmp_path / "ledger"))
