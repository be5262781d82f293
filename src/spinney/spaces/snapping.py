"""The nearest public point of each position: ties go to the lowest index, and positions that are too far have none.

What is found depends on the position and on public facts alone, whatever else is asked. A tree of the different public points
finds the two nearest; where they are alike far, all at that distance are looked at.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spinney.spaces.box import WIDEST, FloatArray
from spinney.spaces.distances import IntArray
from spinney.spaces.sphere import are_positions, chord, on_sphere

#: Positions are looked up by as many at a time, in a tree with so many points in a leaf.
BLOCK, LEAF = 2**18, 8
#: Points so near to the nearest one, by this share, are looked at again.
NEAR = 1e-9
#: A position that has no point.
NOWHERE = -1


@np.errstate(all="ignore")  # a warning must not reveal a position
def nearest_points(coordinates: FloatArray, degrees: bool, positions: Any, limit: float | None = None) -> IntArray:
    """Return the index of the nearest point of each position, `NOWHERE` if it is farther than a limit or not a position.

    The limit is in units of the coordinates; in meters along the globe if these are degrees.
    """
    from scipy.spatial import cKDTree  # type: ignore[import-untyped]

    coordinates = np.array(coordinates, dtype=np.float64)  # of no class of the caller's, whose methods would see positions
    points = on_sphere(coordinates) if degrees else coordinates
    different, first = np.unique(points, axis=0, return_index=True)
    order = np.argsort(first)
    different, first = different[order], first[order]  # of points at one place the first one counts
    tree = cKDTree(different, leafsize=LEAF)
    farthest = np.inf if limit is None else chord(limit) if degrees else float(limit)
    found = np.full(len(positions), NOWHERE, dtype=np.int64)
    for start in range(0, len(positions), BLOCK):
        part = np.asarray(positions[start : start + BLOCK], dtype=np.float64)
        known = np.flatnonzero(are_positions(part) if degrees else (np.abs(part) < WIDEST).all(axis=1))
        known = known[np.argsort(_tiles(coordinates, part[known]), kind="stable")]  # near ones one after another: for the cache
        here = on_sphere(part[known]) if degrees else part[known]
        found[start + known] = _nearest(tree, here, first, farthest)
    return found


def _tiles(coordinates: FloatArray, positions: FloatArray) -> NDArray[np.uint16]:
    """Return which of 2^16 tiles around the public points each position lies in."""
    low, high = coordinates[:, :2].min(axis=0), coordinates[:, :2].max(axis=0)
    tiles = np.clip((positions[:, :2] - low) / np.maximum(high - low, 1e-300), 0, 1) * 255
    return np.asarray(tiles.astype(np.uint16) @ np.array([256, 1][: tiles.shape[1]], dtype=np.uint16))


def _nearest(tree: Any, here: FloatArray, first: IntArray, farthest: float) -> IntArray:
    """Return the index of the nearest point of each position."""
    gaps, places = tree.query(here, k=[1, 2] if tree.n > 1 else [1])
    best = places[:, 0].copy()
    if tree.n > 1:
        for row in np.flatnonzero(gaps[:, 1] <= gaps[:, 0] * (1 + NEAR)):
            near = np.sort(tree.query_ball_point(here[row], gaps[row, 0] * (1 + NEAR)))
            gaps_squared = ((tree.data[near, axis] - here[row, axis]) ** 2 for axis in range(here.shape[1]))
            best[row] = near[sum(gaps_squared, start=np.zeros(len(near))).argmin()]  # added up column by column
    return np.where(gaps[:, 0] <= farthest, first[best], NOWHERE)
