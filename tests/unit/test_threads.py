import os
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spinney import ParameterError, PrivateKMeans, threads
from spinney.fits.run import run
from spinney.threads import each, limited, n_threads


@given(st.lists(st.integers()), st.sampled_from([None, 1, 2, 7]))
def test_results_come_in_the_order_of_items_whatever_the_number_of_threads(items, threads):
    with limited(threads):
        assert list(each(lambda item: item * 3, items)) == [item * 3 for item in items]


def test_a_limit_holds_while_it_lasts_and_in_its_own_thread_alone():
    everywhere, seen = n_threads(), []
    with limited(3):
        assert n_threads() == 3
        other = threading.Thread(target=lambda: seen.append(n_threads()))
        other.start()
        other.join()
    assert (n_threads(), seen) == (everywhere, [everywhere])


def test_tasks_may_have_tasks():
    with limited(2):
        assert list(each(lambda item: sum(each(abs, range(item, 9))), range(8))) == [sum(range(item, 9)) for item in range(8)]


def test_what_a_task_raises_is_raised():
    def task(item):
        raise KeyError(item)

    with limited(2), pytest.raises(KeyError):
        list(each(task, range(4)))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks")
@pytest.mark.filterwarnings("ignore:This process")
def test_a_fork_has_threads_of_its_own():
    with limited(2):
        assert sum(each(np.sum, [np.ones(3)] * 4)) == 12
        child = os.fork()
        if not child:
            os._exit(int(sum(each(np.sum, [np.ones(3)] * 4)) != 12))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize(("n_jobs", "expected"), [(None, None), (1, 1), (3, 3), (99, 4), (-1, 4), (-2, 3), (-4, 1), (-99, 1)])
def test_jobs_are_counted_as_in_scikit_learn(n_jobs, expected, monkeypatch):
    monkeypatch.setattr(threads, "_n_cores", lambda: 4)
    assert threads.asked_threads(n_jobs) == expected


def test_jobs_change_the_threads_and_not_the_release(monkeypatch):
    table, used = np.random.default_rng(0).normal(size=(300, 2)), []
    monkeypatch.setattr(threads, "_n_cores", lambda: 4)

    def run_watched(*given):
        used.append(threads.n_threads())
        return run(*given)

    monkeypatch.setattr(PrivateKMeans, "_run", staticmethod(run_watched))
    options = {"epsilon": 1.0, "bounds": (-3, 3), "noise_seed": 1}
    releases = {PrivateKMeans(2, n_jobs=jobs, **options).fit(table).release_.to_json() for jobs in (None, 1, -2)}
    assert (used, len(releases), threads.n_threads()) == ([4, 1, 3], 1, 4)
    with pytest.raises(ParameterError, match="'n_jobs' parameter of PrivateKMeans must be None or an int other than 0"):
        PrivateKMeans(2, epsilon=1.0, bounds=(-3, 3), n_jobs=0).fit(table)
