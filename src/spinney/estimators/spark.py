"""An estimator and a model for pipelines of Spark ML.

`SparkPrivateKMeans` and `SparkPrivateKMedian` fit as `PrivateKMeans` and `PrivateKMedian` do; the model adds a column of
predictions. Both can be saved and loaded. The model holds a release and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import keyword_only
from pyspark.ml import Estimator, Model
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import HasInputCols, HasPredictionCol
from pyspark.ml.util import DefaultParamsReadable, DefaultParamsWritable
from pyspark.sql import DataFrame
from pyspark.sql.pandas.functions import arrow_udf

from spinney.curators.spark.packing import check_types, number_columns, quoted, read_cells, read_columns
from spinney.estimators.clusterer import PrivateClusterer
from spinney.estimators.kmeans import PrivateKMeans
from spinney.estimators.kmedian import PrivateKMedian
from spinney.exceptions import ParameterError
from spinney.fits.parameters import AUTO
from spinney.ledgers.ledger import Ledger
from spinney.releases.assigning import assign
from spinney.releases.centers import Release
from spinney.spaces.box import Ball, NamedBox, as_space
from spinney.spaces.units import schema_of


def _param(name: str, text: str, convert: Any) -> Any:
    """Return a parameter of Spark ML whose messages do not repeat what was passed, as Spark's own would."""

    def read(value: Any) -> Any:
        try:
            return convert(value)
        except ParameterError:
            raise  # it names types
        except Exception:
            pass  # not raised from here, where what Spark says would become the context
        raise ParameterError.wrong(name, "a Spark estimator", f"what it means: {text}", value, "see its documentation.")

    return Param(Params._dummy(), name, text, typeConverter=read)


def _facts(value: Any) -> Any:
    """Return public facts of columns as JSON has them."""
    if value is bool:
        return {"boolean": True}
    if isinstance(value, Mapping):
        return {name: _facts(given) for name, given in value.items()}
    if isinstance(value, list | tuple):
        return [_facts(given) for given in value]
    if isinstance(value, date | np.datetime64):
        return str(value)[: len("2024-01-31")]
    return value.item() if isinstance(value, np.generic) else value


def _bounds(value: Any) -> list[Any] | dict[str, Any]:
    """Return bounds as they can be saved, in JSON: by name, or as lower and upper ones under these words."""
    if isinstance(value, Mapping) and schema_of(value, None, "a Spark estimator") is not None:  # which checks them
        return json.loads(json.dumps(_facts(value)))  # type: ignore[no-any-return]
    if isinstance(value, list) and value[::2] == ["lower", "upper"]:  # as they were saved
        value = tuple(value[1::2])
    space = as_space(value, "a Spark estimator")
    if isinstance(space, Ball):
        raise TypeError
    lower, upper = np.atleast_1d(space.lower).tolist(), np.atleast_1d(space.upper).tolist()
    if isinstance(space, NamedBox):
        return {name: [low, high] for name, low, high in zip(space.columns, lower, upper, strict=True)}
    return ["lower", lower, "upper", upper]


def _scale(value: Any) -> str | float | dict[str, float]:
    if isinstance(value, dict):
        return {str(name): float(unit) for name, unit in value.items()}
    return value if isinstance(value, str) else float(value)


class _ColumnParams(HasInputCols, HasPredictionCol, DefaultParamsReadable, DefaultParamsWritable):  # type: ignore[type-arg]
    """The columns that are read and written."""

    inputCols = _param("inputCols", "names of the columns to read", TypeConverters.toListString)  # noqa: N815  (Spark's own name)
    predictionCol = _param("predictionCol", "the column that a model adds", TypeConverters.toString)  # noqa: N815

    def _names(self, frame: DataFrame, groups: str | None = None) -> list[str]:
        if self.isDefined(self.inputCols):
            names = self.getInputCols()
            if not set(names) <= set(frame.columns):  # Spark would repeat the name
                raise ParameterError(
                    "The inputCols name a column that the frame does not have.", f"it has {', '.join(map(repr, frame.columns))}."
                )
            return names
        return [name for name in frame.columns if name != groups]


class _SparkClusterer(_ColumnParams, Estimator):  # type: ignore[type-arg]
    """What the two estimators share: parameters, and a fit by the estimator of the same objective."""

    _estimator: type[PrivateClusterer]

    n_clusters = _param(
        "n_clusters", "number of clusters, or auto", lambda k: AUTO if type(k) is str and k == AUTO else TypeConverters.toInt(k)
    )
    max_clusters = _param("max_clusters", "the most clusters that auto may find", TypeConverters.toInt)
    epsilon = _param("epsilon", "what the release may spend; required", TypeConverters.toFloat)
    delta = _param("delta", "0 promises pure differential privacy", TypeConverters.toFloat)
    bounds = _param("bounds", "public lower and upper bounds of the columns; required", _bounds)
    scale = _param("scale", "units of the columns: bounds, a number, or by name", _scale)
    algorithm = _param("algorithm", "name of the algorithm", TypeConverters.toString)
    adjacency = _param("adjacency", "add-remove or replace", TypeConverters.toString)
    tighten = _param("tighten", "whether to look for a private box first", TypeConverters.toBoolean)
    random_state = _param("random_state", "seeds public randomness, never noise", TypeConverters.toInt)
    max_rows_per_group = _param("max_rows_per_group", "how many rows of a group count at most", TypeConverters.toInt)
    groupsCol = _param("groupsCol", "the column that names the group of each row", TypeConverters.toString)  # noqa: N815
    ledger = _param("ledger", "the file of a ledger", lambda one: str(Path(one.path if isinstance(one, Ledger) else one)))
    noise_seed = _param("noise_seed", "for tests and demos: with it the result is not private", TypeConverters.toInt)

    @keyword_only
    def __init__(
        self,
        *,
        n_clusters: int | str = 8,
        max_clusters: int | None = None,
        epsilon: float | None = None,
        delta: float = 0.0,
        bounds: Any = None,
        scale: Any = None,
        algorithm: str = "auto",
        adjacency: str = "add-remove",
        tighten: bool = False,
        max_rows_per_group: int | None = None,
        random_state: int | None = None,
        ledger: str | Path | Ledger | None = None,
        noise_seed: int | None = None,
        inputCols: list[str] | None = None,
        groupsCol: str | None = None,
        predictionCol: str = "prediction",
    ) -> None:
        super().__init__()
        self._setDefault(n_clusters=8, delta=0.0, algorithm="auto", adjacency="add-remove", tighten=False)
        self._set(**self._input_kwargs)  # type: ignore[attr-defined]  # keyword_only puts them there

    def _fit(self, dataset: DataFrame) -> SparkClusterModel:
        given = {param.name: self.getOrDefault(param) for param in self.params if self.isDefined(param)}
        groups = given.pop("groupsCol", None)
        ledger = Ledger(given.pop("ledger")) if "ledger" in given else None
        names = self._names(dataset, groups)
        given = {name: value for name, value in given.items() if name not in ("inputCols", "predictionCol")}
        bounds = given.get("bounds")
        if isinstance(bounds, list):
            given["bounds"] = tuple(bounds[1::2])
        elif bounds is not None and not self.isDefined(self.inputCols):
            names = list(bounds)
        if groups in names:
            raise ParameterError("A column of groups is not clustered.", "leave groupsCol out of inputCols.")
        chosen = names if groups is None else [*names, groups]
        columns = dataset.select([dataset[quoted(name)] for name in chosen])
        release = self._estimator(**given).fit(columns, groups=groups, ledger=ledger).release_
        table = release.facts.table if release.facts is not None else release.feature_names
        return SparkClusterModel(release, list(table or names), self.getPredictionCol())


class SparkPrivateKMeans(_SparkClusterer):
    """Private k-means for pipelines of Spark ML.

    Privacy
    -------
    Neighbors, statement and proof as for `PrivateKMeans`: the model may be published. Its predictions of private rows are
    private data. The driver and the executors are one trusted side; the noise is added on the driver.

    Parameters
    ----------
    n_clusters, max_clusters, epsilon, delta, algorithm, adjacency, tighten, max_rows_per_group, random_state, noise_seed
        As for `PrivateKMeans`; an algorithm goes by its name.
    bounds : (lower, upper), list of pairs, dict or Box
        As for `PrivateKMeans`; by name with categories, truth values and dates, too.
    scale : None, "bounds", float or dict, default None
        As for `PrivateKMeans`.
    inputCols : list of str, optional
        The columns to cluster; those that the bounds name, or all but `groupsCol`, by default.
    groupsCol : str, optional
        The column that names the group of each row; needs `max_rows_per_group`.
    predictionCol : str, default "prediction"
        The column that the model adds.
    ledger : str, Path or Ledger, optional
        The file of a `Ledger` that exists: each fit is charged to it.
    """

    _estimator = PrivateKMeans


class SparkPrivateKMedian(_SparkClusterer):
    """Private k-median for pipelines of Spark ML; all else is as in `SparkPrivateKMeans`."""

    _estimator = PrivateKMedian


class SparkClusterModel(_ColumnParams, Model):
    """A release that adds a column of predictions.

    Parameters
    ----------
    release : Release
    inputCols : list of str
        The columns of a point, in the order of the release's.
    predictionCol : str, default "prediction"
        The column that `transform` adds: the index of the nearest center.
    """

    release_json = _param("release_json", "the release", TypeConverters.toString)

    def __init__(
        self, release: Release | None = None, inputCols: list[str] | None = None, predictionCol: str = "prediction"
    ) -> None:
        super().__init__()
        if release is not None:  # else the loader sets what was saved
            self._set(release_json=release.to_json(), inputCols=inputCols, predictionCol=predictionCol)

    @property
    def release(self) -> Release:
        """What was released; it may be published."""
        return Release.from_dict(json.loads(self.getOrDefault(self.release_json)))

    def clusterCenters(self) -> list[Any]:  # noqa: N802  (as Spark's own models call it)
        """Return the released centers."""
        return list(self.release.centers)

    def _transform(self, dataset: DataFrame) -> DataFrame:
        release, names = self.release, self._names(dataset)
        width = release.centers.shape[1] if release.facts is None else len(release.facts.columns)
        if len(names) != width:
            raise ParameterError(f"The release is of {width} columns of a table.", "name as many in inputCols.")
        cells = None if release.facts is None or release.facts.is_plain else release.facts
        if cells is None:
            columns = number_columns(dataset, names)
        else:
            columns = [dataset[quoted(name)] for name in names]
            check_types(dataset, columns, cells)

        def predict(*columns: pa.Array) -> pa.Array:
            return pa.array(assign(release, read_columns(columns) if cells is None else read_cells(columns, cells)))

        added = arrow_udf(predict, "int")  # type: ignore[call-overload]  # Spark's stubs know no `*columns`
        return dataset.withColumn(self.getPredictionCol(), added(*columns))
