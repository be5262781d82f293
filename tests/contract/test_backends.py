"""The same algorithm gives the same release wherever the rows are, in however many batches they come.

A backend is a function: it fits rows that lie in its own place. Add one to `BACKENDS` under the name that algorithms declare.
"""

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

import emulated
from covering import covering
from registered import REGISTERED
from spinney import ParameterError, PrivateKMeans, PrivateKMedian, scan
from spinney.algorithms.hst import HST
from spinney.algorithms.registry import find
from spinney.tables import streams


def fit_memory(model, frame, groups, folder, monkeypatch):
    names = None if groups is None else frame[groups]
    return model.fit(frame.drop(groups or []), groups=names)


def fit_parquet(model, frame, groups, folder, monkeypatch):
    monkeypatch.setattr(streams, "MOST_ROWS", 64)
    frame = frame.sample(fraction=1, shuffle=True, seed=64)  # the order of rows is no one's business
    frame.write_parquet(folder / "rows.parquet", row_group_size=max(len(frame) // 4, 1))
    return model.fit(scan(folder / "rows.parquet", groups=groups))


def fit_cuda(model, frame, groups, folder, monkeypatch):
    with emulated.sending(folder, monkeypatch):
        names = None if groups is None else frame[groups]
        return clone(model).set_params(device="cuda").fit(frame.drop(groups or []), groups=names)


BACKENDS = {"memory": fit_memory, "parquet": fit_parquet} | ({"cuda": fit_cuda} if emulated.COMPILER else {})
ALGORITHMS = {name: find(name, "points") for name in REGISTERED["points"]}

#: What can be asked for, and of how many columns: each algorithm, the tree's form for many columns, and a private box.
CASES = {name: ({"algorithm": name}, 3) for name in sorted(ALGORITHMS)} | {
    "many columns": ({"algorithm": "tree"}, 12),
    "tightened": ({"algorithm": "tree", "tighten": True}, 3),
    "tightened hst": ({"algorithm": "hst", "tighten": True}, 2),
    "projected hst": ({"algorithm": HST(projection=2)}, 4),
    "repaired hst": ({"algorithm": HST(repairs=2, slack=1.0)}, 3),
    "projected, repaired hst": ({"algorithm": HST(projection=2, repairs=2, slack=1.0), "tighten": True}, 3),
}


def frame_of(d, n=700):
    """Three clusters, and rows that are missing, infinite, far outside and equal."""
    rng = np.random.default_rng(5)
    centers = rng.uniform(-0.8, 0.8, (3, d))
    rows = centers[rng.integers(0, 3, n)] + rng.normal(0, 0.05, (n, d))
    rows[::50, 0], rows[7::90, -1], rows[3::80] = np.nan, np.inf, 40.0
    rows[11::20] = centers[0]
    frame = pl.DataFrame({f"c{t}": rows[:, t] for t in range(d)}).with_columns(pl.col("c0").fill_nan(None))
    return frame.with_columns(person=pl.Series([f"p{i % 311}" if i % 17 else None for i in range(n)]))


def releases(model, frame, groups, folder, monkeypatch):
    declared = (ALGORITHMS[model.algorithm] if isinstance(model.algorithm, str) else model.algorithm).backends
    for name in sorted(set(declared) & set(BACKENDS)):
        yield name, BACKENDS[name](model, frame, groups, folder, monkeypatch).release_.to_json()


def test_every_algorithm_declares_backends_that_are_known():
    assert all({"memory", "parquet"} <= set(algorithm.backends) for algorithm in ALGORITHMS.values())


@covering(
    "case, estimator, adjacency, delta, groups",
    CASES, [PrivateKMeans, PrivateKMedian], ["add-remove", "replace"], [0.0, 1e-6], [None, "person"],
)  # fmt: skip
@pytest.mark.matrix
def test_all_backends_give_the_same_release(case, estimator, adjacency, delta, groups, tmp_path, monkeypatch):
    asked, d = CASES[case]
    frame = frame_of(d) if groups else frame_of(d).drop("person")
    model = estimator(
        3,
        epsilon=2.0,
        delta=delta,
        bounds=(-1, 30 if "tighten" in asked else 1),
        adjacency=adjacency,
        max_rows_per_group=2 if groups else None,
        random_state=0,
        noise_seed=1,
        **asked,
    )
    found = dict(releases(model, frame, groups, tmp_path, monkeypatch))
    assert len(found) >= 2
    assert {name for name, release in found.items() if release != found["memory"]} == set()


@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.parametrize("quoted", [False, True])
def test_a_csv_file_in_any_order_keeps_the_same_rows_of_a_person(quoted, adjacency, tmp_path, monkeypatch):
    frame = frame_of(3, 300)
    frame = frame.with_columns(person=pl.col("person").str.replace("p1", 'p,"1')) if quoted else frame
    model = PrivateKMeans(3, epsilon=5.0, bounds=(-1, 1), adjacency=adjacency, max_rows_per_group=1, random_state=0, noise_seed=1)
    expected = fit_memory(model, frame, "person", tmp_path, monkeypatch).release_.to_json()
    for seed in range(3):
        frame.sample(fraction=1, shuffle=True, seed=seed).write_csv(tmp_path / "rows.csv")
        assert model.fit(scan(tmp_path / "rows.csv", groups="person")).release_.to_json() == expected


def test_an_algorithm_is_refused_where_it_does_not_run(tmp_path):
    class Local(type(ALGORITHMS["lloyd"])):
        backends = ("memory",)

    frame = frame_of(2).drop("person")
    frame.write_parquet(tmp_path / "rows.parquet")
    model = PrivateKMeans(3, epsilon=1.0, bounds=(-1, 1), algorithm=Local())
    model.fit(frame)
    for table in (scan(tmp_path / "rows.parquet"), tmp_path / "rows.parquet"):  # whatever the size of a path
        with pytest.raises(ParameterError, match="does not run on rows of the kind 'parquet'"):
            model.fit(table)
