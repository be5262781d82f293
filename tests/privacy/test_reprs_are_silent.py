"""Whatever is alive while rows are read, prepared or asked about prints as a name: no repr tells a cell or the number of rows."""

import dataclasses
import gc
import importlib
import pkgutil
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import spinney
from spinney import FiniteMetric, PrivateKMeans, PrivateKMedian, PrivateKMedoids, describe, max_coverage, scan
from spinney.audit import observe
from spinney.baselines.sample_aggregate import SampleAggregate
from spinney.curators.telling import listening
from spinney.tables.networks import read_demand
from spinney.tables.sources import read_source

N = 1237
#: Half of the rows lie here and half there, so that no center of one cluster does.
ROWS = np.repeat([[0.731905, 0.131905], [0.131905, 0.731905]], [N // 2, N - N // 2], axis=0)
PERSONS = [f"canary-{i}" for i in range(N)]
#: The number of rows alone, not among the digits of a noisy number.
CANARIES = re.compile(r"31905|canary|(?<![\d.])1237(?!\d)")
FRAME = pd.DataFrame(ROWS, columns=["a", "b"])
#: Rooms where rows are.
PRIVATE = ("spinney.curators.", "spinney.tables.")
#: What holds public arguments alone there.
PUBLIC = {"Csv", "Fence", "Merger", "NameTable", "Opening", "Projection"}


def classes():
    """All classes of the package."""
    for module in pkgutil.walk_packages(spinney.__path__, "spinney."):
        if not module.name.endswith("__main__"):
            found = vars(importlib.import_module(module.name)).values()
            yield from (one for one in found if isinstance(one, type) and one.__module__ == module.name)


def holds_rows(kind):
    fields = dataclasses.fields(kind) if dataclasses.is_dataclass(kind) else ()
    return kind.__module__.startswith(PRIVATE) or any(field.name.startswith("nonprivate") for field in fields)


def shows_fields(kind):
    """Whether a class prints what it holds, as dataclasses and named tuples do of themselves."""
    is_own = str(getattr(kind.__repr__, "__module__", "")).startswith("spinney.")
    return hasattr(kind.__repr__, "__wrapped__") or (issubclass(kind, tuple | list | dict | set) and not is_own)


def test_no_class_that_may_hold_rows_prints_its_fields():
    found = [kind for kind in classes() if holds_rows(kind)]
    assert len(found) > 40
    assert {kind.__qualname__ for kind in found if shows_fields(kind)} == PUBLIC


def check_all_alive():
    """Print every object of the package that is alive, and look for what must not be there."""
    for thing in gc.get_objects():
        if str(type(thing).__module__).startswith("spinney.") and not isinstance(thing, type):
            for text in (repr(thing), str(thing)):
                assert not CANARIES.search(re.sub(" at 0x[0-9a-f]+", "", text)), type(thing)


def test_a_number_of_rows_is_told_from_the_digits_of_another():
    assert all(CANARIES.search(text) for text in ("Rows(1237)", "n=1237,", "1237.0", "[1237. ]", "canary-3", "0.731905"))
    assert not any(CANARIES.search(text) for text in ("0.01237", "61237", "12370", "1.1237e-05"))


def sources(folder):
    FRAME.to_csv(folder / "rows.csv", index=False)
    FRAME.to_parquet(folder / "rows.parquet")
    yield ROWS
    yield FRAME
    yield pl.from_pandas(FRAME)
    yield pa.Table.from_pandas(FRAME)
    yield ROWS.tolist()
    yield folder / "rows.csv"
    yield scan(folder / "rows.parquet")


def test_what_is_read_and_prepared_prints_as_a_name(tmp_path):
    model, held = PrivateKMeans(1, epsilon=0.5, bounds=(0, 1), max_rows_per_group=1), []
    for X in sources(tmp_path):
        held.append(PrivateKMeans(1, epsilon=0.5, bounds=(0, 1)).prepare(X))
        if not isinstance(X, list) and not hasattr(X, "exists") and not hasattr(X, "read"):
            held += [model.prepare(X, groups=PERSONS), read_source(X, None)]
    pd.DataFrame({"point": PERSONS}).to_csv(tmp_path / "demand.csv", index=False)
    held.append(read_demand(tmp_path / "demand.csv", "point", ["canary-0", "other"]))
    check_all_alive()
    assert not CANARIES.search(repr(held))


#: Fits of every kind of rows and question.
FITS = {
    "array": lambda: PrivateKMeans(1, epsilon=0.5, bounds=(0, 1)).fit(ROWS),
    "groups": lambda: PrivateKMedian(1, epsilon=0.5, bounds=(0, 1), max_rows_per_group=1).fit(FRAME, groups=PERSONS),
    "delta": lambda: PrivateKMeans(1, epsilon=0.5, delta=1e-6, bounds=(0, 1)).fit(ROWS),
    "blocks": lambda: PrivateKMeans(1, epsilon=0.5, bounds=(0, 1), algorithm=SampleAggregate()).fit(ROWS),
    "users": lambda: PrivateKMeans(1, epsilon=0.5, bounds=(0, 1), model="local", adjacency="replace").fit(ROWS),
    "demand": lambda: PrivateKMedoids(1, epsilon=0.5, space=FiniteMetric.from_points(np.arange(12.0)[:, None])).fit([3] * N),
    "cover": lambda: max_coverage([0] * N, [[0, 1], [2]], 1, epsilon=0.5),
    "observed": lambda: observe(PrivateKMeans(1, epsilon=0.5, bounds=(0, 1), algorithm="lloyd"), ROWS, lambda event: None),
}


@pytest.mark.parametrize("name", FITS)
def test_what_is_alive_during_a_fit_prints_as_a_name(name):
    heard = []

    def step(words):
        heard.append(words)
        if len(heard) in (1, 3):
            try:
                check_all_alive()
            except Exception as error:  # who listens must not end a fit
                heard.append(error)

    with listening(step):
        FITS[name]()
    assert heard
    assert [error for error in heard if isinstance(error, Exception)] == []


def test_what_is_alive_during_a_description_prints_as_a_name(tmp_path):
    FRAME.assign(c=PERSONS).to_csv(tmp_path / "rows.csv", index=False)
    release = PrivateKMeans(1, epsilon=0.5, bounds={"a": (0, 1)}).fit(FRAME).release_
    heard = []

    def step(words):
        try:
            check_all_alive()
        except Exception as error:
            heard.append(error)

    with listening(step):
        describe(release, tmp_path / "rows.csv", bounds={"b": (0, 1)}, epsilon=0.5)
    assert heard == []
