"""What CONTRIBUTING says a backend takes: one file. This is one, of rows that come one by one."""

from collections.abc import Iterable
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pytest

from spinney import PrivateKMeans
from spinney.curators.kernels import find_nearest
from spinney.curators.numbers import NumberBackend
from spinney.curators.rows import Rows
from spinney.fits.run import run
from spinney.spaces.nearest import scale_centers

NO_MASK = np.empty(0, np.uint8)


class StreamBackend(NumberBackend):
    """Adds up what a kernel says of each row alone."""

    def __init__(self, nonprivate_rows, ground, unit):
        super().__init__(ground, unit.replaces)
        self._rows = nonprivate_rows

    def _map(self, kernel, *arguments):
        return self._sums(lambda row: kernel(row, NO_MASK, self._door, *arguments))

    def _map_nearest(self, centers, kernel, *arguments):
        scaled = scale_centers(centers)
        return self._sums(
            lambda row: kernel(row, NO_MASK, self._door, find_nearest(row, NO_MASK, self._door, scaled), *arguments)
        )

    def _sums(self, once):
        parts = [once(np.atleast_2d(row)) for row in self._rows]
        parts = [part if isinstance(part, tuple) else (part,) for part in parts]
        return [sum(column) for column in zip(*parts, strict=True)]


@dataclass(frozen=True, eq=False)
class StreamRows(Rows):
    nonprivate_stream: Iterable
    n_features: int

    @contextmanager
    def opened(self, ground, unit, key):
        yield StreamBackend(self.nonprivate_stream, ground, unit)


@pytest.mark.filterwarnings("ignore::spinney.exceptions.SeededNoiseWarning")
@pytest.mark.parametrize("algorithm", ["tree", "stable", "lloyd"])
def test_a_backend_takes_one_file(algorithm):
    rows = np.random.default_rng(0).normal(size=(60, 2))
    model = PrivateKMeans(2, epsilon=1.0, bounds=(-4, 4), algorithm=algorithm, noise_seed=0)
    fit, held = model.prepare(rows)
    theirs, ours = run(fit, held), run(fit, StreamRows(list(rows), 2))
    np.testing.assert_array_equal(ours.centers, theirs.centers)
    np.testing.assert_array_equal(ours.sizes, theirs.sizes)
