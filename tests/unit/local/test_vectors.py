"""The format's test vectors: in Python, in node, and in a real browser."""

import html
import json
import random
import re
import shutil
import subprocess

import pytest

from reports import DEVICE, RUNNER, TOKEN, policy_for, question_of, run_node, run_python
from tools.local_vectors import PATH, vectors

VECTORS = json.loads(PATH.read_text(encoding="utf-8"))
EXPECTED = [[vector["message"], vector["state_after"]] for vector in VECTORS]


def test_vectors_have_reports_of_every_kind_and_many_refusals():
    assert vectors() == VECTORS
    asked = [json.loads(vector["question"]) for vector in VECTORS if "spinney-report" in vector["message"]]
    assert {one["kind"] for one in asked} == {"cells", "regions", "offsets", "cost", "sums"}
    reasons = {json.loads(vector["message"]).get("reason") for vector in VECTORS}
    assert len(reasons) > 15


def test_python_gives_the_vectors():
    assert run_python(VECTORS) == EXPECTED


def test_javascript_gives_the_vectors_in_node():
    assert run_node(VECTORS) == EXPECTED


PARTS = ["1.0", "1e0", "-0", "null", "true", "NaN", "[]", "{}", "[[0]]", '"x"', '"1/2"', "0", "1", "-1", "9" * 16, "9" * 17, "\\"]


def changed(text, rng):
    """Return a question with a few small faults, most of which a device refuses."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        way = rng.randrange(4)
        if way == 0:
            places = [found.span() for found in re.finditer(r'-?[0-9]+|"[^"]*"|\[[^\[\]]*\]', text)]
            start, end = rng.choice(places)
            text = text[:start] + rng.choice(PARTS) + text[end:]
        elif way == 1:
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice('"{}[]:,0159.eE- \t\u00e9x') + text[at + 1 :]
        elif way == 2:
            start = rng.randrange(len(text))
            text = text[:start] + text[start + rng.randrange(1, 9) :]
        else:
            text = text.replace(rng.choice(["1", "0", ",", '"', "]"]), rng.choice(["1", "2", "0.0", "", " "]), 1)
    return text


def test_both_devices_refuse_the_same_questions_for_the_same_reasons():
    rng, kinds = random.Random(5), ("cells", "regions", "offsets", "cost", "sums")
    policy = policy_for(epsilon="9", most_slots=4096)
    texts = [changed(question_of(rng.choice(kinds)), rng) for _ in range(3000)]
    tasks = [{"row": [1, 1], "question": text, "policy": policy, "state": {"token": TOKEN}, "seed": "same"} for text in texts]
    found = run_python(tasks)
    assert run_node(tasks) == found
    reasons = {json.loads(message).get("reason") for message, _ in found}
    assert None in reasons
    assert len(reasons) > 12


def test_javascript_gives_the_vectors_in_a_browser(tmp_path):
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("no Chromium is installed, which runs the JavaScript device in a page")
    page = tmp_path / "page.html"
    script = (
        "document.body.textContent = JSON.stringify(runTasks(spinney, JSON.parse(document.getElementById('tasks').textContent)));"
    )
    tasks = json.dumps(VECTORS).replace("</", "<\\/")
    sources = "".join(f"<script>{path.read_text(encoding='utf-8')}</script>" for path in (DEVICE, RUNNER))
    page.write_text(
        f"<!doctype html><meta charset=utf-8><body><script id=tasks type=application/json>{tasks}</script>"
        f"{sources}<script>{script}</script></body>",
        encoding="utf-8",
    )
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}", "--dump-dom", page.as_uri()]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    body = re.search(r"<body>(.*)</body>", result.stdout, flags=re.DOTALL)
    assert json.loads(html.unescape(body[1])) == EXPECTED
