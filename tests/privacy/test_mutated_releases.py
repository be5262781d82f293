"""Release files that somebody changed, anywhere: every command that reads them ends with an answer or a clear refusal."""

import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nested import edited, places
from spinney import FiniteMetric, PrivateKMeans, PrivateKMedoids, ReleaseError, describe, max_coverage, read_release
from spinney.cli.main import main

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.sampled_from(["", "inf", "nan", "-1", "1e400", "1e1000000000", "canary", "\ud800"]),
    st.sampled_from(["add-remove", "spinney-release/1", "9" * 400]),
    st.lists(st.integers(0, 3), max_size=3),
    st.dictionaries(st.sampled_from(["lower", "name", "amount"]), st.integers(), max_size=2),
)


def records():
    rows = np.random.default_rng(0).uniform(-1, 1, (30, 2))
    space = FiniteMetric.from_points(np.random.default_rng(1).random((8, 2)))
    yield PrivateKMeans(2, epsilon=1.0, bounds=(-1, 1), algorithm="lloyd", noise_seed=0).fit(rows).release_.to_dict()
    yield PrivateKMedoids(2, epsilon=1.0, space=space, algorithm="hst", noise_seed=0).fit(np.arange(8)).release_.to_dict()
    yield max_coverage([0, 1, 2], [[0, 1], [2]], 1, epsilon=1.0, noise_seed=0).to_dict()
    table = pl.DataFrame({"x": rows[:, 0], "y": rows[:, 1], "z": ["a", "b"] * 15})
    release = PrivateKMeans(2, epsilon=1.0, bounds={"x": (-1, 1)}, algorithm="lloyd", noise_seed=0).fit(table).release_
    bounds = {"y": (-1, 1), "z": ["a", "b"]}
    yield describe(release, table, bounds=bounds, epsilon=1.0, bins=3, noise_seed=0).to_dict()


RECORDS = [json.loads(json.dumps(record)) for record in records()]


@st.composite
def mutated(draw):
    which = draw(st.integers(0, len(RECORDS) - 1))
    record = RECORDS[which]
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from(list(places(record))))
        record = edited(record, path, *draw(ODD.map(lambda one: [one]) | st.just([])))
    text = json.dumps(record)
    cut = draw(st.integers(0, len(text))) if draw(st.integers(0, 9)) == 0 else len(text)
    return text[:cut]


@settings(max_examples=60, deadline=10_000, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(text=mutated())
def test_a_changed_release_is_read_or_refused_and_no_command_crashes(text, tmp_path):
    path = tmp_path / "release.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        read_release(path)
        readable = True
    except ReleaseError:
        readable = False
    for command, *more in (("show",), ("verify",), ("label",), ("report", "--out", str(tmp_path / "report.html"))):
        ended = CliRunner().invoke(main, [command, str(path), *more])
        unexpected = "Something failed that should not" in ended.output
        assert not unexpected, (command, ended.output)
        assert readable or "Hint:" in ended.output or "REFUSED" in ended.output
        # What verifies is apart from what reads, and tells line by line what does not hold.
        assert ended.exit_code in ((0, 1, 3) if readable or command == "verify" else (3,)), (command, ended.output)


@pytest.mark.parametrize("kind", [None, "", "numbers", 1, [], {}])
def test_columns_of_no_known_kind_are_refused(kind, tmp_path):
    path = tmp_path / "release.json"
    described = [record for record in RECORDS if record.get("columns") and isinstance(record["columns"][0], dict)]
    assert described
    for record in described:
        path.write_text(json.dumps(edited(record, ("columns", 0, "kind"), kind)), encoding="utf-8")
        with pytest.raises(ReleaseError, match="incomplete or damaged"):
            read_release(path)
