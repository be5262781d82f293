"""The made-up patients that come with the package: the script makes the same file, and it is what a raw table looks like."""

import csv
import tomllib

from benchmarks.patients import table
from spinney.datasets import patients, patients_schema


def test_the_table_is_what_the_script_makes():
    assert patients().read_text(encoding="utf-8") == table()


def test_the_table_is_raw_and_its_schema_names_its_columns():
    with patients().open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 5_000
    assert len({row["person"] for row in rows}) < len(rows)
    bad = {(name, row[name]) for row in rows for name in ("age", "income", "visits", "region", "admitted")}
    assert {("age", ""), ("age", "999"), ("visits", "many"), ("region", "North"), ("admitted", "31.12.2023")} <= bad
    assert set(tomllib.loads(patients_schema().read_text(encoding="utf-8"))) < set(rows[0])
    assert patients().stat().st_size < 300_000
