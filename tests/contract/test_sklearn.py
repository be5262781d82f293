import os
import pickle
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from spinney import FiniteMetric, PrivateKMeans, PrivateKMedian, PrivateKMedoids

#: Each with its reason. Strict: a check that starts to pass fails the run.
EXPECTED = {
    "check_clustering": "wants labels_ to be stored; labels of the training rows are not private and are never stored",
    "check_estimators_empty_data_messages": "wants an error for zero rows; the number of rows is private, so none is raised",
    "check_dtype_object": "wants an error for a cell that is not a number; what stands in a cell is private, so it is missing",
}

MIXINS = {"ClassNamePrefixFeaturesOutMixin", "ClusterMixin", "TransformerMixin"}


def estimators():
    return [
        PrivateKMeans(2, epsilon=1.0, bounds=(-10, 10), random_state=0, noise_seed=0),
        PrivateKMedian(2, epsilon=1.0, bounds=(-10, 10), random_state=0, noise_seed=0),
        PrivateKMeans(2, epsilon=1.0, delta=1e-6, bounds=(-10, 10), algorithm="lloyd", adjacency="replace", noise_seed=0),
    ]


def hold(estimator, check, expected):
    """Run a check, which must fail if that is expected; of what pytest expects it writes a page, which takes longer."""
    name = getattr(check, "func", check).__name__
    with pytest.raises(Exception) if name in expected else nullcontext():  # noqa: PT011
        check(estimator)


@parametrize_with_checks(estimators())
def test_scikit_learn_contract(estimator, check):
    hold(estimator, check, EXPECTED)


ARRAY_API = """
from sklearn.utils.estimator_checks import check_array_api_input
from spinney import PrivateKMeans, PrivateKMedian

for estimator in (PrivateKMeans, PrivateKMedian):
    model = estimator(2, epsilon=1.0, bounds=(-10, 10), random_state=0, noise_seed=0)
    check_array_api_input(estimator.__name__, model, array_namespace="numpy", expect_only_array_outputs=False)
print("checked")
"""


def test_array_api_dispatch_changes_nothing():
    # scikit-learn skips this check unless the variable is set before scipy is imported.
    environment = {**os.environ, "SCIPY_ARRAY_API": "1"}
    run = subprocess.run([sys.executable, "-c", ARRAY_API], capture_output=True, text=True, env=environment)
    assert run.stdout.strip() == "checked", run.stderr


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
def test_zero_columns_are_still_an_error(estimator):
    with pytest.raises(ValueError, match="0 feature"):
        estimator(2, epsilon=1.0, bounds=(0, 1)).fit([[], []])


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian, PrivateKMedoids])
def test_mixins_come_before_the_base(estimator):
    names = [base.__name__ for base in estimator.__mro__]
    assert names.index(BaseEstimator.__name__) > max(i for i, name in enumerate(names) if name in MIXINS)


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian, PrivateKMedoids])
def test_no_estimator_of_scikit_learn_is_subclassed(estimator):
    bases = {base.__name__ for base in estimator.__mro__ if base.__module__.startswith("sklearn.")}
    assert {name for name in bases if not name.endswith("Mixin") and not name.startswith("_")} == {"BaseEstimator"}


class Tabular(PrivateKMedoids):
    """Claims to take tables, so that scikit-learn yields all its checks; the estimator itself says that it takes one column."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = False, True
        return tags


TABLE = "fits a wide table; demand is an index, a name or a position a row, so `test_demand_*` below shows the same of demand"
#: Checks that do not apply to PrivateKMedoids. Strict: one that starts to pass fails the run.
NOT_FOR_DEMAND = {
    **dict.fromkeys(
        (
            "check_clustering", "check_dict_unchanged", "check_dont_overwrite_parameters", "check_dtype_object",
            "check_estimators_dtypes", "check_estimators_pickle", "check_f_contiguous_array_estimator", "check_fit2d_predict1d",
            "check_fit_score_takes_y", "check_methods_sample_order_invariance", "check_methods_subset_invariance",
            "check_pipeline_consistency", "check_positive_only_tag_during_fit",
        ),
        TABLE,
    ),
    "check_n_features_in": "wants a number of columns; demand is one column",
    "check_n_features_in_after_fitting": "wants a number of columns; demand is one column",
    "check_fit1d": "wants an error for a single column; demand is one",
    "check_fit2d_1sample": "wants an error that names the number of rows, which is private; demand of one row is fitted",
    "check_estimators_empty_data_messages": "wants an error for zero rows; the number of rows is private, so none is raised",
    "check_estimator_sparse_tag": "fits sparse tables; a table of any kind is refused, as no column",
    "check_estimator_sparse_array": "wants sparse tables to be refused as sparse; they are refused as tables",
    "check_estimator_sparse_matrix": "wants sparse tables to be refused as sparse; they are refused as tables",
}  # fmt: skip
SPACE = FiniteMetric.from_points([[x, y] for x in range(5) for y in range(5)])
DEMAND = np.random.default_rng(0).integers(0, 25, 300)


@parametrize_with_checks([Tabular(2, epsilon=1.0, space=SPACE, noise_seed=0)])
def test_scikit_learn_contract_of_sites(estimator, check):
    hold(estimator, check, NOT_FOR_DEMAND)


@pytest.fixture
def sites():
    return PrivateKMedoids(2, epsilon=1.0, space=SPACE, random_state=0, noise_seed=0)


def test_the_tags_say_that_demand_is_one_column(sites):
    tags = sites.__sklearn_tags__().input_tags
    assert (tags.one_d_array, tags.two_d_array, tags.allow_nan, tags.sparse) == (True, False, True, False)


def test_demand_is_predicted_as_the_contract_says(sites, tmp_path):
    labels, before = sites.fit(DEMAND).predict(DEMAND), dict(vars(sites))
    order = np.random.default_rng(1).permutation(300)
    assert sites.predict(DEMAND[order]).tolist() == labels[order].tolist()
    assert np.concatenate([sites.predict(DEMAND[i : i + 1]) for i in range(9)]).tolist() == labels[:9].tolist()
    assert all(vars(sites)[name] is value for name, value in before.items())
    assert pickle.loads(pickle.dumps(sites)).predict(DEMAND).tolist() == labels.tolist()
    np.save(tmp_path / "demand.npy", DEMAND)
    mapped = np.load(tmp_path / "demand.npy", mmap_mode="r")
    for same in (mapped, DEMAND.tolist(), DEMAND.astype(np.float32), DEMAND.astype(object), np.repeat(DEMAND, 2)[::2]):
        assert clone(sites).fit(same).predict(same).tolist() == labels.tolist()
