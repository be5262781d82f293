"""The device file: alone, exact samplers, and measured from outside."""

import ast
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from alarms import check_frequencies
from reports import domain_of, policy_for, question_of, run_node
from spinney.local import Session, device, policy_of, respond

SOURCE = Path(device.__file__)


def test_the_device_imports_the_standard_library_alone():
    tree = ast.parse(SOURCE.read_text(encoding="utf-8"))
    names = {one.name for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names}
    names |= {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in names} <= set(sys.stdlib_module_names) | {"__future__"}


def test_a_copy_of_the_device_alone_answers(tmp_path):
    copy = tmp_path / "device.py"
    copy.write_text(SOURCE.read_text(encoding="utf-8"), encoding="utf-8")
    script = "import json, sys, device; q, p = json.load(sys.stdin); print(device.respond([1, 1], q, p, {}))"
    task = json.dumps([question_of("cells"), policy_for()])
    command = [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); {script}"]
    result = subprocess.run(command, input=task, capture_output=True, text=True, check=True)
    assert json.loads(result.stdout)["format"] == "spinney-report/1"


def law_of(variance, places):
    weights = np.exp(-(np.arange(-60, 61) ** 2) / (2 * variance))
    return np.exp(-(places**2) / (2 * variance)) / weights.sum()


def test_discrete_gaussian_numbers_of_javascript_have_their_law():
    question = question_of("sums", epsilon="60", delta="1/2", resolution=1, radii=[0, 0], centers=[[9, 9], [9, 9]])
    variance = json.loads(question)["noise"]["variance"]
    policy = policy_for(epsilon="60", question_epsilon="60", delta="1/2", question_delta="1/2")
    tasks = [{"row": [0, 0], "question": question, "policy": policy, "state": {}, "seed": f"law {i}"} for i in range(3000)]
    drawn = np.array([json.loads(message)["values"] for message, _ in run_node(tasks)]).ravel()
    places = np.arange(-30, 31)
    check_frequencies([(drawn == place).sum() for place in places], law_of(variance, places), 1e-6)


def test_threads_share_one_ceiling():
    """Many questions at once, under a policy that allows one of them."""
    session = Session({"n_clusters": 2, "epsilon": 1.0, "bounds": (0, 1)}, n_features=1, random_state=1)
    policy, state = policy_of(session) | {"most_questions": 1}, {}
    asked = json.loads(session.question)
    group = asked["group"] | {"first": 0, "last": asked["group"]["parts"]}
    texts = [json.dumps({**asked, "id": f"{asked['id']}-{i}", "group": group}) for i in range(24)]
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda text: respond([0.5], text, policy, state), texts))
    assert sum('"spinney-report/1"' in reply for reply in replies) == 1
    assert len(state["reports"]) == 1


class Counted(list):
    """A list that counts how often it is read, whatever is found."""

    def __init__(self, values):
        super().__init__(values)
        self.reads = 0

    def __getitem__(self, at):
        self.reads += 1
        return super().__getitem__(at)


@pytest.mark.parametrize("shape", ["0", "100", "11000", "1010100", "10" * 9 + "0", "1" * 7 + "0" * 8])
def test_a_cell_is_found_in_as_many_steps_for_every_row(shape):
    asked = json.loads(question_of("cells", domain_of(64, 8), shape=shape))
    points = [Counted([x, y]) for x in range(64) for y in range(8)]
    cells = {device._leaf(point, asked) for point in points}
    assert cells == set(range(shape.count("0")))
    assert {point.reads for point in points} == {device.depth_of(shape)}


@pytest.mark.parametrize("shape", ["1", "10", "00", "000", "1001100", "111", "10000", "1000110", "01"])
def test_cells_that_are_no_tree_are_refused(shape):
    message = json.loads(respond([1, 1], question_of("cells", shape=shape), policy_for(), {}))
    assert message["reason"] == "its cells"
