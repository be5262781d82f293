"""The demo: the colors of a public photograph, clustered at several epsilons."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from spinney.cli.progress import progress
from spinney.cli.schemas import made_folder
from spinney.estimators.kmeans import PrivateKMeans
from spinney.exceptions import UncountedFitsWarning
from spinney.report.picture import counts_line, draw

CLUSTERS = 12
EPSILONS = (0.1, 0.3, 1.0, 3.0)
SHOWN = 1.0


def public_colors() -> NDArray[Any]:
    """Return the 273,280 pixels of scikit-learn's sample photograph as rows of red, green and blue."""
    from sklearn.datasets import load_sample_image

    return np.asarray(load_sample_image("china.jpg")).reshape(-1, 3)


def run_demo(out: Path) -> None:
    """Print the table and write the release and the picture."""
    import matplotlib  # noqa: F401  (if it is missing, say so before the work)
    from sklearn.cluster import KMeans

    made_folder(out)
    pixels = public_colors()
    click.echo(f"{len(pixels)} pixels of a public photograph as rows of red, green, blue in [0, 255]; {CLUSTERS} clusters.")
    click.echo("Finding the non-private cost (scikit-learn, best of 5) ...")
    models = {
        (epsilon, algorithm): PrivateKMeans(CLUSTERS, epsilon=epsilon, bounds=(0, 255), algorithm=algorithm, random_state=0)
        for epsilon in EPSILONS
        for algorithm in ("tree", "lloyd")
    }
    costs = {}
    with (
        warnings.catch_warnings(),
        progress(1 + sum(len(model.plan(pixels.shape[1]).charges) for model in models.values())) as step,
    ):
        warnings.simplefilter("ignore", UncountedFitsWarning)  # the photograph is public
        step("clustering without privacy")
        plain = KMeans(CLUSTERS, n_init=5, random_state=0).fit(pixels.astype(np.float64)).inertia_
        for setting, model in models.items():
            costs[setting] = -model.fit(pixels).score(pixels)
    click.echo(f"\n{'epsilon':>8} {'spinney':>10} {'private Lloyd':>14}   cost over the non-private cost {plain:.4g}")
    for epsilon in EPSILONS:
        click.echo(f"{epsilon:8g} {costs[epsilon, 'tree'] / plain:10.3f} {costs[epsilon, 'lloyd'] / plain:14.3f}")
    release = replace(models[SHOWN, "tree"].release_, feature_names=("red", "green", "blue"))
    release.to_json(out / "release.json")
    shown = np.random.default_rng(0).choice(len(pixels), 12_000, replace=False)
    draw(release, out / "demo.png", pixels[shown], pixels[shown] / 255.0, columns=(0, 2))
    click.echo(f"\nThe release at epsilon {SHOWN:g}: {release.statement}.")
    click.echo(f"Sizes: {counts_line(release)}")
    click.echo(f"Wrote {out / 'release.json'} and {out / 'demo.png'}.")
