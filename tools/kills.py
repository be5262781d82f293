"""Kills a job with ``--run-id`` at random points, starts it again, and counts what was charged and what was left.

    python -m tools.kills --kills 200 --seed 0

Half of the kills are SIGKILL after a random time, half at a random system call of what writes ledgers and releases: before it or
after it, or in the middle of a write. Where the next start ends with the code of a job that began before,
it is paid for once more.
Prints JSON; ends with 1 if a start was charged twice, a release is there without its charge, or a file was left in part.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

JOB = "fit rows.npy --k 2 --epsilon 1 --bounds 0 1 --algorithm lloyd --ledger ledger --out release.json --run-id job --quiet"
#: System calls of the ledger and of files that are written whole.
CALLS = {"open", "fsync", "pwrite", "ftruncate", "fstat", "close", "replace", "link"}
DONE, BEGUN = 0, 6


class _Killed:
    """The functions of `os`, of which the n-th system call kills the process; with 0, calls are counted down from there."""

    def __init__(self, at: int, rng: random.Random) -> None:
        self.left, self._rng = at, rng

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        if name not in CALLS:
            return real

        def call(*arguments: Any, **options: Any) -> Any:
            self.left -= 1
            if self.left != 0:
                return real(*arguments, **options)
            if name == "pwrite":
                file, data, offset = arguments
                real(file, data[: self._rng.randrange(len(data) + 1)], offset)
            elif self._rng.random() < 0.5:
                real(*arguments, **options)
            os.kill(os.getpid(), signal.SIGKILL)

        return call


def _run(more: str, at: int, rng: random.Random) -> tuple[int, int]:
    """Run the job in this process, killed at a system call; return its exit code and how many calls there were."""
    from spinney.cli import files
    from spinney.cli.main import main
    from spinney.ledgers import journal

    watching = _Killed(at, rng)
    files.os = journal.os = watching  # type: ignore[assignment, attr-defined]
    try:
        main(f"{JOB} {more}".split(), standalone_mode=False)
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 1, at - watching.left
    finally:
        files.os = journal.os = os  # type: ignore[attr-defined]
    return DONE, at - watching.left


def _start(more: str = "", at: int = 0, after: float = 0.0) -> int:
    """Run the job in a process of its own, killed at a system call or after some seconds; return its exit code."""
    child = os.fork()
    if child == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            os._exit(_run(more, at, random.Random(at))[0])
        finally:
            os._exit(99)
    if after:
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _look(code: int, entries: int) -> list[str]:
    """Return what is wrong in this folder after a start that ended with a code."""
    from spinney.ledgers.ledger import Ledger
    from spinney.verification.checking import verify

    wrong, is_there = [], Path("release.json").exists()
    if len(Ledger("ledger").entries) != entries:
        wrong.append("another number of charges")
    if code not in (DONE, BEGUN) or is_there != (code == DONE):
        wrong.append("no release and another exit code")
    if is_there and not verify("release.json", ledger="ledger").authenticated:
        wrong.append("a release that its entry did not pay for")
    if {one.name for one in Path().iterdir()} - {"ledger", "release.json", "rows.npy"}:
        wrong.append("a file in part")
    return wrong


def _try(lasts: float, calls: int, rng: random.Random) -> tuple[str, list[str]]:
    """Kill one job and start it again; return how it ended, and what was wrong."""
    from spinney.ledgers.ledger import Ledger

    for name in ("ledger", "release.json"):
        Path(name).unlink(missing_ok=True)
    Ledger("ledger", epsilon=9)
    by_time = rng.random() < 0.5
    killed = _start(after=rng.uniform(0, lasts)) if by_time else _start(at=rng.randint(1, calls))
    charged = len(Ledger("ledger").entries)
    code = _start()
    wrong = _look(code, 1)
    if code == BEGUN:
        wrong += _look(_start("--charge-again"), 2)
    before = ("before the charge", "charged")[charged] if code == DONE else "questions had begun"
    return before if killed == -signal.SIGKILL else "too late to kill", wrong


def main() -> None:
    """Kill, start again, and print what was counted."""
    parser = argparse.ArgumentParser(description="Kill a job at random points and start it again.")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    import numpy as np

    from spinney.ledgers.ledger import Ledger

    rng, found, wrong = random.Random(options.seed), Counter[str](), Counter[str]()
    home = tempfile.mkdtemp()
    os.chdir(home)
    np.save("rows.npy", np.random.default_rng(0).random((300, 2)))  # read without threads, which forks would lack
    Ledger("ledger", epsilon=9)
    _, calls = _run("", 0, rng)  # here, so that forks have all code
    Path("release.json").unlink()
    started = time.monotonic()
    _start("--charge-again")
    lasts = time.monotonic() - started
    while sum(found.values()) < options.kills:
        ended, mistakes = _try(lasts, calls, rng)
        found[ended] += ended != "too late to kill"
        wrong.update(mistakes)
    shutil.rmtree(home)
    print(json.dumps({"kills": dict(sorted(found.items())), "calls": calls, "wrong": dict(wrong)}))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
