"""Parquet files in a store like S3, of a server that runs here. `make engines` runs this."""

import gzip
import os

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from spinney import DataError, PrivateKMeans, read_release, stream
from spinney.cli.main import main
from spinney.mechanisms.source import SeededSource

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
    packed = gzip.compress(FRAME.write_csv().encode())
    with there.open_output_stream("bucket/stays.csv.gz", compression=None) as file:
        file.write(packed)
    yield [f"s3://canary:canary@bucket/{name}?{options}" for name in ("stays", "nothing", "stays.csv.gz", "nothing.csv")]
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


def test_the_command_line_copies_files_of_a_store_and_withholds_its_words(store, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "spool").mkdir()
    (tmp_path / "bounds.json").write_text('{"age": [0, 110], "size": [0, 1]}')
    FRAME.write_csv("stays.csv")
    fit = ["--k", "3", "--epsilon", "2", "--schema", "bounds.json", "--scale", "bounds", "--spool", "spool", "--force", "--out"]
    found = []
    for name, table in (("file", "stays.csv"), ("folder", store[0]), ("packed", store[2])):
        monkeypatch.setattr("spinney.fits.run.noise_source", lambda _: SeededSource(7))
        monkeypatch.setattr("spinney.fits.run.generator", lambda *_: np.random.default_rng(7))
        result = CliRunner().invoke(main, ["fit", table, *fit, f"{name}.json"], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        assert "canary" not in result.output
        found.append(read_release(f"{name}.json").centers.tolist())
    assert found == [found[0]] * 3
    for table in (store[1], store[3], store[3].replace("canary:canary@", "")):
        result = CliRunner().invoke(main, ["fit", table, *fit, "none.json"], catch_exceptions=False)
        assert (result.exit_code, result.stdout) == (3, "")
        assert "cannot be fetched from its store" in result.stderr
        assert "canary" not in result.stderr
    assert os.listdir("spool") == []
