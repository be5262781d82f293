"""What PrivateKMeans and PrivateKMedian share."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_array, validate_data

from spinney.algorithms.algorithm import Algorithm
from spinney.algorithms.plan import Plan
from spinney.constraints import check
from spinney.curators.gpu.labels import nearest_on_device
from spinney.curators.gpu.rows import is_of_device
from spinney.curators.rows import Rows
from spinney.estimators.display import OUTPUTS
from spinney.estimators.estimator import PrivateEstimator, check_keywords
from spinney.exceptions import ParameterError
from spinney.fits.fit import Fit, check_guess
from spinney.fits.parameters import check_points
from spinney.fits.record import algorithm_of
from spinney.fits.run import prepared
from spinney.ledgers.ledger import Ledger
from spinney.privacy.seal import sealed
from spinney.releases.assigning import finite_points
from spinney.releases.centers import Release
from spinney.releases.objectives import POWERS
from spinney.solvers.weighted import total_cost
from spinney.spaces.box import Ball, Box, domain_from_dict
from spinney.spaces.nearest import nearest
from spinney.tables.arrow_streams import ArrowStream
from spinney.tables.sources import Source, is_path, is_spark_frame, read_source
from spinney.tables.streams import Batches
from spinney.threads import asked_threads, limited


class PrivateClusterer(PrivateEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """Stores parameters, validates them, asks an algorithm, keeps its release."""

    _objective: str

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        max_clusters: int | None = None,
        bounds: tuple[ArrayLike, ArrayLike] | list[tuple[float, float]] | dict[str, Any] | Box | Ball | None = None,
        epsilon: float | None = None,
        delta: float = 0.0,
        algorithm: str | Algorithm = "auto",
        adjacency: str = "add-remove",
        tighten: bool = False,
        model: str = "central",
        max_rows_per_group: int | None = None,
        random_state: int | np.random.Generator | None = None,
        noise_seed: int | None = None,
        scale: str | float | dict[str, float] | None = None,
        device: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.bounds = bounds
        self.device = device
        self.n_jobs = n_jobs
        self.scale = scale
        self.n_clusters = n_clusters
        self.max_clusters = max_clusters
        self.epsilon = epsilon
        self.delta = delta
        self.algorithm = algorithm
        self.adjacency = adjacency
        self.tighten = tighten
        self.model = model
        self.max_rows_per_group = max_rows_per_group
        self.random_state = random_state
        self.noise_seed = noise_seed

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @property
    def _power(self) -> int:
        return POWERS[self._objective]

    def plan(self, n_features: int | None = None, n_guess: int | None = None) -> Plan:
        """Return every question with its charge and noise, before any row is read.

        Parameters
        ----------
        n_features : int
            The number of columns; public. Not needed if the bounds name them.
        n_guess : int, optional
            A public guess of the number of rows: adds the expected noise of sizes and centers.

        Returns
        -------
        Plan
            Prints as a table.
        """
        has_groups = self.max_rows_per_group is not None
        facts = check_points(self.get_params(deep=False), self._objective, type(self).__name__, has_groups)
        return self._planned(facts.planned(n_features), n_guess)

    def fit(
        self,
        X: Any,
        y: Any = None,
        groups: Any = None,
        ledger: Ledger | None = None,
        n_guess: int | None = None,
        **unknown: Any,
    ) -> Self:
        """Cluster private rows.

        Privacy
        -------
        Neighbors: tables that differ by one row added or removed (or replaced, as `adjacency` says); by one group's rows
        if `groups` is given. Statement: everything stored on the fitted estimator is (epsilon, delta)-differentially
        private. Proof: the algorithm's page, such as ``proofs/tree.md``, and the pages it names.
        Outside the promise: running time and memory use.

        Parameters
        ----------
        X : array-like, frame, Arrow table or lazy frame of shape (n, d), a path, a table on disk, a stream, or a Spark DataFrame
            Private. Values outside the bounds are clipped; a row with a missing value is dropped, or read as the middle of
            the domain if ``adjacency="replace"``. A path leads to a CSV, Parquet or NPY file, or a folder of them;
            ``spinney.scan`` makes a table that stays on disk, ``spinney.stream`` one of DuckDB, polars, ADBC and others, of which
            relations, datasets and frames may be given as they are. Types are public where a format declares them (NumPy,
            Arrow, Parquet, Spark): a column of texts or dates is refused. Elsewhere a cell that is not a number is missing.
        y : ignored
        groups : array-like of shape (n,) or str, optional
            Whom each row belongs to, or the name of the column that says so. Needs `max_rows_per_group`. Rows without a name
            do not count.
        ledger : Ledger, optional
            Charged for the whole plan before anything is asked; a fit that would exceed its ceiling is refused.
        n_guess : int, optional
            How many rows (with groups: persons) there should be, as a public guess. If the released sizes add up to far fewer,
            a `FewRowsWarning` says so, and so do pages of the release. Nothing else depends on it.

        Returns
        -------
        self
        """
        check_keywords(f"{type(self).__name__}.fit", unknown)
        check_guess(n_guess, f"{type(self).__name__}.fit")
        fit, rows = self.prepare(X, groups)
        fit = replace(fit, n_guess=None if n_guess is None else int(n_guess))
        with limited(asked_threads(self.n_jobs)):
            release = self._run(fit, rows, ledger)
        return self._keep(release)

    def prepare(self, X: Any, groups: Any = None) -> tuple[Fit, Rows]:
        """Return what `fit` would run, and where the rows are: for audits. Nothing is asked or charged.

        Parameters as for `fit`.
        """

        def checked(source: Source) -> tuple[NDArray[Any], Any]:
            return self._checked(source, reset=True), getattr(self, "feature_names_in_", None)

        facts, rows = prepared(X, groups, self.get_params(deep=False), self._objective, type(self).__name__, checked)
        if facts.is_local:
            from spinney.local.desk import users_of

            rows = users_of(rows)
        if facts.uneven is not None:
            warnings.warn(facts.uneven, stacklevel=3)
        return facts.fit(rows.n_features), rows

    def _store(self, release: Release) -> None:
        self.release_ = release
        self.cluster_centers_ = release.centers.copy()
        self.cluster_sizes_ = release.sizes.copy()
        margins = release.center_margins
        self.center_margins_ = np.full(release.centers.shape, np.nan) if margins is None else margins.copy()
        self._n_features_out = len(release.centers)
        names = release.columns
        self._remember(names, release.centers.shape[1] if names is None else len(names))

    def _remember(self, names: Sequence[str] | None, n_features: int) -> None:
        self.n_features_in_ = n_features
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _checked(self, source: Source, *, reset: bool) -> NDArray[Any]:
        """Return a table as numbers, after checks of its schema alone, which is remembered if `reset` and else compared."""
        options: dict[str, Any] = {"dtype": "numeric", "ensure_all_finite": False, "ensure_min_samples": 0, "input_name": "X"}
        array = check_array(source.nonprivate_rows, estimator=self, **options)
        validate_data(self, array if source.header is None else source.header, skip_check_array=True, reset=reset)
        return np.asarray(array)

    def _refuse_elsewhere(self, X: Any) -> None:
        """Raise if rows are not in memory; asks nothing of X."""
        if issubclass(type(X), Batches) or (type(X) is ArrowStream and X.spool is not None):
            raise ParameterError("Only fit takes a table on disk.", "fit it, then predict(rows) for rows in memory.")
        if is_spark_frame(X):
            raise ParameterError(
                "Only fit takes a Spark DataFrame.", "spinney.spark has a model whose transform adds a column of predictions."
            )

    @classmethod
    def from_release(cls, release: Release | str | Path) -> Self:
        """Return a fitted estimator made from a release alone, with the parameters that the release records.

        A `noise_seed` is not taken over: another fit of it is private.

        Parameters
        ----------
        release : Release, str or Path
            The release, or the file it was written to.
        """
        if not isinstance(release, Release):
            release = Release.from_json(release)
        if release.objective != cls._objective:
            raise ParameterError.wrong(
                "release", f"{cls.__name__}.from_release", f"a release of {cls._objective}", release.objective,
                "use the estimator that made it.",
            )  # fmt: skip
        domain, columns = domain_from_dict(release.domain), release.domain.get("columns")
        lower, upper = domain.lower.tolist(), domain.upper.tolist()
        bounds: Any = Ball(domain.radius, domain.center.tolist()) if math.isfinite(domain.radius) else Box(lower, upper)
        scale = None
        if release.facts is not None:
            bounds, scale = release.facts.typed
        elif columns is not None:
            bounds = dict(zip(columns, zip(lower, upper, strict=True), strict=True))
        is_local = release.trust.is_local
        estimator = cls(
            len(release.centers),
            model="local" if is_local else "central",
            epsilon=release.promised_epsilon,
            delta=release.delta,
            bounds=bounds,
            scale=scale,
            algorithm=algorithm_of(release.algorithm, release.parameters, "users" if is_local else "points"),
            adjacency=release.adjacency,
            tighten=release.tightened is not None,
            max_rows_per_group=release.max_rows_per_group,
            random_state=release.random_state if isinstance(release.random_state, int) else None,
        )
        estimator._store(release)
        return estimator

    def _points(self, X: Any) -> NDArray[np.float64]:
        """Check new points; a missing or infinite value puts a point in the middle of the domain."""
        self._check_fitted()
        self._refuse_elsewhere(X)
        X = X.get() if is_of_device(type(X)) else X
        columns = self.release_.columns if is_path(X) or self.release_.schema else self.release_.domain.get("columns")
        array = self._checked(read_source(X, columns, schema=self.release_.facts), reset=False)
        return finite_points(self.release_, array)

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Return the index of the nearest center of each point: free post-processing for points that are not private.

        Labels of the private training rows are themselves private data; treat them so. A point with a missing or infinite value
        is read as the middle of the domain.
        """
        self._check_fitted()
        if is_of_device(type(X)) and self.release_.facts is None and X.ndim == 2 and X.shape[1] == self.n_features_in_:
            domain = domain_from_dict(self.release_.in_scale.domain)
            with sealed():
                return nearest_on_device(X, self.release_.scaled(self.release_.centers), domain)
        points = self._points(X)
        with sealed():
            return nearest(points, self.release_.scaled(self.release_.centers))[1]

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the distance of each point to each center; private if the points are. Missing values as in `predict`.

        Distances and costs are measured in the units of `scale`.
        """
        points = self._points(X)
        with sealed():
            centers = self.release_.scaled(self.cluster_centers_)
            return np.column_stack([np.sqrt(nearest(points, center[None, :])[0]) for center in centers])

    def set_output(self, *, transform: str | None = None) -> Self:
        """Choose what `transform` returns: ``"default"``, ``"pandas"`` or ``"polars"``; None leaves it as it is."""
        check("set_output", {"transform": transform}, {"transform": OUTPUTS})
        super().set_output(transform=transform)
        return self

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns that `transform` makes; `input_features`, if given, must be the names of `fit`."""
        self._check_fitted()
        with suppress(ValueError):
            return np.asarray(super().get_feature_names_out(input_features))
        # Not above, where an error that counts the names would become the context.
        raise ParameterError(
            "The input_features should have length equal to the number of columns, or input_features is not equal to "
            "feature_names_in_.",
            "leave them out.",
        )

    def fit_predict(
        self, X: Any, y: Any = None, groups: Any = None, ledger: Ledger | None = None, **unknown: Any
    ) -> NDArray[np.int32]:
        """NOT PRIVATE: fit, and return the labels of the private rows to their holder. Nothing of them is stored.

        Parameters as for `fit`.
        """
        self._refuse_elsewhere(X)  # before anything is spent
        return self.fit(X, groups=groups, ledger=ledger, **unknown).predict(X)

    def fit_transform(
        self, X: Any, y: Any = None, groups: Any = None, ledger: Ledger | None = None, **unknown: Any
    ) -> NDArray[np.float64]:
        """NOT PRIVATE: fit, and return the distances of the private rows to their holder. Nothing of them is stored.

        Parameters as for `fit`.
        """
        self._refuse_elsewhere(X)  # before anything is spent
        return self.fit(X, groups=groups, ledger=ledger, **unknown).transform(X)

    def score(self, X: Any, y: Any = None) -> float:
        """NOT PRIVATE: return minus the cost of the points given, computed exactly. Nothing is stored.

        Points are clipped to the declared bounds, as `fit` clips them; missing values as in `predict`.
        """
        points = self._points(X)
        with sealed():
            clipped = domain_from_dict(self.release_.in_scale.domain).clip(points)
            return -total_cost(clipped, self.release_.scaled(self.cluster_centers_), self._power)
