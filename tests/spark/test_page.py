"""The page about Spark, and the examples of its public names, run as those of all other pages do."""

import pytest

from contract.test_docs import read, run_page
from contract.test_reference import examples, public_names


def test_examples_run_and_print_what_is_shown(spark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(read("spark.md"), "spark.md")


@pytest.mark.parametrize("name", ["SparkPrivateKMeans", "SparkPrivateKMedian"])
def test_examples_of_public_names_run(name, spark, tmp_path, monkeypatch):
    assert sorted(examples("spinney.spark")) == sorted(public_names("spinney.spark"))
    monkeypatch.chdir(tmp_path)
    run_page(examples("spinney.spark")[name], name)
