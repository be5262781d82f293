"""Files that are written whole: nobody can guess where, nothing is half there, and states are safe before reports leave."""

import json
import os
import stat
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

from spinney.cli import files
from spinney.cli.files import held, made_once, written_whole
from spinney.cli.main import main
from spinney.exceptions import DataError
from spinney.ledgers import journal
from spinney.local import Session, policy_of

DEVICES, PROCESSES = 200, 3
#: What a process of its own does: it is ready, waits for the others, and answers its question.
RESPONDING = """
import sys
from spinney.cli.main import main
import spinney.local.device
print("ready", flush=True)
sys.stdin.readline()
main(sys.argv[1:])
"""


@pytest.fixture
def asked(tmp_path):
    """Rows of devices, questions that differ, and a policy that allows one of them."""
    session = Session({"n_clusters": 2, "epsilon": 1.0, "bounds": (-1, 1)}, n_features=1, random_state=1)
    record = json.loads(session.question)
    record["group"] |= {"first": 0, "last": record["group"]["parts"]}  # all devices
    for i in range(PROCESSES):
        (tmp_path / f"q{i}.json").write_text(json.dumps(record | {"id": f"question {i}"}))
    (tmp_path / "rows.jsonl").write_text("[0.5]\n" * DEVICES)
    policy = policy_of(session)
    (tmp_path / "policy.json").write_text(json.dumps(policy | {"most_questions": 99}))
    return tmp_path


def command(folder, i):
    line = f"respond q{i}.json rows.jsonl --policy policy.json --states states.jsonl --out reports{i}.jsonl"
    return ["local", *(str(folder / word) if "." in word else word for word in line.split())]


def states_of(folder):
    return [json.loads(line) for line in (folder / "states.jsonl").read_text().splitlines()]


def sent(folder):
    """The reports that left, by device."""
    found = [[] for _ in range(DEVICES)]
    for path in folder.glob("reports*.jsonl"):
        for device, line in zip(found, path.read_text().splitlines(), strict=True):
            device.extend([line] if json.loads(line)["format"] == "spinney-report/1" else [])
    return found


def check_states(folder):
    """Every report that left is in the state of its device, and no device spent more than its ceiling."""
    ceiling = Fraction(json.loads((folder / "policy.json").read_text())["epsilon"])
    for state, reports in zip(states_of(folder), sent(folder), strict=True):
        kept = state.get("reports", {}).values()
        assert set(reports) <= {one["report"] for one in kept}
        assert sum(Fraction(one["epsilon"]) for one in kept) <= ceiling


def test_processes_that_answer_at_once_never_pass_the_ceiling_of_a_device(asked):
    children = [
        subprocess.Popen(
            [sys.executable, "-c", RESPONDING, *command(asked, i)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for i in range(PROCESSES)
    ]
    assert [child.stdout.readline() for child in children] == ["ready\n"] * PROCESSES
    for child in children:
        child.stdin.write("\n")
        child.stdin.flush()
    for child in children:
        child.communicate()
        assert child.returncode == 0
    check_states(asked)
    assert [len(reports) for reports in sent(asked)] == [1] * DEVICES


class Crash(BaseException):
    """The process ends here."""


CALLS = ("open", "fsync", "link", "replace", "close")


def test_a_crash_at_any_system_call_leaves_no_report_that_its_device_forgot(asked, monkeypatch):
    calls = []

    def crashing(name, at):
        real = getattr(os, name)

        def call(*arguments, **options):
            calls.append(name)
            if len(calls) == at:
                raise Crash
            return real(*arguments, **options)

        return call

    class Faulty:
        def __init__(self, at):
            self.__dict__.update({name: crashing(name, at) for name in CALLS})

        def __getattr__(self, name):
            return getattr(os, name)

    for at in range(1, 60):
        calls.clear()
        for module in (files, journal):
            monkeypatch.setattr(module, "os", Faulty(at))
        for path in asked.glob("reports*"):
            path.unlink()
        if at % 3 == 0 and (asked / "states.jsonl").exists():
            (asked / "states.jsonl").unlink()  # new devices
        result = CliRunner().invoke(main, command(asked, 0))
        if (asked / "states.jsonl").exists():
            assert len(states_of(asked)) == DEVICES
        if (asked / "reports0.jsonl").exists():
            check_states(asked)
        if len(calls) < at:
            assert result.exit_code == 0, result.output
            return
    raise AssertionError("it never ended")


def test_states_are_on_the_disk_before_a_report_is_written(asked, monkeypatch):
    events = []

    class Watching:
        def __getattr__(self, name):
            return getattr(os, name)

        def fsync(self, descriptor):
            is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
            events.append("folder" if is_folder else "file")
            os.fsync(descriptor)

        def replace(self, part, path):
            events.append(Path(path).name)
            os.replace(part, path)

    (asked / "states.jsonl").write_text("{}\n" * DEVICES)
    for module in (files, journal):
        monkeypatch.setattr(module, "os", Watching())
    assert CliRunner().invoke(main, command(asked, 0)).exit_code == 0
    assert events == ["file", "states.jsonl", "folder", "file", "reports0.jsonl", "folder"]


def test_an_empty_states_file_is_refused_and_no_ceiling_starts_anew(asked):
    (asked / "states.jsonl").write_text("")
    assert CliRunner().invoke(main, command(asked, 0)).exit_code == 3
    assert not (asked / "reports0.jsonl").exists()


def test_a_part_that_becomes_a_link_is_not_taken(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("as it was")

    def write():
        with written_whole(tmp_path / "out.json") as part:
            part.unlink()
            part.symlink_to(victim)

    with pytest.raises(OSError):  # noqa: PT011  (its text is the system's)
        write()
    assert [one.name for one in tmp_path.iterdir()] == ["victim"]


def test_a_file_keeps_its_mode_and_a_new_one_has_that_of_the_system(tmp_path):
    path, plain = tmp_path / "out", tmp_path / "plain"
    plain.touch()
    with written_whole(path) as part:
        part.write_text("a")
    assert path.stat().st_mode == plain.stat().st_mode
    for mode in (0o600, 0o400, 0o640):
        path.chmod(mode)
        with written_whole(path) as part:
            part.write_text("b")
        assert stat.S_IMODE(path.stat().st_mode) == mode


def test_a_file_is_made_once_and_held_by_one(tmp_path):
    path = tmp_path / "session"
    assert made_once(path, "first")
    assert not made_once(path, "second")
    with held(path, lambda: "third"):
        assert path.read_text() == "first"
    assert [one.name for one in tmp_path.iterdir()] == ["session"]
    with pytest.raises(DataError, match="is no file"), held(Path("/dev/null"), str):
        pass
