"""Rules 3, 6 and 9 for sites: broken demand, costs far apart, and the lonely outlier.."""

import logging
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from cases import DEMAND, SITES, SPACE
from outliers import EARLY_LOOKS, LOOKS, shown_epsilons

import spinney.curators.demand
import spinney.fits.run
from alarms import check_frequencies
from spinney import FiniteMetric, PrivateKMedoids, SeededNoiseWarning, SiteRelease
from spinney.audit.laws import select_law
from spinney.audit.sources import NoiselessSource
from spinney.audit.tiny import demand_curator
from spinney.mechanisms.source import SecureSource
from spinney.privacy import Charge, Measure, Unit
from spinney.questions import Choose, Sets, Swaps, record

TABLES = {
    "nan": [*DEMAND, np.nan],
    "infinity": np.array([1.0, np.inf, -np.inf]),
    "outside": np.array([-1, 60, 2**62, 5]),
    "fractions": [0.5, 1.0, 1.0000001],
    "texts": ["1", "x", "", "1e999", None, b"3", True],
    "large": [10**400, -(10**400), 3],
    "unsigned": np.array([2**64 - 1, 3], dtype=np.uint64),
    "bytes": np.array([1, 255], dtype=np.uint8),
    "booleans": np.array([True, False]),
    "half precision": np.array([1.0, np.nan, 6e4], dtype=np.float16),
    "long": np.array([1.0, np.nan], dtype=np.longdouble),
    "masked": np.ma.array([1, 2, 3], mask=[0, 1, 0]),
    "column": DEMAND[:, None],
    "lists of one": [[1], [2], 3, [4, 5], [], np.array([6])],
    "tuple": (1, 2, 3),
    "series": pd.Series([1, None, 3]),
    "nullable": pd.Series([1, None, 3], dtype="Int64"),
    "categories": pd.Series(["1", "2", None], dtype="category"),
    "frame": pd.DataFrame({"site": [1, 2, 70]}),
    "arrays of any shape": [np.zeros((2, 3)), np.zeros((2, 4)), 1],
    "nothing": [],
    "only broken": [np.nan] * 5,
    "complex cell": [1, 2j, np.complex128(3)],
    "date cell": [1, np.datetime64("2020-01-01")],
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_any_demand_gives_k_sites_without_a_word(table, adjacency, caplog):
    case = list(SITES.values())[list(TABLES).index(table) % len(SITES)]
    caplog.clear()
    with warnings.catch_warnings(record=True) as said, caplog.at_level(logging.DEBUG, logger="spinney"):
        warnings.simplefilter("always")
        model = case.model(adjacency=adjacency).fit(TABLES[table])
        model.predict(TABLES[table])
    # The one warning follows from the release.
    assert [str(w.message) for w in said] == ([SiteRelease.faint] if model.release_.looks_empty else [])
    assert [record.getMessage() for record in caplog.records] == [
        f"asking {charge.question}: {charge.name}" for charge in model.release_.charges
    ]
    assert len(set(model.medoid_indices_.tolist())) == 3
    assert np.isin(model.medoid_indices_, SPACE.candidates).all()
    assert np.isfinite(model.cluster_sizes_).all()


@pytest.mark.parametrize("broken", [np.nan, 60, -1, 0.5, "x", None, 10**400, [1, 2], b"1"], ids=repr)
def test_a_broken_row_counts_as_no_row_or_as_the_first_point(broken):
    rows = DEMAND.tolist()
    for case in (SITES["site hst"], SITES["coverage of sites"]):
        for adjacency, more in (("add-remove", []), ("replace", [0])):
            model = case.model(adjacency=adjacency, noise_seed=5)
            assert model.fit([*rows, broken]).release_.to_json() == model.fit([*rows, *more]).release_.to_json()


@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(20)])
def test_costs_far_apart_neither_underflow_nor_raise(epsilon, monkeypatch):
    # A crowd so large that the best option is better by a million scales of the noise.
    crowd = int(10**6 / epsilon) + 1
    charge = Charge("test", "choose", Measure.PURE, epsilon)
    space = FiniteMetric.from_points([[0.0], [1.0], [2.0], [3.0]])
    monkeypatch.setattr(spinney.curators.demand, "count_points", lambda *_: np.array([crowd, 0, 0, 0]))
    curator = demand_curator(np.arange(1), space, Unit(), SecureSource())
    swaps = Swaps(space, np.array([3, 2]), np.empty(0, dtype=np.int64))
    assert {curator.ask(Choose(swaps), charge) % 2 for _ in range(10)} == {0}  # always the newcomer at the crowd
    sets = Sets((np.array([3]), np.array([0]), np.array([1])))
    assert {curator.ask(Choose(sets), charge) for _ in range(10)} == {1}


@pytest.mark.slow
@pytest.mark.parametrize(("measure", "amount"), [(Measure.PURE, Fraction(3, 2)), (Measure.ZCDP, Fraction(1, 4))])
def test_frequencies_of_swaps_match_the_exact_probabilities(measure, amount, alarm):
    charge = Charge("test", "choose", measure, amount)
    space = FiniteMetric.from_points([[0.0], [1.0], [2.0], [3.5]])
    swaps = Swaps(space, np.array([0, 3]), np.empty(0, dtype=np.int64), 1, True)
    rows = [1, 2, 2]
    recorder = NoiselessSource()
    demand_curator(np.array(rows), space, Unit(), recorder).ask(Choose(swaps), charge)
    (_, scale, scores) = recorder.draws[0]
    curator = demand_curator(np.array(rows), space, Unit(), SecureSource())
    picks = [curator.ask(Choose(swaps), charge) for _ in range(2000)]
    law = select_law(scores, scale)
    assert law.min() > 0.02
    check_frequencies(np.bincount(picks, minlength=len(law)), law, alarm)


LINE = FiniteMetric.from_points([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
#: Of the audit that must find what is planted; its draws have a seed.
CONFIDENCE = 1 - 1e-5


def measured_epsilons(algorithm, adjacency, confidence, seeded=False):
    """Return the epsilon that shows in several statistics of a release: a crowd, with and without one far row."""
    crowd = [0] * 30
    near = [*crowd, 0] if adjacency == "replace" else crowd
    model = PrivateKMedoids(2, epsilon=1.0, space=LINE, algorithm=algorithm, adjacency=adjacency, random_state=0)

    def statistics(rows, seed):
        release = model.set_params(noise_seed=seed).fit(rows).release_
        far = release.medoids >= 3
        return {
            "medoids there": far.sum(),
            "sizes there": release.sizes[far].sum(),
            "smallest size": release.sizes.min(),
            "summary there": release.summary_weights[release.summary_points >= 3].sum(),
        }

    looks = EARLY_LOOKS if seeded else LOOKS
    return shown_epsilons(statistics, ([*crowd, 4], near), confidence, seeded, looks=looks).values()


@pytest.mark.slow
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("name", ["cells", "coverage of sites", "site hst", "local-search, random"])
@pytest.mark.matrix
def test_lonely_outlier_shows_no_more_than_epsilon(name, adjacency, alarm):
    assert max(measured_epsilons(SITES[name].algorithm, adjacency, 1 - alarm / 4)) <= 1.0  # four statistics


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cells", "site hst"])
@pytest.mark.matrix
def test_lonely_outlier_catches_noise_left_out_of_almost_empty_slots(name, monkeypatch):
    private = record.privatize

    def skip(exact, noise, source, *declared):
        return np.where(np.abs(exact) <= 1, exact, private(exact, noise, source, *declared)).astype(np.int64)

    monkeypatch.setattr(record, "privatize", skip)
    with pytest.warns(SeededNoiseWarning):
        assert max(measured_epsilons(SITES[name].algorithm, "add-remove", CONFIDENCE, seeded=True)) > 1.0
