"""Edits that are lawful by themselves and not what the algorithm asked: a whole record of another question, a charge left out.

`test_schedules.py` holds the data that tells them apart equal to the code.
"""

import copy
import itertools
import json
import re
from fractions import Fraction

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from benchmarks.lawful import before_families, is_new
from spinney.exceptions import ParameterError
from spinney.privacy import Charge, Unit
from spinney.questions import Blocking, Choosing, Costing, Counting, Covering, LevelCounting, Minimizing, Splitting, Totaling
from spinney.questions.persons import PersonCounting
from spinney.questions.sums import KERNELS, Summing
from spinney.verification.amounts import converted
from spinney.verification.noise import FAMILIES

from .conftest import MAKERS
from .test_checking import STORED, check, refused

NAMES = sorted(MAKERS)
FEW = st.integers(1, 4)
KINDS = st.one_of(
    st.builds(Counting, FEW | st.just(14)),
    st.builds(LevelCounting, FEW),
    st.builds(Summing, st.sampled_from(KERNELS), FEW | st.just(14)),
    st.builds(Covering, FEW | st.just(40)),
    st.builds(Minimizing, FEW),
    st.builds(Totaling, FEW),
    st.sampled_from([Costing(), Choosing(), Splitting(1), PersonCounting()]),
    st.builds(
        Blocking, st.sampled_from([Counting(), Counting(2), Splitting(1)]), FEW, st.sampled_from(["disjoint", "replacement"])
    ),
)
#: All families of cells, and a text that is none.
EVERY = sorted({one for some in FAMILIES.values() for one in some} | {"none", "cells"})
STATED = ", proved over the reals only"


def spent(record):
    """Return what the charges of a record add up to."""
    charges = record["charges"]
    sums = {
        name: sum((Fraction(one["amount"]) for one in charges if one["measure"] == name), Fraction())
        for name in ("epsilon", "rho")
    }
    own = sum((Fraction(one.get("delta", "0")) for one in charges), Fraction())
    return float(sums["epsilon"] + converted(sums["rho"], Fraction(repr(record["delta"])) - own))


def unlike(record, other):
    """Whether two records of noise differ in more than a threshold, on which no loss depends."""
    plain = [json.loads(json.dumps(one)) for one in (record, other)]
    for one in plain:
        one.get("about", one).pop("threshold", None)
    return plain[0] != plain[1]


@settings(max_examples=50, deadline=None)
@given(
    name=st.sampled_from(NAMES), place=st.integers(0, 60), kind=KINDS, family=st.sampled_from([*EVERY, "the same", "of format 2"])
)
@example(name="tree", place=1, kind=Counting(1), family="of format 2")  # bins of two columns that call themselves cells
@example(name="tree", place=1, kind=Counting(1), family="the same")
@example(name="tree", place=1, kind=Counting(1), family="tree")
@example(name="lloyd, tightened, persons", place=0, kind=Counting(1), family="of format 2")
@example(name="lloyd, tightened, persons", place=0, kind=Counting(1), family="rings")
@example(name="description", place=2, kind=Counting(1), family="of format 2")
@example(name="description", place=2, kind=Counting(1), family="clusters")
@example(name="sample-aggregate", place=2, kind=Blocking(Counting(), 1), family="the same")
@example(name="hst", place=0, kind=LevelCounting(2), family="the same")
@example(name="coverage of rows", place=2, kind=Covering(4), family="the same")
@example(name="cover", place=0, kind=Covering(1), family="the same")
@example(name="cells", place=0, kind=Minimizing(2), family="centers")  # of points, which have no columns
@example(name="description, zcdp, persons, replace", place=0, kind=PersonCounting(), family="clusters")  # of whom one row counts
def test_no_record_of_another_question_passes_for_the_one_that_was_asked(name, place, kind, family, records, tmp_path_factory):
    record = before_families(records[name]) if family == "of format 2" else copy.deepcopy(records[name])
    place %= len(record["charges"])
    own = {} if family == "of format 2" else {"family": record["mechanisms"][place]["family"] if family == "the same" else family}
    charge = Charge.from_dict(record["charges"][place] | {"question": kind.question})
    try:
        noise = json.loads(json.dumps(kind.record(charge, Unit(record["adjacency"], record["max_rows_per_group"] or 1)) | own))
    except (ParameterError, ValueError, ZeroDivisionError):  # no noise of this kind for such a charge
        assume(False)
    assume(unlike(record["mechanisms"][place], noise))
    record["mechanisms"][place], record["charges"][place] = noise, charge.to_dict()
    if any(one["question"] == "minimize" for one in record["charges"]) and STATED not in record["statement"]:
        record["statement"] += STATED
    assert refused(record, tmp_path_factory.getbasetemp())


#: How many rounds are asked is no parameter of these: the last may be left out.
UNTOLD = {"lloyd, tightened, persons": ("round 5",), "minimize": ("round 7",), "minimize, zcdp, persons, replace": ("round 7",)}
UNTOLD |= {"lloyd, descent": ("round 7", "stable step, 3"), "balcan": ("level 12",), "k-variates, persons": ("draw 3",)}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.matrix
def test_a_charge_that_is_left_out_is_missed(name, records, tmp_path):
    """Even if its record goes too and less is said to be spent; every charge is left out in turn, of a long series its ends."""
    names = [re.sub(r"\d+", "#", one["name"]) for one in records[name]["charges"]]
    for place, charge in enumerate(records[name]["charges"]):
        if 1 < place < len(names) - 2 and len(set(names[place - 2 : place + 3])) == 1:
            continue
        record = copy.deepcopy(records[name])
        del record["charges"][place], record["mechanisms"][place]
        if len(records[name]["charges"]) > 1 and charge["name"] not in UNTOLD.get(name, ()):
            record["epsilon"] = min(spent(record) * (1 + 1e-12), record["epsilon"])
        assert refused(record, tmp_path), charge["name"]


def families_swapped(record):
    """Yield a release with the family of each record in turn replaced by every other one, or left out."""
    for place, noise in enumerate(record["mechanisms"]):
        for family in (*EVERY, None):
            if family != noise["family"]:
                other = copy.deepcopy(record)
                if family is None:
                    del other["mechanisms"][place]["family"]
                else:
                    other["mechanisms"][place]["family"] = family
                yield other, (noise["name"], family)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.matrix
def test_a_family_that_is_swapped_missing_or_of_another_question_is_refused(name, records, tmp_path):
    """Of two records with one name but for numbers the first is enough."""
    seen = set()
    for other, (charge, family) in families_swapped(records[name]):
        key = re.sub(r"\d+", "#", charge), family
        if key not in seen:
            seen.add(key)
            assert refused(other, tmp_path), key


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.matrix
def test_a_release_of_format_2_holds_as_it_did(name, records, tmp_path):
    """And what no version before format 3 asked is refused in it."""
    assert refused(before_families(records[name]), tmp_path) == is_new(records[name])


#: Stored releases of the default's programs before format 3, which today's code makes no more.
BEFORE = ("kmeans-moments", "kmeans-tree-delta", "kmeans-tree-tightened-groups", "kmeans-found-k", "kmeans-stable")


@pytest.fixture
def before():
    return lambda name: json.loads((STORED / "0.2.0" / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", BEFORE)
def test_a_stored_release_of_format_2_holds_and_every_charge_that_is_left_out_of_it_is_missed(name, before, tmp_path):
    assert check(before(name), tmp_path).holds
    for place, charge in enumerate(before(name)["charges"]):
        record = before(name)
        del record["charges"][place], record["mechanisms"][place]
        assert refused(record, tmp_path), charge["name"]
    record = before(name)
    record["format"] = record["format"].replace("/2", "/3")
    assert refused(record, tmp_path)  # families are missing


def all_swaps(record):
    """Yield pairs of places whose records are of different questions."""
    told = [_questioned(noise) for noise in record["mechanisms"]]
    return [(i, j) for i, j in itertools.combinations(range(len(told)), 2) if told[i] != told[j]]


def _questioned(noise):
    """Return what tells a record's question: its family too, or without one how far a row moves counts."""
    moved = str(noise["answers"][0]["row_sensitivity"]) if noise["question"] == "counts" and "family" not in noise else None
    return noise["question"], noise.get("kernel"), noise.get("family"), moved


def swapped_names(record, one, other):
    """Return a record in which two charges, with all that they paid for, have each other's names."""
    record = copy.deepcopy(record)
    for part in (record["charges"], record["mechanisms"]):
        part[one]["name"], part[other]["name"] = part[other]["name"], part[one]["name"]
    return record


@pytest.mark.parametrize("name", [*BEFORE, *(name for name in NAMES if name.startswith(("tree", "moments")))])
def test_names_that_are_swapped_are_refused(name, before, records, tmp_path):
    record = before(name) if name in BEFORE else records[name]
    assert all_swaps(record)
    for one, other in all_swaps(record):
        assert refused(swapped_names(record, one, other), tmp_path), (one, other)


def renamed(record, place, name):
    record = copy.deepcopy(record)
    for part in (record["charges"], record["mechanisms"]):
        part[place]["name"] = name
    return record


def places_of(record):
    return {one["name"]: place for place, one in enumerate(record["charges"])}


def test_what_may_not_be_put_together_is_refused_and_so_is_a_gap(records, tmp_path):
    """All of the same question and family, so that only the names tell."""
    plain, pooled = records["tree, zcdp, wide, replace"], records["tree, one center"]
    places = places_of(plain)
    for there, wrong in (
        ("sizes", "rows + sizes"),
        ("sizes", "leaves + sizes"),
        ("sizes", "radii 3 + sizes"),
        ("rows", "columns + rows"),
        ("leaves", "leaves 1"),
        ("leaves", "leaves + no such name"),
        (next(name for name in places if name.endswith("step 3")), "step 4"),
        (next(name for name in places if name.endswith("radii 3")), "radii 0"),
    ):
        assert refused(renamed(plain, places[there], wrong), tmp_path), wrong
    for name in places_of(pooled):
        parts = name.split(" + ")
        for left in parts if len(parts) > 1 else ():
            if left not in ("columns", "splits"):  # an algorithm may leave these unspent, if it makes no summary
                less = " + ".join(one for one in parts if one != left)
                assert refused(renamed(pooled, places_of(pooled)[name], less), tmp_path), (name, left)
        assert refused(renamed(pooled, places_of(pooled)[name], f"{name} + {name}"), tmp_path), name


def test_bins_of_all_columns_are_told_from_cells_whoever_asks(records, tmp_path):
    """An algorithm of others is taken at its word, but a family says how far a row moves its counts."""
    record = copy.deepcopy(records["tree"]) | {"algorithm": "theirs"}
    charge = Charge.from_dict(record["charges"][1])
    assert record["mechanisms"][1]["family"] == "columns"
    for families, family, holds in ((1, "columns", False), (2, "columns", True), (2, "tree", False), (1, "tree", True)):
        noise = Counting(families).record(charge, Unit()) | {"family": family}
        record["mechanisms"][1] = json.loads(json.dumps(noise))
        assert refused(record, tmp_path) is not holds


@pytest.mark.parametrize("name", NAMES)
def test_margins_of_counts_are_those_of_their_noise(name, records, tmp_path):
    for field in ("sizes_margin", "rows_margin", "counts_margin", "persons_margin"):
        before = records[name].get(field)
        if before is not None and "reports" not in str(records[name]["charges"]):
            assert refused(records[name] | {field: before / 2 - 2}, tmp_path), field


def test_lists_are_as_long_as_clusters_and_columns(records, tmp_path):
    for name in ("tree", "lloyd, tightened, persons", "cells"):
        record = records[name]
        for field in ("sizes", "feature_names", "centers", "center_margins", "domain", "tightened"):
            if record.get(field) is None:
                continue
            other = copy.deepcopy(record)
            part = other[field]
            parts = [part] if field in ("sizes", "feature_names") else [part["lower"]] if isinstance(part, dict) else part
            parts[0].pop()
            assert refused(other, tmp_path), (name, field)


def test_a_narrower_domain_with_all_its_noise_is_refused(records, tmp_path):
    """Sensitivities rest on the number of columns: a domain of one column less is not that of the centers."""
    record = copy.deepcopy(records["tree"])
    for end in ("lower", "upper"):
        record["domain"][end].pop()
    charge = Charge.from_dict(record["charges"][1])
    record["mechanisms"][1] = json.loads(json.dumps(Counting(1).record(charge, Unit()) | {"family": "columns"}))
    assert refused(record, tmp_path)
