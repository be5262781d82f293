"""Messy cells on Spark: what rows in memory give, bit for bit, with groups and without."""

import numpy as np
import polars as pl
import pytest

from benchmarks.messy import made, schema, with_left
from spark.conftest import plain
from spinney import ParameterError, PrivateKMeans

TABLE = with_left(made(900, seed=3, wrong=0.1).messy).with_columns(
    pl.col("^x.$").cast(pl.Float64), person=pl.Series(np.arange(900) // 3).cast(pl.String)
)
MODEL = {"epsilon": 1.0, "bounds": schema(), "scale": "bounds", "random_state": 0}


@pytest.mark.parametrize("changes", [{}, {"adjacency": "replace"}, {"max_rows_per_group": 2}], ids=["rows", "replace", "persons"])
@pytest.mark.matrix
def test_messy_cells_are_read_alike(either, changes):
    groups = "person" if "max_rows_per_group" in changes else None
    model = PrivateKMeans(3, noise_seed=1, **MODEL, **changes)
    here = model.fit(TABLE.to_pandas(), groups=groups).release_
    frame = either.createDataFrame(TABLE.to_pandas()).repartition(3)
    there = model.fit(frame, groups=groups).release_
    assert plain(there) == plain(here)


def test_a_type_that_cannot_hold_such_cells_is_refused(spark):
    frame = spark.createDataFrame(TABLE.to_pandas().assign(x0="5"))
    with pytest.raises(ParameterError, match=r"(?s)x0.*Hint: "):
        PrivateKMeans(3, **MODEL).fit(frame)
