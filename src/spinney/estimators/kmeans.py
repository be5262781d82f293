"""Private k-means."""

from __future__ import annotations

from spinney.estimators.clusterer import PrivateClusterer


class PrivateKMeans(PrivateClusterer):
    """k-means clustering of private rows; everything it stores may be published.

    Privacy
    ~~~~~~~
    Neighbors: add or remove one row (default) or replace one; one group with ``fit(X, groups=...)``. Statement: the fitted
    estimator is (epsilon, delta)-differentially private. Proof: the algorithm's page, such as ``proofs/tree.md``, and with
    `tighten` also ``proofs/tighten.md``. Outside the promise: running time and memory use, and what methods return about
    the private rows themselves (`fit_predict`, `fit_transform`, `score`, `predict`).

    Parameters
    ----------
    n_clusters : int or "auto", default 8
        At most 10,000. ``"auto"`` finds on the private summary, free of charge, how many clusters have valleys between them; with
        the algorithm ``tree``, or ``stable`` over it.
    max_clusters : int, optional
        For ``"auto"`` alone: the most there may be, from 1 to 200, 20 by default. Public; the plan is made for this number.
    epsilon : float
        Required: in [1e-9, inf]. ``math.inf`` switches noise off.
    delta : float, default 0.0
        In [0, 1); 0 promises pure differential privacy. Gaussian noise is used only where that helps.
    bounds : (lower, upper), list of pairs, dict, Box or Ball
        Required, from public knowledge. A tuple has all lower, then all upper bounds; one number serves all columns. A list has a
        pair per column, as in ``[(0, 110), (0, 200_000)]``. Two lists may mean either, and are refused. Or by name, as in
        ``{"age": (0, 110), "income": (0, 200_000)}``, which says which columns of a table to use; all others are left out. By
        name also categories, as in ``{"region": ["north", "south"]}``, dates, truth values, and more facts (``docs/schema.md``).
    algorithm : str or Algorithm, default "auto"
        ``tree``, which ``auto`` takes, clusters a private summary, and from four columns on moves the centers by private steps;
        ``moments`` is another name of it. ``stable`` adds a step for separated clusters to any of them. To compare with:
        ``hst``, ``lloyd``, ``lsh``, ``balcan``, ``coverage``, ``k-variates``, ``pe-means``, ``sample-aggregate``
        (``docs/algorithms.md``).
        `spinney.algorithms` and `spinney.baselines` have those with parameters.
    adjacency : {"add-remove", "replace"}, default "add-remove"
        Whether neighbors differ by a row more or less, or by another row in its place.
    tighten : bool, default False
        For bounds that may be several times too wide: a tenth of epsilon finds a private box around the rows, and the rest works
        inside it.
    model : {"central", "local"}, default "central"
        ``local`` simulates the local model over a table, each row a user whose device answers one question and trusts nobody;
        it needs ``adjacency="replace"``, its algorithms are ``refined`` (the default) and ``stable``, and its release says
        that it was simulated. `spinney.local` asks real devices (``docs/local.md``).
    max_rows_per_group : int, optional
        Needed with ``fit(X, groups=...)``: the most rows of a group that count.
    random_state : int, optional
        Seeds public randomness (restarts), never privacy noise.
    scale : None, "bounds", float or dict, default None
        Distance units: how much change in each column counts as one. ``"bounds"`` takes each column over its width,
        ``{"age": 10, "income": 20_000}`` weighs ten years as 20,000; 1 leaves columns as they are, and so does None, with a
        `UnitsWarning` if public widths differ more than 20-fold. All results are in the user's own units.
    device : {"auto", "cuda"}, default "auto"
        ``"cuda"`` sends rows to a GPU (``docs/gpu.md``); an array of CuPy is worked on where it lies. The release is the same.
    n_jobs : int, optional
        How many threads work on rows, as in scikit-learn: -1 are as many as the process may use cores, -2 one less. They are
        all used by default. The release is the same.
    noise_seed : int, optional
        Makes the whole fit reproducible, for tests and demos: the result is then not private, and says so. Public randomness
        follows it, unless `random_state` is given too.

    Attributes
    ----------
    cluster_centers_ : array of shape (k, d)
        Categories are a column each, with shares.
    center_margins_ : array of shape (k, d)
        How far the noise of the last private step moved each coordinate, at most, with probability 0.95; NaN where there is none.
    cluster_sizes_ : array of shape (k,)
        Noisy; `release_.sizes_margin` is their margin of error.
    release_ : Release
    n_features_in_ : int
    feature_names_in_ : array of str
        If the table had column names.

    Examples
    --------
    >>> import numpy as np
    >>> from spinney import PrivateKMeans
    >>> rows = np.random.default_rng(0).normal(size=(5000, 2)) + np.repeat([[0, 0], [6, 6]], 2500, axis=0)
    >>> model = PrivateKMeans(2, epsilon=1.0, bounds=(-5, 11)).fit(rows)
    >>> model.cluster_centers_.shape
    (2, 2)
    """

    _objective = "kmeans"
