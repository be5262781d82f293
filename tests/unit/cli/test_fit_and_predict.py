import json

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from spinney import BudgetError, Ledger, ParameterError, PrivateKMeans, PrivateKMedian, Release, ReleaseError
from spinney.cli import fitting
from spinney.cli.main import main
from spinney.exceptions import DataError
from spinney.fits import run as fits_run
from spinney.mechanisms.source import SeededSource

RNG = np.random.default_rng(0)
ROWS = np.repeat([[1.0, 20.0], [9.0, 80.0]], 1500, axis=0) + RNG.normal(0, 0.5, (3000, 2))
FRAME = pl.DataFrame({"dose": ROWS[:, 0], "age": ROWS[:, 1], "patient": [f"p{i // 3}" for i in range(3000)]})
BOUNDS = {"dose": [0, 10], "age": [0, 100]}

#: What is said of an error of the system that has no number: its own words could be anyone's.
NO_FILE = "A file could not be read or written. Hint: check the path, its permissions and the space that is left."


@pytest.fixture
def folder(tmp_path, monkeypatch):
    FRAME.write_csv(tmp_path / "rows.csv")
    FRAME.write_parquet(tmp_path / "rows.parquet")
    np.save(tmp_path / "rows.npy", ROWS)
    (tmp_path / "bounds.json").write_text(json.dumps(BOUNDS))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, [*arguments], catch_exceptions=False)


def fit(table, *more, k="2", epsilon="5"):
    return run("fit", table, "--k", k, "--epsilon", epsilon, "--out", "release.json", "--force", *more)


def near_truth(centers):
    return np.abs(centers[np.argsort(centers[:, 0])] - [[1, 20], [9, 80]]).max() < 1.0


@pytest.mark.parametrize("table", ["rows.csv", "rows.parquet"])
@pytest.mark.parametrize("objective", ["kmeans", "kmedian"])
def test_a_table_with_names_becomes_a_release(folder, table, objective):
    result = fit(table, "--bounds-file", "bounds.json", "--objective", objective)
    assert result.exit_code == 0
    release = Release.from_json("release.json")
    assert f"Wrote release.json: {release.statement}." in result.output
    assert (release.objective, release.feature_names) == (objective, ("dose", "age"))
    assert release.domain == {"lower": [0.0, 0.0], "upper": [10.0, 100.0]}
    assert near_truth(release.centers)


@pytest.mark.parametrize("groups", [(), ("--groups", "patient", "--max-rows-per-group", "2")], ids=["rows", "groups"])
def test_all_columns_are_told_before_anything_is_asked(folder, monkeypatch, groups):
    def stop(*arguments):
        raise DataError("Nothing is asked.")

    monkeypatch.setattr(fitting, "run", stop)
    names = "'dose', 'age'" if groups else "'dose', 'age', 'patient'"
    told, error = fit("rows.csv", "--bounds", "0", "100", *groups).stderr.splitlines()
    assert told == f"Read as numbers: {names}. A cell that is no number drops its row. Hint: --columns names others."
    assert error == "error: Nothing is asked."


def test_columns_are_told_only_where_nobody_named_them(folder):
    wide = pl.DataFrame({f"c{i}": [0.5] * 3000 for i in range(30)})
    wide.write_csv(folder / "wide.csv")
    result = fit("wide.csv", "--bounds", "0", "1", k="1")
    assert "'c19' and 10 more. A cell" in result.stderr
    for table, more in (
        ("rows.csv", ("--bounds", "0", "100", "--columns", "age")),
        ("rows.npy", ("--bounds", "0", "100")),
    ):
        assert fit(table, *more).stderr == ""


def test_a_declared_text_column_is_refused_before_a_charge(folder):
    Ledger("ledger", epsilon=10.0)
    result = fit("rows.parquet", "--bounds", "0", "100", "--ledger", "ledger")
    assert result.exit_code == 3
    assert "column 'patient' does not hold numbers. Hint: leave it out" in result.stderr
    assert Ledger("ledger").spent == 0


def test_an_array_becomes_a_release(folder):
    assert fit("rows.npy", "--bounds", "0", "100").exit_code == 0
    assert near_truth(Release.from_json("release.json").centers)


def test_every_option_reaches_the_estimator(folder):
    options = ("--delta", "0.01", "--algorithm", "lloyd", "--adjacency", "replace")
    assert fit("rows.csv", "--bounds", "0", "100", "--columns", "age, dose", *options, epsilon="1").exit_code == 0
    release = Release.from_json("release.json")
    assert (release.algorithm, release.adjacency, release.delta) == ("lloyd", "replace", 0.01)
    assert release.feature_names == ("age", "dose")


def test_groups_are_a_column_that_is_not_clustered(folder):
    assert fit("rows.csv", "--bounds", "0", "100", "--groups", "patient", "--max-rows-per-group", "3").exit_code == 0
    release = Release.from_json("release.json")
    assert release.feature_names == ("dose", "age")
    assert release.max_rows_per_group == 3


def test_a_cell_that_is_not_a_number_is_missing(folder):
    (folder / "odd.csv").write_text("a,b\n1,2\nx,3\n4\n5,6,7\n,\n" + "1,2\n" * 500)
    assert fit("odd.csv", "--bounds", "0", "10", epsilon="50").exit_code == 0
    assert abs(Release.from_json("release.json").sizes.sum() - 502) < 10


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nothing.csv", "--bounds", "0", "1"), "is not a file"),
        (("bounds.json", "--bounds", "0", "1"), "of a kind that cannot be read"),
        (("broken.parquet", "--bounds", "0", "1"), "cannot be read"),
        (("broken.npy", "--bounds", "0", "1"), "cannot be read"),
        (("flat.npy", "--bounds", "0", "1"), "two-dimensional"),
        (("rows.npy", "--bounds", "0", "1", "--columns", "a"), "no column names"),
        (("rows.csv", "--bounds", "0", "1", "--columns", "dose,weight"), "no column 'weight'"),
        (("rows.csv", "--bounds", "0", "1", "--groups", "person", "--max-rows-per-group", "2"), "no column 'person'"),
        (
            ("rows.csv", "--bounds-file", "nothing.json"),
            "There is no file nothing.json. Hint: 'spinney schema' writes one",
        ),
        (("rows.csv", "--bounds-file", "broken.json"), "does not hold bounds"),
        (("rows.csv", "--bounds-file", "swapped.json"), "the lower bound of 'dose' is not below its upper bound"),
        (("semicolons.csv", "--bounds", "0", "1"), "other marks than commas"),
        (("headless.csv", "--bounds", "0", "1"), "a number or a date where the name of a column should be"),
        (("headless.csv", "--bounds", "0", "1", "--columns", "dose"), "a number or a date where the name of a column should be"),
        (("rows.csv", "--bounds-file", "bounds.json", "--columns", "dose,patient"), "no bounds for 'patient'"),
        (("dates.parquet", "--bounds", "0", "1"), "does not hold numbers"),
        (("empty.csv", "--bounds", "0", "1"), "empty.csv"),
    ],
    ids=lambda value: None if isinstance(value, tuple) else value,
)
def test_unreadable_data_is_one_line_and_exit_code_three_and_nothing_is_written(folder, arguments, words):
    (folder / "swapped.json").write_text('{"age": [0, 100], "dose": [10, 0]}')
    (folder / "headless.csv").write_text("p1,41.25,4.75\np2,39.5,5\n")
    (folder / "semicolons.csv").write_text("dose;age\n1;2\n")
    for name in ("broken.parquet", "broken.npy", "broken.json"):
        (folder / name).write_bytes(b"\x00\x01 no")
    np.save(folder / "flat.npy", np.arange(3.0))
    FRAME.select(pl.col("dose").cast(pl.Int64).cast(pl.Date)).write_parquet(folder / "dates.parquet")
    (folder / "empty.csv").write_text("")
    result = fit(*arguments)
    assert result.exit_code == 3
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert words in line
    assert "Hint:" in line
    assert "41.25" not in line  # a first line without names is a private row
    assert not (folder / "release.json").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("rows.csv",), "Public bounds are missing"),
        (("rows.csv", "--bounds", "0", "1", "--bounds-file", "bounds.json"), "given twice"),
        (("rows.csv", "--bounds", "1", "0"), "error: --bounds must be lower < upper"),
        (("rows.csv", "--bounds", "0", "1", "--groups", "patient"), "need each other"),
        (("rows.csv", "--bounds", "0", "1", "--max-rows-per-group", "2"), "need each other"),
        (("rows.csv", "--bounds", "0", "1", "--epsilon", "0"), "error: --epsilon must be"),
        (("rows.csv", "--bounds", "0", "1", "--delta", "2"), "error: --delta must be"),
        (("rows.csv", "--bounds", "0", "1", "--k", "0"), "error: --k must be"),
        (("rows.csv", "--bounds", "0", "1", "--algorithm", "magic"), "error: --algorithm must be"),
    ],
    ids=lambda value: None if isinstance(value, tuple) else value,
)
def test_wrong_usage_is_one_line_and_exit_code_two_and_nothing_is_written(folder, arguments, words):
    result = fit(*arguments)
    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert words in line
    assert "Hint:" in line
    assert not (folder / "release.json").exists()


def files(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("missing", ["--k", "--epsilon", "--out"])
def test_fit_asks_for_what_it_needs(folder, missing):
    arguments = ["fit", "rows.csv", "--bounds", "0", "1", "--k", "2", "--epsilon", "1", "--out", "release.json"]
    place = arguments.index(missing)
    del arguments[place : place + 2]
    result = run(*arguments)
    assert result.exit_code == 2
    assert missing in result.stderr


@pytest.mark.parametrize(
    ("error", "code"), [(BudgetError, 4), (DataError, 3), (ReleaseError, 3), (OSError, 3), (ParameterError, 2)]
)
def test_an_error_after_reading_is_one_line_and_leaves_nothing(folder, monkeypatch, error, code):
    def fail(*arguments):
        raise error("Went\nwrong.")

    monkeypatch.setattr(fitting, "run", fail)
    before = files(folder)
    result = fit("rows.csv", "--bounds", "0", "1", "--columns", "age")
    assert result.exit_code == code
    assert result.stderr == f"error: {'Went wrong.' if error is not OSError else NO_FILE}\n"
    assert result.stdout == ""
    assert files(folder) == before


def test_an_unforeseen_error_leaves_nothing_and_an_older_release_alone(folder, monkeypatch):
    (folder / "release.json").write_text("older")
    monkeypatch.setattr(fitting, "run", lambda *arguments: 1 / 0)
    before = files(folder)
    assert fit("rows.csv", "--bounds", "0", "1").exit_code == 1
    assert files(folder) == before
    assert (folder / "release.json").read_text() == "older"


def unreadable(*arguments):
    raise AssertionError("rows were read")


@pytest.mark.parametrize("out", ["no/release.json", "folder", "rows.csv/release.json"])
def test_a_release_that_cannot_be_written_is_found_before_rows_are_read(folder, monkeypatch, out):
    (folder / "folder").mkdir()
    monkeypatch.setattr(fitting, "read_table", unreadable)
    result = run("fit", "rows.csv", "--k", "2", "--epsilon", "1", "--bounds", "0", "1", "--out", out)
    assert result.exit_code == 3
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert f"{out} cannot be written. Hint: name a file in a folder that exists" in line
    assert list((folder / "folder").iterdir()) == []


def test_wrong_parameters_are_found_before_rows_are_read(folder, monkeypatch):
    monkeypatch.setattr(fitting, "read_table", unreadable)
    assert fit("rows.csv", "--bounds", "0", "1", epsilon="0").exit_code == 2


def test_a_release_may_be_written_to_a_pipe_and_through_a_link(folder):
    (folder / "link.json").symlink_to(folder / "target.json")
    for out in ("link.json", "/dev/null"):
        result = run("fit", "rows.csv", "--k", "2", "--epsilon", "5", "--bounds", "0", "100", "--columns", "age", "--out", out)
        assert result.exit_code == 0
    assert (folder / "link.json").is_symlink()
    assert Release.from_json("target.json").feature_names == ("age",)


def test_a_file_that_is_there_is_kept_and_nothing_is_charged_unless_it_may_be_replaced(folder):
    run("ledger", "open", "ledger", "--epsilon", "3")
    command = ("fit", "rows.csv", "--k", "2", "--epsilon", "1", "--bounds", "0", "1", "--ledger", "ledger", "--out")
    assert run(*command, "one.json").exit_code == 0
    first = (folder / "one.json").read_bytes()
    again = run(*command, "one.json")
    assert again.exit_code == 2
    assert "one.json is there already" in again.stderr
    assert "--force" in again.stderr
    assert (folder / "one.json").read_bytes() == first
    assert Ledger("ledger").remaining == 2
    assert run(*command, "one.json", "--force").exit_code == 0
    assert Ledger("ledger").remaining == 1
    refused = run(*command, "one.csv")
    assert refused.exit_code == 2
    assert "would hold JSON" in refused.stderr


def test_a_new_release_takes_the_place_of_an_older_one(folder):
    (folder / "release.json").write_text("older")
    before = files(folder)
    assert fit("rows.csv", "--bounds-file", "bounds.json").exit_code == 0
    assert Release.from_json("release.json").is_private
    assert files(folder) == before


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


def test_the_command_line_and_the_estimator_give_the_same_release(folder, monkeypatch):
    monkeypatch.setattr(fits_run, "noise_source", lambda seed: SeededSource(7))
    monkeypatch.setattr(fits_run, "generator", lambda *_: np.random.default_rng(7))
    options = ("--groups", "patient", "--max-rows-per-group", "2", "--delta", "1e-6")
    assert fit("rows.csv", "--bounds", "0", "100", *options).exit_code == 0
    model = PrivateKMeans(2, epsilon=5.0, delta=1e-6, bounds=(0, 100), max_rows_per_group=2)
    model.fit(FRAME.select("dose", "age"), groups=FRAME["patient"])
    assert (folder / "release.json").read_text() == model.release_.to_json()


@pytest.mark.parametrize("objective", ["kmeans", "kmedian"])
def test_predict_writes_the_label_of_every_row(folder, objective):
    assert fit("rows.csv", "--bounds-file", "bounds.json", "--objective", objective).exit_code == 0
    for table in ("rows.csv", "rows.parquet"):
        assert run("predict", "release.json", table, "--out", "labels.csv").exit_code == 0
        labels = np.loadtxt("labels.csv", skiprows=1, dtype=int)
        model = (PrivateKMeans if objective == "kmeans" else PrivateKMedian).from_release("release.json")
        np.testing.assert_array_equal(labels, model.predict(FRAME.select("dose", "age")))


def test_predict_needs_the_columns_of_the_release(folder):
    assert fit("rows.npy", "--bounds", "0", "100").exit_code == 0
    np.save("wide.npy", np.zeros((3, 5)))
    result = run("predict", "release.json", "wide.npy", "--out", "labels.csv")
    assert result.exit_code == 3
    assert "5 columns" in result.stderr
    before = files(folder)
    result = run("predict", "nothing.json", "rows.npy", "--out", "labels.csv")
    assert result.exit_code == 3
    assert result.stderr.startswith("error: ")
    assert "nothing.json" in result.stderr
    result = run("predict", "rows.csv", "rows.npy", "--out", "labels.csv")
    assert result.exit_code == 3
    assert result.stderr == "error: rows.csv is not JSON. Hint: name a file that a fit wrote.\n"
    result = run("predict", "release.json", "rows.npy", "--out", "no/labels.csv")
    assert result.exit_code == 3
    assert "no/labels.csv cannot be written." in result.stderr
    assert files(folder) == before


def test_predict_needs_the_names_of_the_release(folder):
    assert fit("rows.csv", "--bounds-file", "bounds.json").exit_code == 0
    FRAME.select("dose").write_csv("narrow.csv")
    result = run("predict", "release.json", "narrow.csv", "--out", "labels.csv")
    assert result.exit_code == 3
    hint = "spell columns as its first line does, which must name them."
    assert result.stderr == f"error: narrow.csv has fewer columns than are asked for. Hint: {hint}\n"
    result = run("predict", "release.json", "rows.npy", "--out", "labels.csv")
    assert result.exit_code == 3
    assert "no column names" in result.stderr
    assert not (folder / "labels.csv").exists()


def test_predict_labels_a_row_with_a_missing_cell_as_the_middle_of_the_domain(folder):
    assert fit("rows.csv", "--bounds-file", "bounds.json").exit_code == 0
    (folder / "new.csv").write_text("age,dose\nx,1\n50,5\n")
    assert run("predict", "release.json", "new.csv", "--out", "labels.csv").exit_code == 0
    first, second = (folder / "labels.csv").read_text().split()[1:]
    assert first == second


@pytest.mark.parametrize("missing", ["release.json", "rows.npy"])
def test_predict_asks_for_what_it_needs(folder, missing):
    arguments = [word for word in ("release.json", "rows.npy", "--out", "labels.csv") if word != missing]
    assert run("predict", *arguments).exit_code == 2


@pytest.mark.parametrize("out", [(), ("--out", "-")], ids=["nothing", "a dash"])
def test_predict_writes_labels_and_nothing_else_to_standard_output(folder, out):
    assert fit("rows.csv", "--bounds-file", "bounds.json").exit_code == 0
    assert run("predict", "release.json", "rows.csv", "--out", "labels.csv").exit_code == 0
    before = files(folder)
    result = run("predict", "release.json", "rows.csv", *out)
    assert result.exit_code == 0
    assert result.stdout == (folder / "labels.csv").read_text()
    assert result.stderr == "Labeled the rows of rows.csv by release.json.\n"
    assert files(folder) == before


def test_predict_writes_the_kind_of_file_that_its_name_says(folder):
    assert fit("rows.csv", "--bounds-file", "bounds.json").exit_code == 0
    expected = PrivateKMeans.from_release("release.json").predict(FRAME.select("dose", "age"))
    for name, read in (
        ("labels.csv", lambda path: pl.read_csv(path)["label"].to_numpy()),
        ("labels.parquet", lambda path: pl.read_parquet(path)["label"].to_numpy()),
        ("labels.npy", np.load),
        ("LABELS.NPY", np.load),
        ("LABELS.Parquet", lambda path: pl.read_parquet(path)["label"].to_numpy()),
    ):
        assert run("predict", "release.json", "rows.csv", "--out", name).output == f"Wrote {name}.\n"
        np.testing.assert_array_equal(read(folder / name), expected)


@pytest.mark.parametrize("name", ["labels.txt", "labels", "labels.json", "labels.csv.gz", ".csv"])
def test_predict_refuses_other_kinds_before_the_work(folder, monkeypatch, name):
    monkeypatch.setattr(fitting, "label_table", unreadable)
    before = files(folder)
    result = run("predict", "release.json", "rows.csv", "--out", name)
    assert result.exit_code == 2
    assert result.stderr == (
        f"error: {name} is of a kind that cannot be written. "
        "Hint: --out FILE with .csv, .parquet or .npy, or - for standard output.\n"
    )
    assert files(folder) == before


def test_labels_may_go_to_a_device(folder):
    assert fit("rows.csv", "--bounds-file", "bounds.json").exit_code == 0
    assert run("predict", "release.json", "rows.csv", "--out", "/dev/null").exit_code == 0


def test_a_fit_that_lost_its_rows_says_so(folder):
    result = fit("rows.csv", "--bounds", "0", "100")  # the names of patients are words: every row is missing
    assert result.exit_code == 0
    assert "may all be noise" in result.stderr
    assert "may all be noise" not in fit("rows.csv", "--bounds", "0", "100", "--columns", "dose,age").stderr
