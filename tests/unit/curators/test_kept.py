"""Rows on disk that are kept between passes: the same rows and the same exact aggregates, within a public bound."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batches import ArrayBatches
from spinney import Box, PrivateKMeans, scan
from spinney.curators.files import FileBackend, FileRows
from spinney.curators.kept import KeptBatches
from spinney.mechanisms.source import SeededSource
from spinney.privacy.pricing import Unit
from spinney.questions.arrays import frozen
from spinney.questions.cost import Costs
from spinney.questions.ground import Ground
from spinney.questions.partitions import ColumnBins, Rings, Whole
from spinney.questions.sums import Offsets
from spinney.tables import records, streams
from spinney.trees.quadtree import Splits, TreeCells

DOMAIN = Box(0, 1).domain(3)
RNG = np.random.default_rng(0)
ROWS = RNG.normal(0.5, 0.4, (300, 3))
ROWS[::17, 1], ROWS[5, 2] = np.nan, np.inf
CELLS = TreeCells.grid(Splits.of(DOMAIN), 4)
SETS = [frozen(RNG.uniform(0, 1, (k, 3))) for k in (1, 2, 7, 200)]


def questions(centers):
    """Return what is asked about some centers, more than once."""
    widths, radii = frozen(np.ones(3)), frozen(np.full(len(centers), 0.3))
    offsets = [Offsets(centers, kernel, radii, centers, widths) for kernel in ("mean", "core", "median", "second-moment", "box")]
    rings = [Rings(centers), Rings(centers, np.array([0.1, 0.5])), Rings(centers, np.array([0.1, 0.5]), np.array([0.5, 1, 2]))]
    return [*rings, *offsets, Costs(centers, SETS[1], 1, 2.0**-28)]


ASKED = [Whole(), ColumnBins(), CELLS, *(question for centers in SETS for question in questions(centers))]


def numbers(found):
    return [np.asarray(part).tolist() for part in (found if isinstance(found, list) else [found])]


def opened(batches):
    return FileBackend(batches, Ground(DOMAIN), Unit(), SeededSource(0).key)


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(0, len(ROWS)),
    size=st.integers(1, 120),
    most=st.integers(0, 2 * ROWS.nbytes),
    dtype=st.sampled_from([np.float32, np.float64]),
    begun=st.integers(0, 5),
    asked=st.lists(st.sampled_from(ASKED), min_size=1, max_size=6),
)
def test_kept_rows_give_the_same_exact_aggregates_as_rows_read_anew(n, size, most, dtype, begun, asked):
    rows = ROWS[:n].astype(dtype)
    source = ArrayBatches(rows, size)
    batches = KeptBatches(source, most)
    plain, keeping = opened(ArrayBatches(rows, size)), opened(batches)
    for _, _ in zip(batches.read(), range(begun), strict=False):  # a pass that is given up
        pass
    inner = Box(0.2, 0.7).domain(3)
    for question in asked:
        assert numbers(keeping.exact(question)) == numbers(plain.exact(question))
        narrow = keeping.within(inner), plain.within(inner)
        if question is not CELLS:  # whose splits are those of the whole domain
            assert numbers(narrow[0].exact(question)) == numbers(narrow[1].exact(question))
    assert batches.n_steady * rows.itemsize * 3 <= most
    assert batches.n_steady == n or batches.n_steady * rows.itemsize * 3 > most - size * rows.itemsize * 3
    source.n_read = 0
    assert np.array_equal(np.concatenate([rows[:0], *batches.read()]), rows, equal_nan=True)
    assert source.n_read == n - batches.n_steady
    batches.drop()
    assert np.array_equal(np.concatenate([rows[:0], *batches.read()]), rows, equal_nan=True)
    assert batches.n_steady == 0


@pytest.mark.parametrize("kind", ["csv", "npy", "parquet"])
def test_files_are_read_from_any_row_on(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(streams, "MOST_ROWS", 4)
    monkeypatch.setattr(records, "BLOCK", 60)
    rows, paths = np.arange(66.0).reshape(33, 2), []
    for part in np.split(rows, [9, 9, 20]):
        paths.append(tmp_path / f"{len(paths)}.{kind}")
        if kind == "npy":
            np.save(paths[-1], part)
        elif kind == "csv":
            pl.DataFrame(part, ["a", "b"]).write_csv(paths[-1])
        else:
            pl.DataFrame(part, ["a", "b"]).write_parquet(paths[-1], row_group_size=5)
    for start in range(36):
        found = scan(paths)  # which knows nothing of rows read before
        for _ in range(2):
            assert np.array_equal(np.concatenate([rows[:0], *found.read_from(start)]), rows[start:])
    chosen = streams.chosen_batches(scan(paths), ("b",)) if kind != "npy" else None
    if chosen is not None:
        assert np.array_equal(np.concatenate([*chosen.read_from(7)]), rows[7:, 1:])


def test_nothing_is_kept_when_a_fit_ends(tmp_path):
    pl.DataFrame(ROWS, ["a", "b", "c"]).write_parquet(tmp_path / "rows.parquet")
    with FileRows(scan(tmp_path / "rows.parquet")).opened(Ground(DOMAIN), Unit(), SeededSource(0).key) as backend:
        backend.exact(Whole())
        assert backend._batches.n_steady == len(ROWS)
    assert backend._batches.n_steady == 0
    assert backend._batches._kept == []


@pytest.mark.parametrize("most", [0, 5000, 10**6])
def test_releases_do_not_tell_how_much_is_kept(tmp_path, monkeypatch, most):
    frame = pl.DataFrame(ROWS, ["a", "b", "c"])
    frame.write_parquet(tmp_path / "rows.parquet", row_group_size=70)
    monkeypatch.setattr("spinney.curators.files.most_bytes", lambda n_features: most)
    monkeypatch.setattr(streams, "MOST_ROWS", 50)
    model = PrivateKMeans(3, epsilon=5.0, bounds=(0, 1), random_state=0, noise_seed=1)
    release = model.fit(scan(tmp_path / "rows.parquet")).release_.to_json()
    assert release == model.fit(frame).release_.to_json()
