"""Rows on a device give the same exact integers as rows in memory.

The kernels' own source runs here on the CPU (`tests/emulated.py`); tests marked ``gpu`` run it on a device, if there is one.
"""

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import emulated
from spinney import Ball, CuratorError, Ledger, ParameterError, PrivateKMeans, PrivateKMedian, scan
from spinney.algorithms.default import Tree
from spinney.curators.gpu import chunks, device, labels, rows
from spinney.curators.gpu.slab import Slab, search_of
from spinney.curators.kernels import find_nearest
from spinney.curators.memory import MemoryBackend
from spinney.fits.run import run
from spinney.privacy import Adjacency, Unit
from spinney.questions import ColumnBins, PlaneCells, Rings, Whole
from spinney.questions.cost import Costs
from spinney.questions.ground import Ground
from spinney.questions.sums import KERNELS, Offsets
from spinney.spaces import Domain, door, scale_centers
from spinney.tables import streams
from spinney.trees.quadtree import Splits, TreeCells

pytestmark = pytest.mark.skipif(emulated.COMPILER is None, reason="no compiler of C++ was found")
NO_MASK = np.empty(0, np.uint8)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(params=["emulated", pytest.param("device", marks=pytest.mark.gpu)])
def made(request, folder):
    """What makes rows of a device of an array."""
    if request.param == "emulated":
        return lambda table, groups=None: emulated.resident(folder, table, groups)
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    if not cupy.cuda.is_available():
        pytest.skip("there is no device that CuPy can use")
    return lambda table, groups=None: rows.array_rows(cupy.asarray(table), None, groups)


class OnlyInMemory(Tree):
    backends = ("memory",)


@contextmanager
def chunks_of(size):
    """Cut rows into chunks of this many rows."""
    before = chunks.MOST_ROWS, chunks.LEAST_ROWS
    chunks.MOST_ROWS = chunks.LEAST_ROWS = size
    try:
        yield
    finally:
        chunks.MOST_ROWS, chunks.LEAST_ROWS = before


def messy(rng, n, d, dtype=np.float64):
    """Rows inside, outside, on the grid's and on the domain's ends, missing, infinite and equal."""
    table = rng.normal(size=(n, d)).round(rng.integers(0, 4))
    table[rng.random((n, d)) < 0.02] = np.nan
    table[rng.random((n, d)) < 0.02] = np.inf
    table[rng.random((n, d)) < 0.02] = 40
    table[rng.random((n, d)) < 0.02] = -1.5
    return table.astype(dtype)


def plane_cells(rng, d):
    cells = PlaneCells.root(rng.normal(size=(3, d)))
    for _ in range(3):
        chosen = rng.random(len(cells)) < 0.7
        cells = cells.split(chosen, rng.integers(0, 3, chosen.sum()), rng.normal(size=chosen.sum()))
    return cells


def aggregates(rng, ground, k):
    """Yield one of each aggregate that a device has kernels for, and one of rows through a view."""
    d = ground.n_features
    centers, other = rng.uniform(-1.5, 1.5, (2, k, d)).round(rng.integers(0, 5))
    radii, widths = rng.uniform(0.05, 2, k), rng.choice([0.3, 1.0, 7.0], d)
    edges = np.sort(rng.choice(np.arange(1, 40) / 10, 5, replace=False))
    yield Whole()
    yield ColumnBins()
    yield Rings(centers)
    yield Rings(centers, edges)
    yield Rings(centers, edges, widths)
    for kernel in KERNELS:
        yield Offsets(centers, kernel, radii, other, widths)
    for power in (1, 2):
        yield Costs(centers, other[:0], power, 1e-6)
        yield Costs(centers, other, power, 1e-9)
    cells = plane_cells(rng, d)
    yield cells
    yield Offsets(cells, "mean", rng.uniform(0.05, 2, len(cells)), rng.normal(size=(len(cells), d)), widths)


def tree_counts(backend, splits, depth):
    """Return the counts of all levels of a tree, asked one by one, of those cells alone that have rows."""
    cells, found = TreeCells.grid(splits, 1), []
    for level in range(1, depth + 1):
        counts = np.asarray(backend.exact(cells, splits.depth - level))
        found.append(counts.tolist())
        if level < depth:
            cells = cells.children((counts > 0) | (np.arange(len(cells)) == 0))
    return found


def alike(ours, theirs):
    ours, theirs = (part if isinstance(part, list) else [part] for part in (ours, theirs))
    return len(ours) == len(theirs) and all(np.array_equal(*pair) for pair in zip(ours, theirs, strict=True))


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.sampled_from([0, 1, 2, 31, 32, 33, 255, 256, 257, 700]),
    d=st.integers(1, 9),
    k=st.sampled_from([1, 2, 7, 8, 9, 17]),
    is_ball=st.booleans(),
    adjacency=st.sampled_from(Adjacency),
    dtype=st.sampled_from([np.float16, np.float32, np.float64, np.int16]),
    size=st.sampled_from([1, 7, 256, 2**20]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
def test_every_aggregate_is_that_of_memory(made, seed, n, d, k, is_ball, adjacency, dtype, size):
    rng, unit = np.random.default_rng(seed), Unit(adjacency)
    with np.errstate(all="ignore"):
        table = messy(rng, n, d).astype(dtype) if dtype != np.int16 else rng.integers(-3, 4, (n, d)).astype(dtype)
    space = Ball(1.7, center=0.1).domain(d) if is_ball else Domain(np.full(d, -1.5), rng.uniform(0.5, 2, d), np.inf)
    ground = Ground(space)
    memory = MemoryBackend(table, ground, unit, bytes)
    with chunks_of(max(size, n // 20)), made(table).opened(ground, unit, bytes) as backend:
        for aggregate in aggregates(rng, ground, k):
            assert alike(backend.exact(aggregate), memory.exact(aggregate)), aggregate
        halving = Splits.of(space)
        for splits in (halving, Splits.random(space, 90, rng)):
            assert tree_counts(backend, splits, min(splits.depth, 12)) == tree_counts(memory, splits, min(splits.depth, 12))
        fence = rng.uniform(-1, 1, (k, d)), rng.choice(k, -(-k // 2), replace=False)
        near = [one.near(*fence) for one in (backend, memory)]
        assert alike(*(one.exact(Rings(np.zeros((1, d)))) for one in near))


def labels_of(here, table, centers):
    """Return the labels that a device finds, in one chunk."""
    bounds = door(Domain(np.full(centers.shape[1], -1.0), np.full(centers.shape[1], 1.0), np.inf), False)
    slab = Slab(here.device, centers.shape[1])
    search = search_of(here.device, scale_centers(centers), bounds)
    slab.enter_near(here.device.floats(here.nonprivate_batches.nonprivate_array), bounds, search, None)
    return here.device.get(slab.labels)[: slab.count], find_nearest(table, NO_MASK, bounds, scale_centers(centers))


def midway(d, k, n=20_000):
    rng = np.random.default_rng(d)
    centers = rng.uniform(-1, 1, (k, d))
    one, other = rng.integers(0, k, (2, n))
    return centers, (centers[one] + centers[other]) / 2


@pytest.mark.parametrize(("d", "k"), [(2, 5), (3, 20), (10, 20), (30, 64)])
def test_rows_midway_between_centers_have_the_labels_of_the_cpu(made, d, k):
    centers, table = midway(d, k)
    found, expected = labels_of(made(table), table, centers)
    np.testing.assert_array_equal(found, expected)


def test_a_fused_multiply_add_is_found(folder):
    centers, table = midway(10, 20)
    found, expected = labels_of(emulated.resident(folder, table, fused=True), table, centers)
    assert (found != expected).sum() > 100
    random = np.random.default_rng(0).uniform(-1, 1, (2000, 10))
    found, expected = labels_of(emulated.resident(folder, random, fused=True), random, centers)
    assert (found == expected).all()  # where no row is midway, nobody would see it


@pytest.mark.parametrize(
    ("estimator", "options"),
    [
        (PrivateKMeans, {}),
        (PrivateKMedian, {"delta": 1e-6, "adjacency": "replace"}),
        (PrivateKMeans, {"bounds": Ball(2.0)}),
        (PrivateKMeans, {"tighten": True, "bounds": (-50, 50)}),
        (PrivateKMeans, {"n_clusters": "auto"}),
        (PrivateKMeans, {"max_rows_per_group": 2}),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_release_is_that_of_memory(made, estimator, options, dtype):
    table = messy(np.random.default_rng(1), 3000, 5, dtype)
    groups = np.arange(3000) % 1100 if "max_rows_per_group" in options else None
    model = estimator(**{"n_clusters": 3, "bounds": (-3, 3), "epsilon": 2.0, "noise_seed": 1, "random_state": 0, **options})
    fit, held = model.prepare(table, groups)
    expected = run(fit, held).to_json()
    for size in (257, 2**20):
        with chunks_of(size):
            assert run(fit, made(table, groups)).to_json() == expected


@pytest.mark.parametrize("share", [0.5, 3e-6, 0.0])
@pytest.mark.parametrize("groups", [None, "person"])
def test_rows_that_are_sent_give_the_same_release_whether_they_stay_or_not(folder, share, groups, tmp_path, monkeypatch):
    pl = pytest.importorskip("polars")  # a device may be where it is not
    table = messy(np.random.default_rng(2), 2500, 4)
    frame = pl.DataFrame({f"c{t}": table[:, t] for t in range(4)}).with_columns(person=np.arange(2500) % 900)
    frame = frame if groups else frame.drop("person")
    frame.write_parquet(tmp_path / "rows.parquet")
    options = {"epsilon": 2.0, "bounds": (-3, 3), "noise_seed": 1, "random_state": 0, "max_rows_per_group": 2 if groups else None}
    expected = PrivateKMeans(3, **options).fit(frame, groups=groups).release_.to_json()
    monkeypatch.setattr(rows, "SHARE", share)
    monkeypatch.setattr(streams, "MOST_ROWS", 250)  # batches are no larger than chunks
    with emulated.sending(folder, monkeypatch), chunks_of(600):
        model = PrivateKMeans(3, device="cuda", **options)
        assert model.fit(frame, groups=groups).release_.to_json() == expected
        assert model.fit(scan(tmp_path / "rows.parquet", groups=groups)).release_.to_json() == expected


def test_what_cannot_be_done_is_said_before_anything_is_charged(folder, monkeypatch, tmp_path):
    table, options = np.zeros((50, 2)), {"epsilon": 1.0, "bounds": (-1, 1), "device": "cuda"}
    ledger = Ledger(tmp_path / "ledger.jsonl", epsilon=5)
    with monkeypatch.context() as patch:
        patch.setattr(device, "find_spec", lambda name: None)
        with pytest.raises(ParameterError, match=r"pip install 'spinney-dp\[cuda\]'"):
            PrivateKMeans(2, **options).fit(table, ledger=ledger)
    for memory in (2**20, 2**34):  # too little for rows of so many columns; enough, but not for this algorithm
        said = pytest.raises(ParameterError, match="too little memory" if memory < 2**30 else "kind 'cuda'")
        with emulated.sending(folder, monkeypatch, memory=memory), said:
            PrivateKMeans(2, algorithm=OnlyInMemory(), **options).fit(table, ledger=ledger)
    with pytest.raises(ParameterError, match="'device' parameter of PrivateKMeans must be one of 'auto', 'cuda'"):
        PrivateKMeans(2, **{**options, "device": "tpu"}).fit(table, ledger=ledger)
    with pytest.raises(ParameterError, match="leave it out if model is 'local'"):
        PrivateKMeans(2, model="local", adjacency="replace", **options).fit(table, ledger=ledger)
    assert ledger.spent == 0


def test_points_on_a_device_are_labeled_there(folder, monkeypatch):
    table = messy(np.random.default_rng(3), 3000, 5)
    model = PrivateKMeans(4, epsilon=5.0, bounds=(-3, 3), noise_seed=1).fit(table)
    expected, here = model.predict(table), emulated.EmulatedDevice(folder)
    monkeypatch.setattr(labels, "opened_device", lambda: here)
    monkeypatch.setattr(rows, "opened_device", lambda: here)
    with chunks_of(700):
        found = labels.nearest_on_device(table, model.cluster_centers_, model.prepare(table)[0].problem.domain)
    np.testing.assert_array_equal(found, expected)


def test_lack_of_memory_on_a_device_leaves_as_one_constant_text(folder, monkeypatch):
    texts = set()
    for n in (1000, 3000):
        here = emulated.resident(folder, np.zeros((n, 2)))

        def full(shape, dtype, n=n):
            raise MemoryError(f"out of memory allocating {n} rows")

        here.device.empty = full
        with pytest.raises(CuratorError) as caught:
            run(PrivateKMeans(2, epsilon=1.0, bounds=(-1, 1)).prepare(np.zeros((n, 2)))[0], here)
        texts.add(str(caught.value))
        assert caught.value.__context__ is None
    assert len(texts) == 1
