"""The made-up patients that come with the package: the script makes the same file, and it is what a raw table looks like."""

import csv
import tomllib

from click.testing import CliRunner

from spinney.cli.main import main
from spinney.datasets import patients, patients_schema
from tools.patients import table


def test_the_table_is_what_the_script_makes():
    assert patients().read_text(encoding="utf-8") == table()


def test_the_table_is_raw_and_its_schema_names_its_columns():
    with patients().open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 10_000
    assert len({row["person"] for row in rows}) < len(rows)
    bad = {(name, row[name]) for row in rows for name in ("age", "income", "visits", "region", "admitted")}
    assert {("age", ""), ("age", "999"), ("visits", "many"), ("region", "North"), ("admitted", "31.12.2023")} <= bad
    assert set(tomllib.loads(patients_schema().read_text(encoding="utf-8"))) < set(rows[0])
    assert patients().stat().st_size < 500_000


def test_the_command_line_writes_both_and_nothing_over_them(tmp_path):
    done = CliRunner().invoke(main, ["example", "--out", str(tmp_path / "new")])
    assert done.exit_code == 0, done.output
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"patients.csv", "patients.toml"}
    assert (tmp_path / "new" / "patients.csv").read_bytes() == patients().read_bytes()
    again = CliRunner().invoke(main, ["example", "--out", str(tmp_path / "new")])
    assert (again.exit_code, "is there already" in again.output) == (2, True)
    (tmp_path / "file").write_text("")
    assert CliRunner().invoke(main, ["example", "--out", str(tmp_path / "file")]).exit_code == 3
