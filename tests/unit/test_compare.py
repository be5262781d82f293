"""The harness that compares algorithms, on a tiny table."""

import csv
import sys
import types

import numpy as np
import pytest

from benchmarks import compare
from spinney.algorithms import Algorithm
from spinney.baselines.lloyd import Lloyd


class Own(Lloyd):
    """An algorithm of the user's own."""

    name = "own"


def middle(rows, k, epsilon, delta, lower, upper, objective, seed):
    return np.repeat((lower + upper)[None, :] / 2, k, axis=0)


def broken(*given):
    raise RuntimeError("no matter what")


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A file with two clusters and a constant column, and a module of the user's own."""
    module = types.ModuleType("their_module")
    module.Own, module.middle, module.broken = Own, middle, broken
    monkeypatch.setitem(sys.modules, "their_module", module)
    rng = np.random.default_rng(0)
    rows = np.repeat([[0.0, 0.0, 7.0], [5.0, 3.0, 7.0]], 300, axis=0) + np.array([0.1, 0.1, 0.0]) * rng.normal(size=(600, 3))
    np.savez(tmp_path / "mine.npz", names=np.array(["a"]), table=rows)
    return tmp_path / "mine.npz"


@pytest.mark.parametrize("objective", ["kmeans", "kmedian"])
def test_ours_the_users_and_external_ones_are_compared(table, objective):
    out = table.parent / "found"
    code = compare.main([
        "--data", str(table), "--k", "2", "--epsilon", "1", "--runs", "2", "--objective", objective,
        "--algorithms", "tree", "lloyd", "--algorithm", "their_module:Own", "--external", "their_module:middle",
        "--out", str(out),
    ])  # fmt: skip
    assert code == 0
    with out.with_suffix(".csv").open() as file:
        found = list(csv.DictReader(file))
    names = [compare.PLAIN, "tree", "lloyd", "their_module:Own", "their_module:middle"]
    assert [one["name"] for one in found] == [name for name in names for _ in range(2)]
    ratios = {one["name"]: float(one["mean"]) for one in found}
    assert 0.99 < ratios["tree"] < 1.5
    assert 0.99 < ratios[compare.PLAIN] < 1.5
    assert ratios["their_module:middle"] > 5
    assert all(float(one["standard_error"]) >= 0 for one in found)
    assert out.with_suffix(".png").read_bytes().startswith(b"\x89PNG")


def test_one_that_fails_stops_no_other(table):
    out = table.parent / "found"
    tail = ["--algorithms", "tree", "--external", "their_module:broken", "--diffprivlib-python", "/bin/false", "--out", str(out)]
    assert compare.main(["--data", str(table), "--k", "2", "--epsilon", "1", "--runs", "1", *tail]) == 1
    with out.with_suffix(".csv").open() as file:
        failed = {one["name"]: one["failed"] for one in csv.DictReader(file)}
    assert failed == {compare.PLAIN: "", "tree": "", "their_module:broken": "RuntimeError", "diffprivlib": "RuntimeError"}


def test_algorithms_are_listed_with_commas_or_blanks_and_a_missing_table_is_told(tmp_path, capsys):
    needed = ["--data", str(tmp_path / "none.csv"), "--k", "2", "--epsilon", "1"]
    assert compare.parsed([*needed, "--algorithms", "tree,lloyd", "hst"]).algorithms == ["tree", "lloyd", "hst"]
    assert compare.parsed(needed).algorithms is None
    with pytest.raises(SystemExit, match=r"none\.csv is no file\. Hint: --data"):
        compare.main(needed)
    with pytest.raises(SystemExit):
        compare.parsed(["--help"])
    assert "1e-06 by default" in capsys.readouterr().out


def test_all_of_ours_are_compared_by_default():
    names = compare.own_names()
    assert {"auto", "tree", "lsh", "balcan", "coverage", "k-variates", "hst"} <= set(names)
    assert compare.PLAIN not in names  # it is not private, and no algorithm of ours


def test_the_plain_baseline_is_no_algorithm():
    assert not isinstance(compare.plain_start, Algorithm)


@pytest.mark.parametrize("suffix", [".npy", ".csv", ".parquet"])
def test_tables_of_every_kind_are_read(tmp_path, suffix):
    import polars as pl

    rows, path = np.arange(6.0).reshape(3, 2), tmp_path / f"mine{suffix}"
    if suffix == ".npy":
        np.save(path, rows)
    else:
        frame = pl.DataFrame(rows, schema=["x", "y"])
        frame.write_csv(path) if suffix == ".csv" else frame.write_parquet(path)
    np.testing.assert_array_equal(compare.load_table(path, None), rows)
