import json
import math
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

from spinney import CoverRelease, FiniteMetric, Ledger, PrivateKMeans, PrivateKMedoids, Release, SiteRelease, max_coverage
from spinney.algorithms import HST, Coverage, SiteHST
from spinney.baselines.lloyd import Lloyd
from spinney.fits import charging
from spinney.releases.promise import LATER

ROWS = np.random.default_rng(0).random((400, 2))
GROUPS = np.arange(400) // 4
SPACE = FiniteMetric.from_points([[x, y] for x in range(6) for y in range(6)])
DEMAND = np.random.default_rng(0).integers(0, 36, 400)


def fit(algorithm="auto", estimator=PrivateKMeans, groups=None, ledger=None, **changes):
    settings = {"n_clusters": 3, "epsilon": 2.0, "bounds": (0, 1), "algorithm": algorithm, **changes}
    return estimator(**settings).fit(ROWS, groups=groups, ledger=ledger).release_


def fit_sites(algorithm="auto", groups=None, ledger=None, **changes):
    settings = {"n_clusters": 3, "epsilon": 2.0, "delta": 1e-6, "space": SPACE, "algorithm": algorithm, **changes}
    return PrivateKMedoids(**settings).fit(DEMAND, groups=groups, ledger=ledger).release_


def cover(groups=None, **changes):
    settings = {"epsilon": 2.0, "delta": 1e-6, "groups": groups, **changes}
    return max_coverage(DEMAND, [range(6), range(6, 20), range(18, 36)], 2, **settings)


OWN = {"alpha": 3, "beta": 2.5, "consistent": False, "rounds": 1, "projection": "auto", "repairs": 1, "slack": 0.25}


@pytest.mark.parametrize(
    ("make", "algorithm", "parameters"),
    [
        (fit, HST(**OWN), OWN),
        (fit, "hst", {name: getattr(HST(), name) for name in OWN}),
        (fit, "tree", {}),
        (fit_sites, Coverage(growth=0.9), {"growth": 0.9}),
        (fit_sites, SiteHST(levels=4), {"levels": 4, "allocation": SiteHST().allocation, "tree": "frt"}),
        (fit_sites, "cells", {}),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
@pytest.mark.parametrize("tighten", [False, True])
def test_a_release_records_the_parameters_of_its_algorithm_and_gives_them_back(make, algorithm, parameters, tighten, tmp_path):
    if make is fit:
        release = fit(algorithm, tighten=tighten)
        again = PrivateKMeans.from_release(Release.from_dict(json.loads(release.to_json())))
    else:
        release = make(algorithm)
        again = PrivateKMedoids.from_release(SiteRelease.from_dict(json.loads(release.to_json())), SPACE)
    assert release.parameters == parameters
    assert again.algorithm == algorithm
    assert again.fit(ROWS if make is fit else DEMAND).release_.parameters == parameters


#: More digits than any noisy number has by chance.
CANARY = 421742174217


class Odd:
    """Not a plain number or name: it may hold anything."""

    def __repr__(self):
        return f"private {CANARY}"


@dataclass(frozen=True)
class Own(Lloyd):
    table: object
    step: float = math.inf
    size: int = 3
    label: str = "a"

    name = "own"


TABLES = [Odd(), [float(CANARY)], {"x": CANARY}, np.array([CANARY])]


@pytest.mark.parametrize("table", TABLES, ids=lambda value: type(value).__name__)
def test_of_a_parameter_that_is_no_plain_number_or_name_its_type_is_recorded(table):
    release = fit(Own(table, size=np.int64(3)))
    assert release.parameters == {"table": f"a {type(table).__name__}", "step": "inf", "size": 3, "label": "a"}
    assert str(CANARY) not in release.to_json()
    again = PrivateKMeans.from_release(Release.from_dict(json.loads(release.to_json())))
    assert again.algorithm == "own"  # a name that its owner knows


@pytest.mark.parametrize("make", [fit, fit_sites, cover])
def test_a_release_records_its_day_its_ledger_and_its_entry(make, tmp_path):
    assert make().made == {"date": charging.today(), "ledger": None, "entry": None}
    ledger = Ledger(tmp_path / "town.ledger", epsilon=10, delta=1e-4)
    release = make(ledger=ledger)
    (entry,) = ledger.entries
    assert release.made == {"date": charging.today(), "ledger": "town.ledger", "entry": entry.id}
    assert str(tmp_path) not in release.to_json()
    assert type(release).from_dict(json.loads(release.to_json())).made == release.made


REPEATED = {"tree": fit, "hst": fit, "lloyd": fit, "cells": fit_sites, "site-hst": fit_sites, "local-search": fit_sites}


@pytest.mark.parametrize(
    "make", [*(partial(make, name.removeprefix("site-")) for name, make in REPEATED.items()), cover], ids=[*REPEATED, "cover"]
)
def test_a_noise_seed_alone_repeats_a_release(make):
    first, second = make(noise_seed=5), make(noise_seed=5)
    assert first.to_dict() | {"made": None} == second.to_dict() | {"made": None}
    assert first.noise_seed == 5


@pytest.mark.parametrize("seed", [0, 1, 5, 2**32 - 1, 2**40 + 3])
def test_public_randomness_of_a_noise_seed_is_another_stream_than_the_noise(seed):
    from spinney.fits.run import generator

    public, noise = generator(None, seed).random(8), np.random.default_rng(seed).random(8)
    assert not np.isin(public, noise).any()
    assert (generator(3, seed).random(8) == np.random.default_rng(3).random(8)).all()


@pytest.mark.parametrize("make", [fit, fit_sites, cover])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("cap", [None, 1, 3])
def test_only_the_rules_that_applied_are_stated(make, adjacency, cap):
    text = make(adjacency=adjacency, groups=None if cap is None else GROUPS, max_rows_per_group=cap).preprocessing
    missing, instead = {
        fit: ("rows with a missing or infinite value", "the middle of the domain"),
        fit_sites: ("rows that name no point of the space", "its first point"),
        cover: ("rows that name no item", "the first item"),
    }[make]
    assert (f"{missing} dropped" in text) == (adjacency == "add-remove")
    assert (f"{missing} read as {instead}" in text) == (adjacency == "replace")
    assert ("rows without a name of a group dropped" in text) == (cap is not None)
    assert ("at most 3 rows of a group counted" in text) == (cap == 3)
    assert ("one row of a group counted" in text) == (cap == 1)
    assert "add-remove" not in text
    assert text.endswith("before that, as declared by the caller: none")


@pytest.mark.parametrize("make", [fit, fit_sites, cover])
def test_a_release_claims_no_noise_that_was_not_added(make):
    assert make().model.endswith("added the noise")
    assert make(epsilon=math.inf).model.endswith("added no noise")
    assert make(epsilon=math.inf, noise_seed=0).model.endswith("added no noise")
    assert make(noise_seed=0).model.endswith("added noise that can be repeated")


@pytest.mark.parametrize(("make", "kind"), [(fit, Release), (fit_sites, SiteRelease), (cover, CoverRelease)])
def test_a_release_of_an_earlier_version_is_read(make, kind):
    record = make(noise_seed=0).to_dict()
    record["format"] = record["format"].replace("/3", "/1")
    for name in LATER & record.keys():
        del record[name]
    release = kind.from_dict(record)
    assert (release.parameters, release.random_state, release.noise_seed, release.made) == ({}, None, None, {})
    assert (release.mechanisms, release.k, release.versions, release.audit, release.signature) == ((), None, {}, "none", None)
    assert kind.from_dict(release.to_dict()).to_json() == release.to_json()
