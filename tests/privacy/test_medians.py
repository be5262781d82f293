"""Rules 5, 8 and 17: every step toward medians asks by its answers alone, and no size of a table fails or answers otherwise."""

import dataclasses

import numpy as np
import pytest

import spinney.curators.memory
from covering import covering
from spinney import ParameterError, PrivateKMedian, SeededNoiseWarning
from spinney.algorithms import HST, Stable
from spinney.algorithms.medians import MEDIAN_STEPS
from spinney.audit import compare, record, replay_pairs, table_pairs
from spinney.privacy.pricing import Unit
from spinney.tables.files import scan

#: The default is tried with all algorithms in `test_replay.py`.
STEPS = pytest.mark.parametrize("median_step", MEDIAN_STEPS[1:])
#: Algorithms with such a step, and the columns that they take it with.
ALGORITHMS = {"hst": (HST(alpha=2, rounds=2), 2), "stable": (Stable("lloyd", steps=1), 2)}
ALGORITHMS |= {"stable, steps before": (Stable("tree", steps=1), 6), "stable, many columns": (Stable("tree"), 12)}
EACH = pytest.mark.parametrize("name", ALGORITHMS)


def model_of(name, median_step, k=3, **settings):
    algorithm, d = ALGORITHMS[name]
    chosen = dataclasses.replace(algorithm, median_step=median_step)
    return PrivateKMedian(k, **{"epsilon": 1.0, "bounds": (-1, 1), "algorithm": chosen, **settings}), d


def rows_of(d, n=300):
    rng = np.random.default_rng(2)
    return np.concatenate([rng.normal(-0.5, 0.2, (n, d)), rng.normal(0.6, 0.1, (n // 3, d))])


@covering("name, median_step, adjacency, delta", ALGORITHMS, MEDIAN_STEPS[1:], ["add-remove", "replace"], [0.0, 1e-6])
@pytest.mark.matrix
def test_replay_asks_the_same_questions_and_gives_the_same_release(name, median_step, adjacency, delta):
    model, d = model_of(name, median_step, adjacency=adjacency, delta=delta)
    rows, far = rows_of(d), np.resize([1.0, -1.0], (1, d))
    first = record(model, rows)
    assert first.seen["error"] is None
    replaced = np.concatenate([rows[:-1], far])
    near = {"replaced": replaced} if adjacency == "replace" else {"fewer": rows[:-1], "more": np.concatenate([rows, far])}
    others = near | {"no rows": rows[:0], "broken rows": np.concatenate([far * np.nan, far * np.inf, far * 1e300])}
    for which, other in others.items():
        source = first.frozen()
        found = compare(first, record(model, other, source=source))
        assert source.left == 0
        assert found.visible == ()
        assert which not in near or found.beyond == ()
        assert which != "no rows" or found.beyond  # not neighbors: an audit that never complains would show nothing


@covering("median_step, adjacency, delta, grouped", MEDIAN_STEPS[1:], ["add-remove", "replace"], [0.0, 1e-6], [False, True])
@pytest.mark.matrix
def test_no_made_up_neighbor_loses_more_than_epsilon_and_half_the_noise_is_seen(median_step, adjacency, delta, grouped):
    unit, cap = Unit(adjacency, 2 if grouped else 1), {"max_rows_per_group": 2} if grouped else {}
    model, d = model_of("stable", median_step, adjacency=adjacency, delta=delta, **cap)
    corners = np.full(d, -1.0), np.full(d, 1.0)
    finding = replay_pairs(model, table_pairs(*corners, unit, 9 if grouped else 7, grouped=grouped))
    assert finding.faults == ()
    assert 0.1 < finding.bound <= 1.0
    for question in {charge.question for charge in model.plan(n_features=d).charges}:
        halved = replay_pairs(model, table_pairs(*corners, unit, 1, grouped=grouped), factor={question: 0.5})
        assert any("less than its charge pays for" in fault for fault in halved.faults)


@EACH
@STEPS
@pytest.mark.matrix
def test_every_size_ends_with_finite_centers_in_the_domain_whatever_the_chunks(name, median_step, monkeypatch):
    model, d = model_of(name, median_step, noise_seed=1, random_state=0)
    rows = np.concatenate([rows_of(d, 9)[:8], np.full((1, d), np.nan), np.full((3, d), 0.6)])
    for n in (0, 1, 2, 8, 12):
        found = []
        for chunk in (2**16, 3):
            monkeypatch.setattr(spinney.curators.memory, "CHUNK", chunk)
            with pytest.warns(SeededNoiseWarning):
                found.append(model.fit(rows[:n]).release_)
        assert (found[0].centers == found[1].centers).all()
        assert (np.abs(found[0].centers) <= 1).all()


@EACH
@STEPS
def test_rows_on_disk_give_the_same_release_or_one_line_before_anything_is_charged(name, median_step, tmp_path):
    import polars as pl

    model, d = model_of(name, median_step, noise_seed=1, random_state=0)
    frame = pl.DataFrame({f"c{t}": column for t, column in enumerate(rows_of(d).T)})
    frame.write_parquet(tmp_path / "rows.parquet")
    if median_step == "objective":
        for table in (scan(tmp_path / "rows.parquet"), tmp_path / "rows.parquet"):  # whatever the size of a path
            with pytest.raises(ParameterError, match="does not run on rows of the kind 'parquet'"):
                model.fit(table)
        return
    with pytest.warns(SeededNoiseWarning):
        stored, held = (model.fit(X).release_ for X in (scan(tmp_path / "rows.parquet"), frame))
    assert (stored.centers == held.centers).all()
    assert (stored.sizes == held.sizes).all()
