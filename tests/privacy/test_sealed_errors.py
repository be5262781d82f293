"""Rule 18: whatever ends work on rows leaves as one constant text without context, interrupts and lack of memory too."""

import functools
import importlib
import logging
import pickle
import subprocess
import sys
import traceback
from functools import partial

import numpy as np
import pandas as pd
import pytest

from batches import ArrayBatches
from registered import REGISTERED
from spinney import CuratorError, FiniteMetric, Ledger, PrivateKMeans, PrivateKMedian, PrivateKMedoids, max_coverage
from spinney.algorithms import Algorithm, Result
from spinney.fits.charging import CHARGED, UNCOUNTED
from spinney.privacy.seal import sealed
from spinney.questions.counts import Counting, Counts
from spinney.trees.quadtree import Splits, TreeCells

CANARY = "canary 30000001"
ROWS = np.random.default_rng(0).random((60, 2))
NAMES = np.arange(60) // 4
IN_BATCHES = ArrayBatches(ROWS, 30, NAMES)
SPACE = FiniteMetric.from_points(np.random.default_rng(1).random((25, 2)))
DEMAND = np.random.default_rng(2).integers(0, 25, 60)
MISFORTUNES = [ValueError, MemoryError, IndexError, RuntimeError, KeyError, AssertionError]


class Grid(Algorithm):
    """Counts cells of a tree that was not grown before: rows on disk have not counted them ahead."""

    name = "grid"

    def parts(self, problem):
        return (Counting().part("cells", 1),)

    def run(self, purse, problem, rng):
        cells = TreeCells.grid(Splits.of(problem.domain), 2)
        counts = purse.ask("cells", Counts(cells))
        centers = cells.placed()[0][: problem.k]
        return Result(centers, np.ones(problem.k), counts.noise, centers[:0], np.empty(0))


def points(estimator, algorithm, rows):
    model = estimator(2, epsilon=1.0, bounds=(0, 1), algorithm=algorithm, max_rows_per_group=2)
    return model.fit(rows) if isinstance(rows, ArrayBatches) else model.fit(rows, groups=NAMES)


def sites(algorithm):
    model = PrivateKMedoids(2, epsilon=1.0, delta=1e-6, space=SPACE, algorithm=algorithm, max_rows_per_group=2)
    return model.fit(DEMAND, groups=NAMES)


FITS = [
    *(partial(points, PrivateKMeans, algorithm, rows) for algorithm in REGISTERED["points"] for rows in (ROWS, IN_BATCHES)),
    *(partial(points, PrivateKMedian, "lloyd", rows) for rows in (ROWS, IN_BATCHES)),
    partial(points, PrivateKMeans, Grid(), IN_BATCHES),
    *(partial(sites, algorithm) for algorithm in REGISTERED["sites"]),
    partial(max_coverage, DEMAND, [[0, 1], [2, 3, 24]], 2, epsilon=1.0),
]
#: Where exact numbers are computed, or rows read.
WORKSHOPS = {
    "curators.numbers": ("count_cells", "count_columns", "count_rings", "count_rows", "sum_offsets", "scale_centers"),
    "curators.memory": ("walk_codes", "kept_rows"),
    "curators.files": ("kept_rows", "as_floats"),
    "curators.kept": ("as_floats",),
    "curators.kernels": ("enter", "walk_near", "walk_bins"),
    "curators.walks": ("ready", "fences_of"),
    "curators.lookahead": ("count_below",),
    "curators.demand": ("kept_rows", "count_points", "nearest_two", "add_changes", "cost_steps"),
    "questions.record": ("privatize",),
    "questions.levels": ("privatize",),
    "questions.sums": ("privatize",),
    "questions.choose": ("choose",),
    "questions.cover": ("choose_cover",),
}
EVERY_WORK = [(room, work) for room in WORKSHOPS for work in WORKSHOPS[room]]


def all_words(error):
    """Return everything that an error says, with all that it refers to."""
    links = [error.__cause__, error.__context__]
    said = [str(error), repr(error), repr(error.args), *getattr(error, "__notes__", ())]
    said += traceback.format_exception(error)
    return "\n".join(said + [all_words(link) for link in links if link is not None])


def assert_sealed(error):
    assert type(error) is CuratorError
    assert error.args == CuratorError().args
    assert error.__cause__ is None
    assert error.__context__ is None
    assert {*getattr(error, "__notes__", ())} <= {CHARGED, UNCOUNTED}
    # A traceback also shows lines of source, among them those of this file.
    assert CANARY not in all_words(error)


@functools.cache
def ways():
    """Return for each fit which work on rows it comes to."""
    found = []
    for fit in FITS:
        passed = set()
        with pytest.MonkeyPatch.context() as patch:
            for room, work in EVERY_WORK:
                real = getattr(importlib.import_module(f"spinney.{room}"), work)
                patch.setattr(f"spinney.{room}.{work}", noted(real, passed, (room, work)))
            fit()
        found.append(passed)
    return found


def noted(real, passed, name):
    def work(*arguments, **options):
        passed.add(name)
        return real(*arguments, **options)

    return work


@pytest.mark.parametrize(("room", "work"), EVERY_WORK)
@pytest.mark.matrix
def test_no_work_on_rows_lets_its_error_out(room, work, monkeypatch, caplog, recwarn):
    kind = MISFORTUNES[len(room + work) % len(MISFORTUNES)]

    def fail(*_, **__):
        raise kind(CANARY)

    ways()  # before anything fails
    monkeypatch.setattr(f"spinney.{room}.{work}", fail)
    failures = 0
    with caplog.at_level(logging.DEBUG):
        for fit, passed in zip(FITS, ways(), strict=True):
            if (room, work) not in passed:
                continue
            try:
                fit()
            except CuratorError as error:
                assert_sealed(error)
                failures += 1
    assert failures, "nothing came this way"
    assert CANARY not in caplog.text
    assert not any(CANARY in str(warning.message) for warning in recwarn)


class Broken:
    """A table, or a cell, that cannot be read."""

    shape, ndim = (60, 2), 2

    def __init__(self, kind):
        self.kind = kind

    def __array__(self, *_, **__):
        raise self.kind(CANARY)

    def __len__(self):
        return 60

    def __float__(self):
        raise self.kind(CANARY)


class BrokenBatches(ArrayBatches):
    """Rows on disk that cannot be read, or whose groups cannot."""

    def __init__(self, kind, at):
        super().__init__(ROWS, 30, NAMES)
        self.kind, self.at = kind, at

    def read_from(self, start):
        yield ROWS[:30]
        if self.at == "rows":
            raise self.kind(CANARY)

    def read_groups(self):
        if self.at == "groups":
            raise self.kind(CANARY)
        return NAMES


@pytest.mark.parametrize("kind", MISFORTUNES)
def test_rows_that_cannot_be_read_say_nothing(kind):
    fitted = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1)).fit(ROWS)
    for work in (
        partial(points, PrivateKMeans, "lloyd", BrokenBatches(kind, "rows")),
        partial(points, PrivateKMeans, "lloyd", BrokenBatches(kind, "groups")),
        lambda: PrivateKMeans(2, epsilon=1.0, bounds=(0, 1)).fit(Broken(kind)),
        lambda: PrivateKMedoids(2, epsilon=1.0, space=SPACE).fit(Broken(kind)),
        lambda: max_coverage(Broken(kind), [[0], [1]], 1, epsilon=1.0),
        lambda: fitted.predict(Broken(kind)),
        lambda: fitted.score(Broken(kind)),
    ):
        with pytest.raises(CuratorError) as caught:
            work()
        assert_sealed(caught.value)


@pytest.mark.parametrize("table", [ROWS, pd.DataFrame(ROWS), ROWS.tolist()], ids=["array", "frame", "list"])
@pytest.mark.parametrize("ask", ["fit", "predict", "transform", "score"])
def test_a_table_too_large_for_memory_says_nothing(table, ask, monkeypatch):
    model = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), algorithm="lloyd").fit(ROWS)

    def full(*_, **__):
        raise MemoryError(CANARY)

    for name in ("curators.walks.as_floats", "tables.cells._read_frame", "tables.cells._numbers"):
        monkeypatch.setattr(f"spinney.{name}", full)
    for name in ("nearest", "total_cost", "finite_points"):
        is_sealed = name == "finite_points"
        monkeypatch.setattr(f"spinney.estimators.clusterer.{name}", sealed()(full) if is_sealed else full)
    with pytest.raises(CuratorError) as caught:
        getattr(model, ask)(table)
    assert_sealed(caught.value)


def test_lack_of_memory_does_not_tell_the_number_of_rows():
    program = """
import resource
import numpy as np
from spinney import PrivateKMeans
model = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), algorithm="tree")  # it keeps a code of each row
model.fit(np.zeros((70_000, 1)))  # what is compiled and started now needs no memory later
rows = np.zeros((9_000_001, 1))
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**25, used + 2**25))
model.fit(rows)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "CuratorError" in done.stderr
    assert "9000001" not in done.stderr + done.stdout
    assert "MiB" not in done.stderr
    assert "During handling" not in done.stderr
    assert "direct cause" not in done.stderr


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("fit", [partial(PrivateKMeans, 2, epsilon=0.5, bounds=(0, 1)), None], ids=["rows", "sites"])
def test_an_interrupt_passes_without_context_and_says_that_the_charge_stays(kind, fit, tmp_path, monkeypatch):
    def interrupt(*_, **__):
        try:
            raise ValueError(CANARY)
        except ValueError:
            raise kind  # noqa: B904  (an interrupt comes anywhere)

    ledger = Ledger(tmp_path / "ledger", 1)
    monkeypatch.setattr("spinney.curators.numbers.count_rows", interrupt)
    monkeypatch.setattr("spinney.questions.record.privatize", interrupt)
    model, rows = (PrivateKMedoids(2, epsilon=0.5, space=SPACE), DEMAND) if fit is None else (fit(), ROWS)
    for account, note in ((ledger, "The ledger was charged for this release and keeps the charge."), (None, "No ledger counts")):
        with pytest.raises(kind) as caught:
            model.fit(rows, ledger=account)
        assert [text[: len(note)] for text in caught.value.__notes__] == [note]
        assert CANARY not in all_words(caught.value)
    assert len(ledger.entries) == 1


def test_the_error_can_be_pickled():
    assert pickle.loads(pickle.dumps(CuratorError())).args == CuratorError().args
