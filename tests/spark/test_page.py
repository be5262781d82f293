"""The page about Spark: its examples run, as those of all other pages do."""

from contract.test_docs import read, run_page


def test_examples_run_and_print_what_is_shown(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(read("spark.md"), "spark.md")
