"""Devices for tests: questions on tiny grids, the exact law of a reply, and the JavaScript device in node."""

import hashlib
import itertools
import json
import math
import shutil
import subprocess
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from spinney.local.asking import least_gaussian, least_threshold
from spinney.local.device import FINE, KINDS, WIDEST, offsets_of, respond, slots_of

HERE = Path(__file__).parent
DEVICE = HERE.parent / "src" / "spinney" / "local" / "device.js"
RUNNER = HERE / "device_runner.js"
TOKEN = "00112233445566778899aabbccddeeff"
WORD = 2**32


def domain_of(*steps, lower="0", step="1"):
    return {"lower": [lower] * len(steps), "step": step, "steps": list(steps)}


def question_of(kind, domain=None, epsilon="1", delta="0", parts=1, name="q", resolution=4, **fields):
    """Return a question as text; fields replace those of a small default of its kind."""
    domain = domain_of(4, 2) if domain is None else domain
    d = len(domain["steps"])
    regions = {"centers": [[0] * d, [3] * d], "radii": [2, 3]}
    defaults = {
        "cells": {"shape": "11000"},
        "regions": regions,
        "offsets": {**regions, "reaches": [2, 3], "kernel": "mean", "bins": 2},
        "cost": {"first": [[0] * d], "second": [[3] * d, [1] * d], "power": 2, "range": 9},
        "sums": {**regions, "reaches": [2, 3], "anchors": [[0] * d, [3] * d], "resolution": resolution},
    }[kind]
    if kind == "sums":
        delta = "1/1000" if delta == "0" else delta
        noise = dict(zip(("variance", "order"), least_gaussian(Fraction(epsilon), Fraction(delta), resolution), strict=True))
    else:
        noise = {"threshold": least_threshold(Fraction(epsilon))}
    group = {"salt": "salt", "parts": parts, "first": 0, "last": parts}
    asked = {"format": "spinney-question/1", "id": name, "kind": kind, "epsilon": epsilon, "delta": delta, "domain": domain}
    return json.dumps(asked | {"group": group, "noise": noise} | defaults | fields)


def policy_for(domain=None, **changes):
    policy = {
        "format": "spinney-policy/1", "domain": domain_of(4, 2) if domain is None else domain, "kinds": sorted(KINDS),
        "epsilon": "1", "delta": "1/1000", "question_epsilon": "1", "question_delta": "1/1000", "most_slots": 64,
        "widest_radius": WIDEST, "most_questions": 8,
    }  # fmt: skip
    return policy | changes


def stream_of(seed):
    """Return a source of bytes that any language can make: SHA-256 of the seed and a counter, again and again."""
    waiting, counter = bytearray(), itertools.count()

    def take(count):
        while len(waiting) < count:
            waiting.extend(hashlib.sha256(f"{seed}:{next(counter)}".encode()).digest())
        part = bytes(waiting[:count])
        del waiting[:count]
        return part

    return take


def stream_of_words(words):
    content = b"".join(word.to_bytes(4, "big") for word in words)

    def take(count):
        nonlocal content
        part, content = content[:count], content[count:]
        return part.ljust(count, b"\0")

    return take


def row_of(row):
    """Return a row of a vector: a text that begins with an exclamation mark is a number that JSON does not have."""
    names = {"!NaN": float("nan"), "!Infinity": float("inf"), "!-Infinity": float("-inf")}
    return [names.get(x, x) if isinstance(x, str) else x for x in row] if isinstance(row, list) else row


def run_python(tasks):
    found = []
    for task in tasks:
        state = json.loads(json.dumps(task["state"]))
        entropy = {"entropy": stream_of_words(task["words"])} if "words" in task else {}
        entropy = {"entropy": stream_of(task["seed"])} if not entropy and task.get("seed") is not None else entropy
        message = respond(row_of(task["row"]), task["question"], task["policy"], state, **entropy)
        found.append(
            [message, state, respond(None, task["question"], task["policy"], state)] if task.get("again") else [message, state]
        )
    return found


def run_node(tasks):
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed, which runs the JavaScript device")
    result = subprocess.run([node, RUNNER, DEVICE], input=json.dumps(tasks), capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


def _replies(rows, question, policy, words, run):
    tasks = [
        {"row": row, "question": question, "policy": policy, "state": {"token": TOKEN}, "words": list(one)}
        for row in rows
        for one in words
    ]
    found = [message for message, _ in run(tasks)]
    assert all("report" in json.loads(message)["format"] for message in found)
    return [found[i * len(words) : (i + 1) * len(words)] for i in range(len(rows))]


def laws_of(rows, question, policy, places, run):
    """Return the exact law of the reply to a question for each row, as whole numbers of 2^(-32 words).

    A reply reads some words, and along each of them it changes at few places, which are given. That it is the same between them
    is seen at both ends of each piece: a reply compares words, so that it changes nowhere else.
    """
    pieces = [list(itertools.pairwise(sorted({0, *marks, WORD}))) for marks in places]
    cells = list(itertools.product(*pieces))
    ends = [tuple(low for low, _ in cell) for cell in cells] + [tuple(high - 1 for _, high in cell) for cell in cells]
    laws = []
    for replies in _replies(rows, question, policy, ends, run):
        assert replies[: len(cells)] == replies[len(cells) :], "a reply changes at a place that was not given"
        law = Counter()
        for cell, reply in zip(cells, replies, strict=False):
            law[reply] += math.prod(high - low for low, high in cell)
        assert sum(law.values()) == WORD ** len(places)
        laws.append(law)
    return laws


def places_of(question):
    """Return where the replies to a question may change along each word that it reads."""
    asked = json.loads(question)
    kind, cuts = asked["kind"], [asked["noise"].get("threshold", 0), WORD // 2]
    slots = slots_of(asked)
    if kind == "cost":
        return [[i * WORD // (2 * asked["range"]) for i in range(2 * asked["range"])], cuts[:1]]
    if kind != "offsets":
        return [cuts] * slots
    columns, bins = len(asked["domain"]["steps"]) + (asked["kernel"] == "median"), asked["bins"]
    ends = [-(-i * WORD // columns) for i in range(columns)]
    points = itertools.product(*(range(count) for count in asked["domain"]["steps"]))
    regions = list(zip(asked["centers"], asked["reaches"], strict=True))
    found = (offsets_of(list(p), *region, asked["kernel"], FINE) for p in points for region in regions)
    values = {value for offsets in found for value in offsets[:columns]}
    roundings = [(value + FINE) * (bins - 1) % (2 * FINE) * (WORD // (2 * FINE)) for value in values]
    return [ends, roundings, *[cuts] * slots]
