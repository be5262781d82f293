"""Every release fits the published schema of its version, and the schema tells every field."""

from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nested import edited, places
from spinney.releases.promise import STATED, VERSIONS, Promise
from spinney.verification import schema
from spinney.verification.shape import SCHEMAS, misfit

from .conftest import MAKERS, NOT_PRIVATE

STORED = sorted(path for path in (Path(__file__).parents[2] / "stored").glob("*/*.json") if path.name != "expected.json")


def kinds(base=Promise):
    """Return the kinds of releases that are written; those without a format are what they share."""
    found = {one for kind in base.__subclasses__() if kind.__module__.startswith("spinney.") for one in {kind} | kinds(kind)}
    return {kind for kind in found if kind.format}


@pytest.mark.parametrize("name", [*MAKERS, *NOT_PRIVATE])
def test_every_release_fits_the_schema_of_its_version(name, records):
    assert misfit(records[name], SCHEMAS[-1]) is None
    assert misfit(records[name] | {"more": 1}, SCHEMAS[-1]) == "it has a field that the format does not have"


def test_every_version_that_is_read_has_a_schema_and_every_kind_is_in_the_last():
    assert [str(version) for version in SCHEMAS] == list(VERSIONS)
    branches = {rule["properties"]["format"]["const"]: rule for rule in schema()["oneOf"]}
    assert set(branches) == {kind.format for kind in kinds()}
    for kind in kinds():
        told = {field.name for field in fields(kind)} | {"statement"}
        assert set(branches[kind.format]["properties"]) == told
        assert set(branches[kind.format]["required"]) == told - STATED


JUNK = [None, True, -1, 0.5, "", "inf", "1/0", "-1", "x" * 50, [], {}, [[]]]


@given(data=st.data())
def test_the_checker_agrees_with_the_reference(data, records):
    jsonschema = pytest.importorskip("jsonschema")
    record = records[data.draw(st.sampled_from([*MAKERS, *NOT_PRIVATE]))]
    junk = data.draw(st.sampled_from(JUNK).map(lambda one: [one]) | st.just([]))
    record = edited(record, data.draw(st.sampled_from(list(places(record)))), *junk)
    assert (misfit(record, SCHEMAS[-1]) is None) == jsonschema.Draft202012Validator(schema()).is_valid(record)
