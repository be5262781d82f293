"""scikit-learn transformers that learn nothing: they treat each row by itself, by public facts, and a promise behind holds."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from spinney.constraints import check
from spinney.estimators.display import OUTPUTS, Discreet
from spinney.exceptions import DataError, ParameterError
from spinney.privacy.seal import sealed
from spinney.spaces.box import Ball, Box, FloatArray, as_space
from spinney.spaces.schema import Schema
from spinney.spaces.units import nameless_schema, schema_of
from spinney.tables.cells import chosen_places
from spinney.tables.schema import shielded
from spinney.tables.sources import is_lazy, read_source


def _names(X: Any) -> list[Any] | None:
    """Return the names of a table's columns, if it has some; no cell is read."""
    if is_lazy(X):
        error = DataError("The lazy frame cannot be computed.", "X.collect_schema() says why, to you alone.")
        return list(shielded(lambda: X.collect_schema().names(), error))
    return list(X.columns) if hasattr(X, "columns") and hasattr(X, "dtypes") else None


class PublicTransformer(Discreet, TransformerMixin, BaseEstimator):
    """What both share: a public schema, and maps from cells to scaled numbers and back to own numbers."""

    def __init__(self, bounds: Any = None, *, scale: Any = "bounds") -> None:
        self.bounds = bounds
        self.scale = scale

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.requires_fit = False
        return tags

    def _schema(self, n_features: int | None = None) -> Schema:
        """Return the public schema; of bounds without names, for `n_features` columns."""
        owner = type(self).__name__
        found = schema_of(self.bounds, self.scale, owner)
        if found is not None:
            return found
        space = as_space(self.bounds, owner)
        if isinstance(space, Ball):
            raise ParameterError.wrong("bounds", owner, "bounds of columns", space, "a Ball is as wide in every column.")
        names = getattr(space, "columns", None)
        if n_features is None or names is not None:
            n_features = max(np.size(space.lower), np.size(space.upper))
        schema = nameless_schema(space.domain(n_features), self.scale, owner)
        return schema if names is None else schema.named(names)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters and the names of the columns; no cell is read, and nothing is learned.

        Parameters
        ----------
        X : array-like, frame, lazy frame or Arrow table
            Private.
        y : ignored
        """
        columns, shape = _names(X), None if is_lazy(X) else getattr(X, "shape", None)
        schema = self._schema(shape[1] if isinstance(shape, tuple) and len(shape) == 2 else None)
        if schema.names is not None and columns is not None:
            chosen_places(columns, schema.names)
        self.n_features_in_ = len(schema.columns)
        if schema.names is not None:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Return scaled numbers, private if the rows are: own numbers over their units; what is missing is NaN.

        Parameters
        ----------
        X : array-like, frame, lazy frame or Arrow table
            Columns that the bounds do not name are left out.
        """
        named = self._schema() if isinstance(self.bounds, Mapping) else None
        cells = read_source(X, None if named is None else named.names, schema=named).nonprivate_rows
        schema = self._schema(cells.shape[1])
        if cells.shape[1] != len(schema.columns):
            raise ParameterError(f"X must have {len(schema.columns)} columns, as the bounds do.", "give bounds for each column.")
        with sealed():
            return schema.encode(np.asarray(cells, dtype=np.float64))

    def inverse_transform(self, X: Any) -> FloatArray:
        """Return own numbers, in the user's units, of scaled ones, such as centers; categories as shares."""
        points: FloatArray = np.empty(0)
        with suppress(Exception):  # whatever a table in its place raises; a message may quote its cells
            points = np.asarray(X, dtype=np.float64)
        schema = self._schema(points.shape[1]) if points.ndim == 2 else None
        if schema is None or points.shape[1] != schema.width:
            expected = "an array of numbers, a row for each point and a column for each that transform makes"
            raise ParameterError.wrong("X", "inverse_transform", expected, X, "as transform gives them, or centers.")
        return np.asarray(points * schema.units)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what `transform` returns: ``"default"``, ``"pandas"`` or ``"polars"``; None leaves it as it is."""
        check("set_output", {"transform": transform}, {"transform": OUTPUTS})
        super().set_output(transform=transform)
        return self

    @property
    def scaled_bounds(self) -> Box:
        """The bounds of what `transform` gives: for the estimator behind it in a pipeline."""
        domain = self._schema().scaled
        return Box(domain.lower.tolist(), domain.upper.tolist())

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns that `transform` makes, such as ``region=north``."""
        check_is_fitted(self, "n_features_in_")
        titles = self._schema(self.n_features_in_).titles
        names = [f"x{i}" for i in range(self.n_features_in_)] if titles is None else titles
        return np.array(names, dtype=object)


class PublicScaler(PublicTransformer):
    """Divides each column of numbers by a public unit; learns nothing from rows.

    Privacy
    ~~~~~~~
    Each row is changed by itself, by public facts alone: neighbors stay neighbors, and the promise of a private estimator behind
    it in a pipeline holds. What `transform` returns is as private as the rows.

    Parameters
    ----------
    bounds : (lower, upper), list of pairs, dict or Box
        Public, as for `PrivateKMeans`; columns of numbers alone.
    scale : "bounds", float or dict, default "bounds"
        As for `PrivateKMeans`.

    Attributes
    ----------
    scaled_bounds : Box
        For the estimator behind it.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from spinney import PrivateKMeans, PublicScaler
    >>> scaler = PublicScaler(([0, 0], [110, 200_000]))
    >>> model = make_pipeline(scaler, PrivateKMeans(2, epsilon=1.0, bounds=scaler.scaled_bounds))
    >>> scaler.inverse_transform([[0.5, 0.5]]).tolist()
    [[55.0, 100000.0]]
    """

    def _schema(self, n_features: int | None = None) -> Schema:
        schema = super()._schema(n_features)
        if not all(column.kind == "number" for column in schema.columns):
            hint = "PublicEncoder takes categories and dates too."
            raise ParameterError.wrong("bounds", type(self).__name__, "bounds of numbers", "other columns", hint)
        return schema


class PublicEncoder(PublicTransformer):
    """Turns categories, truth values, dates and numbers into scaled numbers by a public schema; learns nothing from rows.

    Privacy
    ~~~~~~~
    As for `PublicScaler`.

    Parameters
    ----------
    bounds : dict
        A public schema by the names of columns, as for `PrivateKMeans`.
    scale : "bounds", float, dict or None, default "bounds"
        As for `PrivateKMeans`.

    Attributes
    ----------
    scaled_bounds : Box
        For the estimator behind it.
    """
