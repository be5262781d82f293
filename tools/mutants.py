"""Plant small faults into the modules that privacy rests on, and see which the tests find.

    python -m tools.mutants [--sample N] [--seed S] [--part i/n] [--only TEXT] [--jobs 2] [--list]

One process imports all and collects the tests of `TESTS`. First children run each of them once, and note which functions it
enters and how long it takes (kept in ``tools/.cache``). Then each mutant gets a child of its own: the fault is put into the
function as it lives in memory, so that whoever imported it has it, and the tests that enter that function run, the likeliest and
quickest first, until one fails. A test that takes far longer than it did before has found the fault too.

Results: ``tools/results/mutants.json`` (`tools.mutants_known`), by function, with the commit each was reached at: an
outcome holds until its function changes, and ``--left new`` runs what has none, the cheapest first. Survivors that no test could
find are in `tools.mutants_alike`, with a reason.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import types
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tools.mutants_alike import reason
from tools.mutants_known import commit, known_outcomes, record
from tools.mutations import SOURCE, Mutant, listed

ROOT = SOURCE.parent
BASELINE = ROOT / "tools" / ".cache" / "mutants_baseline.jsonl"
#: Tests of the modules themselves, and the cheapest of those that attack them.
TESTS = [
    "tests/unit/privacy", "tests/unit/mechanisms", "tests/unit/questions", "tests/unit/audit/test_hook.py",
    "tests/unit/verification/test_checking.py", "tests/unit/fits/test_record.py", "tests/unit/fits/test_charging.py",
    "tests/unit/curators/test_gate.py", "tests/unit/curators/test_sites.py", "tests/unit/curators/test_levels.py",
    "tests/unit/curators/test_memory.py",
    "tests/unit/algorithms/test_plan.py", "tests/contract/test_catalog.py", "tests/statistical/test_samplers.py",
    "tests/privacy/test_brute_force.py", "tests/privacy/test_sensitivity.py", "tests/privacy/test_site_sensitivity.py",
    "tests/privacy/test_split_decisions.py", "tests/privacy/test_exponential_mechanism.py", "tests/privacy/test_cover_process.py",
    "tests/privacy/test_own_algorithms.py", "tests/privacy/test_budget_adds_up.py", "tests/privacy/test_noise_support.py",
    "tests/privacy/test_renyi.py", "tests/privacy/test_minimize.py", "tests/privacy/test_describe.py",
    "tests/privacy/test_views.py", "tests/privacy/test_blocks.py",
    "tests/privacy/test_sealed_errors.py",
]  # fmt: skip
#: Tests that take more seconds of processor time than this are left out.
LONGEST = 6.0
#: A test has found a fault if it takes this factor of the time, and these seconds more.
TIMES, MORE = 8, 6


def _clear_caches() -> None:
    """Forget what was worked out before a fault was planted, or in another test."""
    for name, module in list(sys.modules.items()):
        if name.startswith("spinney"):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def _run(item: Any, following: Any) -> list[Any]:
    from _pytest.runner import runtestprotocol

    return [report for report in runtestprotocol(item, nextitem=following, log=False) if report.failed]


def _code_of(tree: Any, path: Path, function: str) -> types.CodeType:
    """Return the compiled code of one function of a module."""
    code = compile(tree, str(path), "exec")
    for name in function.split("."):
        found = [part for part in code.co_consts if isinstance(part, types.CodeType) and part.co_name == name]
        # Overloads have one name: the last one lives.
        code = found[-1]
    return code


def plant(mutant: Mutant) -> None:
    """Put a fault into the module as it lives in memory."""
    path = SOURCE / "spinney" / mutant.path
    module = sys.modules["spinney." + mutant.path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")]
    if "." not in mutant.function and not callable(vars(module).get(mutant.function)):
        names = dict(vars(module))
        exec(compile(mutant.tree(), str(path), "exec"), names)
        for name, value in list(vars(module).items()):  # constants, wherever they were imported
            if name.isupper() or name[1:].isupper():
                for other in [part for key, part in sys.modules.items() if key.startswith("spinney")]:
                    if vars(other).get(name) is value:
                        setattr(other, name, names[name])
        return
    live: Any = module
    for name in mutant.function.split("."):
        live = vars(live)[name]
    for inner in ("__func__", "fget", "func", "__wrapped__"):
        live = getattr(live, inner, live)
    live.__code__ = _code_of(mutant.tree(), path, mutant.function)


@cache
def file_key(name: str) -> str:
    """Return a digest of all sources and of one file of tests."""
    digest = hashlib.blake2b(Path(name).read_bytes(), digest_size=8)
    for path in sorted([*SOURCE.rglob("*.py"), *(ROOT / "tests").rglob("conftest.py")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def test_key(name: str) -> str:
    """Return a digest of what a test depends on, and how it is run."""
    return f"{file_key(name.split('::')[0])} {LONGEST}"


def known_tests() -> dict[str, Any]:
    """Return what is on file of tests without a fault."""
    BASELINE.parent.mkdir(exist_ok=True)
    BASELINE.touch()
    return dict(json.loads(line) for line in BASELINE.read_text().splitlines())


class Lane:
    """A plugin of pytest that runs chosen tests in children, once without a fault and then once for each mutant."""

    def __init__(self, mutants: list[Mutant], jobs: int, most: float, log: Any) -> None:
        self.mutants, self.jobs, self.most, self.log = mutants, jobs, most, log
        self.outcomes: dict[str, dict[str, Any]] = {}
        self.kills: Counter[tuple[str, str]] = Counter()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> None:
        """Search alike for every mutant, and never shrink."""
        from hypothesis import HealthCheck, Phase, settings

        quick = {"database": None, "deadline": None, "derandomize": True, "phases": [Phase.explicit, Phase.generate]}
        settings.register_profile("mutants", suppress_health_check=list(HealthCheck), **quick)
        settings.load_profile("mutants")

    def pytest_runtestloop(self, session: Any) -> bool:
        """Take the place of pytest's own loop."""
        if session.testsfailed:
            raise session.Interrupted("tests could not be collected")
        self.items = {item.nodeid: item for item in session.items}
        self.entered = self._baseline()
        waiting, running = sorted(self.mutants, key=self._cost), {}
        try:
            while waiting or running:
                while waiting and len(running) < self.jobs:
                    mutant = waiting.pop(0)
                    running[self._start(mutant)] = mutant
                pid, status, used = os.wait4(-1, 0)
                if pid in running:
                    self._note(running.pop(pid), pid, status, used)
        finally:
            for pid in running:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        return True

    def _baseline(self) -> dict[str, Any]:
        """Return what is known of every test without a fault; those that are new, or whose code has changed, are run."""
        keys = {name: test_key(name) for name in self.items}
        known = known_tests()
        missing = [name for name in keys if known.get(name, {}).get("key") != keys[name]]
        started = time.monotonic()
        pids = [self._forked(self._trace, missing[i :: self.jobs], keys) for i in range(self.jobs) if missing]
        try:
            ends = [os.waitpid(pid, 0)[1] for pid in pids]
        except KeyboardInterrupt:
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            raise
        if any(ends):
            raise RuntimeError("a test ends its process without a fault already")
        tests = {name: facts for name, facts in known_tests().items() if facts["key"] == keys.get(name)}
        failed = [name for name, facts in tests.items() if facts["failed"]]
        if failed:
            raise RuntimeError(f"tests fail without a fault already: {failed}")
        print(f"{len(missing)} tests run without a fault: {time.monotonic() - started:.0f} s", file=self.log, flush=True)
        return tests

    @staticmethod
    def _forked(work: Any, *arguments: Any) -> int:
        pid = os.fork()
        if not pid:
            try:
                work(*arguments)
            finally:
                os._exit(3)
        return pid

    def _trace(self, ids: list[str], keys: dict[str, str]) -> None:
        """Run tests in this child, and write down which functions each enters."""
        os.environ["PYTEST_DEBUG_TEMPROOT"] = tempfile.mkdtemp()
        prefix, seen = str(SOURCE / "spinney") + "/", set()

        def enter(frame: Any, event: str, argument: Any) -> None:
            seen.add(frame.f_code)

        def too_long(number: int, frame: Any) -> None:
            raise KeyboardInterrupt

        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGVTALRM, too_long)
        for i, name in enumerate(ids):
            _clear_caches()
            seen.clear()
            before, too_slow, failed = time.process_time(), False, False
            signal.setitimer(signal.ITIMER_VIRTUAL, 6 * LONGEST)  # what tests share is made in the first, and must not be cut
            sys.settrace(enter)
            try:
                failed = bool(_run(self.items[name], self.items[ids[i + 1]] if i + 1 < len(ids) else None))
            except BaseException:
                too_slow = True
            sys.settrace(None)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            seconds = time.process_time() - before
            inside = [code for code in seen if code.co_filename.startswith(prefix)]
            codes = sorted({f"{code.co_filename.removeprefix(prefix)}:{code.co_firstlineno}" for code in inside})
            slow = too_slow or seconds > 2 * LONGEST  # tracing takes time too
            facts = {"seconds": round(seconds, 3), "failed": failed and not slow, "slow": slow, "codes": codes}
            with BASELINE.open("a") as file:
                file.write(json.dumps([name, facts | {"key": keys[name]}]) + "\n")
        os._exit(0)

    def _tests(self, mutant: Mutant) -> list[str]:
        """Return the tests that enter the function of a mutant, the likeliest and quickest first."""

        def enters(code: str) -> bool:
            path, line = code.rsplit(":", 1)
            return path == mutant.path and (not mutant.last or mutant.first <= int(line) <= mutant.last)

        chosen = [name for name, facts in self.entered.items() if not facts["slow"] and any(map(enters, facts["codes"]))]
        forms: Counter[str] = Counter()

        def weight(name: str) -> float:
            """Return how late a test comes: long ones, further forms of one, and tests of other parts come later."""
            one = name.split("[")[0]
            forms[one] += 1
            own = 0.1 if f"/{mutant.path.split('/')[0]}/" in name else 1.0
            return self.entered[name]["seconds"] * forms[one] * own / (1 + 5 * self.kills[mutant.path, name])

        chosen = sorted(chosen, key={name: weight(name) for name in chosen}.__getitem__)
        total, kept = 0.0, []
        for name in chosen:
            total += self.entered[name]["seconds"]
            if total <= self.most:
                kept.append(name)
        return kept

    def _cost(self, mutant: Mutant) -> float:
        """Return the seconds that all tests of a mutant take; the cheapest are run first."""
        return sum(self.entered[name]["seconds"] for name in self._tests(mutant))

    def _start(self, mutant: Mutant) -> int:
        tests = self._tests(mutant)
        return self._forked(self._child, mutant, tests)

    def _child(self, mutant: Mutant, tests: list[str]) -> None:
        verdict = Path(self.folder, str(os.getpid()))
        os.environ["PYTEST_DEBUG_TEMPROOT"] = tempfile.mkdtemp(dir=self.folder)
        used = resource.getrusage(resource.RUSAGE_SELF)
        resource.setrlimit(resource.RLIMIT_AS, (used.ru_maxrss * 1024 + 2**31,) * 2)
        _clear_caches()
        plant(mutant)
        for i, name in enumerate(tests):
            verdict.write_text(f"{i + 1}\n{name}")
            signal.setitimer(signal.ITIMER_VIRTUAL, TIMES * self.entered[name]["seconds"] + MORE)  # ends this child
            if _run(self.items[name], self.items[tests[i + 1]] if i + 1 < len(tests) else None):
                os._exit(1)
        verdict.write_text(f"{len(tests)}\n")
        os._exit(0)

    def _note(self, mutant: Mutant, pid: int, status: int, used: Any) -> None:
        verdict = Path(self.folder, str(pid))
        ran, by = verdict.read_text().split("\n", 1) if verdict.exists() else ("0", "")
        code = os.waitstatus_to_exitcode(status)
        killed = bool(code) and bool(by)
        outcome = {"killed": killed, "tests": int(ran), "seconds": round(used.ru_utime + used.ru_stime, 1)}
        outcome["commit"] = commit()
        if killed:
            self.kills[mutant.path, by] += 1
            outcome |= {"by": by} | ({"signal": -code} if code < 0 else {})
        self.outcomes[mutant.name] = outcome
        word = "killed" if killed else "ERROR" if code else "SURVIVED"
        done = f"{len(self.outcomes)}/{len(self.mutants)}"
        print(f"{done} {word} {mutant.name} [{mutant.text}] {outcome}", file=self.log, flush=True)
        if code and not by:
            self.outcomes.pop(mutant.name)
        if len(self.outcomes) % 10 == 0:  # a run may be ended from outside
            record(self.outcomes)


def chosen(options: argparse.Namespace) -> list[Mutant]:
    """Return the mutants that are asked for."""
    mutants = [mutant for mutant in listed() if any(text in mutant.name for text in options.only)]
    if options.left:
        known = known_outcomes()
        run = {mutant.name for mutant in mutants if mutant.name in known}
        done = {mutant.name for mutant in mutants if mutant.name in run and (known[mutant.name]["killed"] or reason(mutant))}
        mutants = [mutant for mutant in mutants if mutant.name not in (run if options.left == "new" else done)]
    if options.sample:
        mutants = random.Random(options.seed).sample(mutants, min(options.sample, len(mutants)))
    part, parts = map(int, options.part.split("/"))
    return mutants[part - 1 :: parts]


def main() -> None:
    """Run the mutants that are asked for, and write down what came out."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=0, help="number of faults, drawn by the seed; all by default")
    parser.add_argument("--seed", type=int, default=12)
    parser.add_argument("--part", default="1/1", help="i/n: every n-th, from the i-th on")
    parser.add_argument("--only", nargs="+", default=[""], help="those whose names hold a text, such as mechanisms/selection.py")
    parser.add_argument("--left", choices=["new", "gaps"], help="only those not run yet, or neither killed yet nor explained")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--most", type=float, default=60, help="seconds of tests for one mutant, in their order")
    parser.add_argument("--list", action="store_true", help="name the mutants, and run none")
    options = parser.parse_args()
    mutants = chosen(options)
    if options.list:
        print(*(mutant.name for mutant in mutants), sep="\n")
        return
    os.chdir(ROOT)
    log = os.fdopen(os.dup(1), "w")
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what came out so far is kept
    lane = Lane(mutants, options.jobs, options.most, log)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as lane.folder:
        pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *TESTS], plugins=[lane])
    print(json.dumps(record(lane.outcomes), indent=1))


if __name__ == "__main__":
    main()
