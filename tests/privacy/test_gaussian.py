"""Rule 4: the delta of noise on whole numbers is below the one that is promised for it, however often and whatever is asked."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spinney.privacy.composition import zcdp_epsilon, zcdp_rho
from spinney.privacy.gaussian import RIPPLES, gaussian_delta, gaussian_epsilon, gaussian_rho
from spinney.verification.amounts import normal_share


def lattice(scale, moves):
    """The law of the loss of one draw that moves by these whole numbers: values and probabilities."""
    reach = math.ceil(9 * scale) + 2
    noise = np.exp(-(np.arange(-reach, reach + 1.0) ** 2) / (2 * scale**2))
    total = np.ones(1)
    for move in moves:
        spaced = np.zeros(2 * reach * abs(move) + 1)
        spaced[:: abs(move)] = noise / noise.sum()
        total = np.convolve(total, spaced)
    places = np.arange(total.size) - total.size // 2
    square = sum(move * move for move in moves)
    return (places - square / 2) / scale**2, total


def exact_delta(draws, epsilons):
    """The exact deltas of several draws, each a scale and its moves."""
    losses, law = np.zeros(1), np.ones(1)
    for scale, moves in draws:
        more, shares = lattice(scale, moves)
        losses, law = np.add.outer(losses, more).ravel(), np.multiply.outer(law, shares).ravel()
        kept = law > 1e-25
        losses, law = losses[kept], law[kept]
    return [float(law @ np.maximum(np.exp(losses) - math.exp(epsilon), 0.0)) for epsilon in epsilons]


def rho_of(draws):
    return sum(sum(move * move for move in moves) / (2 * scale**2) for scale, moves in draws)


MOVES = st.lists(st.integers(1, 3), min_size=1, max_size=3)
DRAWS = st.lists(st.tuples(st.floats(0.3, 12), MOVES), min_size=1, max_size=2)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(DRAWS, st.lists(st.floats(0, 8), min_size=1, max_size=5))
def test_no_noise_on_whole_numbers_has_a_larger_delta(draws, epsilons):
    # Deltas jump where a loss begins to count: just below a loss they are largest for what is promised.
    losses = lattice(*draws[0])[0]
    epsilons = [*epsilons, *(float(loss) * (1 - 1e-9) for loss in losses[losses > 0][:40:4])]
    for epsilon, exact in zip(epsilons, exact_delta(draws, epsilons), strict=True):
        if exact > 1e-12:  # less is lost in the rounding of this sum
            assert exact <= gaussian_delta(rho_of(draws), epsilon) * (1 + 1e-9)


@pytest.mark.parametrize("scale", [2.0, 4.0, 8.0, 30.0])
@pytest.mark.parametrize("delta", [1e-2, 1e-4, 1e-6])
def test_one_count_that_is_moved_by_one(scale, delta):
    rho = 1 / (2 * scale**2)
    epsilon = gaussian_epsilon(rho, delta, zcdp_epsilon(rho, delta))
    assert 0.5 * delta < exact_delta([(scale, [1])], [epsilon])[0] <= delta


@pytest.mark.parametrize("m", [0.02, 0.3, 1.0])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0])
def test_no_strategy_has_a_larger_delta(m, epsilon):
    options = [(w, lattice(1 / math.sqrt(w), [1])) for w in (m, m / 2, m / 4)] + [(m / 2, lattice(2 / math.sqrt(m / 2), [2]))]

    def best(before, left, draws):
        """The largest delta from a loss on, over what may be asked next, or nothing."""
        values = [np.maximum(np.exp(before) - math.exp(epsilon), 0.0)]
        for w, (losses, law) in options:
            if draws and w <= left * (1 + 1e-12):
                kept = law > 1e-9
                after = best(np.add.outer(before, losses[kept]).ravel(), left - w, draws - 1)
                values.append(after.reshape(before.size, -1) @ law[kept])
        return np.max(values, axis=0)

    worst = float(best(np.zeros(1), m, 2)[0])
    assert worst <= gaussian_delta(m / 2, epsilon) * (1 + 1e-9)


def continuous_delta(rho, epsilon):
    """The exact delta of continuous noise (Balle and Wang 2018)."""
    mu = math.sqrt(2 * rho)
    first, second = (math.erfc((epsilon / mu + side * mu / 2) / math.sqrt(2)) / 2 for side in (-1, 1))
    return first - math.exp(epsilon) * second


@pytest.mark.parametrize("epsilon", [0.001, 0.05, 0.3, 1.0])
@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-12])
def test_the_conversion_is_as_tight_as_continuous_noise_where_noise_is_large(epsilon, delta):
    rho = float(gaussian_rho(epsilon, delta, zcdp_rho(epsilon, delta)))
    assert continuous_delta(rho, epsilon) <= delta
    assert continuous_delta(rho * (1 + epsilon / 15 + 1e-3) ** 2, epsilon) > delta
    assert rho > float(zcdp_rho(epsilon, delta)) * 1.07


@pytest.mark.parametrize("epsilon", [1e-9, 1e-4, 0.1, 1.0, 5.0, 50.0])
@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-15, 1e-100, 1e-299])
def test_both_directions_agree_and_never_lose_to_zcdp(epsilon, delta):
    least = zcdp_rho(epsilon * (1 - 2**-50), delta)
    rho = float(gaussian_rho(epsilon * (1 - 2**-50), delta, least)) * (1 + 2**-52)
    assert rho >= float(least)
    assert 0.99 * epsilon < gaussian_epsilon(rho, delta, zcdp_epsilon(rho, delta)) <= epsilon


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.floats(-10, 1), st.floats(-10, 1.5))
def test_rounding_only_loosens_the_bound(log_rho, log_epsilon):
    rho, epsilon = 10**log_rho, 10**log_epsilon
    with localcontext() as context:
        context.prec = 50
        m, y = Decimal(2 * rho), Decimal(epsilon)
        pi, deltas = Decimal("3.14159265358979323846264338327950288419716939937510"), []
        for ripple in RIPPLES:
            r = ripple * m / (2 * pi**2)
            if r > Decimal("0.5"):
                continue
            variance = m / (1 - r)
            root = variance.sqrt()
            first = ((variance - m) / 2).exp() * normal_share((variance - m / 2 - y) / root)
            second = y.exp() * normal_share((-m / 2 - y) / root)
            deltas.append((Decimal("2.1") * Decimal(-ripple).exp()).exp() * (first - second))
        exact = min(deltas, default=Decimal(1))
    found = Fraction(gaussian_delta(rho, epsilon))
    assert min(Fraction(exact), 1) <= found
    if found < 1:  # or rounding hides it
        assert found <= Fraction(exact) * (1 + Fraction(1, 10**6))
