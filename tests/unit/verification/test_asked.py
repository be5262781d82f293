"""Edits that are lawful by themselves and not what the algorithm asked: a whole record of another question, a charge left out."""

import copy
import itertools
import json
import re
from fractions import Fraction

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from spinney import PrivateKMeans, PrivateKMedian
from spinney.algorithms.registry import HOMES
from spinney.exceptions import ParameterError
from spinney.privacy.charges import Charge
from spinney.privacy.pricing import Unit
from spinney.questions.blocks import Blocking
from spinney.questions.choose import Choosing
from spinney.questions.cost import Costing
from spinney.questions.counts import Counting
from spinney.questions.cover import Covering
from spinney.questions.grow import Splitting
from spinney.questions.levels import LevelCounting
from spinney.questions.minimize import Minimizing
from spinney.questions.persons import PersonCounting
from spinney.questions.sums import KERNELS, Summing
from spinney.questions.totals import Totaling
from spinney.verification.amounts import converted
from spinney.verification.asked import _ASKED, _SHAPE

from .conftest import MAKERS
from .test_checking import check, refused

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
@given(name=st.sampled_from(NAMES), place=st.integers(0, 60), kind=KINDS)
@example(name="tree", place=1, kind=Counting(1))  # bins of two columns that call themselves cells
@example(name="lloyd, tightened, persons", place=0, kind=Counting(1))
@example(name="description", place=2, kind=Counting(1))
@example(name="sample-aggregate", place=2, kind=Blocking(Counting(), 1))
@example(name="hst", place=0, kind=LevelCounting(2))
@example(name="coverage of rows", place=2, kind=Covering(4))
@example(name="cover", place=0, kind=Covering(1))
@example(name="cells", place=0, kind=Minimizing(2))  # of points, which have no columns
@example(name="description, zcdp, persons, replace", place=0, kind=PersonCounting())  # of whom one row counts
def test_no_record_of_another_question_passes_for_the_one_that_was_asked(name, place, kind, records, tmp_path_factory):
    record = copy.deepcopy(records[name])
    place %= len(record["charges"])
    charge = Charge.from_dict(record["charges"][place] | {"question": kind.question})
    try:
        noise = json.loads(json.dumps(kind.record(charge, Unit(record["adjacency"], record["max_rows_per_group"] or 1))))
    except (ParameterError, ValueError, ZeroDivisionError):  # no noise of this kind for such a charge
        assume(False)
    assume(unlike(record["mechanisms"][place], noise))
    # With delta the spread of columns may be told by their histograms or by their second moments.
    told = kind in (Counting(14), Summing("second-moment", 14))
    assume(not (name == "moments, zcdp, replace" and record["charges"][place]["name"] == "spread" and told))
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
        untold = charge["name"].startswith(("radii", "leaves")) and record.get("algorithm") in ("moments", "stable")
        if len(records[name]["charges"]) > 1 and charge["name"] not in UNTOLD.get(name, ()) and not untold:
            record["epsilon"] = min(spent(record) * (1 + 1e-12), record["epsilon"])
        assert refused(record, tmp_path), charge["name"]


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
    record["mechanisms"][1] = json.loads(json.dumps(Counting(1).record(charge, Unit())))
    assert refused(record, tmp_path)


def test_every_algorithm_of_the_house_has_its_questions_listed():
    here = {("release" if solves == "points" else "local" if solves == "users" else solves, name)
            for solves, names in HOMES.items() if solves not in ("cover", "description") for name in names}  # fmt: skip
    assert here | {("release", "one-cluster"), ("cover", "")} == set(_ASKED)


@pytest.mark.parametrize("name", HOMES["points"])
@pytest.mark.parametrize("estimator", [PrivateKMeans, PrivateKMedian])
def test_every_charge_of_a_plan_is_listed(name, estimator):
    """A name that is not listed would be taken at its word."""
    for delta, d in itertools.product((0.0, 1e-6), (2, 6, 14, 70)):
        plan = estimator(3, epsilon=1.0, delta=delta, bounds=(-1, 1), algorithm=name).plan(d)
        bases = ("tree", "moments") if name == "stable" else ()
        listed = _SHAPE.keys() | {one for key in (name, *bases) for part in _ASKED["release", key] for one in part}
        assert {re.sub(r"\d+", "#", charge.name) for charge in plan.charges} <= listed


def test_an_algorithm_of_others_is_taken_at_its_word(records, tmp_path):
    record = copy.deepcopy(records["tree"]) | {"algorithm": "theirs"}
    charge = Charge.from_dict(record["charges"][1])
    record["mechanisms"][1] = json.loads(json.dumps(Counting(1).record(charge, Unit())))
    assert check(record, tmp_path).holds
