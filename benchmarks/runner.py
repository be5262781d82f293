"""Runs cells in a pool of processes."""

from __future__ import annotations

import json
import multiprocessing
import time
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from benchmarks.algorithms import centers
from benchmarks.cells import Cell
from benchmarks.tables import CACHE, OWN, Table, drawing, table


class Task(NamedTuple):
    """One run of a cell, how it is measured, and what is seeded (`benchmarks.algorithms.model`)."""

    cell: Cell
    run: int
    measure: str = "cost"
    seeds: str = "public"
    #: Whether the best non-private cost is found too, and whether a failure is a result.
    with_plain: bool = True
    may_fail: bool = False


class Found(NamedTuple):
    """What one run measured, the best non-private cost if it is a cost, and its CPU seconds."""

    task: Task
    value: Any
    plain: float | None
    seconds: float


@lru_cache(maxsize=64)
def plain(name: str, k: int, power: int, number: int) -> float:
    """Return the best non-private cost of a table, of those drawn the one with this number; it is remembered between calls."""
    if name in OWN:
        return table(name).plain(k, power)
    kept = CACHE.parent / "plain" / f"{name}, k {k}, power {power}, {number}.json"
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(table(name, number).plain(k, power)))
    return float(json.loads(kept.read_text()))


def cost(task: Task) -> float:
    """Return the cost of one run."""
    found = table(task.cell.table, task.run)
    return found.cost(centers(task.cell, found, task.run, task.seeds), task.cell.power)


def _run(task: Task) -> Found:
    from benchmarks.measures import MEASURES

    warnings.simplefilter("ignore")
    begun = time.process_time()
    try:
        value = cost(task) if task.measure == "cost" else MEASURES[task.measure](task.cell, task.run)
    except (Exception, SystemExit) as error:
        if not task.may_fail:
            raise RuntimeError(
                f"{task.cell.title}, {task.cell.algorithm}: {error}"
            ) from error  # the end of a worker hangs the pool
        value = type(error).__name__
    seconds = time.process_time() - begun
    name, k, power = task.cell.table, task.cell.k, task.cell.power
    is_ratio = task.measure == "cost" and task.with_plain
    least = plain(name, k, power, drawing(name, task.run)) if is_ratio else None
    return Found(task, value, least, seconds)


def _take(own: dict[str, Table]) -> None:
    """Give a process the tables of the one that started it."""
    OWN.update(own)


def run_all(tasks: Iterable[Task], jobs: int) -> Iterator[Found]:
    """Yield what tasks find, in their order."""
    tasks = list(tasks)
    if jobs == 1:
        yield from map(_run, tasks)
    elif tasks:
        spawned = multiprocessing.get_context("spawn")  # a fork would copy threads' locks
        with spawned.Pool(min(jobs, len(tasks)), _take, (OWN,)) as pool:
            yield from pool.imap(_run, tasks, chunksize=1)
