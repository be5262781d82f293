"""Rule 4: the divergence of the noise that is drawn is below what is charged for it."""

import math
from fractions import Fraction

import pytest

from spinney.mechanisms.additive import Sensitivity, calibrate
from spinney.privacy.charges import Charge, Measure


def gaussian_log_weights(scale, shift, reach):
    return {x: -((x - shift) ** 2) / (2 * scale * scale) for x in range(-reach, reach + 1)}


def log_sum(values):
    values = list(values)
    top = max(values)
    return top + math.log(math.fsum(math.exp(v - top) for v in values))


def renyi(p, q, alpha):
    """Divergence of order alpha of two log weight tables over the same integers."""
    norm_p, norm_q = log_sum(p.values()), log_sum(q.values())
    return log_sum(alpha * (p[x] - norm_p) + (1 - alpha) * (q[x] - norm_q) for x in p) / (alpha - 1)


@pytest.mark.parametrize("rho", [Fraction(1, 100), Fraction(1, 2), Fraction(3), Fraction(20)])
@pytest.mark.parametrize("shift", [1, 3])
def test_discrete_gaussian_stays_below_its_rho(rho, shift):
    scale = calibrate(Sensitivity(shift, shift * shift), Charge("test", "counts", Measure.ZCDP, rho)).scale
    reach = math.ceil(60 * scale) + 60 * shift
    p, q = gaussian_log_weights(scale, 0, reach), gaussian_log_weights(scale, shift, reach)
    for alpha in (1.001, 1.5, 2.0, 5.0, 20.0):
        for one, other in ((p, q), (q, p)):
            assert renyi(one, other, alpha) <= alpha * float(rho) * (1 + 1e-9)
    # An integer order meets the claim, so that the test would notice a scale that is only a little too small.
    assert renyi(p, q, 2.0) > 2 * float(rho) * (1 - 1e-9)
