"""Compiled kernels are cached beside their modules, but numba looks only at a kernel's own file, not at the kernels it calls.

So the cache is dropped whenever a file with kernels, or one that such a file imports, has changed since it was filled: before
tests, and when this file is run, as ``make setup`` does before it fills the cache.
"""

import gc
import zlib
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import Phase, settings

from alarms import SHARES, NoiseByTest
from kernels import digest_of_kernels

PHASES = [phase for phase in Phase if phase is not Phase.explain]  # which traces every line of what fails
settings.register_profile("spinney", deadline=None, max_examples=60, phases=PHASES)  # how busy the machine is decides no test
settings.load_profile("spinney")

SOURCE = Path(__file__).parent.parent / "src" / "spinney"
STAMP = SOURCE / "__pycache__" / "kernels.stamp"


def pytest_configure(config):
    if not hasattr(config, "workerinput"):  # a worker of pytest-xdist: its controller has looked already
        drop_stale_kernels()


def pytest_addoption(parser):
    parser.addoption("--share", type=int, default=1, help="Run one of this many forms of each test that is marked as a matrix.")


def pytest_collection_modifyitems(config, items):
    """Keep a share of each matrix: every fourth form, say, from a start that differs from test to test, and always one."""
    share, seen, left_out = config.getoption("share"), Counter(), []
    for item in items:
        name = item.nodeid.partition("[")[0]
        is_left_out = item.get_closest_marker("matrix") and (seen[name] + zlib.crc32(name.encode())) % share
        left_out += [item] if is_left_out else []
        seen[name] += 1
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        gone = set(left_out)
        items[:] = [item for item in items if item not in gone]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Give a file to one worker, whose fixtures are then made once, and all files of Spark to one, which then has one session."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            path = nodeid.partition("::")[0]
            return "spark" if "/spark/" in path else path

    config.option.loadscopereorder = False  # Spark, which takes longest, comes first; small files come last
    return ByFile(config, log)


def pytest_collection_finish():
    gc.freeze()  # what was collected stays to the end: looking at it again and again takes a twentieth of the time


def drop_stale_kernels():
    digest = digest_of_kernels(SOURCE)
    if not STAMP.exists() or STAMP.read_text() != digest:
        for compiled in SOURCE.rglob("*.nb[ic]"):
            compiled.unlink(missing_ok=True)  # another run may have been first
        STAMP.parent.mkdir(exist_ok=True)
        STAMP.write_text(digest)


noise_by_test = NoiseByTest()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    with noise_by_test.of(item.nodeid, is_measured="alarm" in getattr(item, "fixturenames", ())):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef, request):
    if fixturedef.scope == "function":
        return (yield)
    # Which test comes first to a fixture that several share is a matter of chance.
    name = f"{fixturedef.baseid}::{fixturedef.argname}[{getattr(request, 'param_index', 0)}]"
    with noise_by_test.of(name, is_measured=noise_by_test.is_measured):
        return (yield)


@pytest.fixture(scope="session", autouse=True)
def real_today():
    """Let every release of the tests have one date, so that midnight makes no difference between two of them."""
    from spinney.fits import charging

    real = charging.today
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(charging, "today", lambda: "2026-01-31")
        yield real


@pytest.fixture(scope="session", autouse=True)
def uncounted():
    """Let no fit be warned of that no ledger counts: in which test that were is chance. Return which one it is."""
    from spinney.fits import cautions

    real = cautions.UNCOUNTED
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cautions, "UNCOUNTED", None)
        yield real


@pytest.fixture
def alarm_of():
    """Return a function: the chance of a false alarm that each of this many forms of a test has."""
    return lambda name, forms: SHARES[name] / forms


@pytest.fixture
def alarm(request, alarm_of):
    """The chance with which this test may fail though nothing is wrong: its share of that of the suite, see alarms.py."""

    tests = [item for item in request.session.items if hasattr(item, "originalname")]
    forms = sum(item.originalname == request.node.originalname and item.path == request.node.path for item in tests)
    name = f"{request.node.path.relative_to(SOURCE.parents[1]).as_posix()}::{request.node.originalname}"
    return alarm_of(name, forms)


if __name__ == "__main__":
    drop_stale_kernels()
