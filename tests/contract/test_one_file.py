"""What CONTRIBUTING says a backend takes, and a question: one file. These are whole ones that you can copy."""

import json
import subprocess
import sys
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
    """Adds up what a kernel says of each row alone, of rows that come one by one."""

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


@pytest.mark.parametrize("algorithm", ["tree", "stable", "lloyd"])
def test_a_backend_takes_one_file(algorithm):
    rows = np.random.default_rng(0).normal(size=(60, 2))
    model = PrivateKMeans(2, epsilon=1.0, bounds=(-4, 4), algorithm=algorithm, noise_seed=0)
    fit, held = model.prepare(rows)
    theirs, ours = run(fit, held), run(fit, StreamRows(list(rows), 2))
    np.testing.assert_array_equal(ours.centers, theirs.centers)
    np.testing.assert_array_equal(ours.sizes, theirs.sizes)


#: The file of a question: how many rows lie above a public diagonal.
QUESTION = '''"""The question `above`: the noisy number of rows whose columns add up to more than a public number.

Proof: ``proofs/questions.md``.
"""

from dataclasses import dataclass

import numpy as np

from spinney.mechanisms import Sensitivity
from spinney.questions.arrays import require
from spinney.questions.question import Listed, OfEachRow, Question
from spinney.questions.record import AdditiveKind


@dataclass(frozen=True)
class CountingAbove(AdditiveKind):
    """One count."""

    question = of = "above"
    shown = "a count +- {:.3g} rows"

    @property
    def row(self):
        """One count by one."""
        return Sensitivity(1, 1)


@dataclass(frozen=True)
class RowsAbove(OfEachRow):
    """The aggregate: the exact number."""

    total: float

    def summed(self, rows):
        """Count."""
        return np.array([np.count_nonzero(rows.sum(axis=1) > self.total)])


@dataclass(frozen=True)
class Above(Question):
    """The noisy number of rows whose columns add up to more than a public number."""

    total: float

    def kind(self, ground):
        """One row moves one count."""
        return CountingAbove()

    def check(self, ground):
        """Only numbers add up."""
        require(ground.domain is not None and type(self.total) is float, "rows of numbers lie above a number")

    def answer(self, rows, ground, charge, unit, source):
        """Count, and add noise."""
        count, noise = self.kind(ground).answered(rows.exact(RowsAbove(self.total)), charge, unit, source)
        return int(count[0])


LISTED = Listed(Above, CountingAbove, "the count by one", ("proofs/questions.md",), ())
'''
#: An algorithm that asks it, of rows in memory and in a file; without noise, and with it.
ASKING = """
import json, sys, warnings
from fractions import Fraction
import numpy as np
import spinney.questions
spinney.questions.__path__.append(sys.argv[1])  # as if the file lay beside the others
from spinney import PrivateKMeans, scan
from spinney.algorithms import Algorithm, Result
from spinney.questions import Counting, Counts, Rings
from spinney.questions.above import Above, CountingAbove
from spinney.questions.catalog import CATALOG

class Diagonal(Algorithm):
    name = "diagonal"

    def parts(self, problem):
        return CountingAbove().part("above", Fraction(1, 2)), Counting().part("sizes", Fraction(1, 2))

    def run(self, purse, problem, rng):
        found.append(purse.ask("above", Above(0.5)))
        return Result.asked(purse, problem.domain.sample(problem.k, rng), np.empty((0, 2)), np.empty(0))

rows, found = np.random.default_rng(0).uniform(-1, 1, (70_000, 2)), []
rows[::7] = np.nan
np.save(sys.argv[1] + "/rows.npy", rows)
warnings.simplefilter("ignore")
for epsilon in (float("inf"), 0.1):
    for table in (rows, scan(sys.argv[1] + "/rows.npy")):
        model = PrivateKMeans(2, epsilon=epsilon, bounds=(-1, 1), algorithm=Diagonal(), noise_seed=5, random_state=1)
        release = model.fit(table).release_
print(json.dumps([found, int((rows.sum(axis=1) > 0.5).sum()), "above" in CATALOG, release.mechanisms[0]]))
"""


def test_a_question_takes_one_file(tmp_path):
    (tmp_path / "above.py").write_text(QUESTION, encoding="utf-8")
    ended = subprocess.run([sys.executable, "-c", ASKING, tmp_path], capture_output=True, text=True, check=True, timeout=300)
    (exact, of_file, noisy, noisy_of_file), rows, is_listed, record = json.loads(ended.stdout)
    assert is_listed
    assert exact == of_file == rows
    assert noisy == noisy_of_file != exact
    assert abs(noisy - exact) < 600
    assert (record["question"], record["answers"][0]["row_sensitivity"]) == ("above", "1")
