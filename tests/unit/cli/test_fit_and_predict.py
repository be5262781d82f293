import json

import numpy as np
import polars as pl
import pytest

from spinney import Ledger, PrivateKMeans, PrivateKMedian, Release
from spinney.cli import fitting
from tests.unit.cli.running import files, must_not_run, refused, run, seeded

RNG = np.random.default_rng(0)
ROWS = np.repeat([[1.0, 20.0], [9.0, 80.0]], 1500, axis=0) + RNG.normal(0, 0.5, (3000, 2))
FRAME = pl.DataFrame({"dose": ROWS[:, 0], "age": ROWS[:, 1], "patient": [f"p{i // 3}" for i in range(3000)]})
BOUNDS = {"dose": [0, 10], "age": [0, 100]}
WIDE = ("--bounds", "0", "1")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    FRAME.write_csv(tmp_path / "rows.csv")
    FRAME.write_parquet(tmp_path / "rows.parquet")
    np.save(tmp_path / "rows.npy", ROWS)
    (tmp_path / "bounds.json").write_text(json.dumps(BOUNDS))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fit(table, *more, k="2", epsilon="5"):
    return run("fit", table, "--k", k, "--epsilon", epsilon, "--out", "release.json", "--force", *more)


@pytest.mark.parametrize(("table", "objective"), [("rows.csv", "kmeans"), ("rows.parquet", "kmedian")])
def test_a_table_with_names_becomes_a_release(folder, table, objective):
    result = fit(table, "--bounds-file", "bounds.json", "--objective", objective)
    release = Release.from_json("release.json")
    assert f"Wrote release.json: {release.statement}." in result.output
    assert (release.objective, release.feature_names) == (objective, ("dose", "age"))
    assert release.domain == {"lower": [0.0, 0.0], "upper": [10.0, 100.0]}
    assert np.abs(release.centers[release.centers[:, 0].argsort()] - [[1, 20], [9, 80]]).max() < 1.0


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("nothing.csv", *WIDE), 3, "is not a file"),
        (("bounds.json", *WIDE), 3, "of a kind that cannot be read"),
        (("broken.parquet", *WIDE), 3, "cannot be read"),
        (("broken.npy", *WIDE), 3, "cannot be read"),
        (("flat.npy", *WIDE), 3, "two-dimensional"),
        (("rows.npy", *WIDE, "--columns", "a"), 3, "no column names"),
        (("rows.csv", *WIDE, "--columns", "dose,weight"), 3, "no column 'weight'"),
        (("rows.csv", *WIDE, "--groups", "person", "--max-rows-per-group", "2"), 3, "no column 'person'"),
        (("rows.csv", "--bounds-file", "nothing.json"), 3, "There is no file nothing.json. Hint: 'spinney schema' writes one"),
        (("rows.csv", "--bounds-file", "broken.json"), 3, "does not hold bounds"),
        (("rows.csv", "--bounds-file", "swapped.json"), 3, "the lower bound of 'dose' is not below its upper bound"),
        (("semicolons.csv", *WIDE), 3, "other marks than commas"),
        (("headless.csv", *WIDE), 3, "a number or a date where the name of a column should be"),
        (("headless.csv", *WIDE, "--columns", "dose"), 3, "a number or a date where the name of a column should be"),
        (("rows.csv", "--bounds-file", "bounds.json", "--columns", "dose,patient"), 3, "no bounds for 'patient'"),
        (("dates.parquet", *WIDE), 3, "does not hold numbers"),
        (("empty.csv", *WIDE), 3, "empty.csv"),
        (("rows.csv",), 2, "Public bounds are missing"),
        (("rows.csv", *WIDE, "--bounds-file", "bounds.json"), 2, "given twice"),
        (("rows.csv", *WIDE, "--groups", "patient"), 2, "need each other"),
        (("rows.csv", *WIDE, "--max-rows-per-group", "2"), 2, "need each other"),
    ],
)
def test_what_is_wrong_is_one_line_and_nothing_is_written(folder, arguments, code, words):
    (folder / "swapped.json").write_text('{"age": [0, 100], "dose": [10, 0]}')
    (folder / "headless.csv").write_text("p1,41.25,4.75\np2,39.5,5\n")
    (folder / "semicolons.csv").write_text("dose;age\n1;2\n")
    for name in ("broken.parquet", "broken.npy", "broken.json"):
        (folder / name).write_bytes(b"\x00\x01 no")
    np.save(folder / "flat.npy", np.arange(3.0))
    FRAME.select(pl.col("dose").cast(pl.Int64).cast(pl.Date)).write_parquet(folder / "dates.parquet")
    (folder / "empty.csv").write_text("")
    before = files(folder)
    assert "41.25" not in refused(fit(*arguments), code, words)  # a first line without names is a private row
    assert files(folder) == before


@pytest.mark.parametrize("out", ["no/release.json", "folder", "rows.csv/release.json"])
def test_a_release_that_cannot_be_written_is_found_before_rows_are_read(folder, monkeypatch, out):
    (folder / "folder").mkdir()
    monkeypatch.setattr(fitting, "open_table", must_not_run)
    result = run("fit", "rows.csv", "--k", "2", "--epsilon", "1", *WIDE, "--out", out)
    refused(result, 3, f"{out} cannot be written. Hint: name a file in a folder that exists")
    assert list((folder / "folder").iterdir()) == []
    assert fit("rows.csv", *WIDE, epsilon="0").exit_code == 2  # parameters are checked before, too


def test_a_release_may_be_written_to_a_pipe_and_through_a_link(folder):
    (folder / "link.json").symlink_to(folder / "target.json")
    for out in ("link.json", "/dev/null"):
        result = run("fit", "rows.csv", "--k", "2", "--epsilon", "5", "--bounds", "0", "100", "--columns", "age", "--out", out)
        assert result.exit_code == 0
    assert (folder / "link.json").is_symlink()
    assert Release.from_json("target.json").feature_names == ("age",)


def test_a_file_that_is_there_is_kept_and_nothing_is_charged_unless_it_may_be_replaced(folder):
    run("ledger", "open", "ledger", "--epsilon", "3")
    command = ("fit", "rows.csv", "--k", "2", "--epsilon", "1", *WIDE, "--ledger", "ledger", "--out")
    assert run(*command, "one.json").exit_code == 0
    first = (folder / "one.json").read_bytes()
    assert "--force" in refused(run(*command, "one.json"), 2, "one.json is there already")
    assert (folder / "one.json").read_bytes() == first
    assert Ledger("ledger").remaining == 2
    assert run(*command, "one.json", "--force").exit_code == 0
    assert Ledger("ledger").remaining == 1
    refused(run(*command, "one.csv"), 2, "would hold JSON")


def test_what_cells_hold_changes_no_word(folder):
    def said(content):
        (folder / "odd.csv").write_bytes(content)
        result = fit("odd.csv", "--bounds", "0", "10")
        return result.exit_code, result.stdout, result.stderr

    rows = b"a,b\n" + b"1,2\n" * 1000  # enough that sizes never look like noise
    plain = said(rows)
    assert plain[0] == 0
    for more in (b"x,y\n", b"\xff,1\n", b'"1" ,2\n', b'5" x,2\n', b'"never closed,2\n', b'1,"', b"\x00\n", b"1,2,3\n", b""):
        assert said(rows + more) == plain


@pytest.mark.parametrize("algorithm", ["auto", "lloyd"])
def test_the_command_line_and_the_estimator_give_the_same_release(folder, monkeypatch, algorithm):
    seeded(monkeypatch)
    options = ("--groups", "patient", "--max-rows-per-group", "2", "--delta", "1e-6", "--adjacency", "replace")
    done = fit("rows.csv", "--bounds", "0", "100", "--columns", "age, dose", "--algorithm", algorithm, *options)
    assert done.exit_code == 0
    asked = {"adjacency": "replace", "algorithm": algorithm, "max_rows_per_group": 2}
    model = PrivateKMeans(2, epsilon=5.0, delta=1e-6, bounds=(0, 100), **asked)
    model.fit(FRAME.select("age", "dose"), groups=FRAME["patient"])
    assert (folder / "release.json").read_text() == model.release_.to_json()


@pytest.mark.parametrize("model", [PrivateKMeans, PrivateKMedian])
def test_predict_writes_the_label_of_every_row_to_the_kind_of_file_that_its_name_says(folder, model):
    objective = "kmeans" if model is PrivateKMeans else "kmedian"
    assert fit("rows.csv", "--bounds-file", "bounds.json", "--objective", objective).exit_code == 0
    expected = model.from_release("release.json").predict(FRAME.select("dose", "age"))
    for name, read in (
        ("labels.csv", lambda path: pl.read_csv(path)["label"].to_numpy()),
        ("labels.npy", np.load),
        ("LABELS.Parquet", lambda path: pl.read_parquet(path)["label"].to_numpy()),
    ):
        for table in ("rows.csv", "rows.parquet"):
            assert run("predict", "release.json", table, "--out", name).output == f"Wrote {name}.\n"
            np.testing.assert_array_equal(read(folder / name), expected)


def test_predict_needs_the_columns_of_the_release(folder):
    assert fit("rows.npy", "--bounds", "0", "100").exit_code == 0
    np.save("wide.npy", np.zeros((3, 5)))
    before = files(folder)
    for release, table, out, words in (
        ("release.json", "wide.npy", "labels.csv", "5 columns"),
        ("nothing.json", "rows.npy", "labels.csv", "nothing.json"),
        ("rows.csv", "rows.npy", "labels.csv", "rows.csv is not JSON. Hint: name a file that a fit wrote."),
        ("release.json", "rows.npy", "no/labels.csv", "no/labels.csv cannot be written."),
    ):
        refused(run("predict", release, table, "--out", out), 3, words)
    assert files(folder) == before
    assert fit("rows.csv", "--bounds-file", "bounds.json").exit_code == 0
    refused(run("predict", "release.json", "rows.npy", "--out", "labels.csv"), 3, "no column names")


@pytest.mark.parametrize("name", ["labels.txt", "labels", "labels.csv.gz", ".csv"])
def test_predict_refuses_other_kinds_before_the_work(folder, monkeypatch, name):
    monkeypatch.setattr(fitting, "label_table", must_not_run)
    result = run("predict", "release.json", "rows.csv", "--out", name)
    refused(result, 2, f"{name} is of a kind that cannot be written. Hint: --out FILE with .csv, .parquet or .npy, or - for")
