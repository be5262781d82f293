"""Do margins of centers hold? How often the noise of a coordinate stays within its margin, and how wide margins are.

``python -m benchmarks.margins`` fits made-up rows again and again and looks at the exact sums behind the last private step. A
case is one coordinate of one center of one fit. Told for each algorithm, objective and kind of noise: the share of cases in which
the noisy step, before it is shortened, lies within its margin of the step without noise (``covers``), the same of the released
center (``released``), and how wide margins are beside ideal ones, which know the exact weight and step (``width``).
The bar: at least 94% are covered, by margins at most 1.2 times as wide as the ideal ones.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np

from benchmarks.tables import into_page, markdown, save
from spinney import PrivateKMeans, PrivateKMedian
from spinney.algorithms.margins import joint_quantile
from spinney.audit import observe
from spinney.mechanisms.drawing import Asked, Drawn, Ended
from spinney.questions.sums import RADIUS_STEPS, Sums

#: Cases of each line, rows, clusters and columns.
CASES, N, K = 2_000, 20_000, 8
COLUMNS = {"tree": 8, "moments": 16, "lloyd": 4}


def made_up(d: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows of overlapping clusters of several sizes, in [-1, 1]."""
    shares = rng.dirichlet(np.full(K, 4.0))
    return np.clip(rng.uniform(-0.7, 0.7, (K, d))[rng.choice(K, N, p=shares)] + rng.normal(0, 0.12, (N, d)), -1, 1)


def one_fit(model: Any, rows: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return, for each coordinate with a margin, the error of the step, that of the released center, margin and ideal margin."""
    events: list[Any] = []
    fitted = observe(model, rows, events.append, random_state=seed)
    asked = [event for event in events if isinstance(event, Asked) and type(event.question) is Sums][-1]
    exact = {event.draw.part: event.exact for event in events if isinstance(event, Drawn) and event.asked is asked}
    ended = next(event.answer for event in events if isinstance(event, Ended) and event.asked is asked)
    question, noise = asked.question, ended.noise
    k, d = question.centers.shape
    vectors = np.asarray(exact["vectors"], dtype=np.float64).reshape(k, d) / RADIUS_STEPS
    weights = np.asarray(exact["weights"], dtype=np.float64).reshape(k, 1) / noise.weight_steps
    widths = np.ones(d) if question.widths is None else question.widths
    anchors = question.centers if question.anchors is None else question.anchors
    reach = question.radii[:, None] * widths
    with np.errstate(all="ignore"):
        true, noisy = reach * vectors / weights, reach * ended.private_vectors / ended.private_weights[:, None]
        ideal = joint_quantile(noise.vectors, noise.weights, vectors / weights, RADIUS_STEPS / noise.weight_steps)
        ideal = reach * ideal / RADIUS_STEPS / weights
    margins = fitted.center_margins_[:k]
    told = np.isfinite(margins) & (weights > 0)  # a cell without rows has no step without noise
    released = np.abs(fitted.cluster_centers_[:k] - anchors - true)
    return np.abs(noisy - true)[told], released[told], margins[told], ideal[told]


def line(algorithm: str, kind: Any, delta: float, cases: int) -> list[str]:
    """Return a line of the table."""
    rng, found, seed = np.random.default_rng(11), [], 0
    model = kind(K, epsilon=1.0, delta=delta, bounds=(-1, 1), algorithm=algorithm)
    while sum(len(one[0]) for one in found) < cases:
        found.append(one_fit(model, made_up(COLUMNS[algorithm], rng), seed))
        seed += 1
    error, released, margin, ideal = (np.concatenate(part)[:cases] for part in zip(*found, strict=True))
    covers, after = (error <= margin).mean(), (released <= margin).mean()
    objective = "k-means" if kind is PrivateKMeans else "k-median"
    noise = "Gaussian" if delta else "Laplace"
    width = (margin / ideal).mean()
    return [algorithm, objective, noise, str(seed), f"{covers:.1%}", f"{after:.1%}", f"{width:.3f}"]


def main() -> None:
    """Print the table, and put it into docs/reading.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=CASES)
    arguments = parser.parse_args()
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for algorithm in COLUMNS:
            for kind in (PrivateKMeans, PrivateKMedian):
                for delta in (1e-6, 0.0):
                    rows.append(line(algorithm, kind, delta, arguments.cases))
                    print(*rows[-1], flush=True)
    head = ["algorithm", "objective", "noise", "fits", "covers", "released", "width"]
    if arguments.cases == CASES:
        save("margins", [dict(zip(head, row, strict=True)) for row in rows])
        into_page("margins", markdown(head, rows), "docs/reading.md")


if __name__ == "__main__":
    main()
