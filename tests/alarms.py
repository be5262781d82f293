"""False alarms: the whole suite fails by chance in at most one of 10,000 runs, by construction.

A test that looks at draws of the secure source takes the fixture `alarm`: the chance with which one of its forms may fail though
nothing is wrong. It is this test's share of `SUITE`, from the list below, over the number of its forms. The shares add up to at
most `SUITE`, and ``tests/contract/test_alarms.py`` fails if a test that measures is not on the list. Draws with a fixed seed
never change, so tests that use them alone raise no alarm that was not raised before; `SEEDED` names those that measure them.

In every other test the secure source draws by a seed of that test's own (`NoiseByTest`): what its fits release is the same in
each run, and chance decides nothing. Processes that a test starts draw from the operating system.
"""

import hashlib
import os
from contextlib import contextmanager

import numpy as np
from scipy.stats import binom, chi2

#: The chance that any test fails by chance, in one run of all tests.
SUITE = 1e-4

SHARES = {
    "tests/statistical/test_samplers.py::test_frequencies_match_exact_probabilities": 1e-5,
    "tests/statistical/test_samplers.py::test_cubes_match_exact_probabilities": 1e-6,
    "tests/statistical/test_samplers.py::test_the_radius_of_a_wide_cube_is_a_gamma_number": 1e-6,
    "tests/statistical/test_samplers.py::test_balls_match_the_continuous_law": 1e-6,
    "tests/statistical/test_samplers.py::test_selection_matches_exact_probabilities": 1e-5,
    "tests/statistical/test_samplers.py::test_split_decisions_match_exact_probabilities": 5e-6,
    "tests/statistical/test_samplers.py::test_threads_and_forks_draw_apart": 1e-9,
    "tests/privacy/test_noise_bytes.py::test_noise_is_a_function_of_the_bytes_of_the_operating_system": 1e-9,
    "tests/privacy/test_noise_support.py::test_inputs_zero_and_one_have_the_same_support": 1e-9,
    "tests/privacy/test_noise_support.py::test_trailing_bits_do_not_depend_on_the_input": 5e-6,
    "tests/privacy/test_noise_support.py::test_every_slot_gets_its_own_noise_empty_or_not": 1e-9,
    "tests/privacy/test_sites_end_to_end.py::test_frequencies_of_swaps_match_the_exact_probabilities": 5e-6,
    "tests/privacy/test_sites_end_to_end.py::test_lonely_outlier_shows_no_more_than_epsilon": 1e-5,
    "tests/privacy/test_lonely_outlier.py::test_each_question_spends_at_most_its_charge": 1e-5,
    "tests/privacy/test_lonely_outlier.py::test_lonely_outlier_shows_no_more_than_epsilon": 1e-5,
    "tests/privacy/test_minimize.py::test_slopes_have_the_law_that_is_claimed": 1e-6,
    "tests/privacy/test_whole_person.py::test_a_person_of_many_rows_is_within_epsilon_as_measured": 5e-6,
    "tests/privacy/test_mean_travel.py::test_a_far_row_shows_no_more_than_epsilon_in_travel": 1e-6,
    "tests/privacy/test_describe.py::test_a_lonely_outlier_shows_no_more_than_epsilon": 1e-6,
    "tests/unit/audit/test_authors.py::test_the_lonely_outlier_stays_below_what_a_sound_algorithm_promises": 5e-6,
    "tests/unit/mechanisms/test_coverage.py::test_frequencies_match_the_exact_probabilities": 5e-6,
}

#: Tests that measure draws of a fixed seed, or only see that an audit finds a fault that is certain.
SEEDED = {
    "tests/unit/mechanisms/test_cubes.py",
    "tests/unit/mechanisms/test_exact.py",
    "tests/unit/local/test_device.py",
    "tests/statistical/test_epsilon_audit.py",
    "tests/unit/audit/test_black_box.py",
    "tests/unit/audit/test_one_run.py",
    "tests/privacy/test_lonely_outlier.py::test_the_audit_catches_noise_that_is_three_times_too_small",
    "tests/privacy/test_lonely_outlier.py::test_lonely_outlier_catches_noise_left_out_of_almost_empty_slots",
    "tests/privacy/test_sites_end_to_end.py::test_lonely_outlier_catches_noise_left_out_of_almost_empty_slots",
}


class NoiseByTest:
    """What the secure source draws, by the name of the test that is running; where draws are measured, the real ones."""

    def __init__(self):
        self.source, self.is_measured, self.real = None, True, {}

    def install(self):
        """Let the secure source draw here."""
        from spinney.local import device
        from spinney.mechanisms.source import SecureSource

        self.real = {
            name: getattr(SecureSource, name) for name in ("laplace", "gaussian", "cube", "ball", "select", "responses", "key")
        }
        for name, real in self.real.items():
            setattr(SecureSource, name, self._instead_of(name, real))
        assert device.respond.__defaults__ == (os.urandom,)
        device.respond.__defaults__ = (self._bytes,)  # simulated devices toss their own coins

    def _bytes(self, count):
        return os.urandom(count) if self.source is None else self.source._rng.bytes(count)

    def _instead_of(self, name, real):
        def drawn(source, *arguments):
            return real(source, *arguments) if self.source is None else getattr(self.source, name)(*arguments)

        return drawn

    @contextmanager
    def of(self, name, is_measured):
        """Draw by this name, unless draws are measured."""
        from spinney.mechanisms.source import SeededSource

        if not self.real:
            self.install()
        before = self.source, self.is_measured
        seed = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest())
        self.source, self.is_measured = None if is_measured else SeededSource(seed), is_measured
        try:
            yield
        finally:
            self.source, self.is_measured = before


#: Cells that are expected more rarely are put together: the chi-square law is for common ones.
COMMON = 50


def check_frequencies(seen, law, alarm):
    """Fail if these counts do not come from this law, or by chance with a probability of about `alarm`.

    Half of the chance goes to a chi-square test of all cells together, half to exact binomial tests of each cell.

    Parameters
    ----------
    seen : array of int
        How often each outcome came.
    law : array of float
        Its exact probability; outcomes that are not in it have the rest.
    alarm : float
    """
    seen, law = np.asarray(seen), np.asarray(law, dtype=np.float64)
    n, rest = seen.sum(), max(0.0, 1 - law.sum())
    common = n * law > COMMON
    counts = np.append(seen[common], seen[~common].sum())
    chances = np.append(law[common], law[~common].sum() + rest)
    if counts[-1] == 0 and chances[-1] < 1e-12:
        counts, chances = counts[:-1], chances[:-1]
    tails = np.minimum(binom.cdf(counts, n, chances), binom.sf(counts - 1, n, chances))
    assert tails.min() > alarm / 4 / len(counts), "a cell comes too often or too rarely"
    large = n * chances > COMMON
    if large.sum() > 1:
        statistic = ((counts - n * chances)[large] ** 2 / (n * chances[large])).sum()
        assert chi2.sf(statistic, large.sum() - large.all()) > alarm / 2, "the cells together do not fit"
