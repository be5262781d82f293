"""A ledger under 1000 crashes of 8 processes: no entry is lost, none is there twice, and the ceiling is never passed.

The crashes happen in a fresh interpreter that runs this file, where forks are cheap. A third of them are SIGKILL from outside, at
a random moment; the others end the process, or let a system call fail, at a random system call, a write at a random byte.
"""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

WORKERS, CRASHES = 8, 1000
CEILING = 600
CALLS = {"open", "fstat", "stat", "pread", "pwrite", "fsync", "ftruncate", "close"}


class FaultyOs:
    """The functions of `os`, of which the n-th system call crashes the process or fails."""

    def __init__(self, at, exits, rng):
        self._left, self._exits, self._rng = at, exits, rng

    def __getattr__(self, name):
        real = getattr(os, name)
        if name not in CALLS:
            return real

        def call(*arguments, **options):
            self._left -= 1
            if self._left != 0:
                return real(*arguments, **options)
            if name == "pwrite":
                file, data, offset = arguments
                real(file, data[: self._rng.randrange(len(data) + 1)], offset)
            elif self._rng.random() < 0.5:
                real(*arguments, **options)  # the crash comes right after it
            if self._exits:
                os._exit(9)
            raise OSError(28, "No space left on device")

        return call


def spend_all(ledger, ids, acknowledge, rng):
    """Charge one unit for each id, and tell when it is safe or refused; that an id is there already says that it is safe."""
    from spinney.exceptions import BudgetError, ParameterError
    from spinney.privacy.charges import Charge, Measure

    for name in ids:
        try:
            note = "x" * rng.randrange(300)  # so that what a crash cut short may be longer than the next line
            ledger.spend([Charge("all", "counts", Measure.PURE, Fraction(1))], note=note, entry_id=name)
            os.write(acknowledge, f"+{name}\n".encode())
        except ParameterError:
            os.write(acknowledge, f"+{name}\n".encode())
        except BudgetError:
            os.write(acknowledge, f"-{name}\n".encode())


def crash_once(ledger, path, ids, acknowledge, rng):
    """Fork a process that charges these ids and does not live to see the end; return how it was stopped."""
    from spinney.exceptions import DataError
    from spinney.ledgers import journal
    from spinney.ledgers.ledger import Ledger

    kind = rng.choice(["kill", "exit", "fail"])
    at = rng.randrange(1, 8 * len(ids) + 4)
    child = os.fork()
    if child == 0:
        try:
            if kind != "kill":
                journal.os = FaultyOs(at, kind == "exit", rng)
            if rng.random() < 0.05:
                ledger = Ledger(path)
            spend_all(ledger, ids, acknowledge, rng)
            os._exit(0)
        except DataError:
            os._exit(1)  # a system call failed, and the program stops there
        except BaseException as error:
            os.write(2, f"{error!r}\n".encode())
            os._exit(2)
    if kind == "kill":
        time.sleep(rng.uniform(0, 0.012))
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert not (os.WIFEXITED(status) and os.WEXITSTATUS(status) == 2)
    return "none" if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0 else kind


def work(folder, worker):
    """Crash again and again, then go on until the ledger is full; what was not acknowledged is tried again under its id."""
    from spinney.ledgers.ledger import Ledger

    rng = random.Random(worker)
    path, told = folder / "ledger", folder / f"told {worker}"
    stops = {"kill": 0, "exit": 0, "fail": 0, "none": 0}
    acknowledge = os.open(told, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
    ledger = Ledger(path)
    while sum(stops.values()) - stops["none"] < CRASHES / WORKERS:
        ledger.entries  # noqa: B018  (looks at the file, so that the next process has little to read)
        done = len(told.read_text().splitlines())
        stops[crash_once(ledger, path, [f"{worker}-{done + i}" for i in range(3)], acknowledge, rng)] += 1
    while "\n-" not in told.read_text():
        spend_all(ledger, [f"{worker}-{len(told.read_text().splitlines())}"], acknowledge, rng)
    (folder / f"stops {worker}").write_text(json.dumps(stops))


def drive(folder):
    from spinney.ledgers.ledger import Ledger

    Ledger(folder / "ledger", epsilon=CEILING)
    children = []
    for worker in range(WORKERS):
        child = os.fork()
        if child == 0:
            try:
                work(folder, worker)
                os._exit(0)
            finally:
                os._exit(1)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * WORKERS
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    (folder / "cpu").write_text(str(sum(one.ru_utime + one.ru_stime for one in used)))


def test_a_thousand_crashes_of_eight_processes(tmp_path):
    from spinney import BudgetError, Ledger

    subprocess.run([sys.executable, __file__, str(tmp_path)], check=True, timeout=300)
    stops = [json.loads((tmp_path / f"stops {worker}").read_text()) for worker in range(WORKERS)]
    crashes = {kind: sum(stop[kind] for stop in stops) for kind in ("kill", "exit", "fail")}
    assert sum(crashes.values()) >= CRASHES
    assert min(crashes.values()) >= CRASHES / 10

    told = [line for worker in range(WORKERS) for line in (tmp_path / f"told {worker}").read_text().splitlines()]
    accepted = {line[1:] for line in told if line.startswith("+")}
    refused = {line[1:] for line in told if line.startswith("-")}
    ledger = Ledger(tmp_path / "ledger")
    ids = [entry.id for entry in ledger.entries]
    assert len(ids) == len(set(ids))  # none twice
    assert accepted == set(ids)  # none lost
    assert refused.isdisjoint(ids)
    assert len(refused) >= WORKERS  # each was refused in the end
    assert len(ids) == ledger.spent == CEILING
    assert all(entry.charges[0].amount == 1 for entry in ledger.entries)
    try:
        ledger.spend(ledger.entries[0].charges)
    except BudgetError:
        pass
    else:
        raise AssertionError("the ceiling was passed")
    assert float((tmp_path / "cpu").read_text()) < 40


if __name__ == "__main__":
    drive(Path(sys.argv[1]))
