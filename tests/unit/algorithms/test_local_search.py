import math

import numpy as np
import pytest

from spinney import FiniteMetric, ParameterError, PrivateKMedoids
from spinney.algorithms.local_search import STARTS, LocalSearch
from spinney.algorithms.site_hst import SiteHST
from spinney.solvers.seeding import seed_medoids
from spinney.solvers.service import Service
from spinney.solvers.swaps import local_search

RNG = np.random.default_rng(0)
SPACE = FiniteMetric.from_points(RNG.random((40, 2)), candidates=np.arange(0, 40, 2))
ROWS = RNG.integers(0, 40, 150)
COUNTS = np.bincount(ROWS, minlength=40)


def fit(algorithm, power=1, existing=(), epsilon=math.inf, k=4, **more):
    return PrivateKMedoids(
        k, epsilon=epsilon, space=SPACE, algorithm=algorithm, power=power, existing_sites=existing, random_state=5, **more
    ).fit(ROWS)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("existing", [[], [4, 9]])
@pytest.mark.parametrize("steps", [1, 3, 15])
def test_without_noise_it_is_plain_local_search(steps, existing, power):
    service = Service.of(SPACE, COUNTS, power)
    start = seed_medoids(Service.of(SPACE, np.ones(40), power), 4, np.random.default_rng(5), existing)
    plain = local_search(service, start, existing, alpha=0.0, steps=steps)
    model = fit(LocalSearch("kmedian++", steps), power, existing)
    cost = service.cost(np.concatenate([model.medoid_indices_, np.array(existing, dtype=np.int64)]))
    assert cost == pytest.approx(plain.cost, rel=1e-5)  # costs in steps may break ties otherwise
    assert plain.cost < service.cost(np.concatenate([start, np.array(existing, dtype=np.int64)]))


def test_without_noise_an_hst_start_is_at_least_as_good_as_the_tree_alone():
    service = Service.of(SPACE, COUNTS)
    tree = fit(SiteHST(4)).medoid_indices_
    assert service.cost(fit(LocalSearch("hst", 1, levels=4)).medoid_indices_) <= service.cost(tree)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("stay", [False, True])
def test_shares_sum_to_one_and_the_best_visited_set_is_kept(start, stay):
    algorithm = LocalSearch(start, 5, stay, levels=3)
    parts = algorithm.parts(PrivateKMedoids(4, epsilon=1.0, space=SPACE).plan().problem)
    assert sum(part.share for part in parts) == 1
    assert [part.name for part in parts][-2:] == ["best", "sizes"]
    assert sum(part.question == "choose" for part in parts) == 6
    service = Service.of(SPACE, COUNTS)
    more = fit(LocalSearch(start, 9, stay, levels=3)).medoid_indices_
    assert service.cost(more) <= service.cost(fit(algorithm).medoid_indices_) * (1 + 1e-6)


@pytest.mark.parametrize("stay", [False, True])
@pytest.mark.parametrize("epsilon", [1.0, math.inf])
def test_every_candidate_may_be_a_site(stay, epsilon):
    model = fit(LocalSearch("random", 2, stay), epsilon=epsilon, k=20)
    assert model.medoid_indices_.tolist() == SPACE.candidates.tolist()
    spent = {charge.name for charge in model.release_.charges}
    assert ("swap 1" in spent) == stay  # without options there is nothing to ask


@pytest.mark.parametrize(
    "wrong", [{"start": "best"}, {"steps": 0}, {"steps": 10_001}, {"levels": 0}, {"allocation": "even"}, {"tree": 1}], ids=str
)
def test_parameters_are_checked(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        LocalSearch(**wrong)
