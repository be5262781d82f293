"""Findings: what breaks a promise, and JSON and back."""

import json
import math

from spinney.audit.findings import Finding, Findings

HOLDS = Finding("replay", "k-means, tree", 1.0, 1e-6, 0.93, tried={"pairs": 500}, cannot_see=("running time",))
LOSES = Finding("exact", "k-means, tree", 1.0, 0.0, 1.5)
DIFFERS = Finding("replay", "k-means, own", 2.0, 0.0, 0.2, faults=("another question",))
ENDLESS = Finding("replay", "k-means, no noise", math.inf, 0.0, math.inf)


def test_a_larger_bound_or_a_fault_breaks_a_promise():
    assert [one.broken for one in (HOLDS, LOSES, DIFFERS, ENDLESS)] == [False, True, True, False]
    assert "holds, 0.93 of epsilon 1" in HOLDS.words
    assert "BROKEN" in DIFFERS.words
    assert "another question" in DIFFERS.words


def test_findings_survive_json_and_the_worst_one_is_named():
    findings = Findings.of([HOLDS, LOSES, DIFFERS, ENDLESS])
    assert findings.broken
    assert findings.worst == LOSES
    assert not Findings((HOLDS,)).broken
    assert Findings.from_dict(json.loads(findings.to_json())) == findings
