"""The tutorial notebook runs, without Jupyter, and what is stored in it is what comes out."""

import json
import re

import pytest

from tools.tutorial import NOTEBOOK, code_cells, run

STORED = json.loads(NOTEBOOK.read_text(encoding="utf-8"))


def told(outputs):
    """Return outputs without what differs between machines: the bytes of pictures, and names made of a release's last bits."""
    texts = []
    for output in outputs:
        data = output.get("data", {})
        html = [re.sub(r"\bs[0-9a-f]{8}(?=-\d)", "s", line) for line in data.get("text/html", [])]
        texts.append((output["output_type"], output.get("text"), data.get("text/plain"), html, sorted(data)))
    return texts


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tutorial")


@pytest.fixture(scope="module")
def found(folder):
    return run(STORED, folder)


def test_stored_outputs_are_what_comes_out(found):
    assert [told(outputs) for outputs in found] == [told(cell["outputs"]) for cell in code_cells(STORED)]
    assert sum("image/png" in output.get("data", {}) for outputs in found for output in outputs) == 1


def test_a_run_leaves_nothing_that_another_run_meets(found, folder):
    """A ledger in the folder of the notebook would add up its runs, and refuse one of them."""
    assert found
    assert not list(folder.iterdir())


def test_the_notebook_is_small_loads_nothing_and_its_links_lead_somewhere():
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert len(text) < 200_000
    assert not re.search(r"https?:|<script|<link|<img|@import|url\(", text)
    links = [link for cell in STORED["cells"] for link in re.findall(r"\]\(([^)]*)\)", "".join(cell["source"]))]
    assert links
    assert all((NOTEBOOK.parent / link).is_file() for link in links)
