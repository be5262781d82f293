"""Options and sets are the public values that they stand for."""

import numpy as np
from scipy.sparse import csr_array

from spinney.questions.choose import SITE_STEPS, Swaps, cost_steps, swap_range
from spinney.questions.cover import NEVER, Balls, Family
from spinney.spaces.metric import FiniteMetric

SPACE = FiniteMetric.from_points(np.random.default_rng(0).random((25, 2)), candidates=np.arange(1, 25, 2))


def test_options_list_every_swap_once():
    options = Swaps(SPACE, SPACE.candidates[:3], np.array([5, 0]), 1, True)
    sets = [tuple(sorted(options.after(option).tolist())) for option in range(len(options))]
    assert sets[0] == (1, 3, 5)
    assert len(set(sets)) == len(sets)
    assert not any({0} & set(one) for one in sets)
    assert all(len(set(one)) == 3 for one in sets)


def test_cost_steps_are_whole_numbers_up_to_the_diameter():
    steps = cost_steps(SPACE, np.array([0.0, SPACE.diameter, 2 * SPACE.diameter]), 1)
    assert steps.tolist() == [0, SITE_STEPS, SITE_STEPS]
    one_place = FiniteMetric.from_matrix(np.zeros((3, 3)))
    assert cost_steps(one_place, np.zeros(3), 2).tolist() == [0, 0, 0]
    assert swap_range(np.array([[3, 9], [5, 1], [7, 4]], dtype=np.int32)) == 5


def test_first_stages_are_those_of_the_radii():
    radii = SPACE.diameter * np.array([0.1, 0.3])
    stages = Balls(SPACE, radii, (1, 1)).first_stages(np.arange(25))
    apart = SPACE.distances_between(np.arange(25), SPACE.candidates)
    assert np.array_equal(stages == 0, apart <= radii[0])
    assert np.array_equal(stages <= 1, apart <= radii[1])
    assert np.array_equal(stages == NEVER, apart > radii[1])
    family = Family(csr_array(np.array([[1, 0], [0, 0]])), (1,))
    assert family.first_stages(np.array([1, 0])).tolist() == [[NEVER, NEVER], [0, NEVER]]
