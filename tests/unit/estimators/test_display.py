import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_html_repr

from spinney import FiniteMetric, PrivateKMeans, PrivateKMedian, PrivateKMedoids

try:
    from sklearn.utils._repr_html import common
except ImportError:  # an older scikit-learn reads no docstrings
    common = None

LINE = FiniteMetric.from_points(np.arange(40.0)[:, None])
#: Values that would be seen if rows were shown.
ROWS = np.full((300, 2), 0.73164217)
DEMAND = np.full(300, 37)
MODELS = {
    "kmeans": (PrivateKMeans(2, epsilon=0.1, bounds=(0, 1)), ROWS),
    "kmedian": (PrivateKMedian(2, epsilon=0.1, bounds=(0, 1)), ROWS),
    "kmedoids": (PrivateKMedoids(2, epsilon=0.1, space=LINE), DEMAND),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("piped", [False, True], ids=["alone", "in a pipeline"])
@pytest.mark.parametrize("fitted", [False, True], ids=["new", "fitted"])
def test_a_notebook_shows_a_model_without_a_warning(name, piped, fitted):
    if common is not None:
        common.scrape_estimator_docstring.cache_clear()  # a docstring is read once, and warned about once
    model, rows = MODELS[name]
    if fitted:
        model.fit(rows)
    shown = make_pipeline(FunctionTransformer(), model) if piped else model
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        html = estimator_html_repr(shown)
        assert piped or shown._repr_mimebundle_()["text/html"]
    assert type(model).__name__ in html
    assert "0.73164217" not in html


@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedoids])
def test_an_estimator_states_its_privacy_before_its_parameters(estimator):
    assert 0 < estimator.__doc__.find("\n    Privacy\n    ~~~~~~~\n") < estimator.__doc__.index("Parameters\n")
