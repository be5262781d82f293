"""Private k-means."""

from __future__ import annotations

from spinney.estimators.clusterer import PrivateClusterer

__all__ = ["PrivateKMeans"]


class PrivateKMeans(PrivateClusterer):
    """k-means clustering of private rows; everything it stores may be published.

    Privacy
    -------
    Neighbors: add or remove one row (default) or replace one; one group with ``fit(X, groups=...)``. Statement: the fitted
    estimator is (epsilon, delta)-differentially private. Proof: ``proofs/tree.md``. Outside the promise: running time and
    memory use, and whatever `fit_predict` and `score` return.

    Parameters
    ----------
    n_clusters : int
    epsilon : float
        Required: in (0, inf]. ``math.inf`` switches noise off.
    delta : float
        In [0, 1); 0 promises pure differential privacy.
    bounds : (lower, upper), Box or Ball
        Required, from public knowledge: one number for all columns or one per column.
    algorithm : {"auto", "lloyd", "tree"}
    adjacency : {"add-remove", "replace"}
    max_rows_per_group : int, optional
        Needed with ``fit(X, groups=...)``: at most so many rows of a group count.
    random_state : int, optional
        Seeds public randomness (restarts), never privacy noise.
    noise_seed : int, optional
        Makes the noise reproducible, for tests and demos: the result is then not private, and says so.

    Attributes
    ----------
    cluster_centers_ : array of shape (k, d)
    cluster_sizes_ : array of shape (k,)
        Noisy; `release_.sizes_margin` is their margin of error.
    release_ : Release
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> from spinney import PrivateKMeans
    >>> rows = np.random.default_rng(0).normal(size=(5000, 2)) + np.repeat([[0, 0], [6, 6]], 2500, axis=0)
    >>> model = PrivateKMeans(2, epsilon=1.0, bounds=(-5, 11)).fit(rows)
    >>> model.cluster_centers_.shape
    (2, 2)
    """

    _power = 2
    _objective = "kmeans"
