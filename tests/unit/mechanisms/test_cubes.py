"""Noise shaped like a cube: its law in exact fractions, what it loses, how wide it is."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from alarms import check_frequencies
from spinney.audit.laws import cube_law, noise_law
from spinney.mechanisms import Noise, SecureSource, SeededSource, Sensitivity, calibrate, privatize
from spinney.mechanisms.cubes import _part, add_cubes, cube_quantile, cube_std, wide_geometric
from spinney.privacy.charges import Charge, Measure


@given(columns=st.integers(1, 40), radius=st.integers(0, 10**6))
@settings(derandomize=True, deadline=None)
def test_what_is_proposed_times_what_is_accepted_is_the_number_of_points_of_a_cube(columns, radius):
    """A sum of d + 1 geometric numbers is r in C(r + d, d) ways; accepted, this is (2 r + 1)^d over a constant of d."""
    accepted = math.prod(Fraction(2 * radius + 1, 2 * (radius + i)) for i in range(1, columns + 1))
    assert 0 < accepted <= 1
    assert math.comb(radius + columns, columns) * accepted * math.factorial(columns) * 2**columns == (2 * radius + 1) ** columns


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_every_point_of_a_cube_is_as_likely_as_its_largest_entry_says(columns):
    """Sum, in exact fractions, what all radii give each point: in proportion to q^max|z|, up to the radii left out."""
    q, most = Fraction(1, 3), 40
    weights = [q**r * (2 * r + 1) ** columns for r in range(most)]
    for z in itertools.product(range(-2, 3), repeat=columns):
        largest = max(map(abs, z))
        given = sum(weights[r] / (2 * r + 1) ** columns for r in range(largest, most))
        assert given == (q**largest - q**most) / (1 - q)


@pytest.mark.parametrize("scale", [0.4, 1.0, 3.0])
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_no_neighbor_changes_a_probability_by_more_than_the_largest_move_over_the_scale(columns, scale):
    answers = np.array(list(itertools.product(range(-4, 5), repeat=columns)))
    moves = np.array(list(itertools.product(range(-2, 3), repeat=columns)))
    laws = np.log(np.array([cube_law(scale, answers - move) for move in moves]))
    for one, other in itertools.combinations(range(len(moves)), 2):
        loss = np.abs(laws[one] - laws[other]).max()
        assert loss <= np.abs(moves[one] - moves[other]).max() / scale * (1 + 1e-12)


def test_one_column_is_discrete_laplace_and_laws_sum_to_one():
    reach = np.arange(-60, 61)
    np.testing.assert_allclose(cube_law(2.0, reach[:, None]), noise_law("laplace", 2.0, reach), rtol=1e-12)
    plane = np.array(list(itertools.product(range(-60, 61), repeat=2)))
    assert cube_law(1.5, plane).sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("scale", [0.3, 1.0, 7.5, 2_000.0])
@pytest.mark.parametrize("columns", [1, 2, 5, 30])
def test_spread_and_margin_are_those_of_the_law(columns, scale):
    radii = np.arange(int(60 * scale * (columns + 1)) + 60)
    logs = columns * np.log(2 * radii + 1) - radii / scale
    law = np.exp(logs - logs.max())
    law /= law.sum()
    assert cube_std(columns, scale) == pytest.approx(math.sqrt(law @ (radii * (radii + 1)) / 3), rel=1e-6)
    for probability in (0.5, 0.95, 0.999):
        half = cube_quantile(columns, scale, probability)
        inside = [law @ np.minimum((2 * reach + 1) / (2 * radii + 1), 1.0) for reach in (half, half - 3)]
        assert inside[0] >= probability - 1e-12
        assert inside[1] < probability or half < 4


@pytest.mark.parametrize("scale", [0.5, 1.0])
def test_spread_of_many_columns_is_a_number(scale):
    assert cube_std(1_000, scale) == pytest.approx(math.sqrt((1_001 * 1_002 * scale**2 - 0.25) / 3), rel=1e-6)


def test_every_cell_gets_noise_of_its_own_and_64_bits_are_enough():
    noise = Noise("cube", 50.0, 3)
    noisy = privatize(np.zeros((4, 3), dtype=np.int64), noise, SeededSource(1))
    assert noisy.shape == (4, 3)
    assert len(np.unique(np.abs(noisy).max(axis=1))) == 4
    far = add_cubes(np.full((1, 2), 2**63 - 1), lambda count: [2**61] * count, lambda bound: bound - 1 if bound % 2 else 0)
    assert far.max() == 2**63 - 1


def test_rounding_only_enlarges_the_scale_and_no_scale_makes_draws_rare():
    moves = Sensitivity(30, 300, 10, 3)
    noise = calibrate(moves, Charge("a", "sums", Measure.PURE, Fraction(1, 7)))
    assert (noise.distribution, noise.columns) == ("cube", 3)
    assert Fraction(noise.scale) * Fraction(1, 7) >= 10
    assert calibrate(moves, Charge("a", "sums", Measure.PURE, Fraction(10**9))).scale == 3.0
    assert calibrate(moves, Charge("a", "sums", Measure.ZCDP, Fraction(1, 7))).distribution == "gaussian"


def test_wide_geometric_numbers_have_the_law_of_narrow_ones():
    """Cut into multiples and parts of a step, by exact draws: the same law as without, by a chi-square test of seeded draws."""
    rng, scale, runs = np.random.default_rng(0), 2.0**43, 4000

    def below(bound):
        return int.from_bytes(rng.bytes(16)) % bound

    def geometric(narrow, count):
        assert narrow < 2**41
        return [int(one) for one in rng.exponential(narrow, count)]

    draws = np.array(wide_geometric(scale, runs, geometric, below)) / scale
    edges = -np.log1p(-np.linspace(0.1, 0.9, 9))
    check_frequencies(np.bincount(np.searchsorted(edges, draws), minlength=10), np.full(10, 0.1), 1e-6)
    parts = np.array(wide_geometric(scale, runs, geometric, below)) % 4
    check_frequencies(np.bincount(parts, minlength=4), np.full(4, 0.25), 1e-6)


@pytest.mark.parametrize("source", [SecureSource(), SeededSource(0)], ids=["secure", "seeded"])
def test_noise_wider_than_64_bits_is_no_error(source):
    noisy = source.cube(np.zeros((3, 4), dtype=np.int64), 2.0**66)
    assert np.abs(noisy).max() == 2**63 - 1


def test_narrow_cubes_and_parts_of_a_step_are_drawn_until_they_are_accepted():
    assert SecureSource().cube(np.zeros((60, 4), dtype=np.int64), 1.0).shape == (60, 4)
    rng = np.random.default_rng(0)
    parts = [_part(4, Fraction(4), lambda bound: int(rng.integers(bound))) for _ in range(4000)]
    law = np.exp(-np.arange(4) / 4)
    check_frequencies(np.bincount(parts, minlength=4), law / law.sum(), 1e-6)


@given(st.integers(42, 200), st.integers(0, 10**6), st.integers(0))
def test_a_wide_number_is_a_multiple_of_a_step_and_a_part_of_one_at_the_same_scale(exponent, multiple, number):
    scale, step, asked = 2.0**exponent, 2 ** (exponent - 40), []
    part = number % step

    def below(bound):
        asked.append(bound)
        return part if len(asked) == 1 else bound - 1

    assert wide_geometric(scale, 1, lambda narrow, count: [multiple] * (narrow == 2.0**40), below) == [step * multiple + part]
    assert asked == [step, (part / Fraction(scale)).denominator]
