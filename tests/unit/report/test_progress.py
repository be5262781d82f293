"""A bar in notebooks: it moves with each question, goes when the fit is over, and leaves the log as it was."""

import logging
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from spinney import PrivateKMeans

MODEL = PrivateKMeans(2, epsilon=1.0, bounds=(0, 1), noise_seed=0)
ROWS = np.zeros((10, 2))


@pytest.fixture
def shown(monkeypatch):
    """Stand in for a notebook: return what it shows, one after the other."""
    pages = []
    handle = SimpleNamespace(update=pages.append)

    def display(page, display_id):
        assert display_id
        pages.append(page)
        return handle

    module = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display, HTML=str))
    return pages


def test_a_notebook_sees_every_question_and_then_nothing(shown):
    logger = logging.getLogger("spinney")
    before = logger.level, logger.propagate, list(logger.handlers)
    charges = MODEL.fit(ROWS).release_.charges
    assert len(shown) == len(charges) + 2
    for charge, page in zip(charges, shown[1:], strict=False):
        assert f"asking {charge.question}: {charge.name}" in page
    assert f'max="{len(charges)}" value="{len(charges)}"' in shown[-2]
    assert shown[-1] == ""
    assert (logger.level, logger.propagate, logger.handlers) == before
