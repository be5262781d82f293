import numpy as np
import pytest

from spinney.privacy.charges import Measure
from spinney.questions.sums import KERNELS, WEIGHT_SHARE, Summing


def error(share, d, measure):
    """Return the squared noise of a step as long as the radius: that of its vector, and what its weight's does to it."""
    power = 2 if measure is Measure.PURE else 1
    return (d / (1 - share)) ** power + (1 / share) ** power


@pytest.mark.parametrize("measure", list(Measure))
def test_no_other_share_of_the_weights_gives_a_step_much_less_noise(measure):
    for d in (1, 2, 5, 8, 12, 16, 30, 64, 200, 784, 10_000):
        share = float(Summing("mean", d).weight_share(measure))
        best = min(error(other, d, measure) for other in np.geomspace(1e-5, float(WEIGHT_SHARE), 2000))
        assert error(share, d, measure) <= 1.01 * best


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_charge_is_divided_in_lawful_parts_for_any_number_of_columns(kernel):
    for d, measure in ((d, measure) for d in range(1, 2000, 7) for measure in Measure):
        assert 0 < Summing(kernel, d).weight_share(measure) <= WEIGHT_SHARE
