"""How long it takes to move positions to the nearest public point: ``python -m benchmarks.snapping``."""

from __future__ import annotations

import time

import numpy as np

from spinney.spaces.snapping import nearest_points

#: Rows of demand, and public points.
ROWS, POINTS = 1_000_000, 100_000
#: The longitude and latitude of the south-western corner of a degree that all lie in.
CORNER = np.array([8.0, 53.0])


def main() -> None:
    """Print CPU seconds for points drawn evenly, for streets on a grid, and for rows on the edges between them (ties)."""
    rng = np.random.default_rng(0)
    side = round(POINTS**0.5)
    grid = np.stack(np.meshgrid(np.arange(side), np.arange(side)), axis=-1).reshape(-1, 2) / side
    towns = rng.normal(rng.uniform(0, 1, (30, 2))[rng.integers(30, size=ROWS)], 0.02)
    cases = {
        "even points, even rows": (rng.uniform(0, 1, (POINTS, 2)), rng.uniform(0, 1, (ROWS, 2))),
        "even points, rows in towns": (rng.uniform(0, 1, (POINTS, 2)), towns),
        "grid of points, even rows": (grid, rng.uniform(0, 1, (ROWS, 2))),
    }
    nearest_points(grid[:9], True, grid[:9])  # compile
    for name, (points, rows) in cases.items():
        start = time.process_time()
        found = nearest_points(points + CORNER, True, rows + CORNER, 5_000.0)
        seconds = time.process_time() - start
        print(f"{name}: {seconds:.2f} CPU s for {ROWS:,} rows and {len(points):,} points, {(found < 0).mean():.1%} too far")


if __name__ == "__main__":
    main()
