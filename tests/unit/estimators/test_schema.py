"""Plain tables are checked without scikit-learn: here it is asked about every pair of a fit and a prediction all the same."""

import itertools
import warnings

import numpy as np
import pandas as pd
import polars as pl
from scipy.sparse import csr_array

from spinney import PrivateKMeans
from spinney.estimators.schema import checked_by_scikit_learn
from spinney.tables.sources import Source

ROWS = np.arange(6.0).reshape(3, 2)


class Own(np.ndarray):
    """An array of another class."""


def framed(names, library=pd.DataFrame):
    return Source(ROWS, library(ROWS, columns=names) if library is pd.DataFrame else library(ROWS, schema=names))


SOURCES = {
    "array": Source(ROWS),
    "32 bits": Source(ROWS.astype("f4")),
    "whole": Source(ROWS.astype(int)),
    "truth": Source(ROWS > 2),
    "columns first": Source(np.asfortranarray(ROWS)),
    "own": Source(ROWS.view(Own)),
    "no rows": Source(ROWS[:0]),
    "one column": Source(ROWS[:, :1]),
    "matrix": Source(ROWS.view(np.matrix)),
    "sparse": Source(csr_array(ROWS)),
    "missing": Source(np.full((3, 2), np.nan)),
    "pandas": framed(["a", "b"]),
    "polars": framed(["a", "b"], pl.DataFrame),
    "other order": framed(["b", "a"]),
    "other names": framed(["b", "c"], pl.DataFrame),
    "numbers": framed([0, 1]),
    "mixed": framed(["a", 1]),
    "fewer": Source(ROWS[:, :1], pd.DataFrame(ROWS[:, :1], columns=["a"])),
}


def outcome(check, estimator, source, reset):
    """Return all that a check says, and what the estimator remembers after it."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            array = check(estimator, source, reset=reset)
            found = (type(array).__name__, array.dtype.str, array.tolist(), array.flags.f_contiguous)
        except (TypeError, ValueError) as error:
            found = (type(error).__name__, str(error))
    names = getattr(estimator, "feature_names_in_", None)
    remembered = (getattr(estimator, "n_features_in_", None), None if names is None else (names.dtype.str, names.tolist()))
    return repr((found, [(one.category.__name__, str(one.message)) for one in heard], remembered))


def test_a_schema_is_checked_as_scikit_learn_does():
    for first, second in itertools.product(SOURCES, repeat=2):
        ours, theirs = PrivateKMeans(2), PrivateKMeans(2)
        for source, reset in ((first, True), (second, False), (second, True), (first, False)):
            expected = outcome(checked_by_scikit_learn, theirs, SOURCES[source], reset)
            assert outcome(PrivateKMeans._checked, ours, SOURCES[source], reset) == expected, (first, second, source, reset)
