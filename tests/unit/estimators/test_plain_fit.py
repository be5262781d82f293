import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import spinney
from spinney import FewRowsWarning, ParameterError, PrivateKMeans, PrivateKMedian, UnitsWarning

ROWS = np.random.default_rng(0).normal(0, 0.3, (400, 2))
PROMISE = {"epsilon": 1.0, "bounds": (-1, 1), "noise_seed": 3}


def frame():
    return pd.DataFrame(ROWS, columns=["a", "b"])


@pytest.mark.parametrize(("objective", "estimator"), [("kmeans", PrivateKMeans), ("kmedian", PrivateKMedian)])
@pytest.mark.parametrize("table", [ROWS, ROWS.tolist(), frame()], ids=["array", "list", "frame"])
def test_a_fit_is_that_of_an_estimator(objective, estimator, table):
    release = spinney.fit(table, 3, objective=objective, **PROMISE)
    assert release.to_dict() == estimator(3, **PROMISE).fit(table).release_.to_dict()


def test_files_groups_and_the_local_model_are_fitted_too(tmp_path):
    frame().to_csv(tmp_path / "rows.csv", index=False)
    groups = [str(row // 2) for row in range(400)]
    capped = {**PROMISE, "max_rows_per_group": 1}
    local = {**PROMISE, "model": "local", "adjacency": "replace"}
    assert spinney.fit(tmp_path / "rows.csv", 3, **PROMISE).columns == ("a", "b")
    assert spinney.fit(ROWS, 3, groups=groups, **capped).max_rows_per_group == 1
    assert spinney.fit(ROWS, 3, **local).model == PrivateKMeans(3, **local).fit(ROWS).release_.model


def test_wrong_parameters_and_tables_are_refused_by_the_name_of_the_function():
    with pytest.raises(ParameterError, match="The 'epsilon' parameter of fit must be"):
        spinney.fit(ROWS, 3, bounds=(-1, 1))
    with pytest.raises(ParameterError, match="The 'objective' parameter of fit must be"):
        spinney.fit(ROWS, 3, objective="means", **PROMISE)
    with pytest.raises(ParameterError, match="The 'X' parameter of fit must be a table of numbers"):
        spinney.fit(csr_array(ROWS), 3, **PROMISE)


def test_the_warnings_are_those_of_an_estimator():
    with pytest.warns(FewRowsWarning):
        spinney.fit(ROWS[:0], 3, **PROMISE)
    with pytest.warns(UnitsWarning):
        spinney.fit(ROWS, 3, epsilon=1.0, bounds=[(0, 1), (0, 1000)], noise_seed=3)
