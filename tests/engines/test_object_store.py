"""Parquet files in a store like S3, of a server that runs here. `make engines` runs this."""

import os

import numpy as np
import polars as pl
import pytest

from spinney import DataError, PrivateKMeans, stream

pytestmark = pytest.mark.filterwarnings("ignore")
RNG = np.random.default_rng(0)
FRAME = pl.DataFrame({"age": RNG.normal(50, 20, 900), "who": [f"p{i % 200}" for i in range(900)], "size": RNG.random(900)})


@pytest.fixture(scope="module")
def store():
    """Return the address of a folder of two files, and of one that is not there."""
    server = pytest.importorskip("moto.server").ThreadedMotoServer(port=0)
    server.start()
    host, port = server.get_host_and_port()
    from pyarrow import fs, parquet

    there = fs.S3FileSystem(
        access_key="canary", secret_key="canary", endpoint_override=f"{host}:{port}", scheme="http", allow_bucket_creation=True
    )
    there.create_dir("bucket")
    for part in range(2):
        parquet.write_table(FRAME[part::2].to_arrow(), f"bucket/stays/{part}.parquet", filesystem=there)
    options = f"endpoint_override={host}:{port}&scheme=http"
    yield [f"s3://canary:canary@bucket/{name}?{options}" for name in ("stays", "nothing")]
    server.stop()


@pytest.mark.parametrize("groups", [None, "who"])
def test_files_in_a_store_give_the_release_of_memory(store, groups, tmp_path):
    model = PrivateKMeans(
        3, epsilon=2.0, bounds={"age": (0, 110), "size": (0, 1)}, scale="bounds", max_rows_per_group=2 if groups else None,
        random_state=0, noise_seed=1,
    )  # fmt: skip
    expected = model.fit(FRAME, groups=groups).release_.to_json()
    assert model.fit(store[0], groups=groups).release_.to_json() == expected
    for spool in (None, tmp_path):
        assert model.fit(stream(store[0], groups=groups, spool=spool)).release_.to_json() == expected
        with pytest.raises(DataError, match="The stream cannot be read") as caught:
            model.fit(stream(store[1], groups=groups, spool=spool))
        assert "canary" not in str(caught.value)
    assert os.listdir(tmp_path) == []
