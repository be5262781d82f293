import os
import subprocess
import sys

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from spinney import PrivateKMeans, PrivateKMedian

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


@parametrize_with_checks(estimators(), expected_failed_checks=lambda estimator: EXPECTED)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


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


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
def test_mixins_come_before_the_base(estimator):
    names = [base.__name__ for base in estimator.__mro__]
    assert names.index(BaseEstimator.__name__) > max(i for i, name in enumerate(names) if name in MIXINS)


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
def test_no_estimator_of_scikit_learn_is_subclassed(estimator):
    bases = {base.__name__ for base in estimator.__mro__ if base.__module__.startswith("sklearn.")}
    assert {name for name in bases if not name.endswith("Mixin") and not name.startswith("_")} == {"BaseEstimator"}
