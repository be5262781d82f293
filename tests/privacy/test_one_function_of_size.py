"""The number of rows decides nothing but exact values: with frozen answers, tables of all sizes ask, draw, warn and end alike."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from cases import CASES

from spinney import FiniteMetric, PrivateKMeans, PrivateKMedian, PrivateKMedoids
from spinney.audit import record
from spinney.estimators.coverage import CoverModel
from spinney.estimators.description_model import DescriptionModel
from spinney.estimators.one_cluster import BallModel

#: On a log scale; the largest are beyond what anything in the suite fits.
SIZES = (0, 1, 3, 10, 32, 100, 317, 1_000, 3_163, 10_001, 31_623, 120_000)
RNG = np.random.default_rng(5)
ROWS = RNG.uniform(-1, 1, (SIZES[-1], 2))
WIDE = np.tile(RNG.uniform(-1, 1, (4_000, 12)), (8, 1))
SPACE = FiniteMetric.from_points(RNG.random((12, 2)))
PLACES = RNG.integers(0, 12, SIZES[-1])
PEOPLE = np.arange(SIZES[-1]) // 3
PROMISE = {"epsilon": 1.0, "delta": 1e-6}


def subjects():
    """Yield a name, a model, all rows of which the first n are a table of size n, and whom they belong to."""
    for estimator in (PrivateKMeans, PrivateKMedian):
        for name in ("tree", "lloyd", "hst", "tightened", "many columns"):
            case = CASES[name]
            model = estimator(3, bounds=(-1, 1), random_state=0, **PROMISE, **case.asked)
            yield f"{estimator.__name__}, {name}", model, ROWS if case.n_features == 2 else WIDE, None
    yield "persons", PrivateKMeans(3, bounds=(-1, 1), max_rows_per_group=2, random_state=0, **PROMISE), ROWS, PEOPLE
    for name in ("cells", "local-search"):
        yield f"sites, {name}", PrivateKMedoids(2, space=SPACE, algorithm=name, random_state=0, **PROMISE), PLACES, None
    yield "cover", CoverModel([[0, 1], [2, 3, 4], [5], []], 2, n_items=12, **PROMISE), PLACES, None
    yield "ball", BallModel(5, bounds=(-1, 1), candidates=3, **PROMISE), ROWS, None
    table = pd.DataFrame(ROWS, columns=["x", "y"])
    with warnings.catch_warnings(action="ignore"):
        clusters = PrivateKMeans(3, epsilon=9.0, bounds={"x": (-1, 1)}, noise_seed=0).fit(table[:300]).release_
    yield "description", DescriptionModel(clusters, None, {"y": (-1, 1)}, 1.0, 1e-6, 4), table, None


SUBJECTS = {name: parts for name, *parts in subjects()}


def happened(transcript):
    """Return all of a fit that is not an exact value."""
    return transcript.asked, [replace(drawn.draw) for drawn in transcript.draws], transcript.answers, transcript.seen


@pytest.mark.parametrize("name", SUBJECTS)
@pytest.mark.matrix
def test_everything_but_exact_values_is_the_same_at_all_sizes(name):
    model, rows, groups = SUBJECTS[name]
    first = record(model, rows[:200], groups=None if groups is None else groups[:200])
    assert first.seen["error"] is None
    for size in SIZES:
        source = first.frozen()
        other = record(model, rows[:size], groups=None if groups is None else groups[:size], source=source)
        assert happened(other) == happened(first), size
        assert (source.left, source.faults) == (0, []), size
