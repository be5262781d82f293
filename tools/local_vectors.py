"""Writes the test vectors of the local model's format, ``docs/local-vectors.json``: for a new version of the format."""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from reports import TOKEN, domain_of, policy_for, question_of, run_python  # noqa: E402

PATH = ROOT / "docs" / "local-vectors.json"
WIDE = domain_of(1048576, 524288, 65536, lower="-1.0", step="1.9073486328125e-06")
CENTERS = {"centers": [[300000, 200000, 1000], [700000, 100000, 60000]], "radii": [33554432, 400000], "reaches": [90000, 50000]}


def questions():
    """Yield questions of every kind, on a tiny and on a wide grid, with the policies that allow them."""
    for domain, more in ((domain_of(4, 2), {}), (WIDE, CENTERS)):
        policy = policy_for(domain, epsilon="9")
        regions = {name: more[name] for name in ("centers", "radii") if name in more}
        anchors = {"anchors": more["centers"]} if more else {}
        yield question_of("cells", domain, shape="111010000" if more else "11000"), policy
        yield question_of("regions", domain, epsilon="1/2", **regions), policy
        for kernel, bins in (("mean", 2), ("median", 2), ("mean", 8)):
            yield question_of("offsets", domain, epsilon="7/10", kernel=kernel, bins=bins, **more), policy
        for power in (1, 2):
            points = {"first": more["centers"][:1], "second": more["centers"], "range": 10**6} if more else {}
            yield question_of("cost", domain, power=power, **points), policy
        yield question_of("sums", domain, resolution=1024 if more else 4, **more, **anchors), policy


def hostile():
    """Yield questions that a device refuses, with its policy."""
    good, policy = question_of("cells"), policy_for()
    for field, value in (
        ("epsilon", "2"), ("epsilon", "0"), ("epsilon", "1e3"), ("epsilon", 1), ("epsilon", "1/0"), ("delta", "1"),
        ("kind", "row"), ("kind", "__proto__"), ("shape", "1"), ("shape", "111"), ("shape", "0x"), ("noise", {}),
        ("noise", {"threshold": 1}),
        ("noise", {"threshold": -1}), ("noise", {"threshold": 2**53}), ("domain", domain_of(4, 4)), ("domain", {}),
        ("id", "\u00e9"), ("group", {"salt": "s", "parts": 2, "first": 1, "last": 1}), ("group", None),
        ("format", "spinney-question/2"), ("extra", 1),
    ):  # fmt: skip
        yield json.dumps(json.loads(good) | {field: value}), policy
    for text in ("", "null", "[]", "{", '{"format": NaN}', "[" * 5000, good + "\u00e9", "\ufeff" + good, good + " ", good + "x"):
        yield text, policy
    for parts in ("1.0", "1e0", "10e-1", "1e400", "true", "-1", "01", "[[[1]]]", "1" + "0" * 16, "1" + "0" * 5000, '"1"'):
        yield good.replace('"parts": 1', f'"parts": {parts}'), policy
    yield good.replace('"id": "q"', '"id": "\\\\"'), policy
    yield good.replace('"id": "q"', '"id": "q", "id": "last"'), policy
    for shape in ("1001100", "1000110", "10100", "1" * 101 + "0" * 102):
        yield question_of("cells", shape=shape), policy_for(most_slots=1024)
    for changes in (
        {"kinds": ["cost"]}, {"most_slots": 2}, {"most_questions": 0}, {"question_epsilon": "99/100"}, {"epsilon": "0"},
        {"domain": domain_of(4, 2, step="2")}, {"most_slots": None}, {"most_slots": "64"}, {"most_questions": -1},
        {"widest_radius": True}, {"kinds": "cells"}, {"kinds": [1]}, {"epsilon": 1}, {"question_delta": "1/0"}, {"domain": []},
    ):  # fmt: skip
        yield good, policy_for(**changes)
    yield question_of("regions", radii=[9, 9]), policy_for(widest_radius=8)
    yield question_of("sums", noise={"variance": 100, "order": 5}), policy_for()
    yield question_of("sums", anchors=[[0, 0]]), policy_for()
    yield question_of("offsets", reaches=[0, 1]), policy_for()
    yield question_of("cost", range=0), policy_for()


def broken_states():
    """Yield states that no device wrote."""
    kept = {"epsilon": "1/2", "delta": "0", "report": "{}"}
    yield from ([], None, "x", {"token": 7}, {"token": []}, {"token": "\u00e9"}, {"reports": []}, {"reports": None})
    for change in ({"epsilon": None}, {"epsilon": "x"}, {"delta": 0}, {"report": 1}):
        yield {"token": TOKEN, "reports": {"a": kept | change}}
    yield from ({"token": TOKEN, "reports": {"a": one}} for one in (None, [], "x", {}))


def vectors():
    """Return tasks with the messages and the states that devices answer with."""
    broken = [["!NaN", 0, 0], None, [1, 2], ["!Infinity", 0, 0], [True, 0, 0]]
    wide = [[0.123456789, -0.75, -0.9], [-1, -1, -1], [1e308, -1e308, 0], *broken]
    tiny = [[0, 0], [3, 1], [2.999999, 0.5], [-7, 99], None, ["2", 0]]
    tasks = []
    for question, policy in questions():
        for i, row in enumerate(tiny if len(policy["domain"]["steps"]) == 2 else wide):
            state = {} if i == 0 else {"token": TOKEN}
            tasks.append({"row": row, "question": question, "policy": policy, "state": state, "seed": f"vector {len(tasks)}"})
    for question, policy in hostile():
        tasks.append({"row": [1, 1], "question": question, "policy": policy, "state": {"token": TOKEN}, "seed": "refused"})
    for state in broken_states():
        tasks.append({"row": [1, 1], "question": question_of("cells"), "policy": policy_for(), "state": state, "seed": "broken"})
    for task, (message, state) in zip(tasks, run_python(tasks), strict=True):
        task |= {"message": message, "state_after": state}
    return tasks


if __name__ == "__main__":
    PATH.write_text("[\n" + ",\n".join(json.dumps(vector) for vector in vectors()) + "\n]\n", encoding="utf-8")
    print(f"Wrote {PATH.name}.")
