import math

import numpy as np
import pytest

from spinney import FiniteMetric, ParameterError, PrivateKMedoids
from spinney.algorithms.site_hst import SiteHST, level_parts
from spinney.solvers.tree_search import search_medoids
from spinney.trees.metric_hst import MetricHST

RNG = np.random.default_rng(0)
SPACE = FiniteMetric.from_points(RNG.random((50, 2)), candidates=np.arange(0, 50, 2))
ROWS = RNG.integers(0, 30, 200)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("existing", [[], [2, 7]])
@pytest.mark.parametrize("levels", [1, 5, 12])
@pytest.mark.parametrize(("kind", "carve"), [("frt", MetricHST.build), ("printed", MetricHST.printed)])
def test_without_noise_it_is_tree_search_on_exact_counts(kind, carve, levels, power, existing):
    algorithm = SiteHST(levels, tree=kind)
    model = PrivateKMedoids(
        4, epsilon=math.inf, space=SPACE, algorithm=algorithm, power=power, existing_sites=existing, random_state=3
    ).fit(ROWS)
    tree = carve(SPACE, np.random.default_rng(3), levels)
    counts = tree.counts(np.bincount(ROWS, minlength=50))
    assert model.medoid_indices_.tolist() == sorted(search_medoids(SPACE, tree, counts, 4, power, existing).tolist())
    sites = np.concatenate([model.medoid_indices_, existing]).astype(np.int64)
    labels = SPACE.distances(sites).argmin(axis=0)[ROWS]
    assert model.release_.sizes.tolist() == np.bincount(labels, minlength=len(sites)).tolist()


@pytest.mark.parametrize("allocation", ["geometric", "uniform"])
def test_the_shares_of_all_levels_sum_to_one(allocation):
    parts = SiteHST(8, allocation).parts(None)
    assert sum(part.share for part in parts) == 1
    assert [part.name for part in parts] == [*(f"level {i}" for i in range(1, 9)), "sizes"]
    shares = [part.share for part in level_parts(1, 4, allocation)]
    assert shares[0] == (2 * shares[1] if allocation == "geometric" else shares[1])


@pytest.mark.parametrize("wrong", [{"levels": 0}, {"levels": 65}, {"allocation": "even"}, {"tree": "oak"}, {"tree": None}])
def test_parameters_are_checked(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        SiteHST(**wrong)


def test_a_space_of_one_point_has_one_site():
    model = PrivateKMedoids(1, epsilon=1.0, space=FiniteMetric.from_points([[0.0]]), algorithm=SiteHST(3)).fit([0, 0])
    assert model.medoid_indices_.tolist() == [0]
