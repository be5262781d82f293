"""The table of planted faults: it cannot rot, and what it says is so."""

import ast
import json

from tools.planted import END, FAULTS, PAGE, RESULTS, ROOT, START, page, planted

OUTCOMES = json.loads(RESULTS.read_text())


def test_every_fault_can_still_be_planted():
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 60
    for fault in FAULTS:
        text = planted(fault, ROOT)  # raises unless what it replaces is there once
        if fault.path.endswith(".py"):
            ast.parse(text)
        assert all((ROOT / word.split("::")[0]).exists() for word in fault.by.split() if word.startswith("tests/")), fault.name


def test_every_fault_was_found_by_a_test_that_is_there():
    assert list(OUTCOMES) == [fault.name for fault in FAULTS]
    for name, outcome in OUTCOMES.items():
        assert outcome["found"], name
        file, _, test = outcome["by"].partition("::")
        assert f"def {test.split('[')[0]}(" in (ROOT / file).read_text(), name


def test_the_page_has_the_outcomes():
    inside = PAGE.read_text().partition(START)[2].partition(END)[0]
    assert inside.strip() == page(OUTCOMES)
