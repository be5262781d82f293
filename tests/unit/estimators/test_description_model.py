"""Describing clusters: the same on every backend, right without noise, within margins with noise, charged, refused in time."""

import json
import math
from fractions import Fraction

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from spinney import (
    Ball,
    BudgetError,
    DescriptionRelease,
    FiniteMetric,
    Ledger,
    ParameterError,
    PrivateKMeans,
    PrivateKMedoids,
    describe,
    plan_description,
    read_release,
    scan,
    verify,
)
from spinney.tables import files

BOUNDS = {
    "income": (0, 100_000),
    "region": ["north", "south", "west"],
    "smoker": bool,
    "day": {"dates": ["2024-01-01", "2024-12-31"], "fill": "2024-07-01"},
}


def table_of(n=3000, seed=0):
    """Rows of three clusters in two columns, with other columns that follow them, or do not; some cells say nothing."""
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 3, n)
    table = pl.DataFrame(
        {
            "age": np.array([20.0, 45, 70])[z] + rng.normal(0, 3, n),
            "hours": np.array([10.0, 40, 25])[z] + rng.normal(0, 3, n),
            "income": np.array([20_000.0, 60_000, 30_000])[z] + rng.normal(0, 5000, n),
            "region": np.array(["north", "south", "west"])[(z + (rng.random(n) < 0.3)) % 3],
            "smoker": rng.random(n) < 0.5,
            "day": [
                f"2024-{month:02}-{day:02}" for month, day in zip(rng.integers(1, 13, n), rng.integers(1, 29, n), strict=True)
            ],
            "person": [f"p{i}" for i in rng.integers(0, n // 3, n)],
        }
    )
    holes = (pl.int_range(pl.len()) % 11 == 0, pl.int_range(pl.len()) % 17 == 0, pl.int_range(pl.len()) % 101 == 0)
    return table.with_columns(
        pl.when(~holes[0]).then("income").alias("income"),
        pl.when(~holes[1]).then("region").alias("region"),
        pl.when(~holes[2]).then("age").alias("age"),
    )


def fitted(table, **more):
    options = {"epsilon": 2.0, "bounds": {"age": (0, 110), "hours": (0, 100)}, "scale": "bounds", "noise_seed": 0} | more
    groups = "person" if options.get("max_rows_per_group") else None
    return PrivateKMeans(3, **options).fit(table, groups=groups).release_


def plain(release):
    """Return a release without its date."""
    return {**release.to_dict(), "made": {}}


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_every_backend_describes_alike(grouped, adjacency, tmp_path, monkeypatch):
    table, path, groups = table_of(), tmp_path / "rows.parquet", "person" if grouped else None
    release = fitted(table, adjacency=adjacency, **({"max_rows_per_group": 2} if grouped else {}))
    table.write_csv(tmp_path / "rows.csv")
    table.write_parquet(path)
    tables = [table, table.to_pandas(), table.lazy(), table.to_arrow(), str(tmp_path / "rows.csv"), path]
    tables.append(table.sample(fraction=1, shuffle=True, seed=1))
    asked = {"bounds": BOUNDS, "epsilon": 1.0, "noise_seed": 1}
    found = [describe(release, one, groups=groups, **asked) for one in tables]
    assert (found[0].persons is not None) is grouped
    monkeypatch.setattr(files, "LARGE_SHARE", 0.0)  # what is large stays on disk
    found.append(describe(release, path, groups=groups, **asked))
    assert all(plain(one) == plain(found[0]) for one in found)
    asked["bounds"] = {"income": (0, 100_000)}
    scanned = describe(release, scan(path, ["age", "hours", "income"], groups), **asked)
    assert plain(scanned) == plain(describe(release, table, groups=groups, **asked))


def test_without_noise_it_is_what_the_table_says():
    table = table_of()
    release = fitted(table, scale=None, epsilon=50.0)
    found = describe(release, table, bounds=BOUNDS, epsilon=math.inf)
    labels = PrivateKMeans.from_release(release).predict(table)
    kept = table["age"].is_not_null().to_numpy()
    for j in range(3):
        mine = table.filter(kept & (labels == j))
        assert found.rows[j] == len(mine)
        assert found.means[j, 0] == pytest.approx(mine["income"].mean(), abs=0.1)
        assert np.allclose(
            found.shares("region")[0][j, :3] * len(mine), [(mine["region"] == name).sum() for name in BOUNDS["region"]]
        )
        assert found.shares("region")[0][j, 3] * len(mine) == pytest.approx(mine["region"].null_count())
        assert found.shares("smoker")[0][j, 1] * len(mine) == pytest.approx(mine["smoker"].sum())
        for i, level in enumerate(found.quantile_levels):
            exact = mine["income"].drop_nulls().quantile(level)
            assert found.quantiles_lower[j, 0, i] - 1e-6 <= exact <= found.quantiles_upper[j, 0, i] + 1e-6
    assert (found.mean_margins[:, [0, 3]] == 0).all()
    assert np.isnan(found.means[:, [1, 2]]).all()
    assert found.histogram("day")[:, -1].sum() == 0  # filled in
    assert all(named[:2] == ("income", "region") for named in found.named)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_margins_hold_about_as_often_as_they_say(delta):
    table = table_of(8_000)
    release = fitted(table)
    exact = describe(release, table, bounds=BOUNDS, epsilon=math.inf, noise_seed=0)
    noisy = [describe(release, table, bounds=BOUNDS, epsilon=0.5, delta=delta, noise_seed=seed) for seed in range(16)]
    measured = [0, 3]
    covers = np.mean([np.abs(one.means - exact.means)[:, measured] <= one.mean_margins[:, measured] for one in noisy])
    assert 0.9 < covers <= 1
    assert np.mean([np.abs(one.rows - exact.rows) <= one.rows_margin for one in noisy]) > 0.9
    shares = [np.abs(one.shares("region")[0] - exact.shares("region")[0]) <= one.shares("region")[1] for one in noisy]
    assert np.mean(shares) > 0.9
    inside = [(exact.quantiles >= one.quantiles_lower) & (exact.quantiles <= one.quantiles_upper) for one in noisy]
    assert np.mean([one[:, measured] for one in inside]) > 0.9


def test_clusters_are_those_of_the_fit_in_a_ball_in_a_private_box_and_with_categories():
    table = table_of()
    asked = {"epsilon": math.inf, "algorithm": "lloyd"}
    for more in (
        {"bounds": {"age": (0, 60), "hours": (0, 30)}},
        {"bounds": {"age": (0, 110), "hours": (0, 100)}, "tighten": True, "epsilon": 5.0},
        {"bounds": {"age": (0, 110), "region": BOUNDS["region"]}, "scale": "bounds"},
    ):
        model = PrivateKMeans(3, **asked | more).fit(table)
        found = describe(model.release_, table, bounds=BOUNDS, columns=["smoker"], epsilon=math.inf)
        assert np.abs(found.rows - model.cluster_sizes_).sum() <= (0 if model.epsilon == math.inf else 200)
    rows = table.select("age", "hours").drop_nulls()
    model = PrivateKMeans(3, bounds=Ball(20.0, [30.0, 30.0]), epsilon=math.inf, algorithm="lloyd").fit(rows)
    found = describe(model.release_, table, bounds=BOUNDS, columns=["smoker"], epsilon=math.inf)
    assert found.rows.tolist() == model.cluster_sizes_.tolist()


def test_it_is_charged_verified_read_and_written_and_needs_the_rest_of_the_ledger(tmp_path):
    table, ledger = table_of(), Ledger(tmp_path / "ledger.jsonl", epsilon=2.0)
    model = PrivateKMeans(3, epsilon=1.0, bounds={"age": (0, 110), "hours": (0, 100)}).fit(table, ledger=ledger)
    found = describe(model.release_, table, bounds=BOUNDS, epsilon=0.5, ledger=ledger)
    assert isinstance(found, DescriptionRelease)
    assert found.of == model.release_.digest
    assert ledger.spent == pytest.approx(1.5)
    found.to_json(tmp_path / "description.json")
    assert verify(tmp_path / "description.json", ledger=tmp_path / "ledger.jsonl").authenticated
    again = read_release(tmp_path / "description.json")
    assert again.to_json() == found.to_json()
    with pytest.raises(BudgetError):
        describe(model.release_, table, bounds=BOUNDS, epsilon=0.6, ledger=ledger)


@pytest.mark.parametrize("delta", [0.0, 1e-3])
@pytest.mark.parametrize("cap", [None, 1, 3])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
@pytest.mark.matrix
def test_every_release_is_verified_and_its_plan_is_what_was_charged(adjacency, cap, delta, tmp_path):
    table = table_of(300)
    groups = None if cap is None else "person"
    model = PrivateKMeans(3, epsilon=1.0, delta=delta, bounds={"age": (0, 110)}, adjacency=adjacency, max_rows_per_group=cap)
    release = model.fit(table, groups=groups).release_
    plan = plan_description(release, bounds=BOUNDS, epsilon=0.5, delta=delta, n_guess=300)
    found = describe(release, table, bounds=BOUNDS, epsilon=0.5, delta=delta, groups=groups)
    found.to_json(tmp_path / "description.json")
    checked = verify(tmp_path / "description.json")
    assert checked.holds, str(checked)
    assert found.charges == plan.charges
    assert [charge.name for charge in plan.charges] == ["rows", *(["persons"] if cap == 3 else []), "totals", "bins"]
    assert "Means, standard deviation of the noise: income" in str(plan)


@pytest.mark.parametrize("delta", [0.0, 1e-3])
@pytest.mark.parametrize("adjacency", ["add-remove", "replace"])
def test_verify_refuses_bins_priced_as_one_column_and_numbers_that_no_charge_paid_for(adjacency, delta, tmp_path):
    table, path = table_of(300), tmp_path / "changed.json"
    model = PrivateKMeans(3, epsilon=1.0, bounds={"age": (0, 110)}, adjacency=adjacency, max_rows_per_group=3)
    release = model.fit(table, groups="person").release_
    found = describe(release, table, bounds=BOUNDS, epsilon=0.5, delta=delta, groups="person")
    columns, record = len(BOUNDS), found.to_dict()

    def holds(record):
        path.write_text(json.dumps(record))
        return verify(path).holds

    assert holds(record)
    bins, is_pure = record["mechanisms"][-1], record["mechanisms"][-1]["measure"] == "epsilon"
    answer, ((moves,),) = bins["answers"][0], bins["unit_sensitivity"]
    scale = Fraction(answer["scale"]) / (columns if is_pure else Fraction(math.isqrt(columns)))
    changed = {**answer, "row_sensitivity": "1", "scale": str(scale)}  # as if a row lay in a bin of one column alone
    bins |= {"answers": [changed], "unit_sensitivity": [[str(Fraction(moves) / columns)]]}
    assert not holds(record)


def refused(match, release=None, table=None, **changes):
    rows = table_of(50)
    release = PrivateKMeans(2, epsilon=9.0, bounds={"age": (0, 110)}).fit(rows).release_ if release is None else release
    arguments = {"bounds": BOUNDS, "epsilon": 1.0} | changes
    with pytest.raises(ParameterError, match=match) as caught:
        describe(release, rows if table is None else table, **arguments)
    assert "\nHint: " in str(caught.value)


def test_what_is_wrong_is_told_in_one_line_before_anything_is_charged(tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl", epsilon=9.0)
    refused("no column 'wealth'", bounds={"wealth": (0, 1)}, ledger=ledger)
    refused("the release: .*'age'. Got 'wealth'", columns=["wealth"])
    for columns in (["income", "income"], [], "income"):
        refused("different names", columns=columns)
    for bounds in (None, {"age": (0, 110)}):
        refused("No column is left to describe", bounds=bounds)
    refused("public facts by column", bounds=(0, 1))
    refused("two finite numbers", bounds={"income": (5, 1)})
    refused("max_rows_per_group", groups="person")
    for name, wrong in {"epsilon": None, "bins": 1, "adjacency": "both", "noise_seed": -1}.items():
        refused(name, **{name: wrong})
    refused("no names of columns", table=np.zeros((3, 2)))
    refused("names no file", table="nowhere.csv")
    assert ledger.entries == ()
    nameless = PrivateKMeans(2, epsilon=9.0, bounds=(0, 1)).fit(np.zeros((5, 2))).release_
    refused("does not name its columns", release=nameless)
    space = FiniteMetric.from_points([[0.0], [1.0], [2.0]])
    refused("a Release of centers", release=PrivateKMedoids(1, epsilon=9.0, space=space).fit([0, 1]).release_)
    capped = PrivateKMeans(2, epsilon=9.0, bounds={"age": (0, 110)}, max_rows_per_group=2).fit(table_of(50), groups="person")
    refused("protects groups of rows", release=capped.release_)
    arrow = pa.table({"age": [1.0], "region": pa.array([[1]], pa.list_(pa.int64()))})
    with pytest.raises(ValueError, match="does not hold names"):
        describe(capped.release_, arrow, ["region"], bounds=BOUNDS, epsilon=1.0, groups=["a"])
