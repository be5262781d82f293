"""Every public name has an example in ``docs/examples``, which runs as it is shown and stands on the name's page of the site."""

import re
import sys

import pytest

from contract.test_docs import DOCS, run_page

sys.path.append(str(DOCS))
from reference import ROOMS, examples, public_names

#: Those of Spark run in tests/spark.
HERE = [room for room in ROOMS if room != "spinney.spark"]


def headings(room):
    page = (DOCS / "examples" / f"{room.rpartition('.')[2]}.md").read_text(encoding="utf-8")
    return [re.findall(r"`(\w+)`", heading) for heading in re.findall(r"^## (.*)$", page, re.MULTILINE)]


@pytest.mark.parametrize("room", HERE)
def test_every_public_name_has_one_example_that_uses_it(room):
    assert sorted(name for names in headings(room) for name in names) == sorted(public_names(room))
    assert [name for name, text in examples(room).items() if not re.search(rf"\b{name}\b", text)] == []


@pytest.mark.parametrize(("room", "name"), [(room, names[0]) for room in HERE for names in headings(room)])
def test_the_example_runs_after_the_first_block_of_its_page(room, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(examples(room)[name], name)
