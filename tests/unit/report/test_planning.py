import itertools

import numpy as np
import pytest

from spinney import FiniteMetric, ParameterError, PrivateKMedoids, ReleaseError, WithinReach
from spinney.report import site_curve, site_travel

SPACE = FiniteMetric.from_points(np.random.default_rng(0).random((25, 2)), candidates=np.arange(0, 25, 2))
DEMAND = np.random.default_rng(1).choice(25, 2000, p=np.arange(25) / 300)


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("existing", [(), (3,)])
def test_without_noise_travel_is_that_of_the_rows_and_no_data_do_worse(power, existing):
    model = PrivateKMedoids(2, epsilon=np.inf, space=SPACE, power=power, existing_sites=existing, random_state=0).fit(DEMAND)
    release = model.release_
    costs = SPACE.distances(release.sites)[:, DEMAND] ** power
    own = costs.argmin(axis=0)
    found = site_travel(release, SPACE)
    assert found.mean == pytest.approx(costs.min(axis=0).mean())
    assert found.by_site == pytest.approx([costs[site, own == site].mean() for site in range(len(release.sites))])
    assert found.without_data >= found.mean
    curve = site_curve(release, SPACE, 4)
    table = SPACE.distances(np.arange(25))[:, DEMAND] ** power
    best = [
        min(table[[*some, *existing]].min(axis=0).sum() for some in itertools.combinations(SPACE.candidates, k)) for k in (1, 2)
    ]
    assert curve.costs[:2] == pytest.approx(best)
    assert (np.diff(curve.costs) < 0).all()


def test_rows_that_nobody_serves_do_not_travel():
    release = PrivateKMedoids(2, epsilon=np.inf, space=SPACE, goal=WithinReach(0.2), random_state=0).fit(DEMAND).release_
    near = SPACE.distances(release.sites)[:, DEMAND].min(axis=0)
    assert site_travel(release, SPACE).mean == pytest.approx(near[near <= 0.2].mean())
    assert release.unserved == (near > 0.2).sum()


def test_what_has_no_summary_or_another_space_is_refused():
    release = PrivateKMedoids(2, epsilon=1.0, space=SPACE, algorithm="hst").fit(DEMAND).release_
    with pytest.raises(ReleaseError, match="no summary"):
        site_travel(release, SPACE)
    with pytest.raises(ParameterError, match="space"):
        site_curve(release, FiniteMetric.from_points([[0.0]]))
