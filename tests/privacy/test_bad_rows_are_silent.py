"""Rule 9: broken, missing and far values are decided once at the door, without a word; rule 12: from the domain alone."""

import logging
import warnings

import numpy as np
import pandas as pd
import pytest
from cases import ASKED

from covering import covering
from spinney import Ball, Box, PrivateKMeans, PrivateKMedian
from spinney.tables.cells import numeric_array

RNG = np.random.default_rng(9)
CLEAN = RNG.uniform(-1, 3, (120, 2))


def with_rows(*rows, dtype=np.float64):
    return np.concatenate([CLEAN.astype(dtype), np.array(rows, dtype=dtype)])


def with_signaling_nan():
    table = np.zeros((4, 2), dtype=np.float32)
    table.view(np.uint32)[1, 1] = 0x7FA00000
    return table


def beyond_double():
    with np.errstate(over="ignore"):
        return with_rows([np.longdouble("1e300") ** 4, 0.5], dtype=np.longdouble)


def read_only(table):
    table = table.copy()
    table.setflags(write=False)
    return table


TABLES = {
    "nan": with_rows([np.nan, 0.5]),
    "infinity": with_rows([np.inf, 0.5], [0.5, -np.inf]),
    "huge": with_rows([1e300, -1e300], [1.7e308, 0.0], [5e-324, -0.0]),
    "outside": with_rows([70.0, -70.0], [3.0, 3.0000001]),
    "float32 infinity": with_rows([np.inf, 1.0], [3e38, np.nan], dtype=np.float32),
    "text": with_rows(["a", 0.5], ["", "1e999"], [None, "nan"], [10**400, True], dtype=object),
    "text column": np.array([["0.5", "x"], ["y", "1_0"], ["1", "2"]], dtype=object),
    "dates in a frame": pd.DataFrame({"a": pd.to_datetime(["2020-01-01"] * 40), "b": 0.5}),
    "lists": [[0.5, 0.2], ["x", None], [10**400, 1]],
    "only nan": np.full((50, 2), np.nan),
    "no rows": np.empty((0, 2)),
    "fewer rows than clusters": CLEAN[:2],
    "equal rows": np.full((80, 2), 0.25),
    "one constant column": CLEAN * [1.0, 0.0],
    "integers": RNG.integers(-5, 9, (60, 2)),
    "large integers": np.array([[2**63 - 1, -(2**63)], [0, 1]]),
    "bytes": RNG.integers(0, 255, (60, 2), dtype=np.uint8),
    "booleans": RNG.random((60, 2)) < 0.5,
    "half precision": CLEAN.astype(np.float16),
    "columns first": np.asfortranarray(CLEAN),
    "every other row": CLEAN[::2, ::-1],
    "big endian": CLEAN.astype(">f8"),
    "read only": read_only(CLEAN),
    "signaling nan": with_signaling_nan(),
    "signaling nan, columns first": np.asfortranarray(with_signaling_nan()),
    "more than double precision": beyond_double(),
    "more than double precision in a cell": beyond_double().astype(object),
    "numpy complex cell": with_rows([np.complex128(2j), 0.5], dtype=object),
    "array cell": with_rows([0.1, 0.5], dtype=object),
}
TABLES["array cell"][3, 0] = np.array([5.0])


def observe(model, table, caplog):
    """Fit, and return the model and everything that was said meanwhile."""
    caplog.clear()
    with warnings.catch_warnings(record=True) as said, caplog.at_level(logging.DEBUG, logger="spinney"):
        warnings.simplefilter("always")
        model.fit(table)
    return model, [str(w.message) for w in said], [record.getMessage() for record in caplog.records]


#: All tables are read before an algorithm sees numbers, so these few come to each, and all to the default.
HARD = ("nan", "huge", "no rows", "fewer rows than clusters", "equal rows")


@pytest.mark.parametrize(
    ("table", "asked"),
    [(table, "tree") for table in TABLES] + [(table, name) for name in ASKED if name != "tree" for table in HARD],
    indirect=["asked"],
)
@pytest.mark.parametrize("bounds", [Box(-1, 3), Ball(2.0, 1.0)], ids=["box", "ball"])
@pytest.mark.matrix
def test_any_table_gives_k_finite_centers_without_a_word(table, asked, bounds, caplog):
    adjacency = "replace" if isinstance(bounds, Ball) else "add-remove"
    model = PrivateKMeans(3, epsilon=1.0, bounds=bounds, adjacency=adjacency, **asked)
    model, said, logged = observe(model, TABLES[table], caplog)
    assert said == ([model.release_.faint] if model.release_.looks_empty else [])  # which follows from what is released
    # Logs name the questions of the plan, in its order, and nothing else.
    assert logged == [f"asking {charge.question}: {charge.name}" for charge in model.release_.charges]
    centers = model.cluster_centers_
    assert centers.shape == (3, 2)
    assert np.isfinite(centers).all()
    assert (centers >= -1).all()
    assert (centers <= 3).all()
    if isinstance(bounds, Ball):
        assert (np.linalg.norm(centers - 1.0, axis=1) <= 2.0 * (1 + 1e-12)).all()
    assert np.isfinite(model.cluster_sizes_).all()
    assert model.cluster_sizes_.shape == (3,)


@pytest.mark.parametrize("other", [np.int64, np.int32, np.uint8, np.float32, "Int64", pd.SparseDtype("int64", 0)], ids=str)
@pytest.mark.parametrize("kind", [pd.CategoricalDtype([1, 2, 3]), "Int64", "object", "string", "boolean"], ids=str)
def test_a_missing_cell_changes_no_other_cell_and_no_word(kind, other):
    def read(first):
        frame = pd.DataFrame({"a": pd.Series(first, dtype=kind), "b": pd.Series([3, 2**7 - 1, 5], dtype=other)})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return numeric_array(frame)

    full = [True, False, True] if kind == "boolean" else ["1", "2", "3"] if kind == "string" else [1, 2, 3]
    whole, broken = read(full), read([full[0], None, full[2]])
    assert np.isnan(broken[1, 0])
    np.testing.assert_array_equal(np.delete(whole.astype(float).ravel(), 2), np.delete(broken.astype(float).ravel(), 2))


@covering("asked, estimator, broken", ASKED, [PrivateKMeans, PrivateKMedian], [[np.nan, 0.0], [-np.inf, 7.0]], indirect=["asked"])
@pytest.mark.matrix
def test_a_broken_row_counts_as_no_row_or_as_the_middle_of_the_domain(estimator, asked, broken):
    def release(table, adjacency, epsilon=1.0):
        model = estimator(3, epsilon=epsilon, bounds=([-1, -1], [3, 4]), adjacency=adjacency, **asked)
        return model.set_params(random_state=0, noise_seed=5).fit(table).release_.to_json()

    assert release(with_rows(broken), "add-remove") == release(CLEAN, "add-remove")
    assert release(with_rows(broken), "replace") == release(with_rows([1.0, 1.5]), "replace")
    assert release(with_rows(broken), "replace") == release(with_rows([np.inf, np.nan]), "replace")
    assert release(with_rows(broken), "replace", 50.0) != release(CLEAN, "replace", 50.0)


@pytest.mark.parametrize("row", [[0.5], None, [], "ab", [1, 2, 3], 7.0, [[0.5], 1], {}], ids=repr)
@pytest.mark.parametrize("bounds", [(-1, 3), ([-1, -1], [3, 4])], ids=["one pair", "a pair per column"])
@pytest.mark.matrix
def test_a_row_of_another_shape_counts_as_a_broken_row(row, bounds):
    for adjacency in ("add-remove", "replace"):
        model = PrivateKMeans(3, epsilon=1.0, bounds=bounds, adjacency=adjacency, random_state=0, noise_seed=5)
        ragged = model.fit([*CLEAN.tolist(), row]).release_.to_json()
        assert ragged == model.fit(with_rows([np.nan, np.nan])).release_.to_json()


def test_a_value_outside_the_bounds_counts_as_the_bound(asked):
    model = PrivateKMeans(3, epsilon=1.0, bounds=(-1, 3), random_state=0, noise_seed=5, **asked)
    far, near = with_rows([1e300, -5.0]), with_rows([3.0, -1.0])
    assert model.fit(far).release_.to_json() == model.fit(near).release_.to_json()


#: Cells that some readers take as a number and others do not.
ODD_CELLS = [
    "1_000", " 7 ", "0x10", "1d5", "", "inf", b"1.5", True, None, 10**400, 2j, np.complex128(2j),
    np.datetime64("2020-01-01"), np.timedelta64(5, "D"), np.float32(0.1), np.longdouble("0.1"), np.array(4.0), np.array([4.0]),
    np.str_("3"), np.bool_(True), (1.0,), {}, float("nan"),
]  # fmt: skip


@pytest.mark.parametrize("cell", ODD_CELLS, ids=repr)
def test_how_a_cell_is_read_does_not_depend_on_other_rows(cell):
    def column(*cells):
        table = np.empty((len(cells), 1), dtype=object)
        for place, value in enumerate(cells):
            table[place, 0] = value
        return numeric_array(table)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings have a test of their own
        alone = column(0.5, cell)
        for other in ("not a number", None, 1j, np.datetime64("NaT"), 10**400):
            assert np.array_equal(column(0.5, cell, other)[:2], alone, equal_nan=True)


def test_preprocessing_comes_from_the_declared_domain_and_is_stated(asked):
    model = PrivateKMeans(2, epsilon=1.0, bounds=([-1, -2], [3, 5]), **asked)
    narrow, wide = (model.fit(table).release_ for table in (CLEAN * 1e-3, CLEAN * 1e3))
    assert narrow.domain == wide.domain == {"lower": [-1.0, -2.0], "upper": [3.0, 5.0]}
    assert narrow.preprocessing == wide.preprocessing == narrow.to_dict()["preprocessing"]
    for word in ("clipped", "declared bounds", "dropped"):
        assert word in narrow.preprocessing
    assert "middle" in model.set_params(adjacency="replace").fit(CLEAN).release_.preprocessing
