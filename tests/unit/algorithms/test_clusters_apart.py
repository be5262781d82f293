"""Clusters that are far apart are found by every algorithm, and by every one around which a step is taken."""

import numpy as np

from covering import covering
from registered import REGISTERED
from spinney import PrivateKMeans, PrivateKMedian
from spinney.algorithms import HST, Stable
from spinney.algorithms.registry import choose
from spinney.baselines import SampleAggregate
from spinney.solvers.weighted import total_cost

PLACES = np.array([[-0.6, -0.6], [0.6, -0.6], [0.0, 0.6], [0.7, 0.7]])
OTHERS = [HST(consistent=False), HST(repairs=2), SampleAggregate(sampling="replacement"), *map(Stable, ("lloyd", "hst", "lsh"))]
ALGORITHMS = [*(choose(name, "points") for name in REGISTERED["points"]), *OTHERS]


@covering("algorithm, estimator, delta, tighten", ALGORITHMS, [PrivateKMeans, PrivateKMedian], [0.0, 1e-6], [False, True])
def test_clusters_that_are_apart_are_found(algorithm, estimator, delta, tighten):
    rng = np.random.default_rng(0)
    rows = PLACES[rng.integers(0, 4, 8000)] + rng.normal(0, 0.03, (8000, 2))
    asked = {
        "epsilon": 2.0,
        "delta": delta,
        "adjacency": "replace",
        "tighten": tighten,
        "bounds": (-9, 11) if tighten else (-1, 1),
    }
    models = [estimator(4, algorithm=algorithm, random_state=seed, noise_seed=seed, **asked).fit(rows) for seed in range(3)]
    power = models[0]._power
    costs = [total_cost(rows, model.cluster_centers_, power) / total_cost(rows, PLACES, power) for model in models]
    starts_anywhere = "lloyd" in (algorithm.name, getattr(algorithm, "base", None)) or algorithm.name == "k-variates"
    assert min(costs) < 2 if starts_anywhere else max(costs) < 1.25, costs
    assert not tighten or all(np.ptp(list(model.release_.tightened.values())) < 4 for model in models)
