"""Where the bytes of noise come from: the operating system, and nothing else.

Every algorithm is fitted with all other generators frozen: two releases differ. Then the operating system is frozen, and all
other generators move: the releases are the same, so nothing else decides noise. And every byte that a sampler asks for is one
that the operating system delivers for it, once: none comes from elsewhere, and none is used again.
"""

import hashlib
import importlib.util
import json
import os
import random
import secrets
import shutil
import subprocess
import warnings
from collections import Counter
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
from cases import CASES

from registered import REGISTERED
from reports import DEVICE, policy_for, question_of, stream_of
from spinney import FiniteMetric, PrivateKMeans, PrivateKMedian, PrivateKMedoids
from spinney.algorithms import Stable
from spinney.audit import record
from spinney.baselines.sample_aggregate import SampleAggregate
from spinney.estimators.coverage import CoverModel
from spinney.estimators.description_model import DescriptionModel
from spinney.estimators.one_cluster import BallModel
from spinney.fits.run import run
from spinney.local import device
from spinney.mechanisms import source
from spinney.questions.form import form

ROWS = np.random.default_rng(3).uniform(-1, 1, (240, 12))
SPACE = FiniteMetric.from_points(np.random.default_rng(1).random((12, 2)))
DEMAND = np.random.default_rng(2).integers(0, 12, 200)
PEOPLE = np.arange(240) // 4
BOX = {"bounds": (-1, 1), "random_state": 0}


def subjects():
    """Yield a name, a model, and what it is fitted to, of all that draws noise."""
    for name, case in CASES.items():
        for delta in (0.0, 1e-6):
            model = PrivateKMeans(3, epsilon=1.0, delta=delta, **BOX, **case.asked)
            yield f"{name}, delta {delta:g}", model, ROWS[:, : case.n_features], None
    capped = {"epsilon": 1.0, "max_rows_per_group": 2}
    yield "persons", PrivateKMeans(3, **capped, **BOX), ROWS[:, :2], PEOPLE
    minimize = Stable("lloyd", median_step="objective")
    yield "minimize", PrivateKMedian(3, epsilon=1.0, algorithm=minimize, **BOX), ROWS[:, :2], None
    samples = SampleAggregate(sampling="replacement")
    yield "samples", PrivateKMeans(3, epsilon=1.0, adjacency="replace", algorithm=samples, **BOX), ROWS[:, :2], None
    for name in sorted(REGISTERED["users"]):
        for delta in (0.0, 1e-6)[name == "stable" :]:  # which needs a delta
            model = PrivateKMeans(3, epsilon=4.0, delta=delta, model="local", adjacency="replace", algorithm=name, **BOX)
            yield f"users, {name}, delta {delta:g}", model, np.tile(ROWS[:, :2], (10, 1)), None
    for name in sorted(REGISTERED["sites"]):
        yield f"sites, {name}", PrivateKMedoids(2, space=SPACE, algorithm=name, random_state=0, epsilon=1.0), DEMAND, None
    yield "cover", CoverModel([[0, 1], [2, 3, 4], [5], []], 2, n_items=12, epsilon=0.01, delta=1e-6), DEMAND, None
    yield "ball", BallModel(5, epsilon=1.0, bounds=(-1, 1), candidates=3), ROWS[:, :2], None
    table = pd.DataFrame(ROWS[:, :2], columns=["x", "y"])
    frame = {"epsilon": 9.0, "bounds": {"x": (-1, 1)}, "max_rows_per_group": 2, "noise_seed": 0}
    with warnings.catch_warnings(action="ignore"):
        clusters = PrivateKMeans(3, **frame).fit(table, groups=PEOPLE).release_
    for delta in (0.0, 1e-6):
        yield f"description, delta {delta:g}", DescriptionModel(clusters, None, {"y": (-1, 1)}, 1.0, delta, 4), table, PEOPLE


SUBJECTS = {name: parts for name, *parts in subjects()}


def release_of(name, seed):
    """Fit with all other generators in one state; return what is released, and not when."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002  (the one that must not matter)
    model, data, groups = SUBJECTS[name]
    fit, rows = model.prepare(data, groups)
    release = run(replace(fit, random_state=0), rows)
    assert getattr(release, "release", release).noise == "secure"
    return form({one.name: getattr(release, one.name) for one in fields(release) if one.name not in ("made", "release")})


class System:
    """The operating system's source: it counts what it delivers, and may be given a stream of bytes instead."""

    def __init__(self):
        self.real = self.stream = os.urandom
        self.delivered = 0

    def __call__(self, count):
        self.delivered += count
        return self.stream(count)


@pytest.fixture
def system(monkeypatch):
    found = System()
    monkeypatch.setattr(os, "urandom", found)
    monkeypatch.setattr(random, "_urandom", found)  # what `secrets` and `SystemRandom` read
    return found


@pytest.fixture
def accounted(monkeypatch, system):
    """Compare each request of a sampler with what the system delivers for it; return how many bytes were asked for in all."""
    asked = Counter()

    def counting(draw, size_of, exactly=True):
        def drawn(size):
            before = system.delivered
            result = draw(size)
            got, least = system.delivered - before, size_of(size)
            again = not exactly and least and got and got % least == 0  # numbers that are too large are drawn again
            assert got == least or again, "a sampler was given bytes that the operating system did not deliver for it"
            asked["bytes"] += got
            return result

        return drawn

    def in_bytes(bits):
        return -(-bits // 8)

    def below(bound):
        return in_bytes(bound.bit_length())

    real = {name: getattr(source, name) for name in ("add_exact", "add_balls", "add_cubes", "responses")}
    key = source.SecureSource.key
    for name, size_of in {"add_exact": int, "add_balls": in_bytes, "add_cubes": below, "responses": int}.items():

        def sampler(*arguments, name=name, size_of=size_of):
            return real[name](*arguments[:-1], counting(arguments[-1], size_of, name != "add_cubes"))

        monkeypatch.setattr(source, name, sampler)
    monkeypatch.setattr(source.SecureSource, "key", lambda self: counting(lambda _: key(self), int)(16))
    return asked


@pytest.fixture
def choices(monkeypatch, accounted):
    """Let choices draw here: OpenDP has a generator inside, which ``tests/statistical/test_samplers.py`` is about."""

    def noisy_max(scale):
        accounted["bytes"] += 16
        rng = np.random.default_rng(list(secrets.token_bytes(16)))
        return lambda scores: np.argmax(scores + rng.gumbel(0, scale, len(scores)))

    monkeypatch.setattr(source, "_noisy_max", noisy_max)


@pytest.mark.parametrize("name", SUBJECTS)
@pytest.mark.matrix
def test_noise_is_a_function_of_the_bytes_of_the_operating_system(name, system, accounted, choices, alarm):
    first = release_of(name, 0)
    # All else is frozen: two releases differ, of whole numbers perhaps not at once.
    assert any(release_of(name, 0) != first for _ in range(20)), "noise that something else seeds"
    replayed = []
    for seed in (0, 1, 2):  # the first one may still compile, which takes bytes for names of files
        system.stream, system.delivered, accounted["bytes"] = stream_of(name), 0, 0
        replayed.append(release_of(name, seed))
    assert replayed[1] == replayed[2], "the system's bytes were the same, so something else decides"
    assert system.delivered == accounted["bytes"] > 0, "bytes that are no noise, or noise without bytes"


@pytest.mark.parametrize("name", [name for name in SUBJECTS if name.startswith(("tree", "hst", "lloyd", "description"))])
@pytest.mark.matrix
def test_no_noise_comes_twice(name):
    model, data, groups = SUBJECTS[name]
    seen = set()
    for drawn in record(model, data, groups=groups).draws:
        if drawn.draw.distribution not in ("gumbel", "radial", "responses"):
            noise = np.ravel(drawn.answer - drawn.exact)
            enough = int(np.ceil(60 / np.log2(2 + drawn.draw.scale)))  # this many numbers are never alike by chance
            if noise.size >= enough:
                assert seen.isdisjoint({tuple(noise[:enough])})
                seen.add(tuple(noise[:enough]))
    assert seen


QUESTIONS = {kind: question_of(kind) for kind in ("cells", "regions", "offsets", "cost", "sums")}


@pytest.mark.parametrize("kind", QUESTIONS)
def test_a_device_reads_the_operating_system_alone(kind, system):
    name = importlib.util.spec_from_file_location("device_alone", device.__file__)
    alone = importlib.util.module_from_spec(name)
    name.loader.exec_module(alone)  # as a device has it: nothing of this suite in between

    def answered(seed, **entropy):
        random.seed(seed)
        state = {}
        return alone.respond([1, 1], QUESTIONS[kind], policy_for(), state, **entropy), state

    found = {answered(0)[0] for _ in range(9)}
    assert len(found) == 9, "tokens at least differ"
    system.stream = stream_of("one")
    first, before = answered(0), system.delivered
    system.stream = stream_of("one")
    assert answered(1) == first, "the system's bytes were the same, so something else decides"
    taken = Counter()
    stream = stream_of("one")

    def given(count):
        taken["bytes"] += count
        return stream(count)

    assert answered(2, entropy=given) == first
    assert system.delivered - before == taken["bytes"], "the bytes that were asked for are those that were delivered"


NODE = """
const device = require(process.argv[1]), {tasks, words} = JSON.parse(require("fs").readFileSync(0, "utf8"));
let delivered = 0, stream = null;
const real = globalThis.crypto.getRandomValues.bind(globalThis.crypto);
const system = (bytes) => {
  delivered += bytes.length;
  if (stream === null) return real(bytes);
  bytes.forEach((_, i) => { bytes[i] = stream(); });
  return bytes;
};
Object.defineProperty(globalThis, "crypto", { value: { getRandomValues: system }, configurable: true });
const streamOf = () => { let at = 0; return () => words[at++ % words.length]; };
const answer = ({question, policy}, constant, ...entropy) => {
  Math.random = () => constant;
  const state = {};
  return device.respond([1, 1], question, policy, state, ...entropy);
};
process.stdout.write(JSON.stringify(tasks.map((task) => {
  stream = null;
  const free = [0, 1, 2].map(() => answer(task, 0.25));
  delivered = 0; stream = streamOf();
  const first = answer(task, 0.25), bytes = delivered;
  stream = streamOf();
  const second = answer(task, 0.75), next = streamOf();
  let taken = 0;
  const given = answer(task, 0.5, (count) => { taken += count; return Uint8Array.from({length: count}, next); });
  return {free, first, second, given, bytes, taken};
})));
"""


def test_the_javascript_device_reads_the_operating_system_alone():
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed, which runs the JavaScript device")
    tasks = [{"question": question, "policy": policy_for()} for question in QUESTIONS.values()]
    told = json.dumps({"tasks": tasks, "words": list(hashlib.sha512(b"one").digest())})
    command = [node, "-e", NODE, DEVICE]  # with a constant for a coin, samplers would never end
    result = subprocess.run(command, input=told, capture_output=True, text=True, check=True, timeout=60)
    for kind, found in zip(QUESTIONS, json.loads(result.stdout), strict=True):
        replies = [{**json.loads(one), "token": ""} for one in found["free"]]
        assert all("report" in one["format"] for one in replies)
        assert len(set(found["free"])) == 3, kind
        assert found["first"] == found["second"] == found["given"], f"{kind}: something else decides"
        assert found["bytes"] == found["taken"] > 16, kind
