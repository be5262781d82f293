"""The format's test vectors: in Python, in node, and in a real browser."""

import html
import json
import re
import shutil
import subprocess

import pytest

from benchmarks.local_vectors import PATH, vectors
from reports import DEVICE, RUNNER, run_node, run_python

VECTORS = json.loads(PATH.read_text(encoding="utf-8"))
EXPECTED = [[vector["message"], vector["state_after"]] for vector in VECTORS]


def test_the_vectors_are_what_the_benchmark_writes():
    assert vectors() == VECTORS


def test_vectors_have_reports_of_every_kind_and_many_refusals():
    asked = [json.loads(vector["question"]) for vector in VECTORS if "spinney-report" in vector["message"]]
    assert {one["kind"] for one in asked} == {"cells", "regions", "offsets", "cost", "sums"}
    reasons = {json.loads(vector["message"]).get("reason") for vector in VECTORS}
    assert len(reasons) > 15


def test_python_gives_the_vectors():
    assert run_python(VECTORS) == EXPECTED


def test_javascript_gives_the_vectors_in_node():
    assert run_node(VECTORS) == EXPECTED


def test_javascript_draws_from_the_system_and_repeats_its_report():
    task = VECTORS[1] | {"seed": None, "again": True}
    found = run_node([task] * 20)
    assert len({message for message, _, _ in found}) > 1
    assert all(message == again for message, _, again in found)


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
