"""What the caller of a fit is warned of: a promise that is hardly one, and fits that nobody adds up."""

import itertools
import math
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from spinney import (
    FiniteMetric,
    Ledger,
    LoosePromiseWarning,
    PrivateKMeans,
    PrivateKMedoids,
    UncountedFitsWarning,
    describe,
    max_coverage,
    one_cluster,
    plan_description,
)
from spinney.cli.main import main
from spinney.fits import cautions
from spinney.privacy.budget import MOST_DELTA, MOST_EPSILON

ROWS = np.linspace(0, 1, 300)[:, None]
SPACE = FiniteMetric.from_points([[0.0], [1.0]])
ABOVE = math.nextafter(float(MOST_EPSILON), math.inf)
RELEASE = PrivateKMeans(1, epsilon=1.0, bounds={"a": (0, 1)}, algorithm="lloyd").fit(pl.DataFrame({"a": ROWS[:, 0]})).release_
TABLE = pl.DataFrame({"a": ROWS[:, 0], "b": ROWS[:, 0]})


def kmeans(**promise):
    return PrivateKMeans(1, bounds=(0, 1), algorithm="lloyd", **promise)


#: Everything that runs a fit, and everything that plans one.
FITS = {
    "fit": lambda **promise: kmeans(**promise).fit(ROWS),
    "fit sites": lambda **promise: PrivateKMedoids(1, space=SPACE, **promise).fit([0, 1] * 99),
    "max_coverage": lambda **promise: max_coverage([0, 1] * 99, [[0], [1]], 1, n_items=2, **promise),
    "one_cluster": lambda **promise: one_cluster(ROWS, 50, bounds=(0, 1), candidates=2, **promise),
    "describe": lambda **promise: describe(RELEASE, TABLE, bounds={"b": (0, 1)}, bins=2, **promise),
}
PLANS = {
    "plan": lambda **promise: kmeans(**promise).plan(1),
    "plan sites": lambda **promise: PrivateKMedoids(1, space=SPACE, **promise).plan(),
    "plan_description": lambda **promise: plan_description(RELEASE, bounds={"b": (0, 1)}, bins=2, **promise),
}


def warned(call, kind):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        call()
    return [one for one in said if issubclass(one.category, kind)]


@pytest.mark.parametrize("call", [*FITS.values(), *PLANS.values()], ids=[*FITS, *PLANS])
@pytest.mark.parametrize(
    ("promise", "words"),
    [({"epsilon": ABOVE}, ["epsilon above 10"]), ({"epsilon": 1.0, "delta": 0.0011}, ["delta above 0.001"]),
     ({"epsilon": 99.0, "delta": 0.5}, ["epsilon above", "delta above"]),
     ({"epsilon": float(MOST_EPSILON), "delta": float(MOST_DELTA)}, [])],
    ids=["epsilon", "delta", "both", "neither"],
)  # fmt: skip
def test_a_loose_promise_is_warned_of_once_where_it_was_typed(call, promise, words):
    found = warned(lambda: call(**promise), LoosePromiseWarning)
    assert len(found) == bool(words)
    assert all(word in str(found[0].message) for word in words)
    assert [one.filename for one in found] == [__file__] * len(found)


COMMANDS = {
    "plan": "plan --k 1 --n-features 1 --epsilon 11",
    "fit": "fit rows.csv --k 1 --bounds 0 1 --algorithm lloyd --epsilon 11 --out release.json",
    "sites": "sites --points places.csv --demand demand.csv --k 1 --epsilon 11 --out release.json",
    "describe": "describe told.json rows.csv --schema facts.json --epsilon 11 --out description.json",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_command_line_has_a_note(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TABLE.write_csv("rows.csv")
    RELEASE.to_json("told.json")
    Path("facts.json").write_text('{"b": [0, 1]}')
    Path("places.csv").write_text("name,x,y\np,0,0\nq,1,1\n")
    Path("demand.csv").write_text("point\n" + "p\n" * 50)
    with warnings.catch_warnings():
        warnings.simplefilter("error", LoosePromiseWarning)
        result = CliRunner().invoke(main, COMMANDS[name].split(), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert (result.stdout if name == "plan" else result.stderr).count("An epsilon above 10 is hardly a promise") == 1


@pytest.fixture
def anew(monkeypatch, uncounted):
    monkeypatch.setattr(cautions, "UNCOUNTED", uncounted)
    monkeypatch.setattr(cautions, "_fits", itertools.count(1))


@pytest.mark.parametrize("name", FITS)
def test_repeated_fits_without_a_ledger_are_warned_of_once_whatever_their_rows(anew, name, uncounted):
    for _ in range(uncounted - 1):
        assert not warned(lambda: FITS["fit"](epsilon=1.0), UncountedFitsWarning)
    (found,) = warned(lambda: FITS[name](epsilon=1.0), UncountedFitsWarning)
    assert found.filename == __file__
    assert not any(warned(lambda: FITS[name](epsilon=1.0), UncountedFitsWarning) for _ in range(3))


def test_fits_with_a_ledger_or_without_privacy_do_not_count(anew, tmp_path):
    ledger = Ledger(tmp_path / "ledger", 9)

    def fits():
        for _ in range(4):
            kmeans(epsilon=1.0).fit(ROWS, ledger=ledger)
            kmeans(epsilon=math.inf).fit(ROWS)
            kmeans(epsilon=1.0, noise_seed=1).fit(ROWS)
            kmeans(epsilon=1.0).plan(1)

    assert not warned(fits, UncountedFitsWarning)
