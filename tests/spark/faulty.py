"""Functions that fail on the executors. They import little, for every new worker imports it again."""

import os

from pyspark import TaskContext

SECRET = "0.123456789"


def _is_first_attempt():
    context = TaskContext.get()
    return context is not None and context.attemptNumber() == 0


def lost_once(batches):
    if _is_first_attempt():
        raise RuntimeError("lost")
    yield from batches


class Noted:
    """Writes down that it read rows."""

    def __init__(self, path):
        self.path = path

    def __call__(self, batches):
        with open(self.path, "a") as notes:
            notes.write("x")
        yield from batches


def lost_for_good(batches):
    for batch in batches:
        if batch.num_rows:
            raise ValueError(f"a row holds {SECRET}")
        yield batch


def sum_offsets(rows, *arguments):
    from spinney.curators import kernels

    if len(rows) and _is_first_attempt():
        raise RuntimeError("lost")
    return kernels.sum_offsets(rows, *arguments)


def count_rings(rows, *arguments):
    from spinney.curators import kernels

    if len(rows) and _is_first_attempt():
        os._exit(1)  # the whole worker is gone
    return kernels.count_rings(rows, *arguments)


def count_columns(rows, *arguments):
    from spinney.curators import kernels

    if len(rows):
        raise ValueError(f"a row is {rows[0].tolist()}")
    return kernels.count_columns(rows, *arguments)
