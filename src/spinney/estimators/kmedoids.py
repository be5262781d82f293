"""Private k-medoids in a finite metric."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin

from spinney.algorithms.algorithm import Algorithm
from spinney.algorithms.plan import Plan
from spinney.curators.demand import DemandRows, Weighed
from spinney.curators.rows import Rows
from spinney.estimators.estimator import PrivateEstimator, check_keywords
from spinney.exceptions import ParameterError
from spinney.fits.fit import Fit
from spinney.fits.record import algorithm_of
from spinney.fits.site_parameters import check_row_weights, check_sites
from spinney.ledgers.ledger import Ledger
from spinney.releases.assigning import assign_sites
from spinney.releases.sites import SiteRelease
from spinney.solvers.goals import Goal
from spinney.spaces.metric import FiniteMetric
from spinney.tables.cells import check_groups
from spinney.tables.positions import demand_places


class PrivateKMedoids(PrivateEstimator, ClusterMixin, BaseEstimator):
    """k sites for private demand at points of a public space (p-median); everything it stores may be published.

    Privacy
    ~~~~~~~
    Neighbors: add or remove one row of demand (default) or replace one; one group with ``fit(demand, groups=...)``. Statement:
    the fitted estimator is (epsilon, delta)-differentially private. The space, its candidates and existing sites are public.
    Proof: the algorithm's page, such as ``proofs/cells.md``. Outside the promise: running time and memory use, and what methods
    return about the private rows themselves (`fit_predict`, `predict`).

    Parameters
    ----------
    n_clusters : int or "auto", default 8
        The number of sites to choose, existing ones not counted; at most 10,000. ``"auto"``: as many as the goal says; without
        one, as long as a further site saves 5% of the travel costs of the first.
    epsilon : float
        Required: in [1e-9, inf]. ``math.inf`` switches noise off.
    delta : float, default 0.0
        In [0, 1); 0 promises pure differential privacy. Gaussian noise is used only where that helps.
    space : FiniteMetric
        Required: the public points, their distances, and which of them are candidates.
    algorithm : {"auto", "cells", "coverage", "hst", "local-search"} or Algorithm, default "auto"
        ``cells``, the default, counts demand in public cells and solves the released weights. For comparison: ``hst``, tree
        search on noisy counts, ``local-search``, noisy swaps, and ``coverage``, balls that cover demand.
    power : {1, 2}, default 1
        1 sums distances, 2 squared distances.
    existing_sites : array of int, or of names, default ()
        Points where there is a site already; they stay, and serve.
    goal : Capacities, WithinReach, Farthest, OpeningCosts or Travel, optional
        What is asked for, if it is not little travel in sum: for ``cells`` alone. Its values are public.
    weights : array of shape (n_points,), optional
        Public: how much a row at each point counts in costs and shares, above 0, such as by district.
    max_clusters : int, optional
        With ``n_clusters="auto"``: the most sites; 20 by default, at most 200.
    adjacency : {"add-remove", "replace"}, default "add-remove"
        Whether neighbors differ by a row more or less, or by another row in its place.
    max_rows_per_group : int, optional
        Needed with ``fit(demand, groups=...)``: the most rows of a group that count.
    max_row_weight, row_weight_step : float, default None and 1.0
        Needed with ``fit(demand, row_weights=...)``: a row of weight w counts as w / row_weight_step rows, rounded down, of up to
        max_row_weight / row_weight_step, and noise is for as many. Sizes are numbers of such rows.
    snap_limit : float, optional
        How far a position may be from the nearest point of the space, in meters if its coordinates are degrees; a row that is
        farther is missing.
    travel : bool, default False
        Also ask for the mean distance from the rows of each site to it, whatever the power: a tenth of epsilon pays for that.
        ``release_.travel`` has it, and ``release_.travel_margins`` how far noise may have moved it.
    random_state : int, optional
        Seeds public randomness (cells, trees, restarts), never privacy noise.
    noise_seed : int, optional
        Makes the whole fit reproducible, for tests and demos: the result is then not private, and says so. Public randomness
        follows it, unless `random_state` is given too.

    Attributes
    ----------
    medoid_indices_ : array of shape (k,)
        The chosen sites, as sorted indices of the space's points: public candidates, never private rows.
    cluster_sizes_ : array of shape (k,)
        Noisy numbers of rows that each of them serves; `release_.sizes_margin` is their margin of error.
    release_ : SiteRelease

    Examples
    --------
    >>> import numpy as np
    >>> from spinney import FiniteMetric, PrivateKMedoids
    >>> corners = FiniteMetric.from_points([[x, y] for x in range(20) for y in range(20)], "manhattan")
    >>> demand = np.random.default_rng(0).integers(0, 150, 2000)
    >>> model = PrivateKMedoids(3, epsilon=1.0, space=corners).fit(demand)
    >>> model.medoid_indices_.shape
    (3,)
    """

    def __init__(
        self,
        n_clusters: int | str = 8,
        *,
        space: FiniteMetric | None = None,
        epsilon: float | None = None,
        delta: float = 0.0,
        algorithm: str | Algorithm = "auto",
        power: int = 1,
        existing_sites: ArrayLike = (),
        goal: Goal | None = None,
        weights: ArrayLike | None = None,
        max_clusters: int | None = None,
        adjacency: str = "add-remove",
        max_rows_per_group: int | None = None,
        max_row_weight: float | None = None,
        row_weight_step: float = 1.0,
        snap_limit: float | None = None,
        travel: bool = False,
        random_state: int | np.random.Generator | None = None,
        noise_seed: int | None = None,
    ) -> None:
        self.space = space
        self.n_clusters = n_clusters
        self.epsilon = epsilon
        self.delta = delta
        self.algorithm = algorithm
        self.power = power
        self.existing_sites = existing_sites
        self.goal = goal
        self.weights = weights
        self.max_clusters = max_clusters
        self.adjacency = adjacency
        self.max_rows_per_group = max_rows_per_group
        self.max_row_weight = max_row_weight
        self.row_weight_step = row_weight_step
        self.snap_limit = snap_limit
        self.travel = travel
        self.random_state = random_state
        self.noise_seed = noise_seed

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan, tags.input_tags.one_d_array, tags.input_tags.two_d_array = True, True, False
        return tags

    def _fit(self, has_groups: bool) -> Fit:
        return check_sites(self.get_params(deep=False), type(self).__name__, has_groups)

    def plan(self, n_guess: int | None = None) -> Plan:
        """Return every question with its charge and noise, before any row is read.

        Parameters
        ----------
        n_guess : int, optional
            A public guess of the number of rows: adds the expected noise of sizes.
        """
        return self._planned(self._fit(self.max_rows_per_group is not None), n_guess)

    def fit(
        self, demand: Any, y: Any = None, groups: Any = None, ledger: Ledger | None = None,
        row_weights: Any = None, **unknown: Any,
    ) -> Self:  # fmt: skip
        """Choose sites for private demand.

        Privacy
        -------
        Neighbors: demand that differs by one row added or removed (or replaced, as `adjacency` says); by one group's rows if
        `groups` is given. Statement: everything stored on the fitted estimator is (epsilon, delta)-differentially private.
        Proof: the algorithm's page, such as ``proofs/cells.md``, and the pages it names. Outside the promise: running time and
        memory use.

        Parameters
        ----------
        demand : array-like of shape (n,)
            Private: the point of each row, as an index of the space's points, or as its name if the space has names; repeats are
            allowed. A row that names no point is dropped, or read as point 0 if ``adjacency="replace"``. If a point is named by a
            number, numbers are names too. Without names in the space a column that is declared as text is refused.

            An array or a frame of two columns has positions, each of which is moved to the nearest point of the space by its
            coordinates; ties go to the lowest index. Longitude comes first, unless names of columns say otherwise. A position
            that is missing, not on the globe or farther than `snap_limit` names no point.
        y : ignored
        groups : array-like of shape (n,), optional
            Whom each row belongs to. Needs `max_rows_per_group`. Rows without a name do not count.
        ledger : Ledger, optional
            Charged for the whole plan before anything is asked; a fit that would pass its ceiling is refused.
        row_weights : array-like of shape (n,), optional
            Private: how much each row counts. Needs `max_row_weight`. What is missing, negative or not finite counts nothing.

        Returns
        -------
        self
        """
        check_keywords(f"{type(self).__name__}.fit", unknown)
        fit, rows = self.prepare(demand, groups, row_weights)
        return self._keep(self._run(fit, rows, ledger))

    def prepare(self, demand: Any, groups: Any = None, row_weights: Any = None) -> tuple[Fit, Rows]:
        """Return what `fit` would run, and where the rows are: for audits. Nothing is asked or charged.

        Parameters as for `fit`.
        """
        fit = self._fit(groups is not None)  # before anything is asked of the rows
        counted = check_row_weights(self.get_params(deep=False), type(self).__name__)
        if (counted is None) != (row_weights is None):
            raise ParameterError(
                "row_weights and max_row_weight need each other.", "max_row_weight=10.0 with fit(demand, row_weights=...)."
            )
        places = self._places(demand)
        check_groups(groups, len(places))
        if counted is None:
            return fit, DemandRows(places, groups)
        times = counted.times(row_weights)
        if len(times) != len(places):
            raise ParameterError(
                "The 'row_weights' argument of fit must have one number per row.", "pass a column of the same table."
            )
        return fit, DemandRows(places, groups, Weighed(times, counted.most))

    def _places(self, demand: Any) -> NDArray[Any]:
        """Return the point of each row, by its index."""
        assert self.space is not None
        return demand_places(demand, self.space, self.snap_limit)

    def _store(self, release: SiteRelease) -> None:
        self.release_ = release
        self.medoid_indices_ = release.medoids.copy()
        self.cluster_sizes_ = release.sizes[: len(release.medoids)].copy()

    @classmethod
    def from_release(cls, release: SiteRelease | str | Path, space: FiniteMetric) -> Self:
        """Return a fitted estimator made from a release and the public space it is about, with the parameters it records.

        A `noise_seed` is not taken over: another fit of it is private. Nor are a goal and weights, of which a release has what
        concerns its own sites: give them again for another fit.

        Parameters
        ----------
        release : SiteRelease, str or Path
            The release, or the file it was written to.
        space : FiniteMetric
        """
        if not isinstance(release, SiteRelease):
            release = SiteRelease.from_json(release)
        fits = type(space) is FiniteMetric and space.described == release.space
        if fits and space.names is not None and release.names is not None:
            fits = tuple(space.names[site] for site in release.sites) == release.names
        if not fits:
            raise ParameterError.wrong(
                "space", f"{cls.__name__}.from_release", f"the space of the release, {release.space}",
                space, "make it from the same public files.",
            )  # fmt: skip
        estimator = cls(
            len(release.medoids),
            epsilon=release.promised_epsilon,
            delta=release.delta,
            space=space,
            algorithm=algorithm_of(release.algorithm, release.parameters, "sites"),
            power=release.power,
            existing_sites=release.existing_sites.tolist(),
            adjacency=release.adjacency,
            max_rows_per_group=release.max_rows_per_group,
            travel=release.travel is not None,
            random_state=release.random_state if isinstance(release.random_state, int) else None,
        )
        estimator._store(release)
        return estimator

    def predict(self, points: Any) -> NDArray[np.int64]:
        """Return the site of each point, the nearest unless the goal says otherwise: free for points that are not private.

        Sites are numbered as in `release_.sites`: chosen ones from 0 to k - 1, then existing ones; -1 is nobody. Labels of the
        private rows are themselves private data; treat them so. What names no point of the space is read as its first point.
        """
        self._check_fitted()
        assert self.space is not None
        return assign_sites(self.release_, self.space, self._places(points))

    def fit_predict(
        self, demand: Any, y: Any = None, groups: Any = None, ledger: Ledger | None = None,
        row_weights: Any = None, **unknown: Any,
    ) -> NDArray[np.int64]:  # fmt: skip
        """NOT PRIVATE: fit, and return the labels of the private rows to their holder. Nothing of them is stored.

        Parameters as for `fit`.
        """
        return self.fit(demand, groups=groups, ledger=ledger, row_weights=row_weights, **unknown).predict(demand)
