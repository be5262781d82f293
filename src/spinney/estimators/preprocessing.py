"""scikit-learn transformers that learn nothing: a scaler of numbers, and an encoder of any public schema."""

from __future__ import annotations

from spinney.estimators.public_transformer import PublicTransformer
from spinney.exceptions import ParameterError
from spinney.spaces.schema import Schema

__all__ = ["PublicEncoder", "PublicScaler"]


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
            raise ParameterError.wrong(
                "bounds",
                type(self).__name__,
                "bounds of numbers",
                "other columns",
                "PublicEncoder takes categories and dates too.",
            )
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
