"""Rule 16 for curators that read their rows anew: which passes are made depends on the rows through answers alone."""

import numpy as np
import pytest
from cases import CASES

from batches import ArrayBatches
from covering import covering
from spinney import PrivateKMeans, PrivateKMedian
from spinney.curators.files import FileBackend
from spinney.mechanisms import splitting
from spinney.questions import PlaneCells, choose, cover, levels, record, sums
from spinney.questions.form import form


def rows_of(d):
    rng = np.random.default_rng(2)
    return np.concatenate([rng.normal(-0.5, 0.2, (400, d)), rng.normal(0.6, 0.1, (150, d)), np.full((300, d), 0.3)])


def others(rows):
    far = np.resize([1.0, -1.0], (1, rows.shape[1]))
    return [np.concatenate([rows, far]), rows[:0], np.random.default_rng(3).uniform(-1, 1, (1000, rows.shape[1]))]


class Recorder:
    """Records every pass with its public arguments, and every noisy value, or plays the noisy values back for other rows."""

    def __init__(self, monkeypatch):
        self.passes, self.values, self.frozen = [], [], None
        for name in ("_map", "_map_nearest", "_tally", "_blocks_over"):
            monkeypatch.setattr(FileBackend, name, self._pass(name, getattr(FileBackend, name)))
        privatize, decide = record.privatize, splitting.SplitRule.decide
        for module in (levels, record, sums):
            monkeypatch.setattr(module, "privatize", lambda *arguments: self._value(privatize, *arguments))
        monkeypatch.setattr(splitting.SplitRule, "decide", lambda *arguments: self._value(decide, *arguments))
        for module, name in ((choose, "choose"), (cover, "choose_cover")):
            chosen = getattr(module, name)
            monkeypatch.setattr(module, name, lambda *arguments, made=chosen: int(self._value(made, *arguments)))

    def _pass(self, name, made):
        def record(backend, *arguments):
            self.passes.append((name, self._public(backend._door), *map(self._public, arguments)))
            return made(backend, *arguments)

        return record

    def _public(self, value):
        if isinstance(value, np.ndarray):
            return value.shape, value.dtype.str, np.ascontiguousarray(value).tobytes()
        if isinstance(value, tuple):
            return tuple(map(self._public, value))
        return form(value) if isinstance(value, PlaneCells) else getattr(value, "__name__", value)

    def _value(self, make, *arguments):
        if self.frozen is not None:
            return self.frozen.pop(0).copy()
        value = np.asarray(make(*arguments))
        self.values.append(value.copy())
        return value

    def rewind(self):
        passes, self.passes = self.passes, []
        self.frozen = list(self.values)
        return passes


@covering("case, estimator, adjacency", CASES, [PrivateKMeans, PrivateKMedian], ["add-remove", "replace"], indirect=["case"])
@pytest.mark.matrix
def test_passes_follow_from_released_values(case, estimator, adjacency, monkeypatch):
    recorder = Recorder(monkeypatch)
    bounds = (-1, 40 if case.tighten else 1)
    model = estimator(4, epsilon=2.0, bounds=bounds, adjacency=adjacency, random_state=0, noise_seed=0, **case.asked)
    first = rows_of(case.n_features)
    release = model.fit(ArrayBatches(first, 100)).release_.to_json()
    passes = recorder.rewind()
    least = 4 if case.algorithm == "sample-aggregate" else 5  # blocks are gathered in one pass
    most = {"lsh": 23, "balcan": 17}.get(case.algorithm, 16)  # cells of planes take a pass a level
    assert least <= len(passes) <= most
    for rows in others(first):
        assert model.fit(ArrayBatches(rows, 100)).release_.to_json() == release
        assert recorder.frozen == []
        assert recorder.rewind() == passes


def test_a_pass_that_follows_the_rows_would_be_noticed(monkeypatch):
    recorder = Recorder(monkeypatch)
    ahead = FileBackend._count_ahead

    def peek(self, cells, levels_below):
        return ahead(self, cells, min(levels_below, 3 + len(self._batches._batches.rows) % 2))

    monkeypatch.setattr(FileBackend, "_count_ahead", peek)
    model = PrivateKMeans(4, epsilon=2.0, bounds=(-1, 1), random_state=0, noise_seed=0)
    rows = rows_of(2)
    model.fit(ArrayBatches(rows, 100))
    passes = recorder.rewind()
    model.fit(ArrayBatches(rows[:-1], 100))
    assert recorder.rewind() != passes
