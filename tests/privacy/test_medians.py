"""Rule 17 for steps toward medians: no size of a table fails or answers otherwise. `test_replay.py` has them among its cases."""

import numpy as np
import pytest
from cases import STEPS

import spinney.curators.memory
from spinney import ParameterError, SeededNoiseWarning, scan

EACH = pytest.mark.parametrize("case", STEPS, indirect=True)


@EACH
@pytest.mark.matrix
def test_every_size_ends_with_finite_centers_in_the_domain_whatever_the_chunks(case, monkeypatch):
    model, d = case.model(noise_seed=1), case.n_features
    rows = np.concatenate([case.rows[:8], np.full((1, d), np.nan), np.full((3, d), 0.6)])
    for n in (0, 1, 2, 8, 12):
        found = []
        for chunk in (2**16, 3):
            monkeypatch.setattr(spinney.curators.memory, "CHUNK", chunk)
            with pytest.warns(SeededNoiseWarning):
                found.append(model.fit(rows[:n]).release_)
        assert (found[0].centers == found[1].centers).all()
        assert (np.abs(found[0].centers) <= 1).all()


@EACH
def test_rows_on_disk_give_the_same_release_or_one_line_before_anything_is_charged(case, tmp_path):
    import polars as pl

    model = case.model(noise_seed=1)
    frame = pl.DataFrame({f"c{t}": column for t, column in enumerate(case.rows.T)})
    frame.write_parquet(tmp_path / "rows.parquet")
    if case.algorithm.median_step == "objective":
        for table in (scan(tmp_path / "rows.parquet"), tmp_path / "rows.parquet"):  # whatever the size of a path
            with pytest.raises(ParameterError, match="does not run on rows of the kind 'parquet'"):
                model.fit(table)
        return
    with pytest.warns(SeededNoiseWarning):
        stored, held = (model.fit(X).release_ for X in (scan(tmp_path / "rows.parquet"), frame))
    assert (stored.centers == held.centers).all()
    assert (stored.sizes == held.sizes).all()
