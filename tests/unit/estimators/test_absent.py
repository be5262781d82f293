"""What other estimators have and private ones do not: each gets its reason, as scikit-learn and Python expect."""

import copy
import pickle
from itertools import product

import numpy as np
import pytest

from spinney import FiniteMetric, PrivateKMeans, PrivateKMedian, PrivateKMedoids
from spinney.estimators.estimator import ATTRIBUTES, KEYWORDS

ROWS = np.linspace(0, 1, 200)[:, None]
FITTED = {
    "PrivateKMeans": (PrivateKMeans(1, epsilon=1.0, bounds=(0, 1), algorithm="lloyd"), ROWS),
    "PrivateKMedian": (PrivateKMedian(1, epsilon=1.0, bounds=(0, 1), algorithm="lloyd"), ROWS),
    "PrivateKMedoids": (PrivateKMedoids(1, epsilon=1.0, space=FiniteMetric.from_points([[0.0], [1.0]])), [0, 1] * 90),
}


@pytest.mark.parametrize("name", FITTED)
def test_an_attribute_that_is_not_stored_says_why(name):
    model, rows = FITTED[name]
    fitted = copy.deepcopy(model).fit(rows)
    for one, attribute in product([model, fitted, pickle.loads(pickle.dumps(fitted))], ATTRIBUTES):
        assert not hasattr(one, attribute)
        assert attribute not in dir(one)
        with pytest.raises(AttributeError, match=rf"(?s)'{name}' object has no attribute '{attribute}': .* Hint: "):
            getattr(one, attribute)
    with pytest.raises(AttributeError, match=rf"^'{name}' object has no attribute 'label_'$"):
        _ = model.label_


@pytest.mark.parametrize("name", FITTED)
@pytest.mark.parametrize("keyword", KEYWORDS)
def test_a_parameter_of_others_says_why_there_is_none(name, keyword):
    model, rows = FITTED[name]
    with pytest.raises(TypeError, match=rf"{name}\(\) got an unexpected keyword argument '{keyword}': .* Hint: "):
        type(model)(2, epsilon=1.0, **{keyword: 3})
    for method in {"fit", "fit_predict", "fit_transform"} & set(dir(model)):
        with pytest.raises(TypeError, match=rf"{name}\.fit\(\) got an unexpected keyword argument '{keyword}': .* Hint: "):
            getattr(model, method)(rows, **{keyword: [1.0]})
