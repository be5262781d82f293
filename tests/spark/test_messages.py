"""Rules 8, 10, 15 and 16 on Spark: what leaves the executors, and when, is decided by public facts and released answers."""

import numpy as np
import pytest
from pyspark.sql.classic.dataframe import DataFrame

from spark.conftest import rows_of
from spinney import PrivateKMeans
from spinney.curators import lookahead
from spinney.curators.spark import messages as sending
from spinney.curators.spark.backend import SparkBackend
from spinney.curators.spark.messages import CHUNK, DENSE
from spinney.mechanisms.splitting import SplitRule
from spinney.questions import levels, record, sums

MODEL = PrivateKMeans(4, epsilon=1.0, bounds=(-1, 1), random_state=0, noise_seed=1)


@pytest.fixture
def watched(monkeypatch):
    """Record the jobs of a fit and every message to the driver; no row may be fetched in another way."""
    jobs, messages = [], []
    run, fetch = SparkBackend._run, DataFrame.toArrow

    def watch(backend, task):
        jobs.append((task.kernel, task.length, repr(vars(task))))
        return run(backend, task)

    def listen(frame):
        found = fetch(frame)
        assert found.column_names == ["place", "message"]
        messages.append(dict(zip(*(column.to_pylist() for column in found.columns), strict=True)))
        return found

    monkeypatch.setattr(SparkBackend, "_run", watch)
    monkeypatch.setattr(DataFrame, "toArrow", listen)
    fetching = "collect", "toPandas", "take", "head", "first", "tail", "toLocalIterator", "count", "show", "foreach", "rdd"
    for name in fetching:
        monkeypatch.setattr(DataFrame, name, None)
    return jobs, messages


@pytest.fixture
def frozen(monkeypatch):
    """Freeze the noisy answers of the first fit, and give them to all later ones."""
    answers, place = [], [None]
    privatize, decide = record.privatize, SplitRule.decide

    def replay(ask):
        def answer(*arguments):
            if place[0] is None:
                answers.append(ask(*arguments))
                return answers[-1]
            place[0] += 1
            return answers[place[0] - 1]

        return answer

    def rewind():
        assert place[0] in (None, len(answers))
        place[0] = 0

    replayed = replay(privatize)
    for module in (levels, record, sums):
        monkeypatch.setattr(module, "privatize", replayed)
    monkeypatch.setattr(SplitRule, "decide", replay(decide))
    return rewind


def test_jobs_and_messages_follow_from_released_answers(frame_of, watched, frozen):
    jobs, messages = watched
    rows = rows_of(5)
    far = np.ones((1, 5))
    MODEL.fit(frame_of(rows, 5))
    frozen()
    first, sizes = jobs.copy(), [{place: len(message) for place, message in found.items()} for found in messages]
    assert len(first) >= 6
    for other in (rows[:-1], np.concatenate([np.resize(rows, (20_000, 5)), far]), far * np.nan):
        jobs.clear()
        messages.clear()
        MODEL.fit(frame_of(other, 5))
        frozen()
        assert jobs == first
        assert [{place: len(message) for place, message in found.items()} for found in messages] == sizes


def test_the_driver_gets_sums_only(frame_of, watched, monkeypatch):
    monkeypatch.setattr(lookahead, "MOST_CELLS", 2**22)
    jobs, messages = watched
    rows = rows_of(2, 500)
    MODEL.fit(frame_of(rows, 5))
    assert len(messages) == len(jobs)
    for found, (_, length, _) in zip(messages, jobs, strict=True):
        assert sorted(found) == list(range(-(-length // CHUNK)))
        assert sum(len(message) - 1 for message in found.values()) == 8 * length
        assert all(message[:1] == DENSE for message in found.values())
    assert max(map(len, messages)) > 1
    numbers = rows.tobytes()
    seen = b"".join(message for found in messages for message in found.values())
    assert not any(numbers[i : i + 8] in seen for i in range(0, len(numbers), 8))


@pytest.mark.parametrize(("algorithm", "most"), [("tree", 10), ("hst", 13), ("lloyd", 6), ("stable", 14)])
@pytest.mark.matrix
def test_a_question_is_one_action_and_a_fit_leaves_nothing_behind(spark, frame_of, algorithm, most, monkeypatch, watched):
    monkeypatch.setattr(lookahead, "MOST_CELLS", 2**22)
    context = spark.sparkContext
    frame = frame_of(rows_of(3), 2).cache()
    kept = context._jsc.getPersistentRDDs().size()
    PrivateKMeans(4, epsilon=1.0, bounds=(-1, 1), algorithm=algorithm, random_state=0, noise_seed=1).fit(frame)
    assert 0 < len(watched[1]) <= most
    assert len(watched[0]) == len(watched[1])
    assert context._jsc.getPersistentRDDs().size() == kept + 1  # the user's own
    frame.unpersist()


def test_words_hold_sums_beyond_64_bits():
    rng = np.random.default_rng(0)
    numbers = [rng.integers(-(2**63), 2**63 - 1, 50, endpoint=True) for _ in range(300)]
    numbers += [np.full(50, -(2**63)), np.full(50, 2**63 - 1)]
    words = sending.carry(sum(sending.split(part) for part in numbers))
    assert sending.join(words).tolist() == sum(part.astype(object) for part in numbers).tolist()


def test_messages_come_back_as_they_were():
    rng = np.random.default_rng(0)
    for share in (0.0, 0.01, 0.9):
        totals = rng.integers(-(2**62), 2**62, 1000) * (rng.random(1000) < share)
        for is_last in (False, True):
            message = sending.write_message(totals, is_last)
            again = np.ones(1000, dtype=np.int64)
            sending.add_message(again, message)
            assert (again - 1 == totals).all()
            assert len(message) == 8001 if is_last or share == 0.9 else len(message) < 200


def test_sums_in_chunks_add_up():
    rng = np.random.default_rng(0)
    length = 2 * CHUNK + 5
    parts = [rng.integers(-9, 9, length) * (rng.random(length) < share) for share in (0.0, 0.01, 1.0)]
    batches = [b for part in parts for b in sending.sent((i, sending.write_message(c, False)) for i, c in sending.chunks(part))]
    merged = [sending.Merger(length)(iter(batches[place::3])) for place in range(3)]
    assert (sending.total([batch for found in merged for batch in found], length) == sum(parts)).all()
    assert not sending.total([], 3).any()
